// A thread whose contexts run untrusted scripts: in the middle of such a script, V8 calls back into its embedder, and Node's
// answers are objects of Node's own realm, through which a script could reach everything.
//
// For a thread that hosts pages and does nothing else: Node's own callbacks are replaced, so the thread's own import() and
// Error.prepareStackTrace do not work. All functions are for the JS thread, inside a native function that JavaScript called.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "catch.h"
#include "full_stack.h"
#include "handles.h"
#include "muted_exceptions.h"
#include "syntax_tree.h"
#include "untrusted_thread.h"

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
// The same for what it does with rejected promises.
namespace node {
[[gnu::weak]] void PromiseRejectCallback(v8::PromiseRejectMessage message);
}

namespace {

// One per thread, from the first call of selfprof_host_pages until its environment is torn down: the handles must be released
// before the isolate is.
struct Host {
  // The contexts in which eval is disabled: Node's own first, then others that scripts can reach.
  std::vector<Global<Context>> without_eval;
  Global<Function> import_module;
  Global<Function> is_host_site;
  Global<Function> format_stack;
  Global<Function> promise_rejected;
  // A function that does nothing, in JavaScript: V8 checks no stack for others.
  Global<Function> empty;
  // The promises of import() that are not settled yet. They keep their contexts alive.
  std::unordered_map<uint32_t, Global<Promise::Resolver>> imports;
  uint32_t next_import = 1;
};

thread_local Host* host = nullptr;

// eval() and new Function(), in whichever context. main-realm/realm.cjs has the same limit for scripts.
v8::ModifyCodeGenerationFromStringsResult AllowCodeGeneration(Local<Context> context, Local<Value> source, bool) {
  Isolate* isolate = Isolate::GetCurrent();
  bool allowed = true;
  for (const Global<Context>& denied : host->without_eval) allowed = allowed && denied.Get(isolate) != context;
  allowed = allowed && (!source->IsString() || !selfprof::IsTooLargeToCompile(isolate, source.As<String>()));
  if (!allowed || !source->IsString()) return {allowed, {}};
  return {true, selfprof::NameIfMuted(isolate, source.As<String>())};
}

// import(): the promise and its errors belong to the realm that the script runs in. The options that scripts.cc compiles scripts
// with identify the script's realm.
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
  Local<Context> own = host->without_eval.front().Get(isolate);
  {
    Context::Scope scope(own);
    selfprof::Catch caught(isolate);
    std::vector<Local<Value>> pairs;
    for (int index = 0; index < attributes->Length(); ++index) {
      pairs.push_back(selfprof::ElementAt(own, attributes, index).As<Value>());
    }
    Local<Value> arguments[] = {Integer::NewFromUnsigned(isolate, id),
                                selfprof::ElementAt(own, options, 1).As<Value>(), resource, specifier,
                                Array::New(isolate, pairs.data(), pairs.size())};
    // The host's function must not throw; the script must not see it if it does.
    host->import_module.Get(isolate)->Call(own, v8::Undefined(isolate), 5, arguments).FromMaybe(Local<Value>());
  }
  return handles.Escape(resolver->GetPromise());
}

// The value of Error.prepareStackTrace in a context, undefined if there is none. Empty when a getter of the page threw, or was to end with
// its thread.
MaybeLocal<Value> PageFormatter(Local<Context> context) {
  Isolate* isolate = Isolate::GetCurrent();
  Local<Value> error;
  if (!context->Global()->Get(context, String::NewFromUtf8Literal(isolate, "Error")).ToLocal(&error)) return {};
  if (!error->IsObject()) return v8::Undefined(isolate);
  return error.As<Object>()->Get(context, String::NewFromUtf8Literal(isolate, "prepareStackTrace"));
}

