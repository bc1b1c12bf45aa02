// Compiling the scripts and modules of pages in contexts of node:vm, so that their ids are known before they run.
//
// All functions are for the JS thread, inside a native function that JavaScript called. A JavaScript value crosses this
// border as Node-API's napi_value does: as the address of a handle in the handle scope of that native function, where
// handles that are returned live too. When V8 throws, the exception stays pending and null or kThrown is returned; the
// native function must then return to JavaScript without doing anything else.

#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "compat.h"

#define SELFPROF_API extern "C"

using v8::Context;
using v8::Data;
using v8::FixedArray;
using v8::Function;
using v8::Isolate;
using v8::Local;
using v8::Module;
using v8::Object;
using v8::String;
using v8::Value;

using Handle = void*;

enum Status : int32_t { kOk = 0, kThrown = 1, kNoObject = 2, kOwnContext = 3, kNoScript = 4, kMismatch = 5 };

struct SelfprofSource {
  Handle anchor;    // any object of the context
  Handle text;      // a string
  Handle url;       // a string
  Handle referrer;  // a function whose import() it shares, or null
  int32_t line_offset;
  int32_t column_offset;
  uint32_t realm;
  bool muted;
};

namespace {

template <typename T>
Local<T> FromHandle(Handle handle) {
  static_assert(sizeof(Local<T>) == sizeof(Handle), "js_native_api_v8.h makes the same assumption");
  Local<T> local;
  std::memcpy(static_cast<void*>(&local), &handle, sizeof(handle));
  return local;
}

template <typename T>
Handle ToHandle(Local<T> local) {
  Handle handle;
  std::memcpy(&handle, static_cast<const void*>(&local), sizeof(handle));
  return handle;
}

// The context that `anchor` was made in. It must not be the one that is running: that is the host's own, and a page's
// script would be let loose on it.
Status FindContext(Isolate* isolate, Handle anchor, Local<Context>* context) {
  Local<Value> value = FromHandle<Value>(anchor);
  if (!value->IsObject() || !selfprof::CreationContext(isolate, value.As<Object>()).ToLocal(context)) return kNoObject;
  return *context == isolate->GetCurrentContext() ? kOwnContext : kOk;
}

// V8 keeps compiled scripts and gives two contexts that compile the same text under the same URL the same script, and so
// the same id. It compares these options too. Node reads them at import(), and rejects those that are not its own.
Local<Data> HostDefinedOptions(Isolate* isolate, const SelfprofSource& source) {
  if (source.referrer != nullptr) {
    return FromHandle<Value>(source.referrer).As<Function>()->GetScriptOrigin().GetHostDefinedOptions();
  }
  Local<v8::PrimitiveArray> options = v8::PrimitiveArray::New(isolate, 3);
  options->Set(isolate, 0, String::NewFromUtf8Literal(isolate, "selfprof"));
  options->Set(isolate, 1, v8::Integer::NewFromUnsigned(isolate, source.realm));
  options->Set(isolate, 2, v8::Boolean::New(isolate, source.muted));
  return options;
}

v8::ScriptCompiler::Source CompilerSource(Isolate* isolate, const SelfprofSource& source, bool is_module) {
  return v8::ScriptCompiler::Source(
      FromHandle<Value>(source.text).As<String>(),
      selfprof::MakeOrigin(isolate, FromHandle<Value>(source.url), source.line_offset, source.column_offset,
                           source.muted, is_module, HostDefinedOptions(isolate, source)));
}

bool IsWellFormed(const SelfprofSource& source) {
  return FromHandle<Value>(source.text)->IsString() && FromHandle<Value>(source.url)->IsString() &&
         (source.referrer == nullptr || FromHandle<Value>(source.referrer)->IsFunction());
}

}  // namespace

// `script` is a handle, to be run before the native function returns.
SELFPROF_API int32_t selfprof_script_compile(Isolate* isolate, const SelfprofSource* source, Handle* script,
                                             int32_t* id) noexcept {
  if (!IsWellFormed(*source)) return kNoScript;
  Local<Context> context;
  if (Status status = FindContext(isolate, source->anchor, &context); status != kOk) return status;
  Context::Scope scope(context);
  v8::ScriptCompiler::Source compiled = CompilerSource(isolate, *source, false);
  Local<v8::UnboundScript> unbound;
  if (!v8::ScriptCompiler::CompileUnboundScript(isolate, &compiled).ToLocal(&unbound)) return kThrown;
  *script = ToHandle(unbound);
  *id = selfprof::ScriptId(unbound);
  return kOk;
}

