// What V8 asks its embedder while a page's script runs: about import(), error.stack, and promises that nobody handles.
// Node's answers are those for programs, and objects of Node's own realm.
//
// For a thread that hosts pages and does nothing else: the thread's own import() and Error.prepareStackTrace do not
// work. All functions are for the JS thread, inside a native function that JavaScript called.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "../handles.h"
#include "catch.h"
#include "muted_exceptions.h"

using selfprof::FromHandle;
using selfprof::Handle;
using v8::Array;
using v8::Context;
using v8::Data;
using v8::FixedArray;
using v8::Function;
using v8::Global;
using v8::Integer;
using v8::Isolate;
using v8::Local;
using v8::MaybeLocal;
using v8::Object;
using v8::Promise;
using v8::String;
using v8::Value;

// Node's listener for uncaught errors. It is in no public header: on a Node that no longer has it, this is null.
namespace node::errors {
[[gnu::weak]] void PerIsolateMessageListener(Local<v8::Message> message, Local<Value> error);
}

namespace {

// One per thread, from the first call of selfprof_host_pages until its environment is torn down: the handles must be
// released before the isolate is.
struct Host {
  // The thread's own context, to which the functions belong.
  Global<Context> main;
  Global<Function> import_module;
  Global<Function> is_host_site;
  Global<Function> format_stack;
  Global<Function> promise_rejected;
  // The promises of import() that are not settled yet. They keep their contexts alive.
  std::unordered_map<uint32_t, Global<Promise::Resolver>> imports;
  uint32_t next_import = 1;
};

thread_local Host* host = nullptr;

// import(): the promise and its errors belong to the realm that the script runs in. The options that scripts.cc
// compiles scripts with identify the script's realm.
MaybeLocal<Promise> ImportModule(Local<Context> context, Local<Data> host_defined_options, Local<Value> resource,
                                 Local<String> specifier, Local<FixedArray> attributes) {
  Isolate* isolate = Isolate::GetCurrent();
  v8::EscapableHandleScope handles(isolate);
  Local<Promise::Resolver> resolver;
  if (!Promise::Resolver::New(context).ToLocal(&resolver)) return {};
  Local<FixedArray> options = host_defined_options.As<FixedArray>();
  if (host_defined_options.IsEmpty() || options->Length() != 3) {
    Context::Scope scope(context);
    Local<Value> error =
        v8::Exception::TypeError(String::NewFromUtf8Literal(isolate, "import() is not available to this script"));
    resolver->Reject(context, error).Check();
    return handles.Escape(resolver->GetPromise());
  }
  uint32_t id = host->next_import++;
  host->imports.emplace(id, Global<Promise::Resolver>(isolate, resolver));
  Local<Context> main = host->main.Get(isolate);
  Context::Scope scope(main);
  selfprof::Catch caught(isolate);
  std::vector<Local<Value>> pairs;
  for (int index = 0; index < attributes->Length(); ++index) {
    pairs.push_back(selfprof::ElementAt(main, attributes, index).As<Value>());
  }
  Local<Value> arguments[] = {Integer::NewFromUnsigned(isolate, id), selfprof::ElementAt(main, options, 1).As<Value>(),
                              resource, specifier, Array::New(isolate, pairs.data(), pairs.size())};
  // The host's function must not throw; the script must not see it if it does.
  host->import_module.Get(isolate)->Call(main, v8::Undefined(isolate), 5, arguments).FromMaybe(Local<Value>());
  return handles.Escape(resolver->GetPromise());
}

// The value of Error.prepareStackTrace in a context, undefined if there is none. Empty when a getter threw.
MaybeLocal<Value> PageFormatter(Local<Context> context) {
  Isolate* isolate = Isolate::GetCurrent();
  Local<Value> error;
  if (!context->Global()->Get(context, String::NewFromUtf8Literal(isolate, "Error")).ToLocal(&error)) return {};
  if (!error->IsObject()) return v8::Undefined(isolate);
  return error.As<Object>()->Get(context, String::NewFromUtf8Literal(isolate, "prepareStackTrace"));
}

// error.stack: a page sees its own frames, as in a browser, and not the paths of the host's files. The array that a
// page's own formatter gets belongs to the page's realm, whichever realm reads the stack first.
MaybeLocal<Value> PrepareStackTrace(Local<Context> context, Local<Value> error, Local<Array> sites) {
  Isolate* isolate = Isolate::GetCurrent();
  v8::EscapableHandleScope handles(isolate);
  Local<Context> main = host->main.Get(isolate);
  Local<Function> formatter = host->format_stack.Get(isolate);
  std::vector<Local<Value>> visible;
  Local<Value> of_page, formatted;
  const bool is_of_page = context != main;
  if (is_of_page && !PageFormatter(context).ToLocal(&of_page)) return {};
  {
    Context::Scope scope(main);
    selfprof::Catch caught(isolate);
    for (uint32_t index = 0; index < sites->Length(); ++index) {
      Local<Value> site, hidden;
      if (!sites->Get(main, index).ToLocal(&site)) continue;
      if (is_of_page && (!host->is_host_site.Get(isolate)->Call(main, v8::Undefined(isolate), 1, &site).ToLocal(&hidden) ||
                         !hidden->IsFalse())) {
        continue;
      }
      visible.push_back(site);
    }
  }
  if (is_of_page && of_page->IsFunction()) {
    Context::Scope scope(context);
    Local<Value> arguments[] = {error, Array::New(isolate, visible.data(), visible.size())};
    if (!of_page.As<Function>()->Call(context, v8::Undefined(isolate), 2, arguments).ToLocal(&formatted)) return {};
    return handles.Escape(formatted);
  }
  Context::Scope scope(main);
  selfprof::Catch caught(isolate);
  Local<Value> arguments[] = {error, Array::New(isolate, visible.data(), visible.size())};
  if (!formatter->Call(main, v8::Undefined(isolate), 2, arguments).ToLocal(&formatted)) {
    return handles.Escape(String::Empty(isolate).As<Value>());
  }
  return handles.Escape(formatted);
}

// A promise of any context was rejected without a handler, or got one later.
void OnPromiseRejected(v8::PromiseRejectMessage message) {
  Isolate* isolate = Isolate::GetCurrent();
  selfprof::NoteRejection(isolate, message);
  const v8::PromiseRejectEvent event = message.GetEvent();
  const bool is_rejected = event == v8::kPromiseRejectWithNoHandler;
  if (!is_rejected && event != v8::kPromiseHandlerAddedAfterReject) return;
  v8::HandleScope handles(isolate);
  Local<Context> main = host->main.Get(isolate);
  Context::Scope scope(main);
  selfprof::Catch caught(isolate);
  Local<Value> reason = message.GetValue();
  if (reason.IsEmpty()) reason = v8::Undefined(isolate);
  Local<Value> arguments[] = {v8::Boolean::New(isolate, is_rejected), message.GetPromise(), reason};
  host->promise_rejected.Get(isolate)->Call(main, v8::Undefined(isolate), 3, arguments).FromMaybe(Local<Value>());
}

// How much more than its limit a heap may hold while its thread ends: more than the largest object that V8 allocates,
// since an allocation cannot be interrupted.
constexpr size_t kLeeway = size_t{2} << 30;

// JS thread, in the middle of an allocation. Node's own callback gives a full heap 16 MB more to end in; when one
// object is larger than that, V8 ends the process. Here only the thread ends: it runs no more JavaScript.
size_t EndThread(void* environment, size_t current, size_t initial) {
  if (environment != nullptr) node::Stop(static_cast<node::Environment*>(environment));
  return current < initial + kLeeway ? initial + kLeeway : current;
}

// The environment of the thread is torn down.
void Unhost(void* data) {
  Isolate* isolate = static_cast<Isolate*>(data);
  // The isolate collects garbage once more, and the environment is gone by then.
  isolate->RemoveNearHeapLimitCallback(EndThread, 0);
  isolate->AddNearHeapLimitCallback(EndThread, nullptr);
  selfprof::AnswerNoImports(isolate);
  isolate->SetPrepareStackTraceCallback(nullptr);
  isolate->SetPromiseRejectCallback(nullptr);
  // Callbacks of FinalizationRegistry may still be due. On Node 22, V8 reports that it may not run them as an uncaught
  // error of their context, and Node ends the process when it has given up that context before.
  if (node::errors::PerIsolateMessageListener != nullptr) {
    isolate->RemoveMessageListeners(node::errors::PerIsolateMessageListener);
  }
  selfprof::EndNoting();
  delete host;
  host = nullptr;
}

}  // namespace

