//! The trace of one thread.

use selfprof_trace::Trace;

/// A thread and its trace.
#[derive(Clone, Debug)]
pub struct Thread {
    /// The thread's name: `main-thread`, or `worker-` and the number of the worker.
    pub name: String,
    /// The thread's trace. All threads of a profile have the same time origin.
    pub trace: Trace,
}

impl Thread {
    /// The name of the main thread, also used for threads without a name.
    pub const MAIN: &'static str = "main-thread";

    /// The main thread.
    pub fn main(trace: Trace) -> Self {
        Self { name: Self::MAIN.to_owned(), trace }
    }
}