// Returns the completion value.
SELFPROF_API Handle selfprof_script_run(Isolate* isolate, Handle anchor, Handle script) noexcept {
  Local<Context> context;
  if (FindContext(isolate, anchor, &context) != kOk) return nullptr;
  Context::Scope scope(context);
  Local<Value> completion;
  if (!FromHandle<v8::UnboundScript>(script)->BindToCurrentContext()->Run(context).ToLocal(&completion)) return nullptr;
  return ToHandle(completion);
}

// 0 when `function` is none, or none that a script defined.
SELFPROF_API int32_t selfprof_function_script_id(Handle function) noexcept {
  Local<Value> value = FromHandle<Value>(function);
  return value->IsFunction() ? value.As<Function>()->ScriptId() : v8::UnboundScript::kNoScriptId;
}

// A module that was compiled here. Belongs to its JS thread; whoever made it deletes it, before the isolate ends.
struct SelfprofModule {
  int hash;
  v8::Global<Context> context;
  v8::Global<Module> module;
  v8::Global<Value> url;
  // What its requests resolve to.
  std::vector<v8::Global<Module>> linked;
};

namespace {

// The modules of this thread, by the identity hash of V8's.
thread_local std::unordered_multimap<int, SelfprofModule*> modules;

SelfprofModule* FindModule(Local<Module> module) {
  auto [first, last] = modules.equal_range(module->GetIdentityHash());
  for (; first != last; ++first) {
    if (first->second->module == module) return first->second;
  }
  return nullptr;
}

v8::MaybeLocal<Module> ResolveModule(Local<Context> context, Local<String> specifier, Local<FixedArray> attributes,
                                     Local<Module> referrer) {
  Isolate* isolate = Isolate::GetCurrent();
  const SelfprofModule* found = FindModule(referrer);
  Local<FixedArray> requests = referrer->GetModuleRequests();
  const auto same_attributes = [&](Local<FixedArray> others) {
    if (others->Length() / 3 != attributes->Length() / 3) return false;
    for (int index = 0; index + 2 < others->Length(); ++index) {
      // Key, value, and where it stands, which does not count.
      if (index % 3 != 2 && !selfprof::ElementAt(context, others, index).As<Value>()->StrictEquals(
                                selfprof::ElementAt(context, attributes, index).As<Value>())) {
        return false;
      }
    }
    return true;
  };
  for (int index = 0; found != nullptr && index < requests->Length(); ++index) {
    Local<v8::ModuleRequest> request = selfprof::ElementAt(context, requests, index).As<v8::ModuleRequest>();
    if (static_cast<size_t>(index) < found->linked.size() && request->GetSpecifier()->StringEquals(specifier) &&
        same_attributes(selfprof::ImportAttributes(request))) {
      return found->linked[index].Get(isolate);
    }
  }
  isolate->ThrowException(
      v8::Exception::Error(String::NewFromUtf8Literal(isolate, "a module that is imported was not linked")));
  return {};
}

}  // namespace

SELFPROF_API int32_t selfprof_module_compile(Isolate* isolate, const SelfprofSource* source, SelfprofModule** out,
                                             int32_t* id) noexcept {
  if (!IsWellFormed(*source)) return kNoScript;
  Local<Context> context;
  if (Status status = FindContext(isolate, source->anchor, &context); status != kOk) return status;
  Context::Scope scope(context);
  v8::ScriptCompiler::Source compiled = CompilerSource(isolate, *source, true);
  Local<Module> module;
  if (!v8::ScriptCompiler::CompileModule(isolate, &compiled).ToLocal(&module)) return kThrown;
  *id = module->ScriptId();
  *out = new SelfprofModule{module->GetIdentityHash(),
                            {isolate, context},
                            {isolate, module},
                            {isolate, FromHandle<Value>(source->url)},
                            {}};
  modules.emplace((*out)->hash, *out);
  return kOk;
}

SELFPROF_API void selfprof_module_delete(SelfprofModule* module) noexcept {
  auto [first, last] = modules.equal_range(module->hash);
  while (first != last && first->second != module) ++first;
  if (first != last) modules.erase(first);
  delete module;
}

// An array with one array for each import: its specifier, and then its attributes' keys and values in turn.
SELFPROF_API Handle selfprof_module_requests(Isolate* isolate, const SelfprofModule* module) noexcept {
  Local<Context> context = isolate->GetCurrentContext();
  Local<FixedArray> requests = module->module.Get(isolate)->GetModuleRequests();
  std::vector<Local<Value>> all;
  for (int index = 0; index < requests->Length(); ++index) {
    Local<v8::ModuleRequest> request = selfprof::ElementAt(context, requests, index).As<v8::ModuleRequest>();
    Local<FixedArray> attributes = selfprof::ImportAttributes(request);
    std::vector<Local<Value>> one{request->GetSpecifier()};
    for (int part = 0; part + 2 < attributes->Length(); part += 3) {
      one.push_back(selfprof::ElementAt(context, attributes, part).As<Value>());
      one.push_back(selfprof::ElementAt(context, attributes, part + 1).As<Value>());
    }
    all.push_back(v8::Array::New(isolate, one.data(), one.size()));
  }
  return ToHandle(v8::Array::New(isolate, all.data(), all.size()));
}

