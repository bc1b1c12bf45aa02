// The narrow C face of v8::CpuProfiler and of Node's environment hooks.
//
// Handles are opaque. No exception and no handle crosses this border. "JS thread" is the thread of the isolate that a
// handle was made in; every function says which thread may call it.

#include <uv.h>

#include <climits>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

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

// What the methods of a timeline's object do. They run within optimised JavaScript, so they may neither touch V8's heap nor throw.
struct SelfprofTimelineFunctions;

// A timeline, as far as it is known here.
struct SelfprofTimeline {
  const SelfprofTimelineFunctions* functions;
};

struct SelfprofTimelineFunctions {
  double (*now)(SelfprofTimeline*);
  double (*mark)(SelfprofTimeline*, uint32_t);
  double (*resolve)(SelfprofTimeline*, uint32_t, double, uint32_t, double, double);
  double (*measure)(SelfprofTimeline*, uint32_t, uint32_t, double, uint32_t, double, double);
};

// Any thread. The value of process.versions.modules that these headers belong to.
SELFPROF_API int32_t selfprof_built_for() noexcept { return NODE_MODULE_VERSION; }

// Any thread. The clock of sample timestamps, in microseconds: V8's TimeTicks and libuv's hrtime are both
// CLOCK_MONOTONIC.
SELFPROF_API uint64_t selfprof_now_us() noexcept { return uv_hrtime() / 1000; }

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

namespace {

template <typename T>
constexpr v8::CTypeInfo TypeOf() {
  if constexpr (std::is_same_v<T, uint32_t>) {
    return v8::CTypeInfo(v8::CTypeInfo::Type::kUint32);
  } else {
    static_assert(std::is_same_v<T, double>);
    return v8::CTypeInfo(v8::CTypeInfo::Type::kFloat64);
  }
}

// The two ways into a member of SelfprofTimelineFunctions: what interpreted code calls, and what optimised code does.
template <auto member>
struct Method;

template <typename... A, double (*SelfprofTimelineFunctions::*member)(SelfprofTimeline*, A...)>
struct Method<member> {
  static double Run(v8::Local<v8::Object> self, A... arguments) {
    auto* timeline = static_cast<SelfprofTimeline*>(selfprof::InternalPointer(self));
    return (timeline->functions->*member)(timeline, arguments...);
  }

  static void Call(const v8::FunctionCallbackInfo<v8::Value>& info) {
    Call(info, std::index_sequence_for<A...>());
  }

  // Does nothing and returns undefined unless all arguments are numbers.
  template <size_t... index>
  static void Call(const v8::FunctionCallbackInfo<v8::Value>& info, std::index_sequence<index...>) {
    if ((info[index]->IsNumber() && ...)) {
      info.GetReturnValue().Set(Run(info.This(), Number<A>(info[index])...));
    }
  }

  template <typename T>
  static T Number(v8::Local<v8::Value> value) {
    if constexpr (std::is_same_v<T, uint32_t>) {
      // Does not fail and runs no JavaScript: the value is a number.
      return value->Uint32Value(v8::Isolate::GetCurrent()->GetCurrentContext()).FromMaybe(0);
    } else {
      return value.As<v8::Number>()->Value();
    }
  }

  static const v8::CFunction* Direct() {
    static const v8::CTypeInfo kArguments[] = {v8::CTypeInfo(v8::CTypeInfo::Type::kV8Value), TypeOf<A>()...};
    static const v8::CFunctionInfo kInfo(TypeOf<double>(), 1 + sizeof...(A), kArguments);
    static const v8::CFunction kFunction(reinterpret_cast<const void*>(&Run), &kInfo);
    return selfprof::HasDirectCalls() ? &kFunction : nullptr;
  }

  static void Define(v8::Isolate* isolate, v8::Local<v8::FunctionTemplate> interface, const char* name) {
    v8::Local<v8::Signature> signature = v8::Signature::New(isolate, interface);
    v8::Local<v8::FunctionTemplate> method = v8::FunctionTemplate::New(
        isolate, Call, v8::Local<v8::Value>(), signature, sizeof...(A), v8::ConstructorBehavior::kThrow,
        v8::SideEffectType::kHasSideEffect, Direct());
    interface->PrototypeTemplate()->Set(isolate, name, method);
  }
};

// The interface of a thread's objects. V8 keeps an instance of each template for good, so there is one a thread, from its first
// timeline until its environment ends.
thread_local v8::Eternal<v8::FunctionTemplate> timeline_interface;

v8::Local<v8::FunctionTemplate> TimelineInterface(v8::Isolate* isolate) {
  if (timeline_interface.IsEmpty()) {
    v8::Local<v8::FunctionTemplate> interface = v8::FunctionTemplate::New(isolate);
    interface->InstanceTemplate()->SetInternalFieldCount(1);
    Method<&SelfprofTimelineFunctions::now>::Define(isolate, interface, "now");
    Method<&SelfprofTimelineFunctions::mark>::Define(isolate, interface, "mark");
    Method<&SelfprofTimelineFunctions::resolve>::Define(isolate, interface, "resolve");
    Method<&SelfprofTimelineFunctions::measure>::Define(isolate, interface, "measure");
    timeline_interface.Set(isolate, interface);
    node::AddEnvironmentCleanupHook(isolate, [](void*) { timeline_interface = {}; }, nullptr);
  }
  return timeline_interface.Get(isolate);
}

}  // namespace

// JS thread. An object whose methods call the functions of `timeline`, which must outlive it. The result is a handle in the
// caller's scope, as Node-API has them; null when an exception is pending.
SELFPROF_API void* selfprof_timeline_object(v8::Isolate* isolate, SelfprofTimeline* timeline) noexcept {
  v8::EscapableHandleScope scope(isolate);
  v8::Local<v8::Context> context = isolate->GetCurrentContext();
  v8::Local<v8::Object> object;
  if (!TimelineInterface(isolate)->InstanceTemplate()->NewInstance(context).ToLocal(&object)) return nullptr;
  selfprof::SetInternalPointer(object, timeline);
  v8::Local<v8::Object> escaped = scope.Escape(object);
  void* handle;
  static_assert(sizeof(escaped) == sizeof(handle));
  std::memcpy(&handle, &escaped, sizeof(handle));
  return handle;
}
