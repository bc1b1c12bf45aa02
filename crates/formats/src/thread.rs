//! The trace of one thread.

use selfprof_trace::Trace;

use crate::script_map::ScriptMap;

/// A thread and its trace.
#[derive(Clone, Debug)]
pub struct Thread {
    /// The thread's name: `main-thread`, or `worker-` and the number of the worker.
    pub name: String,
    /// The thread's trace. All threads of a profile have the same time origin.
    pub trace: Trace,
    /// The source maps that the recording took from the program, one for a script. Only the W3C format holds them.
    pub source_maps: Vec<ScriptMap>,
}

impl Thread {
    /// The name of the main thread, also used for threads without a name.
    pub const MAIN: &'static str = "main-thread";

    /// A thread without source maps.
    pub fn new(name: String, trace: Trace) -> Self {
        Self { name, trace, source_maps: Vec::new() }
    }

    /// The main thread.
    pub fn main(trace: Trace) -> Self {
        Self::new(Self::MAIN.to_owned(), trace)
    }
}