// Says which module each of the requests resolves to.
SELFPROF_API int32_t selfprof_module_link(Isolate* isolate, SelfprofModule* module, SelfprofModule* const* children,
                                          uint32_t count) noexcept {
  Local<Module> linking = module->module.Get(isolate);
  if (linking->GetStatus() != Module::kUninstantiated ||
      static_cast<uint32_t>(linking->GetModuleRequests()->Length()) != count) {
    return kMismatch;
  }
  module->linked.clear();
  for (uint32_t index = 0; index < count; ++index) {
    module->linked.emplace_back(isolate, children[index]->module.Get(isolate));
  }
  return kOk;
}

// Instantiates the module and all that it imports.
SELFPROF_API int32_t selfprof_module_instantiate(Isolate* isolate, SelfprofModule* module) noexcept {
  Local<Context> context = module->context.Get(isolate);
  Local<Module> instantiating = module->module.Get(isolate);
  if (instantiating->GetStatus() == Module::kErrored) return kMismatch;
  Context::Scope scope(context);
  if (!instantiating->InstantiateModule(context, ResolveModule).FromMaybe(false)) return kThrown;
  return kOk;
}

// `promise` is that of the evaluation, which V8 gives again for a module that was evaluated before.
SELFPROF_API int32_t selfprof_module_evaluate(Isolate* isolate, SelfprofModule* module, Handle* promise) noexcept {
  Local<Context> context = module->context.Get(isolate);
  Local<Module> evaluating = module->module.Get(isolate);
  if (evaluating->GetStatus() < Module::kInstantiated) return kMismatch;
  Context::Scope scope(context);
  Local<Value> result;
  if (!evaluating->Evaluate(context).ToLocal(&result)) return kThrown;
  *promise = ToHandle(result);
  return kOk;
}

// Null before the module was instantiated.
SELFPROF_API Handle selfprof_module_namespace(Isolate* isolate, const SelfprofModule* module) noexcept {
  Local<Module> found = module->module.Get(isolate);
  return found->GetStatus() < Module::kInstantiated ? nullptr : ToHandle(found->GetModuleNamespace());
}

// Node's own answer to import.meta. It is no part of Node's API, so it may be missing: then modules compiled here have an
// empty import.meta.
namespace node::loader {
class ModuleWrap {
 public:
  __attribute__((weak)) static void HostInitializeImportMetaObjectCallback(v8::Local<v8::Context> context,
                                                                           v8::Local<v8::Module> module,
                                                                           v8::Local<v8::Object> meta);
};
}  // namespace node::loader

namespace {

// Who fills in the import.meta of this thread's modules. Reset when its environment is torn down.
thread_local v8::Global<Function> on_import_meta;

void InitializeImportMeta(Local<Context> context, Local<Module> module, Local<Object> meta) {
  const SelfprofModule* found = FindModule(module);
  if (found == nullptr) {
    node::loader::ModuleWrap::HostInitializeImportMetaObjectCallback(context, module, meta);
    return;
  }
  if (on_import_meta.IsEmpty()) return;
  Isolate* isolate = Isolate::GetCurrent();
  // What it throws is the host's own fault; V8 takes no exception here.
  v8::TryCatch caught(isolate);
  Local<Value> arguments[] = {meta, found->url.Get(isolate), context->Global()};
  on_import_meta.Get(isolate)->Call(context, v8::Undefined(isolate), 3, arguments).FromMaybe(Local<Value>());
}

}  // namespace

// Has `function(meta, url, global)` called when a module compiled here first uses import.meta. Returns whether it will be.
SELFPROF_API bool selfprof_on_import_meta(Isolate* isolate, Handle function) noexcept {
  Local<Value> value = FromHandle<Value>(function);
  if (&node::loader::ModuleWrap::HostInitializeImportMetaObjectCallback == nullptr || !value->IsFunction()) return false;
  if (on_import_meta.IsEmpty()) {
    node::AddEnvironmentCleanupHook(isolate, [](void*) { on_import_meta.Reset(); }, nullptr);
    isolate->SetHostInitializeImportMetaObjectCallback(InitializeImportMeta);
  }
  on_import_meta.Reset(isolate, value.As<Function>());
  return true;
}
