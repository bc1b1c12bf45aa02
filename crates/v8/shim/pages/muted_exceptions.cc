// Which exceptions and rejections come from muted scripts, whose errors their page must not see.
//
// jsdom is JavaScript: it calls a page's functions and catches what they throw, and V8 then no longer knows where an
// exception came from unless it is an Error. So jsdom calls them by a native function, which asks V8 in time.
//
// All functions are for the JS thread, inside a native function that JavaScript called, or a callback of V8's.

#include "muted_exceptions.h"

#include <string>
#include <utility>
#include <vector>

#include "catch.h"

using selfprof::FromHandle;
using selfprof::Handle;
using selfprof::ScriptKind;
using selfprof::ToHandle;
using v8::Array;
using v8::Context;
using v8::Function;
using v8::Global;
using v8::Isolate;
using v8::Local;
using v8::Message;
using v8::Object;
using v8::Private;
using v8::StackFrame;
using v8::StackTrace;
using v8::String;
using v8::Value;

namespace {

// How many frames of an exception V8 keeps for this: functions of the host, and code made by eval, can be above those
// of the script.
constexpr int kMaxFrames = 128;
constexpr auto kFrameOptions = static_cast<StackTrace::StackTraceOptions>(
    StackTrace::kDetailed | StackTrace::kExposeFramesAcrossSecurityOrigins);

// One per thread that hosts pages, until its environment is torn down.
struct Noted {
  selfprof::KindOfScript kind_of_script;
  // Nothing is asked of V8 before the thread has a muted script.
  bool has_muted_scripts = false;
  // The last exception that was caught, until it is asked for, and its place in a muted script; empty if it came from
  // elsewhere.
  Global<Value> exception;
  std::string place;
};

thread_local Noted* noted = nullptr;

bool HasMutedScripts() { return noted != nullptr && noted->has_muted_scripts; }

ScriptKind KindOf(int32_t script_id) { return static_cast<ScriptKind>(noted->kind_of_script(script_id)); }

std::string PlaceAt(Isolate* isolate, Local<Value> url, int line, int column) {
  std::string text = !url.IsEmpty() && url->IsString() ? *String::Utf8Value(isolate, url) : "";
  return text + ":" + std::to_string(line) + ":" + std::to_string(column);
}

enum class Origin { kUnknown, kShown, kMuted };

// Looks in a stack for the innermost script of a page. Other code belongs to the script that called it.
Origin FindOrigin(Isolate* isolate, Local<StackTrace> stack, std::string* place) {
  for (int index = 0; !stack.IsEmpty() && index < stack->GetFrameCount(); ++index) {
    Local<StackFrame> frame = stack->GetFrame(isolate, index);
    ScriptKind kind = KindOf(frame->GetScriptId());
    if (kind == ScriptKind::kShown) return Origin::kShown;
    if (kind == ScriptKind::kUnknown) continue;
    *place = PlaceAt(isolate, frame->GetScriptNameOrSourceURL(), frame->GetLineNumber(), frame->GetColumn());
    return Origin::kMuted;
  }
  return Origin::kUnknown;
}

// The same for an exception. V8 gives code made by eval the flags of the script that called it.
Origin FindOrigin(Isolate* isolate, Local<Message> message, std::string* place) {
  if (message.IsEmpty()) return Origin::kUnknown;
  Origin found = FindOrigin(isolate, message->GetStackTrace(), place);
  v8::ScriptOrigin origin = message->GetScriptOrigin();
  if (found == Origin::kMuted || !origin.Options().IsOpaque()) return found;
  int line = message->GetLineNumber(isolate->GetCurrentContext()).FromMaybe(0);
  *place = PlaceAt(isolate, origin.ResourceName(), line, message->GetStartColumn() + 1);
  return Origin::kMuted;
}

Local<Private> PlaceOfRejection(Isolate* isolate) {
  return Private::ForApi(isolate, String::NewFromUtf8Literal(isolate, "selfprof muted rejection"));
}

Local<String> ToText(Isolate* isolate, const std::string& text) {
  return String::NewFromUtf8(isolate, text.data(), v8::NewStringType::kNormal, static_cast<int>(text.size()))
      .FromMaybe(String::Empty(isolate));
}

void NoteException(Isolate* isolate, Local<Value> exception, Local<Message> message) {
  if (!HasMutedScripts()) return;
  v8::HandleScope handles(isolate);
  std::string place;
  // Code of jsdom can catch an exception and throw it again. What was noted first stays.
  bool is_again = noted->exception.Get(isolate)->SameValue(exception);
  if (FindOrigin(isolate, message, &place) == Origin::kUnknown && is_again) return;
  noted->exception.Reset(isolate, exception);
  noted->place = place;
}

// As Reflect.apply, for arguments in an array. What the function throws is noted.
void Apply(const v8::FunctionCallbackInfo<Value>& info) {
  Isolate* isolate = info.GetIsolate();
  Local<Context> context = isolate->GetCurrentContext();
  if (!info[0]->IsFunction() || !info[2]->IsArray()) {
    isolate->ThrowException(
        v8::Exception::TypeError(String::NewFromUtf8Literal(isolate, "a function is called with an array")));
    return;
  }
  Local<Array> list = info[2].As<Array>();
  std::vector<Local<Value>> arguments(list->Length());
  for (uint32_t index = 0; index < arguments.size(); ++index) {
    if (!list->Get(context, index).ToLocal(&arguments[index])) return;
  }
  selfprof::Catch caught(isolate);
  Local<Value> result;
  if (info[0].As<Function>()
          ->Call(context, info[1], static_cast<int>(arguments.size()), arguments.data())
          .ToLocal(&result)) {
    info.GetReturnValue().Set(result);
    return;
  }
  if (caught->CanContinue()) NoteException(isolate, caught->Exception(), caught->Message());
  // The message, and with it the origin, stays that of the exception.
  caught->ReThrow();
}

}  // namespace

