//! A thread, and what was recorded on it.

use selfprof_trace::Trace;

/// The profile of one thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its name: `main-thread`, or `worker-` and the worker's number.
    pub name: String,
    /// What was recorded there. All threads of a profile count time from the same origin.
    pub trace: Trace,
}

impl Thread {
    /// The name of a program's first thread, which is also that of threads without a name.
    pub const MAIN: &'static str = "main-thread";

    /// The main thread.
    pub fn main(trace: Trace) -> Self {
        Self { name: Self::MAIN.to_owned(), trace }
    }
}