// error.stack: a page sees its own frames, as in a browser, and not the paths of the host's files. The array that a page's own
// formatter gets belongs to the page's realm, whichever realm reads the stack first.
MaybeLocal<Value> PrepareStackTrace(Local<Context> context, Local<Value> error, Local<Array> sites) {
  Isolate* isolate = Isolate::GetCurrent();
  v8::EscapableHandleScope handles(isolate);
  Local<Context> own = host->without_eval.front().Get(isolate);
  std::vector<Local<Value>> visible;
  {
    Context::Scope scope(own);
    Local<Function> is_host_site = host->is_host_site.Get(isolate);
    for (uint32_t index = 0; index < sites->Length(); ++index) {
      selfprof::Catch caught(isolate);
      Local<Value> site, hidden;
      if (!sites->Get(own, index).ToLocal(&site)) continue;
      if (!selfprof::IsMainRealm(isolate, context) &&
          (!is_host_site->Call(own, v8::Undefined(isolate), 1, &site).ToLocal(&hidden) || !hidden->IsFalse())) {
        continue;
      }
      visible.push_back(site);
    }
  }
  Local<Value> formatter = v8::Undefined(isolate);
  if (!selfprof::IsMainRealm(isolate, context) && !PageFormatter(context).ToLocal(&formatter)) return {};
  if (formatter->IsFunction()) {
    Context::Scope scope(context);
    Local<Value> arguments[] = {error, Array::New(isolate, visible.data(), visible.size())};
    Local<Value> formatted;
    Local<Function> function = formatter.As<Function>();
    if (!function->Call(context, v8::Undefined(isolate), 2, arguments).ToLocal(&formatted)) return {};
    return handles.Escape(formatted);
  }
  Context::Scope scope(own);
  selfprof::Catch caught(isolate);
  Local<Value> arguments[] = {error, Array::New(isolate, visible.data(), visible.size())};
  Local<Value> formatted;
  if (!host->format_stack.Get(isolate)->Call(own, v8::Undefined(isolate), 2, arguments).ToLocal(&formatted)) {
    return handles.Escape(String::Empty(isolate).As<Value>());
  }
  return handles.Escape(formatted);
}

// As many arguments as fill 64 KB of the stack.
constexpr int kProbe = (64 << 10) / sizeof(void*);

// Whether there is room on the stack for what Node does in a callback: V8 checks that the arguments of a call fit.
bool HasStack(Isolate* isolate) {
  v8::HandleScope handles(isolate);
  selfprof::Catch caught(isolate);
  Local<Context> own = host->without_eval.front().Get(isolate);
  std::vector<Local<Value>> arguments(kProbe, v8::Undefined(isolate));
  return !host->empty.Get(isolate)->Call(own, v8::Undefined(isolate), kProbe, arguments.data()).IsEmpty();
}

// A promise of any context was rejected without a handler, or got one later. Node's own callback reads properties of a promise through the
// prototypes, which a page can answer for, and ends the process when the answers are not those that it expects.
//
// When the stack is too full for a callback, the rejection is not reported.
void OnPromiseRejected(v8::PromiseRejectMessage message) {
  Isolate* isolate = Isolate::GetCurrent();
  if (!HasStack(isolate)) return;
  selfprof::NoteRejection(isolate, message);
  v8::HandleScope handles(isolate);
  Local<Context> own = host->without_eval.front().Get(isolate);
  const v8::PromiseRejectEvent event = message.GetEvent();
  const bool is_rejected = event == v8::kPromiseRejectWithNoHandler;
  if (!is_rejected && event != v8::kPromiseHandlerAddedAfterReject) return;
  Context::Scope scope(own);
  selfprof::Catch caught(isolate);
  Local<Value> reason = message.GetValue();
  if (reason.IsEmpty()) reason = v8::Undefined(isolate);
  Local<Value> arguments[] = {v8::Boolean::New(isolate, is_rejected), message.GetPromise(), reason};
  host->promise_rejected.Get(isolate)->Call(own, v8::Undefined(isolate), 3, arguments).FromMaybe(Local<Value>());
}

// Nothing has caught an exception, as of a callback of FinalizationRegistry.
void OnUncaughtError(Local<v8::Message> message, Local<Value> error) {
  if (message->ErrorLevel() == Isolate::kMessageError) {
    selfprof::NoteException(Isolate::GetCurrent(), error, message);
  }
  node::errors::PerIsolateMessageListener(message, error);
}

// How much more than its limit a heap may hold while its thread ends: more than the largest object that V8 allocates, since an
// allocation cannot be interrupted.
constexpr size_t kLeeway = size_t{2} << 30;

// JS thread, in the middle of an allocation. Node would give a full heap 16 MB more to end in; when one object is larger than
// that, or many survive at once, V8 ends the process. Here only the thread ends: it runs no more JavaScript.
size_t EndThread(void* environment, size_t current, size_t initial) {
  node::Stop(static_cast<node::Environment*>(environment));
  return current < initial + kLeeway ? initial + kLeeway : current;
}

// The thread, from when its environment is torn down until its isolate is disposed, which collects garbage once more: the heap can be over
// its limit then, and V8 ends the process if nobody raises it. There is no environment any more.
size_t AllowLastCollection(void*, size_t current, size_t initial) {
  return current < initial + kLeeway ? initial + kLeeway : current;
}

