// Has a thread that hosts pages end alone where V8 gives up and would end the process. V8 does so when it is out of memory, and it takes for that
// also a list of 2 ** 53 - 1 elements, and on Node 22 a regular expression that it compiles where the stack is full.
//
// Such a thread is lost: it ends at once, in the middle of what V8 was doing, and nothing of it is torn down. Its isolate stays in memory as long
// as the process, and its stack until Node joins it. Other threads can go on, since V8 gives up outside of what isolates share, and without a lock of
// the process. Where V8 gives up on a thread of its own, as in a collection of garbage, the process ends as before.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "handles.h"

using selfprof::FromHandle;
using selfprof::Handle;
using v8::BackingStore;
using v8::Isolate;
using v8::Local;
using v8::Value;

// Not in V8's public headers: on a Node that does not have one of them, as 22 the first, it is null.
namespace v8::base {
[[gnu::weak]] void SetFatalFunction(void (*function)(const char* file, int line, const char* message));
[[gnu::weak]] void SetPrintStackTrace(void (*function)());
}
// What Node does when V8 is out of memory: it says so and ends the process.
namespace node {
[[gnu::weak]] void OOMErrorHandler(const char* location, const v8::OOMDetails& details);
}

namespace {

// One per thread, from selfprof_survive_out_of_memory until its environment is torn down, or for ever if it is lost.
struct Survival {
  node::Environment* environment;
  std::shared_ptr<BackingStore> memory;
  // Where the user's thread reads that this one is lost.
  std::atomic<int32_t>* is_lost;
};

thread_local Survival* survival = nullptr;

// Of all threads. Each adds and removes its own; the main thread reads them at the end of the process.
std::mutex survivals_mutex;
std::vector<Survival*> survivals;

// The system call ends this thread alone, and runs no destructor of it: those would use an isolate that is in the middle of something.
[[noreturn]] void EndThread() {
  survival->is_lost->store(1);
  for (;;) syscall(SYS_exit, 0);
}

void Forget(void*) {
  std::lock_guard lock(survivals_mutex);
  std::erase(survivals, survival);
  delete survival;
  survival = nullptr;
}

void OnOutOfMemory(const char* location, const v8::OOMDetails& details) {
  if (survival != nullptr) EndThread();
  if (node::OOMErrorHandler != nullptr) node::OOMErrorHandler(location, details);
}

// V8 found that something is not as it has to be. Only a size that is too large is survived: anything else may be an error of V8.
void OnFatalError(const char*, int, const char* message) {
  if (survival != nullptr && std::strstr(message, "Fatal JavaScript invalid size error") != nullptr) EndThread();
}

// What prints the native stack before the process ends. Set once, before V8 can call it.
void (*print_stack)() = nullptr;

// Whether a function of V8 has found that a size is too large, or that something else is wrong without an effect on security, as V8 says.
bool IsHarmless(const char* function) {
  if (std::strstr(function, "FatalNoSecurityImpact") != nullptr) return true;
  if (std::strstr(function, "Runtime_FatalInvalidSize") != nullptr) return true;
  return std::strstr(function, "FactoryBaseINS0_7FactoryEE") != nullptr && std::strstr(function, "FixedArray") != nullptr;
}

// The same, on Nodes that do not tell the message: 22 has no function for it, and 26 does not call that for errors without an effect on security. Who
// has called tells what was wrong.
void OnStackToPrint() {
  void* callers[4];
  const int count = survival == nullptr ? 0 : backtrace(callers, 4);
  for (int index = 0; index < count; ++index) {
    Dl_info info;
    if (dladdr(callers[index], &info) != 0 && info.dli_sname != nullptr && IsHarmless(info.dli_sname)) EndThread();
  }
  if (print_stack != nullptr) print_stack();
}

// JS thread. Once for the process.
void HearOfErrors(Isolate* isolate) {
  if (v8::base::SetFatalFunction != nullptr) v8::base::SetFatalFunction(OnFatalError);
  node::Environment* environment = node::GetCurrentEnvironment(isolate->GetCurrentContext());
  node::MultiIsolatePlatform* platform = node::GetMultiIsolatePlatform(environment);
  if (v8::base::SetPrintStackTrace == nullptr || platform == nullptr) return;
  print_stack = platform->GetStackTracePrinter();
  v8::base::SetPrintStackTrace(OnStackToPrint);
}

}  // namespace

// JS thread, inside a native function. From now on this thread alone ends when V8 is out of memory in it. `lost` is an Int32Array of shared memory
// with one element, which is 1 then. Returns false, and changes nothing, for anything else.
//
// The environment that has started the thread must be that of the main thread, and has to end the process before it is torn down: Node requires that
// each of its threads has ended by itself.
SELFPROF_API bool selfprof_survive_out_of_memory(Isolate* isolate, Handle lost) noexcept {
  Local<Value> value = FromHandle<Value>(lost);
  if (!value->IsInt32Array()) return false;
  Local<v8::Int32Array> list = value.As<v8::Int32Array>();
  if (list->ByteLength() != sizeof(int32_t)) return false;
  std::shared_ptr<BackingStore> memory = list->Buffer()->GetBackingStore();
  if (!memory->IsShared() || survival != nullptr) return false;
  auto* address = static_cast<char*>(memory->Data()) + list->ByteOffset();
  node::Environment* environment = node::GetCurrentEnvironment(isolate->GetCurrentContext());
  survival = new Survival{environment, memory, reinterpret_cast<std::atomic<int32_t>*>(address)};
  {
    std::lock_guard lock(survivals_mutex);
    survivals.push_back(survival);
  }
  node::AddEnvironmentCleanupHook(isolate, Forget, nullptr);
  isolate->SetOOMErrorHandler(OnOutOfMemory);
  static std::once_flag hears;
  std::call_once(hears, HearOfErrors, isolate);
  return true;
}

// How long threads get to end when the process ends, in milliseconds. Some never end, in a function that V8 does not interrupt.
static constexpr int kMaxEnd = 1'000;

// Asks all threads to end, as Node does, and waits for that. Returns whether they have.
static bool EndThreads() {
  for (int waited = 0; waited < kMaxEnd; ++waited) {
    {
      std::lock_guard lock(survivals_mutex);
      if (survivals.empty()) return true;
      // V8 may have lost it while it held a lock.
      if (std::any_of(survivals.begin(), survivals.end(), [](const Survival* thread) { return *thread->is_lost == 1; }))
        return false;
      if (waited == 0) {
        for (const Survival* thread : survivals) node::Stop(thread->environment);
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// Node waits for its threads, and frees what V8 shares, which those that are left may use. V8's sampling thread of one that is lost goes on, too.
static void Exit(node::Environment* environment, int code) {
  if (EndThreads()) {
    node::DefaultProcessExitHandler(environment, code);
    return;
  }
  std::fflush(nullptr);
  _exit(code);
}

// The main thread, inside a native function. From now on the process ends without threads that are lost or do not end, whatever ends it:
// `process.exit()`, also in a listener, or an error. Node has done by then what is to be done at the end of the environment, and has printed the error.
SELFPROF_API void selfprof_leave_threads_at_exit(Isolate* isolate) noexcept {
  node::SetProcessExitHandler(node::GetCurrentEnvironment(isolate->GetCurrentContext()), Exit);
}
