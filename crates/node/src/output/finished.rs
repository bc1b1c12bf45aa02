//! A finished recording, for one thread or for several.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use selfprof_session::{BufferPolicy, Instant, Recording, RecordingCell, RecordingOptions};
use selfprof_trace::{Micros, Trace};

use super::chunk_queue::ChunkQueue;
use crate::entries::store::EntryStore;

/// The trace of a finished session.
pub struct FinishedTrace {
    /// The trace.
    pub trace: Trace,
    /// The time of the last sample in a chunk, if there were chunks: this trace continues after it.
    pub last_chunk_end: Option<Micros>,
    /// How many samples V8 took but could not keep.
    pub lost: u64,
    /// Whether its tables were full, so that later samples are missing.
    pub has_full_tables: bool,
}

/// Building thread. Takes the trace out of a recording whose session has ended. `None` when that panicked: callers that
/// wait for the trace must be notified in any case.
pub fn finish(cell: &RecordingCell, queue: Option<&ChunkQueue>) -> Option<FinishedTrace> {
    catch_unwind(AssertUnwindSafe(|| take_trace(cell, queue))).ok()
}

fn take_trace(cell: &RecordingCell, queue: Option<&ChunkQueue>) -> FinishedTrace {
    let empty = RecordingOptions {
        origin: Instant::default(),
        interval: Micros(1),
        limit: None,
        most_stacks: None,
        most_frame_bytes: None,
        policy: BufferPolicy::Stop,
        resolution: Micros::ZERO,
        waiting: false,
        labels: false,
    };
    let mut recording = mem::replace(&mut *cell.recording.lock(), Recording::new(empty));
    if let Some(queue) = queue {
        // Needs no notification: the caller that stopped the session checks for chunks when the trace has arrived.
        recording.settle();
        queue.add(recording.take_chunks());
    }
    let last_chunk_end = queue.and_then(ChunkQueue::last_chunk_end);
    let has_full_tables = recording.is_full() && recording.has_full_tables();
    let lost = recording.lost();
    FinishedTrace { lost, has_full_tables, last_chunk_end, trace: recording.finish() }
}

/// A JS thread, as Node names it.
#[derive(Clone, Debug)]
pub struct Thread {
    /// `threadId` of `node:worker_threads`.
    pub id: u32,
    /// Its name.
    pub name: String,
}

/// What a thread records while all threads are profiled.
#[derive(Clone)]
pub struct ThreadRecording {
    /// The samples.
    pub cell: Arc<RecordingCell>,
    /// The marks and measures, when they are requested.
    pub entries: Option<Arc<EntryStore>>,
}

/// What one thread recorded.
pub struct ThreadTrace {
    /// The thread.
    pub thread: Thread,
    /// Its trace, `None` when the thread did not respond in time.
    pub finished: Option<FinishedTrace>,
}

impl ThreadTrace {
    /// Building thread. The trace of a recording whose session has ended; `None` for a thread that did not respond.
    pub fn finish(thread: Thread, recording: Option<ThreadRecording>) -> Self {
        let finished = recording.and_then(|ThreadRecording { cell, entries }| {
            let mut finished = finish(&cell, None)?;
            if let Some(entries) = entries {
                let entries = entries.finish(&finished.trace);
                finished.trace.set_entries(Some(entries));
            }
            Some(finished)
        });
        Self { thread, finished }
    }
}
