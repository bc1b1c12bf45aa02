// Has a thread that hosts pages end alone where V8 gives up and would end the process. V8 does so when it is out of memory, and it takes for that
// also a list of 2 ** 53 - 1 elements, and on Node 22 a regular expression that it compiles where the stack is full; when it has filled the stack itself,
// see full_stack.cc; and when it finds something wrong, as a graph of more nodes than it can count.
//
// Such a thread is lost: it ends at once, in the middle of what V8 was doing, and nothing of it is torn down. Its isolate stays in memory as long
// as the process, and its stack until Node joins it. Other threads can go on, since V8 gives up outside of what isolates share, and without a lock of
// the process. Where V8 gives up on a thread of its own, as in a collection of garbage, the process ends as before.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "full_stack.h"
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
// The same for other errors.
[[gnu::weak]] [[noreturn]] void OnFatalError(const char* location, const char* message);
}

namespace {

// Of a thread, from selfprof_end_alone until its end, or for ever if it is lost.
struct Survival {
  // Null once it is torn down. The thread can take long to end after that, while it disposes of its isolate.
  node::Environment* environment;
  std::shared_ptr<BackingStore> memory;
  // Where the user's thread reads that this one is lost, and why.
  std::atomic<int32_t>* loss;
  // As gettid(2) has it.
  pid_t tid;
};

// Of all threads, never freed: they can outlive what ends with the process. Each adds and removes its own; the main thread reads them at the end.
std::mutex survivals_mutex;
std::vector<Survival*>& survivals = *new std::vector<Survival*>;

// Of this thread. Handlers of signals read it.
thread_local Survival* survival = nullptr;

// Its destructor runs at the end of the thread, and never if that is lost.
struct Unregistration {
  ~Unregistration() {
    std::lock_guard lock(survivals_mutex);
    std::erase(survivals, survival);
    delete survival;
    survival = nullptr;
  }
};

// Why a thread is lost. packages/page/src/host/lost-threads.cjs has the same numbers.
enum Loss : int32_t { kOutOfMemory = 1, kStackFull = 2, kError = 3 };

// The system call ends this thread alone, and runs no destructor of it: those would use an isolate that is in the middle of something.
[[noreturn]] void EndThread(Loss loss) {
  survival->loss->store(loss);
  for (;;) syscall(SYS_exit, 0);
}

// While the isolate is disposed of, Node holds a lock of all isolates: the thread cannot end alone any more.
void ForgetEnvironment(void*) {
  selfprof::UnwatchStack();
  std::lock_guard lock(survivals_mutex);
  survival->environment = nullptr;
}

bool CanEndAlone() { return survival != nullptr && survival->environment != nullptr; }

void OnOutOfMemory(const char* location, const v8::OOMDetails& details) {
  if (CanEndAlone()) EndThread(kOutOfMemory);
  if (node::OOMErrorHandler != nullptr) node::OOMErrorHandler(location, details);
}

// V8 found that something is not as it has to be: a number that is too large, or an error of its own. Nodes that have this function say nothing
// before they call it.
void OnFatalError(const char*, int, const char* message) {
  if (!CanEndAlone()) return;
  std::fprintf(stderr, "# V8 has ended a page: %s\n", message);
  EndThread(kError);
}

// What prints the native stack before the process ends. Set once, before V8 can call it.
void (*print_stack)() = nullptr;

// The same, when V8 has said what is wrong: 22 has no other function for it, and 26 does not call that for errors without an effect on security.
void OnStackToPrint() {
  if (CanEndAlone()) EndThread(kError);
  if (print_stack != nullptr) print_stack();
}

// Node or the addon called a function of V8 with what that does not take.
void OnMisuse(const char* location, const char* message) {
  if (CanEndAlone()) OnFatalError(location, 0, message);
  if (node::OnFatalError != nullptr) node::OnFatalError(location, message);
}

// The signal that ends a thread, 0 if none is free.
int end_signal = 0;

// A thread that is to end at once. It goes on if it may hold a lock, and is asked again.
void OnEndSignal(int, siginfo_t* info, void* context) {
  const bool is_own = info->si_code == SI_TKILL && info->si_pid == getpid();
  if (is_own && CanEndAlone() && !selfprof::MayHoldLock(context)) EndThread(kOutOfMemory);
}

void HandleEndSignal() {
  for (int signal = SIGRTMAX; signal >= SIGRTMIN && end_signal == 0; --signal) {
    struct sigaction action;
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    action.sa_sigaction = OnEndSignal;
    if (sigaction(signal, &action, nullptr) == 0) end_signal = signal;
  }
}

// JS thread. Once for the process.
void HearOfErrors(Isolate* isolate) {
  HandleEndSignal();
  if (v8::base::SetFatalFunction != nullptr) v8::base::SetFatalFunction(OnFatalError);
  node::Environment* environment = node::GetCurrentEnvironment(isolate->GetCurrentContext());
  node::MultiIsolatePlatform* platform = node::GetMultiIsolatePlatform(environment);
  if (v8::base::SetPrintStackTrace == nullptr || platform == nullptr) return;
  print_stack = platform->GetStackTracePrinter();
  v8::base::SetPrintStackTrace(OnStackToPrint);
}

// The elements of a list, while its memory is there.
std::atomic<int32_t>* ElementsOf(Local<v8::Int32Array> list) {
  auto* memory = static_cast<char*>(list->Buffer()->GetBackingStore()->Data());
  return reinterpret_cast<std::atomic<int32_t>*>(memory + list->ByteOffset());
}

}  // namespace

