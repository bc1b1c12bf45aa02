// What runs before an isolate is out of memory.

#include "handles.h"

// JS thread. Until selfprof_heap_limit_forget, V8 calls `callback(data, limit, initial limit)` on the JS thread when
// the heap nears its limit, and takes the result as the limit from then on. V8 calls only the callback that was added
// last. It may be called between any two allocations, so it may not run JavaScript, and should not allocate on V8's
// heap.
SELFPROF_API void selfprof_heap_limit_watch(v8::Isolate* isolate, v8::NearHeapLimitCallback callback,
                                            void* data) noexcept {
  isolate->AddNearHeapLimitCallback(callback, data);
}

// JS thread, before the isolate ends. V8 aborts if the callback was not added.
SELFPROF_API void selfprof_heap_limit_forget(v8::Isolate* isolate, v8::NearHeapLimitCallback callback) noexcept {
  constexpr size_t kKeepLimit = 0;
  isolate->RemoveNearHeapLimitCallback(callback, kKeepLimit);
}
