// Which exceptions and rejections come from muted scripts.
#ifndef SELFPROF_MUTED_EXCEPTIONS_H_
#define SELFPROF_MUTED_EXCEPTIONS_H_

#include "handles.h"

namespace selfprof {

// What is known of a script by its id.
using KindOfScript = int32_t (*)(int32_t script_id);

// From now on, notes the exceptions of this thread. `kind_of_script` returns a ScriptKind.
void BeginNoting(KindOfScript kind_of_script);

// To be called before the isolate is torn down.
void EndNoting();

// A muted script is about to be compiled on this thread.
void ExpectMutedScript(v8::Isolate* isolate);

// Notes an exception that is about to be reported. An empty message is that of no script.
void NoteException(v8::Isolate* isolate, v8::Local<v8::Value> exception, v8::Local<v8::Message> message);

// Notes a promise that is rejected without a handler: its script is on the stack.
void NoteRejection(v8::Isolate* isolate, const v8::PromiseRejectMessage& rejection);

// Returns the text that eval or new Function is to compile. If a muted script calls them now, the text gets a name by which its code is
// known later.
v8::Local<v8::String> NameIfMuted(v8::Isolate* isolate, v8::Local<v8::String> source);

}  // namespace selfprof

#endif  // SELFPROF_MUTED_EXCEPTIONS_H_
