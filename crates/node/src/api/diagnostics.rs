//! Measurements for the project's tests and benchmarks. Nothing else calls these functions.

use napi_derive::napi;

use crate::agent::{current, thread_requests};
use crate::pages::realms;
use crate::{signals, thread_usage};

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

/// The CPU time of the calling thread so far, in milliseconds. Node 20 does not report it for a single thread, and
/// /proc counts in ticks of the scheduler.
#[napi(catch_unwind)]
pub fn thread_cpu_time() -> f64 {
    thread_usage::thread_cpu_time().as_secs_f64() * 1e3
}

/// How long recordings have held up this thread.
#[napi(object, object_from_js = false)]
pub struct Ticks {
    /// How often they interrupted it.
    pub count: u32,
    /// The longest time, in milliseconds.
    pub longest: f64,
    /// The longest time in which no other thread got the processor, in milliseconds.
    pub longest_alone: f64,
    /// The longest CPU time, in milliseconds.
    pub longest_cpu: f64,
    /// All CPU time, in milliseconds.
    pub cpu: f64,
}

/// How long recordings have held up this thread; all 0 when it has no agent.
#[napi(catch_unwind)]
pub fn ticks() -> Ticks {
    let times = current::with(|agent| Ok(agent.ticks)).unwrap_or_default();
    Ticks {
        count: times.count,
        longest: times.longest.0 as f64 / 1e3,
        longest_alone: times.longest_alone.0 as f64 / 1e3,
        longest_cpu: times.longest_cpu.as_secs_f64() * 1e3,
        cpu: times.cpu.as_secs_f64() * 1e3,
    }
}
