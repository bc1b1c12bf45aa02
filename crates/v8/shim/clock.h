// The clock of sample timestamps.
#ifndef SELFPROF_CLOCK_H_
#define SELFPROF_CLOCK_H_

#include <uv.h>

#include <cstdint>

namespace selfprof {

// Any thread. In microseconds: V8's TimeTicks and libuv's hrtime are both CLOCK_MONOTONIC, but TimeTicks::Now() adds
// one, so that it is never 0.
inline uint64_t NowMicros() { return uv_hrtime() / 1000 + 1; }

}  // namespace selfprof

#endif  // SELFPROF_CLOCK_H_
