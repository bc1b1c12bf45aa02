// Compiles the modules of pages in contexts of node:vm. The comment at the top of scripts.cc applies here, too.
//
// A context must be collected when its page is gone. So nothing here holds a module or its context strongly except an
// object of V8's heap, the holder of the module: JavaScript holds it through its object for the module, and V8 traces
// what it refers to. SelfprofModule refers to it weakly.

#include <unordered_map>
#include <vector>

#include "catch.h"
#include "source.h"

using selfprof::FromHandle;
using selfprof::Handle;
using selfprof::Status;
using selfprof::ToHandle;
using v8::Array;
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

// A module that was compiled here. Belongs to its JS thread. Its owner deletes it before the isolate ends.
struct SelfprofModule {
  int hash;
  // Empty when it was collected.
  v8::Global<Object> holder;
};

namespace {

// The internal fields of a holder.
enum Field {
  kModule,
  // An object of the module's context.
  kAnchor,
  kUrl,
  // The object that JavaScript has for the module: it must live as long as another module is linked with this one.
  kWrapper,
  // The holders that its requests resolve to, an Array.
  kLinked,
  kFieldCount,
};

// The modules of a thread. Made with the first of them, deleted when the environment has ended and the last is deleted.
// Not a thread-local object: its destructor would run after V8's end where process.exit() ends the main thread.
struct Modules {
  // By the identity hash of V8's modules.
  std::unordered_multimap<int, SelfprofModule*> by_hash;
  v8::Eternal<v8::ObjectTemplate> holder_template;
  // Fills in import.meta.
  v8::Global<Function> on_import_meta;
  bool has_ended = false;
};

thread_local Modules* modules = nullptr;

void DeleteIfUnused() {
  if (modules->has_ended && modules->by_hash.empty()) {
    delete modules;
    modules = nullptr;
  }
}

Modules& GetModules(Isolate* isolate) {
  if (modules == nullptr) {
    modules = new Modules;
    Local<v8::ObjectTemplate> holders = v8::ObjectTemplate::New(isolate);
    holders->SetInternalFieldCount(kFieldCount);
    modules->holder_template.Set(isolate, holders);
    node::AddEnvironmentCleanupHook(
        isolate,
        [](void*) {
          modules->on_import_meta.Reset();
          modules->has_ended = true;
          DeleteIfUnused();
        },
        nullptr);
  }
  return *modules;
}

template <typename T>
Local<T> GetField(Local<Object> holder, Field field) {
  return selfprof::GetInternalField(holder, field).As<T>();
}

template <>
Local<Value> GetField(Local<Object> holder, Field field) {
  return selfprof::GetInternalField(holder, field).As<Value>();
}

Local<Module> ModuleOf(Local<Object> holder) { return GetField<Module>(holder, kModule); }

Local<Module> ModuleOf(Isolate* isolate, const SelfprofModule* module) { return ModuleOf(module->holder.Get(isolate)); }

Local<Context> ContextOf(Isolate* isolate, const SelfprofModule* module) {
  Local<Value> anchor = GetField<Value>(module->holder.Get(isolate), kAnchor);
  return selfprof::CreationContext(isolate, anchor.As<Object>()).ToLocalChecked();
}

// The holder of a module that was compiled here; empty for one that was not.
Local<Object> FindHolder(Isolate* isolate, Local<Module> module) {
  if (modules == nullptr) return {};
  auto [first, last] = modules->by_hash.equal_range(module->GetIdentityHash());
  for (; first != last; ++first) {
    Local<Object> holder = first->second->holder.Get(isolate);
    if (!holder.IsEmpty() && ModuleOf(holder) == module) return holder;
  }
  return {};
}

v8::MaybeLocal<Module> ResolveModule(Local<Context> context, Local<String> specifier, Local<FixedArray> attributes,
                                     Local<Module> referrer) {
  Isolate* isolate = Isolate::GetCurrent();
  Local<Object> holder = FindHolder(isolate, referrer);
  Local<FixedArray> requests = referrer->GetModuleRequests();
  if (!holder.IsEmpty() && GetField<Value>(holder, kLinked)->IsArray()) {
    Local<Array> linked = GetField<Value>(holder, kLinked).As<Array>();
    for (int index = 0; index < requests->Length(); ++index) {
      Local<v8::ModuleRequest> request = selfprof::ElementAt(context, requests, index).As<v8::ModuleRequest>();
      Local<Value> child;
      // V8 passes the attributes of the request themselves.
      if (request->GetSpecifier()->StringEquals(specifier) && selfprof::ImportAttributes(request) == attributes &&
          linked->Get(context, index).ToLocal(&child)) {
        return ModuleOf(child.As<Object>());
      }
    }
  }
  isolate->ThrowException(
      v8::Exception::Error(String::NewFromUtf8Literal(isolate, "an imported module was not linked")));
  return {};
}

}  // namespace

