// The narrow C face of v8::CpuProfiler and of Node's environment hooks.
//
// Handles are opaque. No exception and no handle crosses this border. "JS thread" is the thread of the isolate that a
// handle was made in; every function says which thread may call it.

#include <pthread.h>
#include <signal.h>
#include <uv.h>

#include <climits>
#include <cstdint>

#include "compat.h"

#define SELFPROF_API extern "C"

struct SelfprofSample {
  int64_t timestamp_us;
  const v8::CpuProfileNode* node;
  int32_t state;
};

struct SelfprofNode {
  const v8::CpuProfileNode* parent;
  const char* name;      // UTF-8; lives as long as the profile
  const char* resource;  // UTF-8; lives as long as the profile
  int32_t script_id;
  int32_t line;    // 1-based, 0 when unknown
  int32_t column;  // 1-based, 0 when unknown
  int32_t source_type;
};

// Any thread. The value of process.versions.modules that these headers belong to.
SELFPROF_API int32_t selfprof_built_for() noexcept { return NODE_MODULE_VERSION; }

// Any thread. The clock of sample timestamps, in microseconds: V8's TimeTicks and libuv's hrtime are both
// CLOCK_MONOTONIC, but TimeTicks::Now() adds one, so that it is never 0.
SELFPROF_API uint64_t selfprof_now_us() noexcept { return uv_hrtime() / 1000 + 1; }

// Any thread. The same clock in nanoseconds.
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

// JS thread. `hook(data)` runs at process.exit(), which skips the clean-up hooks of the main thread, and when the program
// sends itself a signal without a handler in JavaScript: Node cannot tell whether that one ends the process.
SELFPROF_API void selfprof_at_exit(node::Environment* environment, void (*hook)(void*), void* data) noexcept {
  node::AtExit(environment, hook, data);
}

// Any thread, while the environment lives. `callback(data)` runs on the JS thread soon: between two JavaScript
// instructions, or from the event loop when that is idle. It may not run JavaScript.
SELFPROF_API void selfprof_request_interrupt(node::Environment* environment, void (*callback)(void*),
                                             void* data) noexcept {
  node::RequestInterrupt(environment, callback, data);
}

// JS thread. Lives until selfprof_profiler_dispose.
SELFPROF_API v8::CpuProfiler* selfprof_profiler_new(v8::Isolate* isolate, int32_t lazy,
                                                    int32_t base_interval_us) noexcept {
  v8::HandleScope scope(isolate);
  v8::CpuProfiler* profiler =
      v8::CpuProfiler::New(isolate, v8::kStandardNaming, lazy ? v8::kLazyLogging : v8::kEagerLogging);
  profiler->SetSamplingInterval(base_interval_us);
  return profiler;
}

// JS thread. No run may be going and every profile must have been deleted: V8 aborts otherwise.
SELFPROF_API void selfprof_profiler_dispose(v8::CpuProfiler* profiler) noexcept { profiler->Dispose(); }

// JS thread. Starts a run; returns false when V8 refuses (100 are going).
SELFPROF_API bool selfprof_profiler_start(v8::Isolate* isolate, v8::CpuProfiler* profiler, int32_t interval_us,
                                          uint32_t max_samples, uint32_t* id) noexcept {
  v8::HandleScope scope(isolate);
  v8::CpuProfilingResult result =
      profiler->Start(v8::CpuProfilingOptions(v8::kLeafNodeLineNumbers, max_samples, interval_us));
  *id = result.id;
  return result.status == v8::CpuProfilingStatus::kStarted;
}

// JS thread. Ends a run. The profile lives until selfprof_profile_delete.
SELFPROF_API v8::CpuProfile* selfprof_profiler_stop(v8::Isolate* isolate, v8::CpuProfiler* profiler,
                                                    uint32_t id) noexcept {
  v8::HandleScope scope(isolate);
  return profiler->Stop(id);
}

// JS thread. Takes a sample now in every run of the isolate.
SELFPROF_API void selfprof_collect_sample(v8::Isolate* isolate) noexcept {
  v8::CpuProfiler::CollectSample(isolate);
}

// JS thread. Takes a sample now in every run of the isolate, and gives the time in which it took that one and no other:
// V8's sampling signal has to wait, and the clock moves on before it and after it.
SELFPROF_API void selfprof_collect_sample_alone(v8::Isolate* isolate, uint64_t* from_us, uint64_t* to_us) noexcept {
  sigset_t sampling, before;
  sigemptyset(&sampling);
  sigaddset(&sampling, SIGPROF);
  pthread_sigmask(SIG_BLOCK, &sampling, &before);
  const auto next_microsecond = [] {
    const uint64_t now = selfprof_now_us();
    uint64_t next;
    do next = selfprof_now_us();
    while (next == now);
    return next;
  };
  *from_us = next_microsecond();
  v8::CpuProfiler::CollectSample(isolate);
  *to_us = next_microsecond() - 1;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// JS thread, before the profiler is disposed, when no other thread reads the profile.
SELFPROF_API void selfprof_profile_delete(v8::CpuProfile* profile) noexcept { profile->Delete(); }

// Any one thread, until the profile is deleted; a finished profile no longer changes.
SELFPROF_API int32_t selfprof_profile_sample_count(const v8::CpuProfile* profile) noexcept {
  return profile->GetSamplesCount();
}

// As above.
SELFPROF_API int64_t selfprof_profile_end_us(const v8::CpuProfile* profile) noexcept {
  return profile->GetEndTime();
}

// As above. Fills `count` samples from the first on.
SELFPROF_API void selfprof_profile_samples(const v8::CpuProfile* profile, int32_t count,
                                           SelfprofSample* samples) noexcept {
  for (int32_t index = 0; index < count; ++index) {
    samples[index].timestamp_us = profile->GetSampleTimestamp(index);
    samples[index].node = profile->GetSample(index);
    samples[index].state = selfprof::PortableState(profile->GetSampleState(index));
  }
}

// As above.
SELFPROF_API void selfprof_node_read(const v8::CpuProfileNode* node, SelfprofNode* out) noexcept {
  out->parent = node->GetParent();
  out->name = node->GetFunctionNameStr();
  out->resource = node->GetScriptResourceNameStr();
  out->script_id = node->GetScriptId();
  out->line = node->GetLineNumber();
  out->column = node->GetColumnNumber();
  out->source_type = node->GetSourceType();
}
