// What differs between the V8s of the supported Node majors. Nothing else in the shim looks at a version.
#ifndef SELFPROF_COMPAT_H_
#define SELFPROF_COMPAT_H_

#include <node.h>
#include <v8-message.h>
#include <v8-profiler.h>
#include <v8-script.h>
#include <v8-unwinder.h>

// Functions that optimised JavaScript calls without leaving its stack frame. Node exports what they need and does not
// ship the header that declares it, so the part that is needed is declared here, as V8 11.3 (Node 20), 12.4, 13.6 and
// 14.6 have it.
#if __has_include(<v8-fast-api-calls.h>)
#include <v8-fast-api-calls.h>
#else
namespace v8 {

class CTypeInfo {
 public:
  enum class Type : uint8_t { kUint32 = 4, kFloat64 = 8, kV8Value = 10 };

  explicit constexpr CTypeInfo(Type type) : type_(type) {}

  constexpr uint32_t GetId() const { return static_cast<uint32_t>(type_) << 8 * (sizeof(CTypeInfo) - 1); }

 private:
  Type type_;
#if NODE_MODULE_VERSION < 147
  uint8_t sequence_type_ = 0;
#endif
  uint8_t flags_ = 0;
};

class CFunctionInfo {
 public:
#if NODE_MODULE_VERSION < 127
  CFunctionInfo(const CTypeInfo& return_info, unsigned int arg_count, const CTypeInfo* arg_info);
#else
  enum class Int64Representation : uint8_t { kNumber = 0 };

  CFunctionInfo(const CTypeInfo& return_info, unsigned int arg_count, const CTypeInfo* arg_info,
                Int64Representation repr = Int64Representation::kNumber);
#endif

 private:
  const CTypeInfo return_info_;
#if NODE_MODULE_VERSION >= 127
  const Int64Representation repr_;
#endif
  const unsigned int arg_count_;
  const CTypeInfo* arg_info_;
};

class CFunction {
 public:
  CFunction(const void* address, const CFunctionInfo* type_info);

 private:
  const void* address_;
  const CFunctionInfo* type_info_;
};

// Of no use here, but its name tells how V8 lays out CTypeInfo and numbers its types.
template <uint32_t type_info_id, typename T>
bool TryToCopyAndConvertArrayToCppBuffer(Local<Array> src, T* dst, uint32_t max_length);
template <>
__attribute__((weak)) bool
TryToCopyAndConvertArrayToCppBuffer<CTypeInfo(CTypeInfo::Type::kUint32).GetId(), uint32_t>(Local<Array>, uint32_t*,
                                                                                           uint32_t);
template <>
__attribute__((weak)) bool
TryToCopyAndConvertArrayToCppBuffer<CTypeInfo(CTypeInfo::Type::kFloat64).GetId(), double>(Local<Array>, double*,
                                                                                          uint32_t);

}  // namespace v8
#endif

namespace selfprof {

// Whether the V8 that is running has direct calls as they are declared above. Otherwise functions are called the usual
// way.
inline bool HasDirectCalls() {
  using v8::CTypeInfo;
  constexpr uint32_t kUint32 = CTypeInfo(CTypeInfo::Type::kUint32).GetId();
  constexpr uint32_t kFloat64 = CTypeInfo(CTypeInfo::Type::kFloat64).GetId();
  bool (*uint32s)(v8::Local<v8::Array>, uint32_t*, uint32_t) =
      v8::TryToCopyAndConvertArrayToCppBuffer<kUint32, uint32_t>;
  bool (*float64s)(v8::Local<v8::Array>, double*, uint32_t) =
      v8::TryToCopyAndConvertArrayToCppBuffer<kFloat64, double>;
  return uint32s != nullptr && float64s != nullptr;
}

// A pointer in an object's first internal field; Node 26 wants a tag for it.
inline void SetInternalPointer(v8::Local<v8::Object> object, void* pointer) {
#if NODE_MODULE_VERSION >= 147
  object->SetAlignedPointerInInternalField(0, pointer, v8::kEmbedderDataTypeTagDefault);
#else
  object->SetAlignedPointerInInternalField(0, pointer);
#endif
}

inline void* InternalPointer(v8::Local<v8::Object> object) {
#if NODE_MODULE_VERSION >= 147
  return object->GetAlignedPointerFromInternalField(0, v8::kEmbedderDataTypeTagDefault);
#else
  return object->GetAlignedPointerFromInternalField(0);
#endif
}

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

// Who answers import(). Node 24's V8 has a second place for the same, and asks there first when it is taken.
template <v8::HostImportModuleDynamicallyCallback callback>
inline void AnswerImports(v8::Isolate* isolate) {
  isolate->SetHostImportModuleDynamicallyCallback(callback);
#if NODE_MODULE_VERSION >= 137
  isolate->SetHostImportModuleWithPhaseDynamicallyCallback(
      [](v8::Local<v8::Context> context, v8::Local<v8::Data> options, v8::Local<v8::Value> resource,
         v8::Local<v8::String> specifier, v8::ModuleImportPhase phase,
         v8::Local<v8::FixedArray> attributes) -> v8::MaybeLocal<v8::Promise> {
        // A module's source is WebAssembly's alone, and modules of that are not loaded.
        v8::Local<v8::Data> known =
            phase == v8::ModuleImportPhase::kEvaluation ? options : v8::Local<v8::Data>();
        return callback(context, known, resource, specifier, attributes);
      });
#endif
}

inline void AnswerNoImports(v8::Isolate* isolate) {
  isolate->SetHostImportModuleDynamicallyCallback(nullptr);
#if NODE_MODULE_VERSION >= 137
  isolate->SetHostImportModuleWithPhaseDynamicallyCallback(nullptr);
#endif
}

}  // namespace selfprof

#endif  // SELFPROF_COMPAT_H_
