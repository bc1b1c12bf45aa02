//! Measurements for the project's tests and benchmarks. Nothing else calls these functions.

use napi_derive::napi;

use crate::agent::thread_requests;
use crate::{realms, signals};

/// Counts of live objects, for tests that open and close many of them and check what is left.
#[napi(object, object_from_js = false)]
pub struct LiveCounts {
    /// Realms of this thread that are open, or that a session can still see.
    pub realms: u32,
    /// Their scripts.
    pub scripts: u32,
    /// Threads of the process that must end a recording before a signal ends the process.
    pub signal_watchers: u32,
}

/// How much is alive.
#[napi(catch_unwind)]
pub fn live_counts() -> LiveCounts {
    let (realms, scripts) = realms::counts();
    LiveCounts {
        realms: realms as u32,
        scripts: scripts as u32,
        signal_watchers: signals::watcher_count() as u32,
    }
}

/// How many threads of the process have an agent.
#[napi(catch_unwind)]
pub fn agent_count() -> u32 {
    thread_requests::thread_count() as u32
}

/// The CPU time of the calling thread so far, in milliseconds. Node 20 does not report it for a single thread, and /proc
/// counts in ticks of the scheduler.
#[napi(catch_unwind)]
pub fn thread_cpu_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is written before the call returns.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}