// Node's own answer to import.meta. It is no part of Node's API, so it may be missing: then modules that were compiled
// here have an empty import.meta.
namespace node::loader {
class ModuleWrap {
 public:
  __attribute__((weak)) static void HostInitializeImportMetaObjectCallback(v8::Local<v8::Context> context,
                                                                           v8::Local<v8::Module> module,
                                                                           v8::Local<v8::Object> meta);
};
}  // namespace node::loader

namespace {

void InitializeImportMeta(Local<Context> context, Local<Module> module, Local<Object> meta) {
  Isolate* isolate = Isolate::GetCurrent();
  Local<Object> holder = FindHolder(isolate, module);
  if (holder.IsEmpty()) {
    node::loader::ModuleWrap::HostInitializeImportMetaObjectCallback(context, module, meta);
    return;
  }
  if (modules->on_import_meta.IsEmpty()) return;
  // The host's function must not throw; V8 accepts no exception here.
  selfprof::Catch caught(isolate);
  Local<Value> arguments[] = {meta, GetField<Value>(holder, kUrl), context->Global()};
  modules->on_import_meta.Get(isolate)
      ->Call(context, v8::Undefined(isolate), 3, arguments)
      .FromMaybe(Local<Value>());
}

}  // namespace

// `holder` is a handle to the holder, to be attached before the native function returns.
SELFPROF_API Status selfprof_module_compile(Isolate* isolate, const SelfprofSource* source, SelfprofModule** out,
                                            Handle* holder, int32_t* id) noexcept {
  if (!selfprof::IsWellFormed(*source)) return Status::kNoSource;
  Local<Context> context;
  if (Status status = selfprof::FindContext(isolate, source->anchor, &context); status != Status::kOk) return status;
  Modules& all = GetModules(isolate);
  Local<Object> object;
  if (!all.holder_template.Get(isolate)->NewInstance(isolate->GetCurrentContext()).ToLocal(&object)) {
    return Status::kThrown;
  }
  Context::Scope scope(context);
  v8::ScriptCompiler::Source compiled = selfprof::CompilerSource(isolate, *source, true);
  Local<Module> module;
  if (!v8::ScriptCompiler::CompileModule(isolate, &compiled).ToLocal(&module)) return Status::kThrown;
  selfprof::SetInternalField(object, kModule, module);
  selfprof::SetInternalField(object, kAnchor, FromHandle<Value>(source->anchor));
  selfprof::SetInternalField(object, kUrl, FromHandle<Value>(source->url));
  *id = module->ScriptId();
  *holder = ToHandle(object);
  *out = new SelfprofModule{module->GetIdentityHash(), v8::Global<Object>(isolate, object)};
  (*out)->holder.SetWeak();
  all.by_hash.emplace((*out)->hash, *out);
  return Status::kOk;
}

// Has `wrapper`, the object that JavaScript has for the module, hold the holder. Returns false when V8 throws.
SELFPROF_API bool selfprof_module_attach(Isolate* isolate, Handle wrapper, Handle holder) noexcept {
  Local<Object> object = FromHandle<Value>(wrapper).As<Object>();
  selfprof::SetInternalField(FromHandle<Object>(holder), kWrapper, object);
  Local<v8::Private> key =
      v8::Private::ForApi(isolate, String::NewFromUtf8Literal(isolate, "selfprof.module"));
  return object->SetPrivate(isolate->GetCurrentContext(), key, FromHandle<Value>(holder)).FromMaybe(false);
}

SELFPROF_API void selfprof_module_delete(SelfprofModule* module) noexcept {
  auto [first, last] = modules->by_hash.equal_range(module->hash);
  while (first != last && first->second != module) ++first;
  if (first != last) modules->by_hash.erase(first);
  delete module;
  DeleteIfUnused();
}

