// Compiles the classic scripts of pages in contexts of node:vm, so that their ids are known before they run.
//
// All functions are for the JS thread, inside a native function that JavaScript called. When V8 throws, the exception
// stays pending and null or kThrown is returned; the native function must then return to JavaScript without doing
// anything else.

#include "muted_exceptions.h"
#include "source.h"

using selfprof::FromHandle;
using selfprof::Handle;
using selfprof::Status;
using selfprof::ToHandle;
using v8::Context;
using v8::Data;
using v8::Function;
using v8::Isolate;
using v8::Local;
using v8::Object;
using v8::String;
using v8::Value;

namespace {

// V8 caches compiled scripts: two contexts that compile the same text under the same URL get the same script, and so
// the same id, unless these options differ. Node reads them at import(), and rejects options that are not its own.
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

}  // namespace

Status selfprof::FindContext(Isolate* isolate, Handle anchor, Local<Context>* context) {
  Local<Value> value = FromHandle<Value>(anchor);
  if (!value->IsObject() || !CreationContext(isolate, value.As<Object>()).ToLocal(context)) return Status::kNoContext;
  return *context == isolate->GetCurrentContext() ? Status::kOwnContext : Status::kOk;
}

bool selfprof::IsWellFormed(const SelfprofSource& source) {
  return FromHandle<Value>(source.text)->IsString() && FromHandle<Value>(source.url)->IsString() &&
         (source.referrer == nullptr || FromHandle<Value>(source.referrer)->IsFunction());
}

v8::ScriptCompiler::Source selfprof::CompilerSource(Isolate* isolate, const SelfprofSource& source, bool is_module) {
  return v8::ScriptCompiler::Source(
      FromHandle<Value>(source.text).As<String>(),
      MakeOrigin(isolate, FromHandle<Value>(source.url), source.line_offset, source.column_offset, source.muted,
                 is_module, HostDefinedOptions(isolate, source)));
}

// `script` is a handle, to be run before the native function returns.
SELFPROF_API Status selfprof_script_compile(Isolate* isolate, const SelfprofSource* source, Handle* script,
                                            int32_t* id) noexcept {
  if (!selfprof::IsWellFormed(*source)) return Status::kNoSource;
  Local<Context> context;
  if (Status status = selfprof::FindContext(isolate, source->anchor, &context); status != Status::kOk) return status;
  if (source->muted) selfprof::ExpectMutedScript(isolate);
  Context::Scope scope(context);
  v8::ScriptCompiler::Source compiled = selfprof::CompilerSource(isolate, *source, false);
  Local<v8::UnboundScript> unbound;
  if (!v8::ScriptCompiler::CompileUnboundScript(isolate, &compiled).ToLocal(&unbound)) return Status::kThrown;
  *script = ToHandle(unbound);
  *id = selfprof::ScriptId(unbound);
  return Status::kOk;
}

// Returns the completion value.
SELFPROF_API Handle selfprof_script_run(Isolate* isolate, Handle anchor, Handle script) noexcept {
  Local<Context> context;
  if (selfprof::FindContext(isolate, anchor, &context) != Status::kOk) return nullptr;
  Context::Scope scope(context);
  Local<Value> completion;
  if (!FromHandle<v8::UnboundScript>(script)->BindToCurrentContext()->Run(context).ToLocal(&completion)) return nullptr;
  return ToHandle(completion);
}
