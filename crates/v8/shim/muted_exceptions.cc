// Which exceptions and rejections come from muted scripts, whose errors their page must not see.
//
// jsdom is JavaScript: it calls a page's functions and catches what they throw, and V8 then no longer knows where an exception came
// from unless it is an Error. So jsdom calls them by a native function, which asks V8 in time.
//
// All functions are for the JS thread, inside a native function that JavaScript called, or a callback of V8's.

#include "muted_exceptions.h"

#include <algorithm>
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

// How many frames of an exception V8 keeps for this: functions of the host, and code made by eval, can be above those of the script.
constexpr int kMaxFrames = 128;
constexpr auto kFrameOptions = static_cast<StackTrace::StackTraceOptions>(
    StackTrace::kDetailed | StackTrace::kExposeFramesAcrossSecurityOrigins);

// An exception that was caught, and where in a muted script it came from; empty if it came from elsewhere.
struct Note {
  Global<Value> exception;
  std::string place;
};

// One per thread that hosts pages, until its environment is torn down.
struct Noted {
  selfprof::KindOfScript kind_of_script;
  // Nothing is asked of V8 before the thread has a muted script.
  bool has_muted_scripts = false;
  // The last exception, and before that those of muted scripts that nobody has asked for. Before the host asks, a getter of the page can run, in
  // which others are noted.
  std::vector<Note> notes;
};

// How many notes are kept: what a muted script throws and somebody catches is never asked for.
constexpr size_t kMaxNotes = 16;

thread_local Noted* noted = nullptr;

// The note of an exception, or the end of the notes.
std::vector<Note>::iterator FindNote(Isolate* isolate, Local<Value> exception) {
  return std::find_if(noted->notes.begin(), noted->notes.end(), [&](const Note& note) {
    return note.exception.Get(isolate)->SameValue(exception);
  });
}

ScriptKind KindOf(int32_t script_id) { return static_cast<ScriptKind>(noted->kind_of_script(script_id)); }

std::string PlaceAt(Isolate* isolate, Local<Value> url, int line, int column) {
  String::Utf8Value text(isolate, url);
  std::string place = !url.IsEmpty() && url->IsString() && *text != nullptr ? std::string(*text, text.length()) : "";
  return place + ":" + std::to_string(line) + ":" + std::to_string(column);
}

std::string PlaceOf(Isolate* isolate, Local<StackFrame> frame) {
  return PlaceAt(isolate, frame->GetScriptNameOrSourceURL(), frame->GetLineNumber(), frame->GetColumn());
}

// The name of code that a muted script has made by eval or new Function: V8 does not tell which script has made the code of a frame.
constexpr char kEvaluatedByMuted[] = "evaluated-by-a-muted-script";

bool IsNameOfMuted(Isolate* isolate, Local<Value> name) {
  return !name.IsEmpty() && name->IsString() &&
         name.As<String>()->StringEquals(String::NewFromUtf8Literal(isolate, kEvaluatedByMuted));
}

enum class Origin { kUnknown, kShown, kMuted };

// Looks in a stack for the innermost script of a page, or for code that a muted script has made. Other code made by eval, and WebAssembly,
// belong to the script that called them. WebAssembly that the host has called, as a listener, counts as muted: it may be any script's.
Origin FindOrigin(Isolate* isolate, Local<StackTrace> stack, std::string* place) {
  if (stack.IsEmpty()) return Origin::kUnknown;
  int count = stack->GetFrameCount();
  Local<StackFrame> wasm;
  for (int index = 0; index < count; ++index) {
    Local<StackFrame> frame = stack->GetFrame(isolate, index);
    ScriptKind kind = KindOf(frame->GetScriptId());
    if (kind == ScriptKind::kShown) return Origin::kShown;
    if (kind == ScriptKind::kMuted || IsNameOfMuted(isolate, frame->GetScriptNameOrSourceURL())) {
      *place = PlaceOf(isolate, frame);
      return Origin::kMuted;
    }
    if (frame->IsWasm()) {
      wasm = frame;
    } else if (frame->IsEval()) {
      wasm.Clear();
    } else if (!wasm.IsEmpty()) {
      break;
    }
  }
  if (wasm.IsEmpty() && count < kMaxFrames) return Origin::kUnknown;
  // Without WebAssembly, all frames are code made by eval, and its caller is too far out to be known.
  *place = PlaceOf(isolate, wasm.IsEmpty() ? stack->GetFrame(isolate, 0) : wasm);
  return Origin::kMuted;
}

// Whether an error is one in a text that JSON.parse or eval was called with. V8 makes a script of it, with an id and no name. No script of
// a page has called them when such an error has an unknown origin. Chromium hides these errors, and no others of built-in functions.
bool IsTextOfBuiltin(Isolate* isolate, const v8::ScriptOrigin& origin) {
  Local<Value> name = origin.ResourceName();
  bool has_name = !name.IsEmpty() && name->IsString() && name.As<String>()->Length() > 0;
  return origin.ScriptId() > 0 && !has_name && KindOf(origin.ScriptId()) == ScriptKind::kUnknown;
}

// Whether the innermost code in a stack is the host's, which calls listeners and throws errors of its own, or there is none.
bool IsCalledByHost(Isolate* isolate, Local<StackTrace> stack) {
  if (stack.IsEmpty() || stack->GetFrameCount() == 0) return true;
  Local<StackFrame> innermost = stack->GetFrame(isolate, 0);
  return !innermost->IsEval() && KindOf(innermost->GetScriptId()) == ScriptKind::kUnknown;
}

