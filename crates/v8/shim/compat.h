// What differs between the V8s of the supported Node majors. Nothing else in the shim looks at a version.
#ifndef SELFPROF_COMPAT_H_
#define SELFPROF_COMPAT_H_

#include <cstddef>
#include <cstring>
#include <new>

#include <node.h>
#include <v8-message.h>
#include <v8-profiler.h>
#include <v8-script.h>
#include <v8-unwinder.h>

#include "selfprof_numbers.h"

// The majors by their NODE_MODULE_VERSION.
#define SELFPROF_NODE_22 127
#define SELFPROF_NODE_24 137
#define SELFPROF_NODE_26 147

// Functions that optimised JavaScript calls without leaving its stack frame. Node exports what they need but does not
// ship the header that declares it, so the needed part is declared here, as V8 11.3 (Node 20), 12.4 (22), 13.6 (24) and
// 14.6 (26) have it.
//
// HasDirectCalls checks these declarations against the V8 that is running. Where they do not match, functions are
// called the usual way.
#if __has_include(<v8-fast-api-calls.h>)
#include <v8-fast-api-calls.h>
#else
#define SELFPROF_DECLARES_DIRECT_CALLS

namespace selfprof {
bool HasDeclaredLayout();
}

namespace v8 {

class CTypeInfo {
 public:
  enum class Type : uint8_t { kUint32 = 4, kFloat64 = 8, kV8Value = 10 };

  explicit constexpr CTypeInfo(Type type) : type_(type) {}

  constexpr uint32_t GetId() const { return static_cast<uint32_t>(type_) << 8 * (sizeof(CTypeInfo) - 1); }

 private:
  Type type_;
#if NODE_MODULE_VERSION < SELFPROF_NODE_26
  uint8_t sequence_type_ = 0;
#endif
  uint8_t flags_ = 0;
};

class CFunctionInfo {
 public:
#if NODE_MODULE_VERSION < SELFPROF_NODE_22
  CFunctionInfo(const CTypeInfo& return_info, unsigned int arg_count, const CTypeInfo* arg_info);
#else
  enum class Int64Representation : uint8_t { kNumber = 0 };

  CFunctionInfo(const CTypeInfo& return_info, unsigned int arg_count, const CTypeInfo* arg_info,
                Int64Representation repr = Int64Representation::kNumber);
#endif

 private:
  friend bool selfprof::HasDeclaredLayout();

  const CTypeInfo return_info_;
#if NODE_MODULE_VERSION >= SELFPROF_NODE_22
  const Int64Representation repr_;
#endif
  const unsigned int arg_count_;
  const CTypeInfo* arg_info_;
};

class CFunction {
 public:
  CFunction(const void* address, const CFunctionInfo* type_info);

 private:
  friend bool selfprof::HasDeclaredLayout();