// An array with one array per import: its specifier, and then the keys and values of its attributes.
SELFPROF_API Handle selfprof_module_requests(Isolate* isolate, const SelfprofModule* module) noexcept {
  Local<Context> context = isolate->GetCurrentContext();
  Local<FixedArray> requests = ModuleOf(isolate, module)->GetModuleRequests();
  std::vector<Local<Value>> all;
  for (int index = 0; index < requests->Length(); ++index) {
    Local<v8::ModuleRequest> request = selfprof::ElementAt(context, requests, index).As<v8::ModuleRequest>();
    Local<FixedArray> attributes = selfprof::ImportAttributes(request);
    std::vector<Local<Value>> one{request->GetSpecifier()};
    for (int part = 0; part + 2 < attributes->Length(); part += 3) {
      one.push_back(selfprof::ElementAt(context, attributes, part).As<Value>());
      one.push_back(selfprof::ElementAt(context, attributes, part + 1).As<Value>());
    }
    all.push_back(Array::New(isolate, one.data(), one.size()));
  }
  return ToHandle(Array::New(isolate, all.data(), all.size()));
}

// Sets the modules that the requests resolve to, in the same order.
SELFPROF_API Status selfprof_module_link(Isolate* isolate, SelfprofModule* module, SelfprofModule* const* children,
                                         uint32_t count) noexcept {
  Local<Module> linking = ModuleOf(isolate, module);
  if (linking->GetStatus() != Module::kUninstantiated ||
      static_cast<uint32_t>(linking->GetModuleRequests()->Length()) != count) {
    return Status::kOutOfOrder;
  }
  std::vector<Local<Value>> holders;
  for (uint32_t index = 0; index < count; ++index) holders.push_back(children[index]->holder.Get(isolate));
  selfprof::SetInternalField(module->holder.Get(isolate), kLinked,
                             Array::New(isolate, holders.data(), holders.size()));
  return Status::kOk;
}

// Instantiates the module and everything that it imports.
SELFPROF_API Status selfprof_module_instantiate(Isolate* isolate, SelfprofModule* module) noexcept {
  Local<Context> context = ContextOf(isolate, module);
  Local<Module> instantiating = ModuleOf(isolate, module);
  if (instantiating->GetStatus() == Module::kErrored) return Status::kOutOfOrder;
  Context::Scope scope(context);
  if (!selfprof::InstantiateModule<ResolveModule>(context, instantiating).FromMaybe(false)) return Status::kThrown;
  return Status::kOk;
}

// `promise` is that of the evaluation. V8 returns the same one for a module that was evaluated before. It ends the
// process for one that is being evaluated.
SELFPROF_API Status selfprof_module_evaluate(Isolate* isolate, SelfprofModule* module, Handle* promise) noexcept {
  Local<Context> context = ContextOf(isolate, module);
  Local<Module> evaluating = ModuleOf(isolate, module);
  const Module::Status status = evaluating->GetStatus();
  if (status < Module::kInstantiated || status == Module::kEvaluating) return Status::kOutOfOrder;
  Context::Scope scope(context);
  Local<Value> result;
  if (!evaluating->Evaluate(context).ToLocal(&result)) return Status::kThrown;
  *promise = ToHandle(result);
  return Status::kOk;
}

// Null before the module was instantiated. V8 makes the namespace in the current context, when it is asked for it
// first.
SELFPROF_API Handle selfprof_module_namespace(Isolate* isolate, const SelfprofModule* module) noexcept {
  Local<Module> found = ModuleOf(isolate, module);
  if (found->GetStatus() < Module::kInstantiated) return nullptr;
  Context::Scope scope(ContextOf(isolate, module));
  return ToHandle(found->GetModuleNamespace());
}

// Calls `function(meta, url, global)` when a module that was compiled here first uses import.meta. Returns false when
// this Node does not support it.
SELFPROF_API bool selfprof_on_import_meta(Isolate* isolate, Handle function) noexcept {
  Local<Value> value = FromHandle<Value>(function);
  if (&node::loader::ModuleWrap::HostInitializeImportMetaObjectCallback == nullptr || !value->IsFunction()) return false;
  Modules& all = GetModules(isolate);
  if (all.on_import_meta.IsEmpty()) isolate->SetHostInitializeImportMetaObjectCallback(InitializeImportMeta);
  all.on_import_meta.Reset(isolate, value.As<Function>());
  return true;
}
