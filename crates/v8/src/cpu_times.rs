//! The CPU times of the current thread, read whenever V8 samples it.

use std::ptr::NonNull;

use selfprof_session::{CpuTime, Instant};
use selfprof_trace::Micros;

use crate::ffi;

/// The CPU times of the thread that made it. The pointer keeps it on that thread.
pub(crate) struct CpuTimes {
    times: NonNull<ffi::CpuTimes>,
    interval: Option<Micros>,
}

impl CpuTimes {
    /// `None` if the thread has one already, or if the system lacks the means.
    pub(crate) fn new() -> Option<Self> {
        NonNull::new(ffi::selfprof_cpu_times_new()).map(|times| Self { times, interval: None })
    }

    /// Sets the longest interval at which the thread is sampled. Between readings that are much farther apart, the
    /// times are not known.
    pub(crate) fn set_interval(&mut self, interval: Micros) {
        if self.interval != Some(interval) {
            self.interval = Some(interval);
            // SAFETY: called on the thread that made it.
            unsafe { ffi::selfprof_cpu_times_set_interval(self.times.as_ptr(), interval.0) };
        }
    }

    /// Has the times read from now on, unless another profiler handles V8's signal. A run must be going, and this must
    /// be called after each start of one, because V8 and other profilers install handlers of their own.
    pub(crate) fn install_handler(&mut self) {
        ffi::selfprof_cpu_times_install_handler();
    }

    /// The times since the last call, and the current one, in order.
    pub(crate) fn take(&mut self) -> Vec<CpuTime> {
        // SAFETY: called on the thread that made it.
        let count = unsafe { ffi::selfprof_cpu_times_read(self.times.as_ptr()) };
        let mut times = vec![ffi::CpuTime { at_us: 0, cpu_us: 0, is_after_gap: false }; count as usize];
        // SAFETY: called on the thread that made it, with room for `count`, and only this thread takes times.
        unsafe { ffi::selfprof_cpu_times_take(self.times.as_ptr(), times.as_mut_ptr(), count) };
        times
            .iter()
            .map(|time| CpuTime {
                at: Instant(time.at_us),
                cpu: Micros(time.cpu_us),
                is_after_gap: time.is_after_gap,
            })
            .collect()
    }
}

impl Drop for CpuTimes {
    fn drop(&mut self) {
        // SAFETY: called on the thread that made it, and it is not used again.
        unsafe { ffi::selfprof_cpu_times_delete(self.times.as_ptr()) };
    }
}
