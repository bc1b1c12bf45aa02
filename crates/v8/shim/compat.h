// What differs between the V8s of the supported Node majors. Nothing else in the shim looks at a version.
#ifndef SELFPROF_COMPAT_H_
#define SELFPROF_COMPAT_H_

#include <node.h>
#include <v8-message.h>
#include <v8-profiler.h>
#include <v8-script.h>
#include <v8-unwinder.h>

namespace selfprof {

// Node 26 adds two states and narrows the enum; the names below exist in all majors with the same meaning, so a
// state is translated by name and never by number.
inline int PortableState(v8::StateTag state) {
  switch (state) {
    case v8::JS: return 0;
    case v8::GC: return 1;
    case v8::PARSER: return 2;
    case v8::BYTECODE_COMPILER: return 3;
    case v8::COMPILER: return 4;
    case v8::OTHER: return 5;
    case v8::EXTERNAL: return 6;
    case v8::ATOMICS_WAIT: return 7;
    case v8::IDLE: return 8;
    default: break;
  }
#if NODE_MODULE_VERSION >= 147
  // Idle inside a host call is idle; logging for a profiler is the engine's own work.
  if (state == v8::IDLE_EXTERNAL) return 8;
#endif
  return 5;
}

inline v8::MaybeLocal<v8::Context> CreationContext(v8::Isolate* isolate, v8::Local<v8::Object> object) {
#if NODE_MODULE_VERSION >= 137
  return object->GetCreationContext(isolate);
#else
  (void)isolate;
  return object->GetCreationContext();
#endif
}

inline v8::ScriptOrigin MakeOrigin(v8::Isolate* isolate, v8::Local<v8::Value> url, int line_offset,
                                   int column_offset, bool muted, bool is_module,
                                   v8::Local<v8::Data> host_defined_options) {
  constexpr int kAnyId = -1;
  constexpr bool kIsWasm = false;
  const v8::Local<v8::Value> no_source_map;
#if NODE_MODULE_VERSION >= 127
  (void)isolate;
  return v8::ScriptOrigin(url, line_offset, column_offset, !muted, kAnyId, no_source_map, muted, kIsWasm, is_module,
                          host_defined_options);
#else
  return v8::ScriptOrigin(isolate, url, line_offset, column_offset, !muted, kAnyId, no_source_map, muted, kIsWasm,
                          is_module, host_defined_options);
#endif
}

inline int ScriptId(v8::Local<v8::UnboundScript> script) {
#if NODE_MODULE_VERSION >= 147
  return script->ScriptId();
#else
  return script->GetId();
#endif
}

inline v8::Local<v8::FixedArray> ImportAttributes(v8::Local<v8::ModuleRequest> request) {
#if NODE_MODULE_VERSION >= 127
  return request->GetImportAttributes();
#else
  return request->GetImportAssertions();
#endif
}

inline v8::Local<v8::Data> ElementAt(v8::Local<v8::Context> context, v8::Local<v8::FixedArray> array, int index) {
#if NODE_MODULE_VERSION >= 147
  (void)context;
  return array->Get(index);
#else
  return array->Get(context, index);
#endif
}

}  // namespace selfprof

#endif  // SELFPROF_COMPAT_H_