// JS thread, inside a native function. From now on this thread alone ends when V8 gives up in it. `lost` is an Int32Array of shared memory with two
// elements: the first is a Loss then, the second is set to the thread's tid. Returns false, and changes nothing, for anything else.
//
// The environment that has started the thread must be that of the main thread, and has to end the process before it is torn down: Node requires that
// each of its threads has ended by itself.
SELFPROF_API bool selfprof_end_alone(Isolate* isolate, Handle lost) noexcept {
  Local<Value> value = FromHandle<Value>(lost);
  if (!value->IsInt32Array()) return false;
  Local<v8::Int32Array> list = value.As<v8::Int32Array>();
  if (list->ByteLength() != 2 * sizeof(int32_t)) return false;
  std::shared_ptr<BackingStore> memory = list->Buffer()->GetBackingStore();
  if (!memory->IsShared() || survival != nullptr) return false;
  std::atomic<int32_t>* elements = ElementsOf(list);
  node::Environment* environment = node::GetCurrentEnvironment(isolate->GetCurrentContext());
  survival = new Survival{environment, memory, elements, static_cast<pid_t>(syscall(SYS_gettid))};
  thread_local Unregistration unregistration;
  elements[1].store(survival->tid);
  {
    std::lock_guard lock(survivals_mutex);
    survivals.push_back(survival);
  }
  node::AddEnvironmentCleanupHook(isolate, ForgetEnvironment, nullptr);
  selfprof::WatchStack([] { EndThread(kStackFull); });
  isolate->SetOOMErrorHandler(OnOutOfMemory);
  isolate->SetFatalErrorHandler(OnMisuse);
  static std::once_flag hears;
  std::call_once(hears, HearOfErrors, isolate);
  return true;
}

// The main thread. Has a thread that V8 does not interrupt end alone, as if it were out of memory. `lost` is the list that the thread has. Returns
// false if that is none of a thread. Otherwise it ends soon, but not at once if it may hold a lock: then it is to be asked again.
SELFPROF_API bool selfprof_lose_thread(Handle lost) noexcept {
  Local<Value> value = FromHandle<Value>(lost);
  if (!value->IsInt32Array() || end_signal == 0) return false;
  const std::atomic<int32_t>* elements = ElementsOf(value.As<v8::Int32Array>());
  std::lock_guard lock(survivals_mutex);
  for (const Survival* thread : survivals) {
    if (thread->loss == elements && *thread->loss == 0) return syscall(SYS_tgkill, getpid(), thread->tid, end_signal) == 0;
  }
  return false;
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
      if (std::any_of(survivals.begin(), survivals.end(), [](const Survival* thread) { return *thread->loss != 0; }))
        return false;
      if (waited == 0) {
        for (const Survival* thread : survivals) {
          if (thread->environment != nullptr) node::Stop(thread->environment);
        }
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
