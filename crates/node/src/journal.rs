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
    /// `None` once writing failed: a full disk must not end the program that is being profiled.
    writer: Option<JournalWriter<File>>,
    full: bool,
    /// Whether the last line says that the recording has ended.
    ended: bool,
}

impl Journal {
    /// Creates the file and writes its header.
    ///
    /// # Errors
    /// When the file cannot be created or written.
    pub fn create(path: &Path, header: &Header) -> io::Result<Self> {
        let writer = JournalWriter::create(File::create(path)?, header)?;
        Ok(Self { state: Mutex::new(State { writer: Some(writer), full: false, ended: false }) })
    }

    /// Writes what the recording has new, and takes it out of memory.
    pub fn append(&self, recording: &mut Recording, lost: u64, became_full: bool) {
        let mut state = lock(&self.state);
        state.full |= became_full;
        let samples = recording.drain();
        if samples.is_empty() && lost == 0 {
            return;
        }
        state.ended = false;
        let Some(writer) = &mut state.writer else { return };
        if let Err(error) = writer.append(recording.trace(), &samples, lost) {
            eprintln!("selfprof: the trace ends early, writing it failed: {error}");
            state.writer = None;
        } else if recording.renew_tables(MOST_STACKS) {
            writer.renew();
        }
    }

    /// Writes what is left, and that the recording has ended and why. Should the program go on after all, what comes
    /// later is written behind it.
    pub fn end(&self, recording: &mut Recording, reason: &str) {
        recording.settle();
        self.append(recording, 0, false);
        let mut state = lock(&self.state);
        if std::mem::replace(&mut state.ended, true) {
            return;
        }
        let end = End { reason: reason.to_owned(), full: state.full };
        if let Some(writer) = &mut state.writer {
            // A program that ends has nobody left to be told of a failure.
            let _ = writer.end(end);
        }
    }
}