void selfprof::BeginNoting(KindOfScript kind_of_script) { noted = new Noted{kind_of_script, false, {}, {}}; }

void selfprof::EndNoting() {
  delete noted;
  noted = nullptr;
}

void selfprof::ExpectMutedScript(Isolate* isolate) {
  if (noted == nullptr || noted->has_muted_scripts) return;
  noted->has_muted_scripts = true;
  noted->exception.Reset(isolate, v8::Undefined(isolate));
  // Without this, a message has no stack: of an Error that a method of jsdom throws, V8 then knows nothing but jsdom's
  // script.
  isolate->SetCaptureStackTraceForUncaughtExceptions(true, kMaxFrames, kFrameOptions);
}

void selfprof::NoteRejection(Isolate* isolate, const v8::PromiseRejectMessage& rejection) {
  if (!HasMutedScripts() || rejection.GetEvent() != v8::kPromiseRejectWithNoHandler) return;
  v8::HandleScope handles(isolate);
  selfprof::Catch caught(isolate);
  std::string place;
  Origin found = FindOrigin(isolate, v8::Exception::CreateMessage(isolate, rejection.GetValue()), &place);
  // An error of the host's comes from no script, but a script can be what rejects with it.
  if (found == Origin::kUnknown) {
    found = FindOrigin(isolate, StackTrace::CurrentStackTrace(isolate, kMaxFrames, kFrameOptions), &place);
  }
  if (found != Origin::kMuted) return;
  Local<Object> promise = rejection.GetPromise();
  promise->SetPrivate(isolate->GetCurrentContext(), PlaceOfRejection(isolate), ToText(isolate, place)).FromMaybe(false);
}

// A function `(callee, this, [argument, ...])` of the context that `anchor` was made in. Returns null when there is no
// such context.
SELFPROF_API Handle selfprof_noting_apply(Isolate* isolate, Handle anchor) noexcept {
  Local<Value> value = FromHandle<Value>(anchor);
  Local<Context> context;
  Local<Function> apply;
  if (!value->IsObject() || !selfprof::CreationContext(isolate, value.As<Object>()).ToLocal(&context)) return nullptr;
  Context::Scope scope(context);
  if (!Function::New(context, Apply, Local<Value>(), 3, v8::ConstructorBehavior::kThrow).ToLocal(&apply)) return nullptr;
  apply->SetName(String::NewFromUtf8Literal(isolate, "apply"));
  return ToHandle(apply);
}

// Where in a muted script an exception came from, as `URL:line:column`; null if it came from elsewhere.
SELFPROF_API Handle selfprof_muted_exception(Isolate* isolate, Handle exception) noexcept {
  if (!HasMutedScripts()) return nullptr;
  Local<Value> value = FromHandle<Value>(exception);
  std::string place;
  if (noted->exception.Get(isolate)->SameValue(value)) {
    place = std::move(noted->place);
    noted->place.clear();
    noted->exception.Reset(isolate, v8::Undefined(isolate));
  } else {
    selfprof::Catch caught(isolate);
    FindOrigin(isolate, v8::Exception::CreateMessage(isolate, value), &place);
  }
  return place.empty() ? nullptr : ToHandle(ToText(isolate, place));
}

// The same for a promise that was rejected without a handler.
SELFPROF_API Handle selfprof_muted_rejection(Isolate* isolate, Handle promise) noexcept {
  Local<Value> value = FromHandle<Value>(promise);
  if (!HasMutedScripts() || !value->IsPromise()) return nullptr;
  Local<Value> place;
  if (!value.As<Object>()->GetPrivate(isolate->GetCurrentContext(), PlaceOfRejection(isolate)).ToLocal(&place) ||
      !place->IsString()) {
    return nullptr;
  }
  return ToHandle(place);
}
