//! The traces of all threads in the explainer's format.

use napi_derive::napi;
use selfprof_formats::explainer;
use selfprof_trace::{Micros, Trace};

use super::finished::ThreadTrace;

/// The options of the profile, which the format repeats.
#[napi(object, object_to_js = false)]
pub struct ExplainerOptions {
    /// The sample interval in effect, in milliseconds.
    pub sample_interval: f64,
    /// The sample buffer size limit.
    pub max_buffer_size: u32,
}

/// Writes what all threads recorded as JSON in the explainer's format, the main thread first. Threads that did not
/// respond are left out. `None` when it cannot be written.
pub fn write(traces: Vec<ThreadTrace>, options: &ExplainerOptions) -> Option<String> {
    let mut traces: Vec<_> = traces
        .into_iter()
        .filter_map(|ThreadTrace { thread, finished }| Some((thread.id, finished?.trace)))
        .collect();
    traces.sort_by_key(|&(id, _)| id);
    let thread = |(id, trace): (u32, Trace)| {
        let name = if id == 0 { "main-thread".to_owned() } else { format!("worker-{id}") };
        explainer::Thread::named(name, trace)
    };
    let threads: Vec<_> = traces.into_iter().map(thread).collect();
    let interval = Micros::from_millis_f64(options.sample_interval)?;
    let options = explainer::Options { interval, max_buffer_size: options.max_buffer_size };
    let mut json = Vec::new();
    explainer::write(&threads, options, &mut json).ok()?;
    String::from_utf8(json).ok()
}