  const void* address_;
  const CFunctionInfo* type_info_;
};
static_assert(sizeof(CTypeInfo) == (NODE_MODULE_VERSION < SELFPROF_NODE_26 ? 3 : 2));
static_assert(sizeof(CFunctionInfo) == 16 && sizeof(CFunction) == 16);

// Never called, but the names of these symbols contain the layout of CTypeInfo and the numbers of its types.
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

#ifdef SELFPROF_DECLARES_DIRECT_CALLS
// Whether V8's constructors of CFunctionInfo and CFunction, which Node exports, fill the members that are declared
// above and write nothing behind them.
inline bool HasDeclaredLayout() {
  using v8::CFunction;
  using v8::CFunctionInfo;
  using v8::CTypeInfo;
  constexpr unsigned char kUntouched = 0xa5;
  static constexpr size_t kRoom = 64;
  static const CTypeInfo arguments[] = {CTypeInfo(CTypeInfo::Type::kV8Value), CTypeInfo(CTypeInfo::Type::kUint32)};
  const CTypeInfo result(CTypeInfo::Type::kFloat64);
  const auto is_untouched = [](const unsigned char* memory, size_t from) {
    for (size_t index = from; index < kRoom; ++index) {
      if (memory[index] != kUntouched) return false;
    }
    return true;
  };
  alignas(std::max_align_t) unsigned char info_memory[kRoom];
  alignas(std::max_align_t) unsigned char function_memory[kRoom];
  std::memset(info_memory, kUntouched, kRoom);
  std::memset(function_memory, kUntouched, kRoom);
  const auto* info = new (info_memory) CFunctionInfo(result, 2, arguments);
  const auto* function = new (function_memory) CFunction(&kRoom, info);
  return std::memcmp(&info->return_info_, &result, sizeof(result)) == 0 && info->arg_count_ == 2 &&
         info->arg_info_ == arguments && function->address_ == &kRoom && function->type_info_ == info &&
         is_untouched(info_memory, sizeof(CFunctionInfo)) && is_untouched(function_memory, sizeof(CFunction));
}
#else
inline bool HasDeclaredLayout() { return true; }
#endif

// Whether the V8 that is running has direct calls as they are declared above.
inline bool HasDirectCalls() {
  using v8::CTypeInfo;
  constexpr uint32_t kUint32 = CTypeInfo(CTypeInfo::Type::kUint32).GetId();
  constexpr uint32_t kFloat64 = CTypeInfo(CTypeInfo::Type::kFloat64).GetId();
  bool (*uint32s)(v8::Local<v8::Array>, uint32_t*, uint32_t) =
      v8::TryToCopyAndConvertArrayToCppBuffer<kUint32, uint32_t>;
  bool (*float64s)(v8::Local<v8::Array>, double*, uint32_t) =
      v8::TryToCopyAndConvertArrayToCppBuffer<kFloat64, double>;
  static const bool has_layout = uint32s != nullptr && float64s != nullptr && HasDeclaredLayout();
  return has_layout;
}

// A pointer in an object's first internal field. Node 26 requires a tag for it.
inline void SetInternalPointer(v8::Local<v8::Object> object, void* pointer) {
#if NODE_MODULE_VERSION >= SELFPROF_NODE_26
  object->SetAlignedPointerInInternalField(0, pointer, v8::kEmbedderDataTypeTagDefault);
#else
  object->SetAlignedPointerInInternalField(0, pointer);
#endif
}

inline void* InternalPointer(v8::Local<v8::Object> object) {
#if NODE_MODULE_VERSION >= SELFPROF_NODE_26
  return object->GetAlignedPointerFromInternalField(0, v8::kEmbedderDataTypeTagDefault);
#else
  return object->GetAlignedPointerFromInternalField(0);
#endif
}

// A V8 value of any kind in an internal field, where V8 traces it.
inline void SetInternalField(v8::Local<v8::Object> object, int index, v8::Local<v8::Data> value) {
#if NODE_MODULE_VERSION >= SELFPROF_NODE_22
  object->SetInternalField(index, value);
#else
  // Node 20 declares it for Value alone, but stores whatever it is given.
  object->SetInternalField(index, value.As<v8::Value>());
#endif
}

inline v8::Local<v8::Data> GetInternalField(v8::Local<v8::Object> object, int index) {
  return object->GetInternalField(index);
}

// The states that all majors have, by name: Node 26 adds two and changes the numbers.
inline AgentState ToAgentState(v8::StateTag state) {
  switch (state) {
    case v8::JS: return AgentState::kJavaScript;
    case v8::GC: return AgentState::kGarbageCollection;
    case v8::PARSER: return AgentState::kParser;
    case v8::BYTECODE_COMPILER: return AgentState::kBytecodeCompiler;
    case v8::COMPILER: return AgentState::kCompiler;
    case v8::EXTERNAL: return AgentState::kExternal;
    case v8::ATOMICS_WAIT: return AgentState::kAtomicsWait;
    case v8::IDLE: return AgentState::kIdle;
    default: break;
  }
#if NODE_MODULE_VERSION >= SELFPROF_NODE_26
  // Idle inside a host call. The other new state, logging for a profiler, is the engine's own work.
  if (state == v8::IDLE_EXTERNAL) return AgentState::kIdle;
#endif
  return AgentState::kOther;
}

inline v8::MaybeLocal<v8::Context> CreationContext(v8::Isolate* isolate, v8::Local<v8::Object> object) {
#if NODE_MODULE_VERSION >= SELFPROF_NODE_24
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
#if NODE_MODULE_VERSION >= SELFPROF_NODE_22
  (void)isolate;
  return v8::ScriptOrigin(url, line_offset, column_offset, !muted, kAnyId, no_source_map, muted, kIsWasm, is_module,
                          host_defined_options);
#else
  return v8::ScriptOrigin(isolate, url, line_offset, column_offset, !muted, kAnyId, no_source_map, muted, kIsWasm,
                          is_module, host_defined_options);
#endif
}

inline int ScriptId(v8::Local<v8::UnboundScript> script) {
#if NODE_MODULE_VERSION >= SELFPROF_NODE_26
  return script->ScriptId();
#else
  return script->GetId();
#endif
}

// Copies `count` characters of a string from `from` on.
inline void CopyLatin1(v8::Isolate* isolate, v8::Local<v8::String> string, uint32_t from, uint32_t count, uint8_t* to) {
#if NODE_MODULE_VERSION >= SELFPROF_NODE_24
  string->WriteOneByteV2(isolate, from, count, to);
#else
  string->WriteOneByte(isolate, to, static_cast<int>(from), static_cast<int>(count), v8::String::NO_NULL_TERMINATION);
#endif
}

inline void CopyUtf16(v8::Isolate* isolate, v8::Local<v8::String> string, uint32_t from, uint32_t count, uint16_t* to) {
#if NODE_MODULE_VERSION >= SELFPROF_NODE_24
  string->WriteV2(isolate, from, count, to);
#else
  string->Write(isolate, to, static_cast<int>(from), static_cast<int>(count), v8::String::NO_NULL_TERMINATION);
#endif
}

inline v8::Local<v8::FixedArray> ImportAttributes(v8::Local<v8::ModuleRequest> request) {
#if NODE_MODULE_VERSION >= SELFPROF_NODE_22
  return request->GetImportAttributes();
#else
  return request->GetImportAssertions();
#endif
}

inline v8::Local<v8::Data> ElementAt(v8::Local<v8::Context> context, v8::Local<v8::FixedArray> array, int index) {
#if NODE_MODULE_VERSION >= SELFPROF_NODE_26
  (void)context;
  return array->Get(index);
#else
  return array->Get(context, index);
#endif
}

// Sets the callback for import(). Node 24's V8 has a second callback for it, which takes precedence.
template <v8::HostImportModuleDynamicallyCallback callback>
inline void AnswerImports(v8::Isolate* isolate) {
  isolate->SetHostImportModuleDynamicallyCallback(callback);
#if NODE_MODULE_VERSION >= SELFPROF_NODE_24
  isolate->SetHostImportModuleWithPhaseDynamicallyCallback(
      [](v8::Local<v8::Context> context, v8::Local<v8::Data> options, v8::Local<v8::Value> resource,
         v8::Local<v8::String> specifier, v8::ModuleImportPhase phase,
         v8::Local<v8::FixedArray> attributes) -> v8::MaybeLocal<v8::Promise> {
        // Only WebAssembly modules have a source phase, and they are not loaded.
        v8::Local<v8::Data> known =
            phase == v8::ModuleImportPhase::kEvaluation ? options : v8::Local<v8::Data>();
        return callback(context, known, resource, specifier, attributes);
      });
#endif
}

// Instantiates a module. Node 24's V8 has a second callback, for `import source`, and crashes at such an import without
// it.
template <v8::Module::ResolveModuleCallback resolve>
inline v8::Maybe<bool> InstantiateModule(v8::Local<v8::Context> context, v8::Local<v8::Module> module) {
#if NODE_MODULE_VERSION >= SELFPROF_NODE_24
  return module->InstantiateModule(
      context, resolve,
      [](v8::Local<v8::Context>, v8::Local<v8::String>, v8::Local<v8::FixedArray>,
         v8::Local<v8::Module>) -> v8::MaybeLocal<v8::Object> {
        v8::Isolate* isolate = v8::Isolate::GetCurrent();
        // Only WebAssembly modules have a source phase, and they are not loaded.
        isolate->ThrowException(v8::Exception::SyntaxError(
            v8::String::NewFromUtf8Literal(isolate, "the imported module has no source phase")));
        return {};
      });
#else
  return module->InstantiateModule(context, resolve);
#endif
}

// Node keeps the async context in the isolate if it has AsyncContextFrame: always from 24 on, with an option in 22.
#if NODE_MODULE_VERSION >= SELFPROF_NODE_22
#define SELFPROF_CONTEXT_FRAME_OFFSET v8::internal::Internals::kContinuationPreservedEmbedderDataOffset
#endif

// What the isolate has as its async context; empty if there is no such thing.
inline v8::MaybeLocal<v8::Value> CurrentContextFrame(v8::Isolate* isolate) {
#if NODE_MODULE_VERSION >= SELFPROF_NODE_26
  v8::Local<v8::Data> data = isolate->GetContinuationPreservedEmbedderDataV2();
  return data->IsValue() ? data.As<v8::Value>() : v8::MaybeLocal<v8::Value>();
#elif NODE_MODULE_VERSION >= SELFPROF_NODE_22
  return isolate->GetContinuationPreservedEmbedderData();
#else
  (void)isolate;
  return {};
#endif
}

inline void AnswerNoImports(v8::Isolate* isolate) {
  isolate->SetHostImportModuleDynamicallyCallback(nullptr);
#if NODE_MODULE_VERSION >= SELFPROF_NODE_24
  isolate->SetHostImportModuleWithPhaseDynamicallyCallback(nullptr);
#endif
}

}  // namespace selfprof

#endif  // SELFPROF_COMPAT_H_
