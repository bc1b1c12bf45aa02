// The CPU times of threads, read in the signal handler by which V8 samples them.
//
// V8 installs its handler of SIGPROF when the first profile of the process starts, and the one before it when the last
// one ends. In between, a handler of ours replaces V8's: it reads the thread's clocks, then calls V8's. It replaces no
// handler but V8's and calls no handler but V8's, so that it can be in a chain once only: other profilers do the same,
// and call the handler that they found.

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>

#include "clock.h"
#include "handles.h"
#include "sample_labels.h"
#include "signal_guard.h"

// src/ffi.rs has the same struct.
struct SelfprofCpuTime {
  uint64_t at_us;   // on the clock of samples
  uint64_t cpu_us;  // since the thread began
  bool is_after_gap;
};
static_assert(sizeof(SelfprofCpuTime) == 24 && offsetof(SelfprofCpuTime, cpu_us) == 8 &&
              offsetof(SelfprofCpuTime, is_after_gap) == 16);

namespace selfprof {

// How many times are held until they are taken. They are taken every two seconds, or when a blocked thread runs again.
constexpr uint32_t kCpuTimesCapacity = 8192;

// How far a reading may be from the line between those that are held.
constexpr double kCpuTimeToleranceUs = 20;

}  // namespace selfprof

// The CPU times of one thread, as a line through some of the readings: a reading is left out if the line between its
// neighbors passes it within the tolerance. A thread that only runs, or only waits, has few. The line has a gap where
// the thread was not sampled, or where another profiler's handler did not call ours.
//
// Belongs to the thread. Its signal handler interrupts the other functions, and does nothing while `is_in_use` is set.
struct SelfprofCpuTimes {
  void Read() noexcept {
    timespec cpu;
    const uint64_t now_us = selfprof::NowMicros();
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu) != 0) return;
    Add({now_us, static_cast<uint64_t>(cpu.tv_sec) * 1000000 + static_cast<uint64_t>(cpu.tv_nsec) / 1000, false});
  }

  // Holds the last reading.
  void Flush() noexcept {
    if (latest_.at_us > start_.at_us) StartAt(latest_);
  }

  uint32_t Count() const noexcept { return count_; }

  // Moves the first `count`, which are held, to `to`.
  void Take(SelfprofCpuTime* to, uint32_t count) noexcept {
    for (uint32_t index = 0; index < count; ++index) to[index] = held_[index];
    for (uint32_t index = count; index < count_; ++index) held_[index - count] = held_[index];
    count_ -= count;
  }

  std::atomic<bool> is_in_use{false};
  // Readings farther apart have a gap between them.
  uint64_t longest_us = 0;

 private:
  void Add(SelfprofCpuTime reading) noexcept {
    if (start_.at_us == 0) return StartAt(reading);
    if (reading.at_us <= latest_.at_us || reading.cpu_us < latest_.cpu_us) return;
    if (reading.at_us - latest_.at_us > longest_us) {
      Flush();
      reading.is_after_gap = true;
      return StartAt(reading);
    }
    const double slope = Slope(reading, 0);
    if (slope < lowest_ || slope > highest_) StartAt(latest_);
    const double low = Slope(reading, -selfprof::kCpuTimeToleranceUs);
    const double high = Slope(reading, selfprof::kCpuTimeToleranceUs);
    lowest_ = low > lowest_ ? low : lowest_;
    highest_ = high < highest_ ? high : highest_;
    latest_ = reading;
  }

  // The slope of the line from the last time that is held to a reading, moved by `offset_us`.
  double Slope(SelfprofCpuTime reading, double offset_us) const noexcept {
    return (static_cast<double>(reading.cpu_us - start_.cpu_us) + offset_us) /
           static_cast<double>(reading.at_us - start_.at_us);
  }

  // Holds a reading. Without room, the line goes straight to the next one that is held, so that no CPU time is lost.
  void StartAt(SelfprofCpuTime reading) noexcept {
    if (count_ < selfprof::kCpuTimesCapacity) held_[count_++] = reading;
    start_ = latest_ = reading;
    start_.is_after_gap = latest_.is_after_gap = false;
    lowest_ = -std::numeric_limits<double>::infinity();
    highest_ = std::numeric_limits<double>::infinity();
  }

  SelfprofCpuTime start_{};
  SelfprofCpuTime latest_{};
  // The slopes of all lines from `start_` that pass the readings since.
  double lowest_ = 0;
  double highest_ = 0;
  uint32_t count_ = 0;
  SelfprofCpuTime held_[selfprof::kCpuTimesCapacity];
};