// How much of its stack JavaScript may fill, as in Node's workers.
constexpr size_t kStackOfScripts = (size_t{4} << 20) - (size_t{192} << 10);

// JS thread. Has V8 keep what its stack has more for itself: some of its functions, such as those that compile regular expressions, recurse without
// a look at the limit. host/thread-handle.cjs gives the thread a larger stack.
void LimitStackOfScripts(Isolate* isolate) {
  const selfprof::Stack stack = selfprof::OwnStack();
  if (stack.size > kStackOfScripts) isolate->SetStackLimit(stack.lowest + stack.size - kStackOfScripts);
}

// JS thread, while its environment is torn down. Callbacks of FinalizationRegistry may still be due then. On Node 22, V8 reports that
// it may not run them as an uncaught error of their context, and Node ends the process when it has given up that context before.
void IgnoreUncaughtErrors(Isolate* isolate) {
  if (node::errors::PerIsolateMessageListener == nullptr) return;
  isolate->RemoveMessageListeners(OnUncaughtError);
}

}  // namespace

bool selfprof::IsMainRealm(Isolate* isolate, Local<Context> context) {
  return host != nullptr && host->without_eval.front().Get(isolate) == context;
}

// Prepares this thread for untrusted scripts. The functions are called with
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
  LimitStackOfScripts(isolate);
  selfprof::BeginNoting(kind_of_script);
  host->without_eval.emplace_back(isolate, isolate->GetCurrentContext());
  host->import_module.Reset(isolate, FromHandle<Function>(import_module));
  host->is_host_site.Reset(isolate, FromHandle<Function>(is_host_site));
  host->format_stack.Reset(isolate, FromHandle<Function>(format_stack));
  host->promise_rejected.Reset(isolate, FromHandle<Function>(promise_rejected));
  Local<Context> own = isolate->GetCurrentContext();
  Local<v8::Script> script;
  Local<Value> empty;
  if (node::PromiseRejectCallback != nullptr &&
      v8::Script::Compile(own, String::NewFromUtf8Literal(isolate, "(function () {})")).ToLocal(&script) &&
      script->Run(own).ToLocal(&empty) && empty->IsFunction()) {
    host->empty.Reset(isolate, empty.As<Function>());
    isolate->SetPromiseRejectCallback(OnPromiseRejected);
  }
  if (node::errors::PerIsolateMessageListener != nullptr) {
    isolate->RemoveMessageListeners(node::errors::PerIsolateMessageListener);
    isolate->AddMessageListenerWithErrorLevel(OnUncaughtError, Isolate::kMessageError | Isolate::kMessageWarning);
  }
  node::AddEnvironmentCleanupHook(
      isolate,
      [](void* data) {
        Isolate* ending = static_cast<Isolate*>(data);
        selfprof::AnswerNoImports(ending);
        ending->RemoveNearHeapLimitCallback(EndThread, 0);
        ending->AddNearHeapLimitCallback(AllowLastCollection, nullptr);
        ending->SetPrepareStackTraceCallback(nullptr);
        ending->SetModifyCodeGenerationFromStringsCallback(nullptr);
        IgnoreUncaughtErrors(ending);
        if (!host->empty.IsEmpty()) ending->SetPromiseRejectCallback(node::PromiseRejectCallback);
        selfprof::EndNoting();
        delete host;
        host = nullptr;
      },
      isolate);
  isolate->AddNearHeapLimitCallback(EndThread, node::GetCurrentEnvironment(isolate->GetCurrentContext()));
  isolate->SetModifyCodeGenerationFromStringsCallback(AllowCodeGeneration);
  selfprof::AnswerImports<ImportModule>(isolate);
  isolate->SetPrepareStackTraceCallback(PrepareStackTrace);
  // Node does this for each of its contexts: otherwise V8 does not call AllowCodeGeneration.
  isolate->GetCurrentContext()->AllowCodeGenerationFromStrings(false);
  return true;
}

// Disables eval in the context that `anchor` was made in. Returns false when the thread hosts no pages.
SELFPROF_API bool selfprof_forbid_eval(Isolate* isolate, Handle anchor) noexcept {
  Local<Value> value = FromHandle<Value>(anchor);
  Local<Context> context;
  if (host == nullptr || !value->IsObject() ||
      !selfprof::CreationContext(isolate, value.As<Object>()).ToLocal(&context)) {
    return false;
  }
  context->AllowCodeGenerationFromStrings(false);
  host->without_eval.emplace_back(isolate, context);
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
