// What is known of a thread that hosts pages.
#ifndef SELFPROF_UNTRUSTED_THREAD_H_
#define SELFPROF_UNTRUSTED_THREAD_H_

#include "handles.h"

namespace selfprof {

// Whether the calling thread hosts pages, and this is the context that it does so from. Scripts of pages must get no object of it.
bool IsMainRealm(v8::Isolate* isolate, v8::Local<v8::Context> context);

}  // namespace selfprof

#endif  // SELFPROF_UNTRUSTED_THREAD_H_
