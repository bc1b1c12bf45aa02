// V8 recurses in places without a look at the limit of the stack: over scopes in scopes, over bound functions of bound functions, over the parts of
// a regular expression. How deep is up to a script, and the end of a stack is the end of the process.
//
// So the lowest part of the stack, the guard, cannot be written to, and the handler of the signal that says so ends the thread alone. Where a
// library has come to the guard, the page of memory that it writes to is opened, and the thread ends at the next one: it may hold a lock that other
// threads wait for, as in malloc(). V8 takes no lock of the process where it recurses.

#include "full_stack.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

namespace {

// More than the frame of any function, so that none gets past the guard.
constexpr uintptr_t kGuardSize = uintptr_t{1} << 20;
// What is left below the guard, where the C library has its own.
constexpr uintptr_t kBelow = uintptr_t{64} << 10;
// What has less than that has a stack for something else.
constexpr uintptr_t kMinStack = uintptr_t{8} << 20;
// For handlers of signals: V8's, which takes samples, needs most.
constexpr size_t kSignalStack = size_t{64} << 10;
// As many threads as can be watched, and as many libraries as are known.
constexpr int kMaxGuards = 4096;
constexpr int kMaxLibraries = 64;

// The lowest addresses of all guards; 0 is a free place. The handler reads them on any thread, which may have none.
std::atomic<uintptr_t> guards[kMaxGuards];

// The code of shared libraries that were loaded when the first stack was watched. Not changed after that.
struct Code {
  uintptr_t begin;
  uintptr_t end;
};
Code libraries[kMaxLibraries];
int library_count = 0;

void (*end_thread)() = nullptr;
struct sigaction previous;
uintptr_t page_size = 4096;

// One per thread that is watched. What belongs to a thread that is lost stays.
struct Watched {
  std::atomic<uintptr_t>* guard;
  void* signal_stack;
};
thread_local Watched* watched = nullptr;

int AddLibrary(dl_phdr_info* info, size_t, void* is_first) {
  // The first is the program itself, with V8 in it.
  if (*static_cast<bool*>(is_first)) {
    *static_cast<bool*>(is_first) = false;
    return 0;
  }
  for (int index = 0; index < info->dlpi_phnum && library_count < kMaxLibraries; ++index) {
    const auto& part = info->dlpi_phdr[index];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    libraries[library_count++] = {begin, begin + part.p_memsz};
  }
  return 0;
}

uintptr_t CodeAddress(const void* context) {
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<uintptr_t>(registers.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return registers.pc;
#else
#error "where is the program counter?"
#endif
}

uintptr_t GuardAround(uintptr_t address) {
  for (const std::atomic<uintptr_t>& guard : guards) {
    const uintptr_t lowest = guard.load(std::memory_order_relaxed);
    if (lowest != 0 && address >= lowest && address < lowest + kGuardSize) return lowest;
  }
  return 0;
}

// Any thread, on its alternate signal stack if it has one. What is no full stack is for the handler that was there before, such as V8's for
// WebAssembly.
void OnSegmentationFault(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  const uintptr_t guard = GuardAround(address);
  if (guard != 0) {
    const uintptr_t page = address & ~(page_size - 1);
    const bool can_go_on = page != guard && selfprof::MayHoldLock(context);
    if (!can_go_on || mprotect(reinterpret_cast<void*>(page), page_size, PROT_READ | PROT_WRITE) != 0) end_thread();
    return;
  }
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN) {
    // What was wrong happens once more, and ends the process.
    ::signal(signal, SIG_DFL);
  } else {
    previous.sa_handler(signal);
  }
}

void HandleSegmentationFaults() {
  page_size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  bool is_first = true;
  dl_iterate_phdr(AddLibrary, &is_first);
  if (sigaction(SIGSEGV, nullptr, &previous) != 0) return;
  struct sigaction action = previous;
  action.sa_flags = (previous.sa_flags & ~SA_RESETHAND) | SA_SIGINFO | SA_ONSTACK;
  action.sa_sigaction = OnSegmentationFault;
  sigaction(SIGSEGV, &action, nullptr);
}

std::atomic<uintptr_t>* Occupy(uintptr_t lowest) {
  for (std::atomic<uintptr_t>& guard : guards) {
    uintptr_t free = 0;
    if (guard.compare_exchange_strong(free, lowest)) return &guard;
  }
  return nullptr;
}

}  // namespace

selfprof::Stack selfprof::OwnStack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* lowest = nullptr;
  size_t size = 0;
  const int result = pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  if (result != 0) return {};
  return {reinterpret_cast<uintptr_t>(lowest), size};
}

bool selfprof::MayHoldLock(const void* context) {
  // V8's handler of SIGPROF has a lock of all samplers. The signal is blocked while it runs.
  if (sigismember(&static_cast<const ucontext_t*>(context)->uc_sigmask, SIGPROF) == 1) return true;
  const uintptr_t address = CodeAddress(context);
  for (int index = 0; index < library_count; ++index) {
    if (address >= libraries[index].begin && address < libraries[index].end) return true;
  }
  return false;
}

void selfprof::WatchStack(void (*end)()) {
  static std::once_flag hears;
  std::call_once(hears, [end] {
    end_thread = end;
    HandleSegmentationFaults();
  });
  const Stack own = OwnStack();
  if (watched != nullptr || own.size < kMinStack) return;
  const uintptr_t lowest = (own.lowest + kBelow + page_size - 1) & ~(page_size - 1);
  void* memory = std::malloc(kSignalStack);
  if (memory == nullptr) return;
  const stack_t stack = {memory, 0, kSignalStack};
  std::atomic<uintptr_t>* guard = sigaltstack(&stack, nullptr) == 0 ? Occupy(lowest) : nullptr;
  watched = new Watched{guard, memory};
  if (guard == nullptr || mprotect(reinterpret_cast<void*>(lowest), kGuardSize, PROT_NONE) != 0) UnwatchStack();
}

void selfprof::UnwatchStack() {
  if (watched == nullptr) return;
  if (watched->guard != nullptr) {
    // The C library gives the stack to another thread later.
    mprotect(reinterpret_cast<void*>(watched->guard->load()), kGuardSize, PROT_READ | PROT_WRITE);
    watched->guard->store(0);
  }
  const stack_t none = {nullptr, SS_DISABLE, 0};
  sigaltstack(&none, nullptr);
  std::free(watched->signal_stack);
  delete watched;
  watched = nullptr;
}