// Has V8 ask these functions from now on:
//   import_module(id, realm, referrer url, specifier, [attribute key, value, ...]), answered by selfprof_settle_import,
//   is_host_site(CallSite) -> boolean,
//   format_stack(error, [CallSite, ...]) -> string,
//   promise_rejected(whether it was rejected or else has got a handler, promise, reason): it runs no code of a page.
// `kind_of_script` returns the ScriptKind of a script id.
// Returns false when one of them is not a function, or when this was called before on the thread.
SELFPROF_API bool selfprof_host_pages(Isolate* isolate, Handle import_module, Handle is_host_site, Handle format_stack,
                                      Handle promise_rejected, selfprof::KindOfScript kind_of_script) noexcept {
  const Handle functions[] = {import_module, is_host_site, format_stack, promise_rejected};
  for (Handle function : functions) {
    if (!FromHandle<Value>(function)->IsFunction()) return false;
  }
  if (host != nullptr) return false;
  host = new Host;
  host->main.Reset(isolate, isolate->GetCurrentContext());
  host->import_module.Reset(isolate, FromHandle<Function>(import_module));
  host->is_host_site.Reset(isolate, FromHandle<Function>(is_host_site));
  host->format_stack.Reset(isolate, FromHandle<Function>(format_stack));
  host->promise_rejected.Reset(isolate, FromHandle<Function>(promise_rejected));
  selfprof::BeginNoting(kind_of_script);
  selfprof::AnswerImports<ImportModule>(isolate);
  isolate->SetPrepareStackTraceCallback(PrepareStackTrace);
  isolate->SetPromiseRejectCallback(OnPromiseRejected);
  isolate->AddNearHeapLimitCallback(EndThread, node::GetCurrentEnvironment(isolate->GetCurrentContext()));
  node::AddEnvironmentCleanupHook(isolate, Unhost, isolate);
  return true;
}

// Runs the promise jobs that are due. Does nothing while such jobs run.
SELFPROF_API void selfprof_run_promise_jobs(Isolate* isolate) noexcept {
  selfprof::Catch caught(isolate);
  isolate->PerformMicrotaskCheckpoint();
}

// Settles the promise of an import() with a module's namespace or an error. Does nothing for an unknown id.
SELFPROF_API void selfprof_settle_import(Isolate* isolate, uint32_t id, bool fulfilled, Handle value) noexcept {
  if (host == nullptr) return;
  auto found = host->imports.find(id);
  if (found == host->imports.end()) return;
  Local<Promise::Resolver> resolver = found->second.Get(isolate);
  host->imports.erase(found);
  Local<Context> context;
  if (!selfprof::CreationContext(isolate, resolver.As<Object>()).ToLocal(&context)) return;
  Context::Scope scope(context);
  selfprof::Catch caught(isolate);
  if (fulfilled) {
    resolver->Resolve(context, FromHandle<Value>(value)).FromMaybe(false);
  } else {
    resolver->Reject(context, FromHandle<Value>(value)).FromMaybe(false);
  }
}
