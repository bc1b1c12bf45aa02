// Objects whose methods are called once per mark and measure. Calling such a function through Node-API costs more than
// the function itself.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "handles.h"

struct SelfprofTimelineFunctions;

// The part of a timeline that the shim knows.
struct SelfprofTimeline {
  const SelfprofTimelineFunctions* functions;
};

// What the methods of a timeline's object do. They run within optimised JavaScript, so they must neither touch V8's
// heap nor throw. src/timeline.rs has the same struct.
struct SelfprofTimelineFunctions {
  double (*now)(SelfprofTimeline*);
  double (*mark)(SelfprofTimeline*, uint32_t);
  double (*mark_at)(SelfprofTimeline*, uint32_t, double);
  double (*measure_at)(SelfprofTimeline*, uint32_t, double, double);
  double (*clear)(SelfprofTimeline*, uint32_t, uint32_t);
  double (*uses)(SelfprofTimeline*, uint32_t);
  double (*resolve)(SelfprofTimeline*, uint32_t, double, uint32_t, double, double);
};
static_assert(sizeof(SelfprofTimelineFunctions) == 7 * sizeof(void*) &&
              offsetof(SelfprofTimelineFunctions, measure_at) == 3 * sizeof(void*) &&
              offsetof(SelfprofTimelineFunctions, resolve) == 6 * sizeof(void*));

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

// The two entry points of a member of SelfprofTimelineFunctions: one for interpreted code, one for optimised code.
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

// An object that JavaScript makes has no timeline.
void RefuseConstruction(const v8::FunctionCallbackInfo<v8::Value>& info) {
  v8::Isolate* isolate = info.GetIsolate();
  isolate->ThrowException(v8::Exception::TypeError(v8::String::NewFromUtf8Literal(isolate, "Illegal constructor")));
}

// The interface of a thread's objects, from its first timeline until its environment ends. All objects share it,
// because V8 keeps what it makes from a template as long as the context lives. An Eternal has no destructor.
thread_local v8::Eternal<v8::FunctionTemplate> timeline_interface;

v8::Local<v8::FunctionTemplate> TimelineInterface(v8::Isolate* isolate) {
  if (timeline_interface.IsEmpty()) {
    v8::Local<v8::FunctionTemplate> interface = v8::FunctionTemplate::New(isolate, RefuseConstruction);
    interface->InstanceTemplate()->SetInternalFieldCount(1);
    Method<&SelfprofTimelineFunctions::now>::Define(isolate, interface, "now");
    Method<&SelfprofTimelineFunctions::mark>::Define(isolate, interface, "mark");
    Method<&SelfprofTimelineFunctions::mark_at>::Define(isolate, interface, "markAt");
    Method<&SelfprofTimelineFunctions::measure_at>::Define(isolate, interface, "measureAt");
    Method<&SelfprofTimelineFunctions::clear>::Define(isolate, interface, "clear");
    Method<&SelfprofTimelineFunctions::uses>::Define(isolate, interface, "uses");
    Method<&SelfprofTimelineFunctions::resolve>::Define(isolate, interface, "resolve");
    timeline_interface.Set(isolate, interface);
    node::AddEnvironmentCleanupHook(isolate, [](void*) { timeline_interface = {}; }, nullptr);
  }
  return timeline_interface.Get(isolate);
}

}  // namespace

// JS thread. An object whose methods call the functions of `timeline`, which must outlive it. Null when an exception is
// pending.
SELFPROF_API selfprof::Handle selfprof_timeline_object(v8::Isolate* isolate, SelfprofTimeline* timeline) noexcept {
  v8::EscapableHandleScope scope(isolate);
  v8::Local<v8::Context> context = isolate->GetCurrentContext();
  v8::Local<v8::Object> object;
  if (!TimelineInterface(isolate)->InstanceTemplate()->NewInstance(context).ToLocal(&object)) return nullptr;
  selfprof::SetInternalPointer(object, timeline);
  return selfprof::ToHandle(scope.Escape(object));
}