namespace {

using SignalHandler = void (*)(int, siginfo_t*, void*);

// V8's handler. Any thread; set before ours is installed, always to the same address. Node is never unloaded.
std::atomic<SignalHandler> v8_handler{nullptr};
static_assert(std::atomic<SignalHandler>::is_always_lock_free);

// The key of each thread's SelfprofCpuTimes. Any thread; created before our handler is installed, and lives as long as
// the process.
pthread_key_t cpu_times_key;

// The recorded thread, or one that another profiler samples. Only what a signal handler may call: pthread_getspecific
// takes no lock and allocates nothing in glibc, unlike the first use of a thread_local of a loaded library. The addon
// is never unloaded.
void HandleSamplingSignal(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  selfprof::ReadLabels(selfprof::NowMicros());
  auto* times = static_cast<SelfprofCpuTimes*>(pthread_getspecific(cpu_times_key));
  if (times && !times->is_in_use.load(std::memory_order_relaxed)) times->Read();
  v8_handler.load(std::memory_order_relaxed)(signal, info, context);
  errno = error;
}

const void* ModuleOf(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

// Whether this is V8's handler: it is in the same module as V8, and of all handlers in Node only V8's wants the details
// of SIGPROF.
bool IsOfV8(const struct sigaction& action) {
  static const void* const v8 = ModuleOf(reinterpret_cast<const void*>(&v8::CpuProfiler::New));
  return (action.sa_flags & SA_SIGINFO) != 0 && v8 != nullptr &&
         ModuleOf(reinterpret_cast<const void*>(action.sa_sigaction)) == v8;
}

}  // namespace

// JS thread. The CPU times of this thread from now on; null if the system has no more keys or memory. Lives until
// selfprof_cpu_times_delete.
SELFPROF_API SelfprofCpuTimes* selfprof_cpu_times_new() noexcept {
  static const bool has_key = pthread_key_create(&cpu_times_key, nullptr) == 0;
  if (!has_key || pthread_getspecific(cpu_times_key) != nullptr) return nullptr;
  auto* times = new (std::nothrow) SelfprofCpuTimes;
  if (times == nullptr) return nullptr;
  // Before the signal handler knows it.
  times->Read();
  if (pthread_setspecific(cpu_times_key, times) != 0) {
    delete times;
    return nullptr;
  }
  return times;
}

// JS thread, the one that made them.
SELFPROF_API void selfprof_cpu_times_delete(SelfprofCpuTimes* times) noexcept {
  pthread_setspecific(cpu_times_key, nullptr);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  delete times;
}

// JS thread. The interval at which the thread is sampled from now on.
SELFPROF_API void selfprof_cpu_times_set_interval(SelfprofCpuTimes* times, uint64_t interval_us) noexcept {
  const selfprof::SignalGuard guard(times);
  // Samples may be late on a busy machine.
  const uint64_t longest_us = 10 * interval_us + 100000;
  // The last reading may be as old as the longer interval allows.
  if (longest_us > times->longest_us) times->longest_us = longest_us;
  times->Read();
  times->longest_us = longest_us;
}

// JS thread, while a run of its isolate is going: V8 does not remove its handler then. Puts our handler in place of
// V8's if that is the one that is installed.
SELFPROF_API void selfprof_cpu_times_install_handler() noexcept {
  struct sigaction installed;
  if (sigaction(SIGPROF, nullptr, &installed) != 0 || !IsOfV8(installed)) return;
  v8_handler.store(installed.sa_sigaction, std::memory_order_relaxed);
  struct sigaction ours = installed;
  ours.sa_sigaction = HandleSamplingSignal;
  struct sigaction replaced;
  if (sigaction(SIGPROF, &ours, &replaced) == 0 && replaced.sa_sigaction != installed.sa_sigaction &&
      replaced.sa_sigaction != HandleSamplingSignal) {
    // Another thread has installed a handler in the meantime.
    sigaction(SIGPROF, &replaced, nullptr);
  }
}

// JS thread. Reads the clocks. Returns how many times are held.
SELFPROF_API uint32_t selfprof_cpu_times_read(SelfprofCpuTimes* times) noexcept {
  const selfprof::SignalGuard guard(times);
  times->Read();
  times->Flush();
  return times->Count();
}

// JS thread. Moves the first `count` times, which are held, to `to`. A signal may have added more since they were
// counted.
SELFPROF_API void selfprof_cpu_times_take(SelfprofCpuTimes* times, SelfprofCpuTime* to, uint32_t count) noexcept {
  const selfprof::SignalGuard guard(times);
  times->Take(to, count);
}
