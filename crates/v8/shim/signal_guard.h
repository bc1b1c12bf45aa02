// What a thread shares with its own signal handler.
#ifndef SELFPROF_SIGNAL_GUARD_H_
#define SELFPROF_SIGNAL_GUARD_H_

#include <atomic>

namespace selfprof {

// While it lives, `is_in_use` of an object is set, and the signal handler of this thread leaves the object alone.
template <typename T>
class SignalGuard {
 public:
  explicit SignalGuard(T* object) noexcept : object_(object) {
    object_->is_in_use.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~SignalGuard() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    object_->is_in_use.store(false, std::memory_order_relaxed);
  }
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  T* const object_;
};

}  // namespace selfprof

#endif  // SELFPROF_SIGNAL_GUARD_H_
