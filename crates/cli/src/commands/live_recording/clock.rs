//! The system's monotonic clock, which the recorded processes use for their samples.

use rustix::time::{ClockId, clock_gettime};
use selfprof_trace::Micros;

/// The time now.
pub fn now() -> Micros {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    Micros(seconds * 1_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0) / 1000)
}
