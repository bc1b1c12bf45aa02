//! A recording that is streamed to a file while it goes on.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use selfprof_formats::journal::{End, Header, JournalWriter};
use selfprof_session::Recording;
use selfprof_trace::{EntryType, Millis};

use crate::builder::{self, Job};
use crate::entries::EntryStore;
use crate::locks::lock;

/// How many stacks the tables may hold before they are started anew, 30 bytes each: a program that runs for days meets ever
/// new ones.
const MOST_STACKS: usize = 1 << 16;

/// How many marks and measures may wait to be written. Fewer are written when a segment is, or at the end.
const MOST_WAITING: usize = 1024;

/// The file of one streamed recording. The building thread writes; the agent's notifier holds it until the agent ends.
pub struct Journal {
    state: Mutex<State>,
    /// The marks and measures that are not written yet. The recorded thread adds, the building thread takes.
    waiting: EntryStore,
}

struct State {
    /// `None` once writing failed: a full disk must not end the program that is being profiled.
    writer: Option<JournalWriter<File>>,
    full: bool,
    /// Whether the last line says that the recording has ended.
    ended: bool,
}

impl Journal {
    /// Creates the file and writes its header. It takes so many marks and measures at most.
    ///
    /// # Errors
    /// When the file cannot be created or written.
    pub fn create(path: &Path, header: &Header, max_entries: u64) -> io::Result<Self> {
        let writer = JournalWriter::create(File::create(path)?, header)?;
        Ok(Self {
            state: Mutex::new(State { writer: Some(writer), full: false, ended: false }),
            waiting: EntryStore::new(max_entries),
        })
    }

    /// Writes what the recording has new, and takes it out of memory.
    pub fn append(&self, recording: &mut Recording, lost: u64, became_full: bool) {
        let mut state = lock(&self.state);
        state.full |= became_full;
        let samples = recording.drain();
        if !samples.is_empty() || lost > 0 {
            state.write(|writer| {
                writer.append(recording.trace(), &samples, lost)?;
                if recording.renew_tables(MOST_STACKS) {
                    writer.renew();
                }
                Ok(())
            });
        }
        drop(state);
        self.write_entries();
    }

    /// Takes a mark or a measure, or counts it as dropped when there is no room. Called on the recorded thread, which does
    /// not wait for its being written.
    pub fn add_entry(
        self: &Arc<Self>,
        entry_type: EntryType,
        name: &str,
        start_time: Millis,
        duration: Millis,
    ) {
        let held = self.waiting.add(entry_type, name, start_time, duration);
        if held > 0 && held.is_multiple_of(MOST_WAITING) {
            builder::send(Job::Entries(Arc::clone(self)));
        }
    }

    /// Writes the marks and measures that wait.
    pub fn write_entries(&self) {
        let entries = self.waiting.take();
        if !entries.is_empty() {
            lock(&self.state).write(|writer| writer.append_entries(&entries));
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

impl State {
    /// Writes something behind what is there, and perhaps behind an end that was none.
    fn write(&mut self, write: impl FnOnce(&mut JournalWriter<File>) -> io::Result<()>) {
        self.ended = false;
        let Some(writer) = &mut self.writer else { return };
        if let Err(error) = write(writer) {
            eprintln!("selfprof: the trace ends early, writing it failed: {error}");
            self.writer = None;
        }
    }
}
