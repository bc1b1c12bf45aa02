//! The agent of the calling thread.

use std::collections::HashMap;

use napi::bindgen_prelude::Function;
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi::{Env, Error, Result};
use napi_derive::napi;
use selfprof_session::{AdmitScripts, Instant};
use selfprof_trace::Micros;
use selfprof_v8::LoggingMode;

use super::addon_name;
use super::arguments::{agent_error, to_marker};
use super::listener;
use crate::agent::lifecycle::{self, AgentOptions};
use crate::output::finished::Thread;
use crate::session_request::CLOCK_RESOLUTION;

/// The `process.versions.modules` that this addon was built for. Another Node major may load it without an error.
#[napi]
pub fn built_for() -> u32 {
    selfprof_v8::built_for()
}

/// Now, on the clock of sample timestamps, in milliseconds.
#[napi]
pub fn now() -> f64 {
    selfprof_v8::now().0 as f64 / 1e3
}

/// What every agent offers.
#[napi(object)]
pub struct Offers {
    /// The shortest sample interval, in milliseconds. All others are multiples of it.
    pub base_interval: f64,
    /// The resolution of sample timestamps, in milliseconds.
    pub time_resolution: f64,
}

/// What every agent offers. Needs no agent.
#[napi]
pub fn offers() -> Offers {
    Offers {
        base_interval: selfprof_v8::CpuSampler::BASE.as_millis_f64(),
        time_resolution: CLOCK_RESOLUTION.as_millis_f64(),
    }
}

/// Makes the agent of the calling thread. Returns false when the thread has one already.
///
/// `hostScripts` are URL prefixes of host code, whose frames are folded into one that has only a name. `timeOrigin` is
/// the thread's time origin on the clock of [`now`], in milliseconds. `threadId` and `threadName` identify the thread
/// in a profile of all threads. `onEntriesWanted()` is called from the event loop when marks and measures start or stop
/// [being recorded](super::entries::entries_are_wanted). `samplerScripts` are URL prefixes of the profiler's own
/// scripts, which traces leave out. `workScripts` maps markers to scripts in whose functions the host does work of that
/// kind. An agent that `isTemporary` ends with the recording of its thread, unless it is [kept](keep_agent).
#[napi(catch_unwind)]
#[allow(clippy::too_many_arguments)] // Has one caller, which passes values that it names.
pub fn begin(
    env: &Env,
    mode: String,
    host_scripts: Vec<String>,
    time_origin: f64,
    thread_id: u32,
    thread_name: String,
    on_entries_wanted: Function<(), ()>,
    sampler_scripts: Option<Vec<String>>,
    work_scripts: Option<HashMap<String, String>>,
    is_temporary: Option<bool>,
) -> Result<bool> {
    let admission = AdmitScripts::except(host_scripts.iter().map(String::as_str))
        .without(sampler_scripts.unwrap_or_default().iter().map(String::as_str));
    // Holds its function as long as the agent lives: one copy of the package per thread.
    let on_entries_wanted =
        on_entries_wanted.build_threadsafe_function().weak::<true>().callee_handled::<false>().build()?;
    let options = AgentOptions {
        mode: if mode == "lazy" { LoggingMode::Lazy } else { LoggingMode::Eager },
        admission: work_scripts.iter().flatten().try_fold(admission, |admission, (marker, script)| {
            Ok::<_, Error>(admission.with_work(script, to_marker(marker)?))
        })?,
        origin: Instant(Micros::from_millis_f64(time_origin).unwrap_or_default().0),
        thread: Thread { id: thread_id, name: thread_name },
        on_entries_wanted: Box::new(move || {
            on_entries_wanted.call((), ThreadsafeFunctionCallMode::NonBlocking);
        }),
        on_event: listener::dispatcher(env)?,
        is_temporary: is_temporary.unwrap_or(false),
    };
    addon_name::claim(env)?;
    lifecycle::begin(options).map_err(agent_error)
}

/// The agent of the calling thread stays after a recording, too. Returns whether the thread has an agent.
#[napi(catch_unwind)]
pub fn keep_agent() -> bool {
    lifecycle::keep()
}
