//! The labels of the code that the current thread runs, read whenever V8 samples it.

use std::ptr::NonNull;
use std::sync::Arc;

use selfprof_session::Instant;
use selfprof_trace::{LabelSet, Micros};

use crate::{Environment, Value, ffi};

/// What JavaScript says of its labels; all are 0 if there is none. The package gives the numbers their meaning.
pub type LabelNumbers = [i32; 8];

/// Finds what numbers stand for. Any thread.
pub trait LabelTable: Send + Sync {
    /// The labels; `None` if the numbers stand for none.
    fn labels(&self, numbers: &LabelNumbers) -> Option<Arc<LabelSet>>;
}

/// How many readings are moved at a time.
const TAKEN_AT_A_TIME: usize = 512;

/// The labels of the thread that made it, from samples of which the CPU times are read, too. Must be dropped before the
/// isolate ends. The pointer keeps it on its thread.
pub struct SampleLabels {
    labels: NonNull<ffi::SampleLabels>,
    table: Arc<dyn LabelTable>,
}

/// The labels of samples from a moment on, as numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelReading {
    pub(crate) from: Instant,
    pub(crate) before: Instant,
    pub(crate) numbers: LabelNumbers,
}

impl SampleLabels {
    /// No labels so far. `None` if the thread has one already, or if the system lacks the means.
    #[must_use]
    pub fn new(environment: &Environment, table: Arc<dyn LabelTable>) -> Option<Self> {
        // SAFETY: the isolate is this thread's and lives as long as its environment.
        let labels = unsafe { ffi::selfprof_sample_labels_new(environment.isolate().as_ptr()) };
        NonNull::new(labels).map(|labels| Self { labels, table })
    }

    /// Reads the value of an `AsyncLocalStorage` from now on, which is `value` at the moment and has these numbers.
    /// Both are handles of the native function that JavaScript has called. Returns false, and reads nothing, if this
    /// Node does not keep it in the isolate.
    pub fn read_frames(&mut self, key: Value, value: Value, expected: &LabelNumbers) -> bool {
        // SAFETY: called on the thread that made it; `expected` has as many numbers as the shim reads.
        unsafe {
            ffi::selfprof_sample_labels_read_frames(
                self.labels.as_ptr(),
                key.as_raw(),
                value.as_raw(),
                expected.as_ptr(),
            )
        }
    }

    /// Reads the numbers in an `Int32Array` from now on, a handle as above. Returns false if it is something else.
    pub fn read_memory(&mut self, memory: Value) -> bool {
        // SAFETY: called on the thread that made it.
        unsafe { ffi::selfprof_sample_labels_read_memory(self.labels.as_ptr(), memory.as_raw()) }
    }

    pub(crate) fn table(&self) -> Arc<dyn LabelTable> {
        Arc::clone(&self.table)
    }

    /// Reads the labels for a sample that V8 is about to take without a signal, as it does when a run starts.
    pub(crate) fn read(&mut self) {
        // SAFETY: called on the thread that made it.
        unsafe { ffi::selfprof_sample_labels_read(self.labels.as_ptr()) };
    }

    /// Sets the interval at which the thread is sampled. If no sample is seen for much longer, later ones have no
    /// labels.
    pub(crate) fn set_longest(&mut self, longest: Micros) {
        // SAFETY: called on the thread that made it.
        unsafe { ffi::selfprof_sample_labels_set_longest(self.labels.as_ptr(), longest.0) };
    }

    /// The readings since the last call, in order.
    pub(crate) fn take(&mut self) -> Vec<LabelReading> {
        let mut readings = Vec::new();
        let mut taken = [ffi::Labels { from_us: 0, before_us: 0, numbers: [0; 8] }; TAKEN_AT_A_TIME];
        loop {
            let (to, room) = (taken.as_mut_ptr(), TAKEN_AT_A_TIME as u32);
            let now = crate::now();
            // SAFETY: called on the thread that made it, with room for as many.
            let count =
                unsafe { ffi::selfprof_sample_labels_take(self.labels.as_ptr(), now.0, to, room) } as usize;
            readings.extend(taken[..count].iter().map(|labels| LabelReading {
                from: Instant(labels.from_us),
                before: Instant(labels.before_us),
                numbers: labels.numbers,
            }));
            if count < TAKEN_AT_A_TIME {
                return readings;
            }
        }
    }
}

impl Drop for SampleLabels {
    fn drop(&mut self) {
        // SAFETY: called on the thread that made it, while its isolate lives, and it is not used again.
        unsafe { ffi::selfprof_sample_labels_delete(self.labels.as_ptr()) };
    }
}
