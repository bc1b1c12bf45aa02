//! What the system says of the calling thread.

use std::time::Duration;

/// The CPU time of the calling thread so far.
pub fn thread_cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is written before the call returns.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// How often the scheduler has taken the processor from the calling thread so far, to run another.
pub fn preemptions() -> i64 {
    // SAFETY: all-zero is a valid rusage, and the call writes to it before it returns.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
        usage.ru_nivcsw
    }
}
