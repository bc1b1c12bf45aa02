// Catching what JavaScript throws.
#ifndef SELFPROF_CATCH_H_
#define SELFPROF_CATCH_H_

#include "../compat.h"

namespace selfprof {

// Catches what is thrown while it exists. When a thread is to end, that is thrown, too, once: V8 forgets it when
// someone catches it, and a script in an endless loop would go on. So it is asked for again.
class Catch {
 public:
  explicit Catch(v8::Isolate* isolate) : isolate_(isolate), caught_(isolate) {}
  ~Catch() {
    if (caught_.HasTerminated()) isolate_->TerminateExecution();
  }

  Catch(const Catch&) = delete;
  Catch& operator=(const Catch&) = delete;

  v8::TryCatch* operator->() { return &caught_; }

 private:
  v8::Isolate* isolate_;
  v8::TryCatch caught_;
};

}  // namespace selfprof

#endif  // SELFPROF_CATCH_H_
