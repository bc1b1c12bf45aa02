// Where native code fills the stack of a thread.
#ifndef SELFPROF_FULL_STACK_H_
#define SELFPROF_FULL_STACK_H_

#include <cstddef>
#include <cstdint>

namespace selfprof {

// The stack of the current thread: its lowest address, and its size in bytes. Both are 0 if they cannot be found out.
struct Stack {
  uintptr_t lowest = 0;
  size_t size = 0;
};
Stack OwnStack();

// Of the current thread, until UnwatchStack. Calls `end_thread`, on the thread and in a signal handler, where native code is about to use the last
// megabyte of its stack: it must not return. Does nothing if the stack is too small to spare that, or if too many stacks are watched.
void WatchStack(void (*end_thread)());

// Does nothing if the thread's stack is not watched.
void UnwatchStack();

// Whether a signal has interrupted what may hold a lock that other threads wait for: a library, or V8 while it takes a sample. `context` is what the
// signal's handler gets. Only while a stack is watched.
bool MayHoldLock(const void* context);

}  // namespace selfprof

#endif  // SELFPROF_FULL_STACK_H_
