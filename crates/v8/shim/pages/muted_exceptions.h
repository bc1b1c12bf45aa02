// Which exceptions and rejections come from muted scripts.
#ifndef SELFPROF_MUTED_EXCEPTIONS_H_
#define SELFPROF_MUTED_EXCEPTIONS_H_

#include "../handles.h"

namespace selfprof {

// Returns the ScriptKind of a script id.
using KindOfScript = int32_t (*)(int32_t script_id);

// Makes this thread note exceptions, until EndNoting, which is to be called before the isolate is torn down.
void BeginNoting(KindOfScript kind_of_script);
void EndNoting();

// A muted script is about to be compiled on this thread.
void ExpectMutedScript(v8::Isolate* isolate);

// Notes a promise that is rejected without a handler: its script is on the stack.
void NoteRejection(v8::Isolate* isolate, const v8::PromiseRejectMessage& rejection);

}  // namespace selfprof

#endif  // SELFPROF_MUTED_EXCEPTIONS_H_
