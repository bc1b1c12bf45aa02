//! A recording that is streamed to a file while it is being made.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use selfprof_formats::journal::{End, Header, JournalFiles, Retention};
use selfprof_session::{FrameAdmission, RawSegment, Recording, RecordingCell};
use selfprof_trace::{EntryType, Micros, Millis};

use crate::building_thread;
use crate::entries::recorder::EntrySink;
use crate::entries::store::EntryStore;
use crate::script_maps::RecordedMaps;

/// How many stacks the tables may hold, 30 bytes each, before they are started anew. A program that runs for days keeps
/// producing new ones.
const MAX_STACKS: usize = 1 << 16;

/// How many marks and measures may wait before they are written. Fewer are written with the next segment, or at the
/// end.
const MAX_WAITING_ENTRIES: usize = 1024;

/// A recording that is streamed to a file.
#[derive(Clone)]
pub struct StreamedRecording {
    /// The recording.
    pub cell: Arc<RecordingCell>,
    /// The file.
    pub journal: Arc<Journal>,
}

impl StreamedRecording {
    /// JS thread. Has the building thread write what is left, and why the recording ended.
    pub fn end(self, reason: &'static str) {
        building_thread::run(move || self.journal.write_end(&mut self.cell.recording.lock(), reason));
    }
}

/// The file of one streamed recording. The building thread writes it; the agent holds it until the agent ends.
pub struct Journal {
    state: Mutex<State>,
    /// The marks and measures that are not written yet. The recorded thread adds, the building thread takes.
    waiting: EntryStore,
    maps: RecordedMaps,
}

/// How much a journal holds.
#[derive(Clone, Copy, Debug)]
pub struct JournalLimits {
    /// How many marks and measures it holds at most.
    pub max_entries: u64,
    /// Which samples it keeps.
    pub retention: Retention,
}

struct State {
    files: JournalFiles,
    full: bool,
}

impl Journal {
    /// Creates the file and writes its header.
    ///
    /// # Errors
    /// When the file cannot be created or written.
    pub fn create(path: &Path, header: &Header, limits: JournalLimits) -> io::Result<Self> {
        let JournalLimits { max_entries, retention } = limits;
        let files = JournalFiles::create(path, header, retention, report)?;
        let state = State { files, full: false };
        let (waiting, maps) = (EntryStore::new(max_entries), RecordedMaps::default());
        Ok(Self { state: Mutex::new(state), waiting, maps })
    }

    /// The source maps of the recorded scripts.
    pub fn maps(&self) -> &RecordedMaps {
        &self.maps
    }

    /// Asks for the source maps of the scripts in this segment. Returns whether there are new ones.
    pub fn want_maps(&self, segment: &RawSegment, admission: &dyn FrameAdmission) -> bool {
        let (has_new, left_out) = self.maps.want(segment, admission);
        if left_out > 0 {
            self.append_left_out_maps(left_out);
        }
        has_new
    }

    /// Writes the source mapping URL of a script.
    pub fn append_map(&self, resource: &Arc<str>, url: &str) {
        if self.maps.is_new(resource, url) {
            self.state.lock().files.write_map(|writer| writer.append_source_map(resource, url));
        }
    }

    /// Writes that scripts were left out.
    pub fn append_left_out_maps(&self, count: u64) {
        self.state.lock().files.write_map(|writer| writer.append_left_out_source_maps(count));
    }

    /// Writes what was added to the recording, and removes it from memory.
    pub fn append(&self, recording: &mut Recording, lost: u64, became_full: bool) {
        let mut state = self.state.lock();
        state.full |= became_full;
        let samples = recording.drain();
        let waiting = recording.drain_waiting();
        let labels = recording.drain_labels();
        if !samples.is_empty() || lost > 0 {
            // A new file gets all tables.
            let ends_soon = state.files.append(recording.trace(), &samples, lost);
            if recording.renew_tables(if ends_soon { 0 } else { MAX_STACKS }) {
                state.files.renew_tables();
            }
        }
        state.files.append_waiting(waiting, samples.last());
        state.files.append_labels(labels.iter().map(|change| (change.timestamp, change.labels.as_ref())));
        drop(state);
        self.write_entries();
    }

    /// Writes the marks and measures that wait.
    fn write_entries(&self) {
        let entries = self.waiting.take();
        if !entries.is_empty() {
            self.state.lock().files.write(|writer| writer.append_entries(&entries));
        }
    }

    /// Writes what is left, and why the recording ended. If the program goes on after all, later samples are written
    /// after this end.
    fn write_end(&self, recording: &mut Recording, reason: &str) {
        recording.settle();
        self.append(recording, 0, false);
        let mut state = self.state.lock();
        let end = End { reason: reason.to_owned(), full: state.full };
        state.files.end(end);
    }
}

impl EntrySink for Journal {
    /// Does not wait for the write. Counts the entry as dropped when there is no room.
    fn add_entry(self: Arc<Self>, entry_type: EntryType, name: &str, start_time: Millis, duration: Millis) {
        let held = self.waiting.add(entry_type, name, start_time, duration);
        if held > 0 && held.is_multiple_of(MAX_WAITING_ENTRIES) {
            building_thread::run(move || self.write_entries());
        }
    }

    fn end(&self, _: Micros) {}
}

/// Tells the user. `eprintln!` would panic if stderr cannot be written, which a full disk may also cause.
fn report(error: &io::Error) {
    let _ = writeln!(
        io::stderr(),
        "selfprof: the trace is incomplete: the journal could not be written: {error}"
    );
}
