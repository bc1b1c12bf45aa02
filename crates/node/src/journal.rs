//! A recording that is streamed to a file while it goes on.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use napi_derive::napi;
use selfprof_formats::journal::{End, Header, JournalWriter};
use selfprof_session::Recording;
use selfprof_trace::{Entries, Entry, EntryType, Millis};

use crate::builder::{self, Job};
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
    waiting: Mutex<Waiting>,
}

struct Waiting {
    /// The names that JavaScript has given, by the numbers that it got for them.
    names: Vec<String>,
    entries: Entries,
    /// How many more there is room for.
    room: u64,
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
            waiting: Mutex::new(Waiting { names: Vec::new(), entries: Entries::new(), room: max_entries }),
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
    fn add_entry(self: &Arc<Self>, entry_type: EntryType, name: u32, start_time: Millis, duration: Millis) {
        let mut waiting = lock(&self.waiting);
        let before = waiting.entries.list().len();
        waiting.add(entry_type, name, start_time, duration);
        let is_due = before < MOST_WAITING && waiting.entries.list().len() == MOST_WAITING;
        drop(waiting);
        if is_due {
            builder::send(Job::Entries(Arc::clone(self)));
        }
    }

    /// Writes the marks and measures that wait.
    pub fn write_entries(&self) {
        let entries = std::mem::take(&mut lock(&self.waiting).entries);
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

impl Waiting {
    fn add(&mut self, entry_type: EntryType, name: u32, start_time: Millis, duration: Millis) {
        let entries = &mut self.entries;
        let name = self.names.get(name as usize).filter(|_| self.room > 0);
        // Interning fails only when there are more names than ids.
        let Some(name) = name.and_then(|name| entries.name(name).ok()) else {
            return entries.count_dropped(1);
        };
        if entries.push(Entry { entry_type, name, start_time, duration }).is_ok() {
            self.room -= 1;
        }
    }
}

thread_local! {
    /// The journal of this thread, if it is recorded: for its marks and measures. The agent has it too.
    static CURRENT: RefCell<Option<Arc<Journal>>> = const { RefCell::new(None) };
}

/// Has the marks and measures of this thread go into `journal` from now on.
pub fn set_current(journal: Arc<Journal>) {
    CURRENT.with(|current| current.replace(Some(journal)));
}

fn with_current<T: Default>(work: impl FnOnce(&Arc<Journal>) -> T) -> T {
    CURRENT.with(|current| current.borrow().as_ref().map(work)).unwrap_or_default()
}

/// Takes the name of marks and measures to come; gives the number that stands for it.
#[napi(catch_unwind)]
pub fn name_entry(name: String) -> u32 {
    with_current(|journal| {
        let names = &mut lock(&journal.waiting).names;
        names.push(name);
        names.len() as u32 - 1
    })
}

/// Forgets all names that were taken.
#[napi(catch_unwind)]
pub fn forget_entry_names() {
    with_current(|journal| lock(&journal.waiting).names.clear());
}

/// Records a mark or a measure of this thread: the number of its name, when it began and how long it took, in
/// milliseconds. Times that are not finite make it none.
#[napi(catch_unwind)]
pub fn record_entry(is_measure: bool, name: u32, start_time: f64, duration: f64) {
    let entry_type = if is_measure { EntryType::Measure } else { EntryType::Mark };
    let (Some(start_time), Some(duration)) = (Millis::new(start_time), Millis::new(duration)) else { return };
    with_current(|journal| journal.add_entry(entry_type, name, start_time, duration));
}
