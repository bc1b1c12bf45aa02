// v8::CpuProfiler, and what a finished profile holds.

#include <pthread.h>
#include <signal.h>

#include <cstddef>
#include <cstdint>

#include "clock.h"
#include "handles.h"

using selfprof::NowMicros;

// src/ffi.rs has the same structs.
struct SelfprofSample {
  int64_t timestamp_us;
  const v8::CpuProfileNode* node;
  selfprof::AgentState state;
};
static_assert(sizeof(SelfprofSample) == 24 && offsetof(SelfprofSample, node) == 8 &&
              offsetof(SelfprofSample, state) == 16);

struct SelfprofNode {
  const v8::CpuProfileNode* parent;
  const char* name;      // UTF-8; lives as long as the profile
  const char* resource;  // UTF-8; lives as long as the profile
  int32_t script_id;
  int32_t line;    // 1-based, 0 when unknown
  int32_t column;  // 1-based, 0 when unknown
  int32_t source_type;
};
static_assert(sizeof(SelfprofNode) == 40 && offsetof(SelfprofNode, resource) == 16 &&
              offsetof(SelfprofNode, script_id) == 24 && offsetof(SelfprofNode, source_type) == 36);

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

// JS thread. Takes a sample now in every run of the isolate, and returns a time range in which no other sample was
// taken: V8's sampling signal is blocked meanwhile, and the clock advances before the sample and after it.
SELFPROF_API void selfprof_collect_sample_alone(v8::Isolate* isolate, uint64_t* from_us, uint64_t* to_us) noexcept {
  sigset_t sampling, before;
  sigemptyset(&sampling);
  sigaddset(&sampling, SIGPROF);
  pthread_sigmask(SIG_BLOCK, &sampling, &before);
  const auto next_microsecond = [] {
    const uint64_t now = NowMicros();
    uint64_t next;
    do next = NowMicros();
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
    samples[index].state = selfprof::ToAgentState(profile->GetSampleState(index));
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
