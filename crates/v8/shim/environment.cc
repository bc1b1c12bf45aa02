// The isolate and the Node environment of a thread, and the clock.

#include <cstdint>

#include "clock.h"
#include "handles.h"

// Any thread. The value of process.versions.modules that these headers belong to.
SELFPROF_API int32_t selfprof_built_for() noexcept { return NODE_MODULE_VERSION; }

// Any thread. The clock of sample timestamps, in microseconds.
SELFPROF_API uint64_t selfprof_now_us() noexcept { return selfprof::NowMicros(); }

// Any thread. The same clock, in nanoseconds.
SELFPROF_API uint64_t selfprof_now_ns() noexcept { return uv_hrtime(); }

// JS thread. Null outside an isolate.
SELFPROF_API v8::Isolate* selfprof_isolate() noexcept { return v8::Isolate::GetCurrent(); }

// JS thread. Null outside a Node environment.
SELFPROF_API node::Environment* selfprof_environment(v8::Isolate* isolate) noexcept {
  v8::HandleScope scope(isolate);
  v8::Local<v8::Context> context = isolate->GetCurrentContext();
  return context.IsEmpty() ? nullptr : node::GetCurrentEnvironment(context);
}

// JS thread. `hook(data)` runs when the environment is torn down: at the end of a worker however it ends, and at a
// normal end of the main thread.
SELFPROF_API void selfprof_at_cleanup(v8::Isolate* isolate, void (*hook)(void*), void* data) noexcept {
  node::AddEnvironmentCleanupHook(isolate, hook, data);
}

// JS thread. `hook(data)` runs at process.exit(), which skips the clean-up hooks of the main thread, and when the
// program sends itself a signal without a handler in JavaScript: Node cannot tell whether that one ends the process.
SELFPROF_API void selfprof_at_exit(node::Environment* environment, void (*hook)(void*), void* data) noexcept {
  node::AtExit(environment, hook, data);
}

// Any thread, while the environment lives. `callback(data)` runs on the JS thread soon: between two JavaScript
// instructions, or from the event loop when that is idle. It may not run JavaScript.
SELFPROF_API void selfprof_request_interrupt(node::Environment* environment, void (*callback)(void*),
                                             void* data) noexcept {
  node::RequestInterrupt(environment, callback, data);
}

