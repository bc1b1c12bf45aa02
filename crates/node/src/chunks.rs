//! Chunks on their way from the building thread to a program.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use selfprof_session::RecordingCell;
use selfprof_trace::{Micros, Trace};

use crate::agent::Notifier;
use crate::locks::lock;
use crate::product::TraceColumns;

/// The chunks of one session that wait for the program. The building thread adds, the JS thread takes; neither holds the
/// lock for longer than that. It lives until the session has ended and JavaScript has let go of it.
#[derive(Default)]
pub struct Backlog {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<TraceColumns>,
    /// The time of the last sample of the last chunk, taken or not.
    seam: Option<Micros>,
    /// Whether the recording is full until one is taken.
    resting: bool,
}

impl Backlog {
    /// How many wait.
    pub fn len(&self) -> usize {
        lock(&self.state).waiting.len()
    }

    /// Building thread. Adds chunks that a recording completed, and says whether there were any.
    pub fn add(&self, chunks: Vec<Trace>) -> bool {
        // The columns are made before the lock is taken, for the JS thread may want it.
        let columns: Vec<_> = chunks.iter().map(TraceColumns::from).collect();
        let any = !columns.is_empty();
        let mut state = lock(&self.state);
        state.waiting.extend(columns);
        state.seam = chunks.last().and_then(Trace::span).map(|(_, last)| last).or(state.seam);
        any
    }

    /// The time of the last sample that is in a chunk.
    pub fn seam(&self) -> Option<Micros> {
        lock(&self.state).seam
    }

    /// JS thread. Takes the oldest chunk, and says whether the recording waits for that.
    pub fn take(&self) -> (Option<TraceColumns>, bool) {
        let mut state = lock(&self.state);
        (state.waiting.pop_front(), state.resting)
    }
}

/// A session whose full buffers become chunks.
#[derive(Clone)]
pub struct Chunked {
    /// Its recording.
    pub cell: Arc<RecordingCell>,
    /// Its chunks.
    pub backlog: Arc<Backlog>,
}

impl Chunked {
    /// Building thread. The recording is full. Should a chunk have been taken since its last look, it goes on at once.
    pub fn rest(&self, notifier: &Notifier) {
        lock(&self.backlog.state).resting = true;
        self.go_on(notifier);
    }

    /// Building thread. Goes on if the recording is full and there is room for a chunk again.
    pub fn go_on(&self, notifier: &Notifier) {
        let mut recording = lock(&self.cell.recording);
        let mut state = lock(&self.backlog.state);
        recording.set_waiting_chunks(state.waiting.len());
        if !state.resting {
            return;
        }
        let now = selfprof_v8::now();
        if let Some(look_at) = recording.go_on(now) {
            state.resting = false;
            self.cell.go_on(look_at);
            // The group samples for it again at its next tick.
            notifier.look_at(now);
        }
    }
}
