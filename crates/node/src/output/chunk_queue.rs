//! Chunks on their way from the building thread to JavaScript.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use selfprof_session::{Instant, RecordingCell};
use selfprof_trace::{Micros, Trace};

use super::trace_columns::TraceColumns;

/// The chunks of one session that JavaScript has not taken yet. The building thread adds, the JS thread takes; neither
/// holds the lock for longer. Lives until the session has ended and JavaScript holds its handle no longer.
#[derive(Default)]
pub struct ChunkQueue {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<TraceColumns>,
    /// The time of the last sample of the last chunk, taken or not.
    last_chunk_end: Option<Micros>,
    /// Whether recording is paused until a chunk is taken.
    paused: bool,
}

impl ChunkQueue {
    /// How many chunks wait.
    pub fn len(&self) -> usize {
        self.state.lock().waiting.len()
    }

    /// Building thread. Adds completed chunks. Returns whether there were any.
    pub fn add(&self, chunks: Vec<Trace>) -> bool {
        // The columns are made before the lock is taken, since the JS thread may want it.
        let columns: Vec<_> = chunks.iter().map(TraceColumns::from).collect();
        let any = !columns.is_empty();
        let mut state = self.state.lock();
        state.waiting.extend(columns);
        state.last_chunk_end =
            chunks.last().and_then(Trace::span).map(|(_, last)| last).or(state.last_chunk_end);
        any
    }

    /// The time of the last sample in a chunk.
    pub fn last_chunk_end(&self) -> Option<Micros> {
        self.state.lock().last_chunk_end
    }

    /// JS thread. Takes the oldest chunk. The second value tells whether recording is paused until a chunk is taken.
    pub fn take(&self) -> (Option<TraceColumns>, bool) {
        let mut state = self.state.lock();
        (state.waiting.pop_front(), state.paused)
    }

    /// Building thread. The recording is full until a chunk is taken.
    pub fn set_paused(&self) {
        self.state.lock().paused = true;
    }
}

/// The recording of a session whose full buffers become chunks.
#[derive(Clone)]
pub struct ChunkedRecording {
    /// The recording.
    pub cell: Arc<RecordingCell>,
    /// Its chunks.
    pub queue: Arc<ChunkQueue>,
}

impl ChunkedRecording {
    /// Building thread. Continues the recording if it is paused and there is room for a chunk again. Returns whether it
    /// was continued.
    pub fn continue_if_possible(&self, now: Instant) -> bool {
        let mut recording = self.cell.recording.lock();
        let mut state = self.queue.state.lock();
        recording.set_waiting_chunks(state.waiting.len());
        if !state.paused {
            return false;
        }
        let Some(check_at) = recording.resume_recording(now) else { return false };
        state.paused = false;
        self.cell.resume_recording(check_at);
        true
    }
}