// The same for an exception. V8 gives code made by eval the flags of the script that called it.
Origin FindOrigin(Isolate* isolate, Local<Message> message, std::string* place) {
  if (message.IsEmpty()) return Origin::kUnknown;
  v8::ScriptOrigin origin = message->GetScriptOrigin();
  Local<StackTrace> stack = message->GetStackTrace();
  bool is_text = IsTextOfBuiltin(isolate, origin);
  bool is_evaluated = IsNameOfMuted(isolate, origin.ResourceName());
  // The page can be what made the host call.
  bool is_decided = is_evaluated || (is_text && IsCalledByHost(isolate, stack));
  Origin found = is_decided ? Origin::kUnknown : FindOrigin(isolate, stack, place);
  if (found != Origin::kUnknown) return found;
  bool is_muted =
      is_text || is_evaluated || origin.Options().IsOpaque() ||
      KindOf(origin.ScriptId()) == ScriptKind::kMuted;
  if (!is_muted) return Origin::kUnknown;
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

// V8 allows about as many arguments before the stack is full.
constexpr uint32_t kMaxArguments = 65'535;

// As Reflect.apply, for arguments in an array. What the function throws is noted.
void Apply(const v8::FunctionCallbackInfo<Value>& info) {
  Isolate* isolate = info.GetIsolate();
  Local<Context> context = isolate->GetCurrentContext();
  if (!info[0]->IsFunction() || !info[2]->IsArray() || info[2].As<Array>()->Length() > kMaxArguments) {
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
  if (caught->CanContinue()) selfprof::NoteException(isolate, caught->Exception(), caught->Message());
  // The message, and with it the origin, stays that of the exception.
  caught->ReThrow();
}

}  // namespace

void selfprof::BeginNoting(KindOfScript kind_of_script) { noted = new Noted{kind_of_script, false, {}}; }

void selfprof::EndNoting() {
  delete noted;
  noted = nullptr;
}

void selfprof::ExpectMutedScript(Isolate* isolate) {
  if (noted == nullptr || noted->has_muted_scripts) return;
  noted->has_muted_scripts = true;
  // Without this, a message has no stack: of an Error that a method of jsdom throws, V8 then knows nothing but jsdom's script.
  isolate->SetCaptureStackTraceForUncaughtExceptions(true, kMaxFrames, kFrameOptions);
}

void selfprof::NoteException(Isolate* isolate, Local<Value> exception, Local<Message> message) {
  if (noted == nullptr || !noted->has_muted_scripts) return;
  v8::HandleScope handles(isolate);
  std::vector<Note>& notes = noted->notes;
  // The host can catch an exception in the main realm and throw it again in the DOM realm. What was noted first stays.
  auto again = FindNote(isolate, exception);
  if (again != notes.end()) {
    if (message.IsEmpty() || IsCalledByHost(isolate, message->GetStackTrace())) return;
    notes.erase(again);
  }
  if (!notes.empty() && notes.back().place.empty()) notes.pop_back();
  if (notes.size() == kMaxNotes) notes.erase(notes.begin());
  Note note{Global<Value>(isolate, exception), {}};
  FindOrigin(isolate, message, &note.place);
  notes.push_back(std::move(note));
}

void selfprof::NoteRejection(Isolate* isolate, const v8::PromiseRejectMessage& rejection) {
  if (noted == nullptr || !noted->has_muted_scripts ||
      rejection.GetEvent() != v8::kPromiseRejectWithNoHandler) {
    return;
  }
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

Local<String> selfprof::NameIfMuted(Isolate* isolate, Local<String> source) {
  if (noted == nullptr || !noted->has_muted_scripts) return source;
  std::string place;
  Local<StackTrace> stack = StackTrace::CurrentStackTrace(isolate, kMaxFrames, kFrameOptions);
  // When the host calls eval, as a listener, it is not known whose listener that is.
  if (!IsCalledByHost(isolate, stack) && FindOrigin(isolate, stack, &place) != Origin::kMuted) return source;
  // The last such comment counts.
  std::string comment = std::string("\n//# sourceURL=") + kEvaluatedByMuted;
  return String::Concat(isolate, source, ToText(isolate, comment));
}

// A function `(callee, this, [argument, ...])` of the context that `anchor` was made in. Returns null when there is no such context.
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
  if (noted == nullptr || !noted->has_muted_scripts) return nullptr;
  Local<Value> value = FromHandle<Value>(exception);
  std::string place;
  auto note = FindNote(isolate, value);
  if (note != noted->notes.end()) {
    place = std::move(note->place);
    noted->notes.erase(note);
  } else {
    selfprof::Catch caught(isolate);
    FindOrigin(isolate, v8::Exception::CreateMessage(isolate, value), &place);
  }
  return place.empty() ? nullptr : ToHandle(ToText(isolate, place));
}

// The same for a promise that was rejected without a handler.
SELFPROF_API Handle selfprof_muted_rejection(Isolate* isolate, Handle promise) noexcept {
  Local<Value> value = FromHandle<Value>(promise);
  if (noted == nullptr || !noted->has_muted_scripts || !value->IsPromise()) return nullptr;
  Local<Value> place;
  if (!value.As<Object>()->GetPrivate(isolate->GetCurrentContext(), PlaceOfRejection(isolate)).ToLocal(&place) ||
      !place->IsString()) {
    return nullptr;
  }
  return ToHandle(place);
}

// Collects garbage, of which the isolate has not much when this returns.
SELFPROF_API void selfprof_collect_garbage(Isolate* isolate) noexcept { isolate->LowMemoryNotification(); }
