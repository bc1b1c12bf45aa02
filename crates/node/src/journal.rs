//! A recording that is streamed to a file while it goes on.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Mutex;

use selfprof_formats::journal::{End, Header, JournalWriter};
use selfprof_session::Recording;

use crate::locks::lock;

/// How many stacks the tables may hold before they are started anew, 30 bytes each: a program that runs for days meets ever
/// new ones.
const MOST_STACKS: usize = 1 << 16;

/// The file of one streamed recording. The building thread writes; the agent's notifier holds it until the agent ends.
pub struct Journal {
    state: Mutex<State>,
}

struct State {
    /// `None` once closed, or once writing failed: a full disk must not end the program that is being profiled.
    writer: Option<JournalWriter<File>>,
    full: bool,
    /// The recording's samples that wait for the next segment, to be written at the end.
    waiting: Vec<selfprof_trace::Sample>,
}

impl Journal {
    /// Creates the file and writes its header.
    ///
    /// # Errors
    /// When the file cannot be created or written.
    pub fn create(path: &Path, header: &Header) -> io::Result<Self> {
        let writer = JournalWriter::create(File::create(path)?, header)?;
        Ok(Self { state: Mutex::new(State { writer: Some(writer), full: false, waiting: Vec::new() }) })
    }

    /// Writes what the recording has new, and takes it out of memory.
    pub fn append(&self, recording: &mut Recording, lost: u64, became_full: bool) {
        let mut state = lock(&self.state);
        state.full |= became_full;
        let samples = recording.drain();
        state.waiting = recording.trace().samples().to_vec();
        let Some(writer) = &mut state.writer else { return };
        if let Err(error) = writer.append(recording.trace(), &samples, lost) {
            eprintln!("selfprof: the trace ends early, writing it failed: {error}");
            state.writer = None;
        } else if recording.renew_tables(MOST_STACKS) {
            writer.renew();
        }
    }

    /// Writes that the recording has ended, and why.
    pub fn close(&self, reason: &str) {
        let mut state = lock(&self.state);
        let full = state.full;
        let waiting = std::mem::take(&mut state.waiting);
        if let Some(mut writer) = state.writer.take() {
            // Only samples of a garbage collection wait, and they refer to no table.
            let _ = writer.append(&selfprof_trace::Trace::new(), &waiting, 0);
            let _ = writer.finish(End { reason: reason.to_owned(), full });
        }
    }
}
