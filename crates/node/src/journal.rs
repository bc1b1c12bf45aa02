//! A recording that is streamed to a file while it is being made.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use selfprof_formats::journal::{End, Header, JournalWriter};
use selfprof_session::{FrameAdmission, RawSegment, Recording, RecordingCell};
use selfprof_trace::{EntryType, LabelSet, Micros, Millis, Sample, WaitingPoint};

use crate::building_thread;
use crate::entries::recorder::EntrySink;
use crate::entries::store::EntryStore;
use crate::script_maps::RecordedMaps;

/// How many stacks the tables may hold, 30 bytes each, before they are started anew. A program that runs for days keeps
/// producing new ones.
const MAX_STACKS: usize = 1 << 16;

/// The longest time between the first and the last sample of a segment.
const LONGEST_SEGMENT: Micros = Micros(2_000_000);

/// How many finished files of earlier periods a thread leaves behind at most, if nobody takes them: two hours' worth at a minute each.
const MAX_FINISHED_FILES: u64 = 120;

/// How many marks and measures may wait before they are written. Fewer are written with the next segment, or at the end.
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

/// Which samples a journal keeps, and in which files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retention {
    /// All, in one file.
    Everything,
    /// At least the last ones of this time, and at most twice as much, in two files.
    Latest(Micros),
    /// All, with a file for each period of this length since the Unix epoch. A file whose period is over is renamed to
    /// `<name>.<number of the period>.finished`; whoever takes it deletes it.
    Periods(Micros),
}

struct State {
    /// Where each new file is created.
    path: PathBuf,
    header: Header,
    retention: Retention,
    /// The time of the first sample in the file.
    start: Option<Micros>,
    /// The points of the waiting time that a new file begins with: from the last one that is not later than the last sample that was
    /// written. Empty if there is only one file.
    recent_waiting: Vec<WaitingPoint>,
    /// The labels of the last sample that was written.
    last_labels: Option<Arc<LabelSet>>,
    /// The file with the source maps, if it is another one.
    maps: Option<JournalWriter<File>>,
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
    pub fn create(path: &Path, header: &Header, limits: JournalLimits) -> io::Result<Self> {
        let writer = JournalWriter::create(File::create(path)?, header)?;
        let JournalLimits { max_entries, retention } = limits;
        let (path, header) = (path.to_owned(), header.clone());
        let state = State {
            path,
            header,
            retention,
            start: None,
            recent_waiting: Vec::new(),
            last_labels: None,
            maps: None,
            writer: Some(writer),
            full: false,
            ended: false,
        };
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
            self.state.lock().write_map(|writer| writer.append_source_map(resource, url));
        }
    }

    /// Writes that scripts were left out.
    pub fn append_left_out_maps(&self, count: u64) {
        self.state.lock().write_map(|writer| writer.append_left_out_source_maps(count));
    }

    /// Writes what was added to the recording, and removes it from memory.
    pub fn append(&self, recording: &mut Recording, lost: u64, became_full: bool) {
        let mut state = self.state.lock();
        state.full |= became_full;
        let samples = recording.drain();
        let waiting = recording.drain_waiting();
        let labels = recording.drain_labels();
        if !samples.is_empty() || lost > 0 {
            state.begin_file_if_due(&samples);
            // A new file gets all tables.
            let max_stacks = if state.ends_soon(samples.last()) { 0 } else { MAX_STACKS };
            state.write(|writer| {
                writer.append(recording.trace(), &samples, lost)?;
                if recording.renew_tables(max_stacks) {
                    writer.renew();
                }
                Ok(())
            });
        }
        if !waiting.is_empty() {
            state.write(|writer| writer.append_waiting(&waiting));
        }
        if let Some(last) = labels.last() {
            state.last_labels.clone_from(&last.labels);
            let changes = labels.iter().map(|change| (change.timestamp, change.labels.as_deref()));
            state.write(|writer| writer.append_labels(changes));
        }
        state.remember(waiting, samples.last());
        drop(state);
        self.write_entries();
    }

    /// Writes the marks and measures that wait.
    fn write_entries(&self) {
        let entries = self.waiting.take();
        if !entries.is_empty() {
            self.state.lock().write(|writer| writer.append_entries(&entries));
        }
    }

    /// Writes what is left, and why the recording ended. If the program goes on after all, later samples are written after
    /// this end.
    fn write_end(&self, recording: &mut Recording, reason: &str) {
        recording.settle();
        self.append(recording, 0, false);
        let mut state = self.state.lock();
        if std::mem::replace(&mut state.ended, true) {
            return;
        }
        let end = End { reason: reason.to_owned(), full: state.full };
        if let Some(writer) = &mut state.writer {
            // The program is ending, so a failure cannot be reported.
            let _ = writer.end(end);
        }
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

impl State {
    /// Begins a new file if the current one holds enough. The one before it is deleted.
    fn begin_file_if_due(&mut self, samples: &[Sample]) {
        let Some(first) = samples.first() else { return };
        let start = *self.start.get_or_insert(first.timestamp);
        let is_due = match self.retention {
            Retention::Everything => false,
            Retention::Latest(keep) => first.timestamp.saturating_sub(start) > keep,
            Retention::Periods(period) => {
                self.period_of(first.timestamp, period) > self.period_of(start, period)
            }
        };
        if !is_due || self.writer.is_none() {
            return;
        }
        let old = match self.retention {
            Retention::Periods(period) => {
                let number = self.period_of(start, period);
                if let Some(oldest) = number.checked_sub(MAX_FINISHED_FILES) {
                    // It was taken long ago, unless nobody takes them.
                    let _ = fs::remove_file(self.finished_file(oldest));
                }
                if let Some(writer) = &mut self.writer {
                    // The next write reports a failure.
                    let _ = writer.end(End { reason: "period".to_owned(), full: false });
                }
                self.finished_file(number)
            }
            Retention::Everything | Retention::Latest(_) => self.path.with_extension("old.journal"),
        };
        let begun = fs::rename(&self.path, old)
            .and_then(|()| JournalWriter::create(File::create(&self.path)?, &self.header))
            .and_then(|mut writer| {
                if !self.recent_waiting.is_empty() {
                    writer.append_waiting(&self.recent_waiting)?;
                }
                if let Some(labels) = &self.last_labels {
                    writer.append_labels([(first.timestamp, Some(&**labels))].into_iter())?;
                }
                Ok(writer)
            });
        match begun {
            Ok(writer) => (self.writer, self.start) = (Some(writer), Some(first.timestamp)),
            Err(error) => self.fail(&error),
        }
    }

    /// The number of the period in which a sample was taken.
    fn period_of(&self, timestamp: Micros, period: Micros) -> u64 {
        let origin = Micros::from_millis_f64(self.header.time_origin_ms).unwrap_or_default();
        origin.saturating_add(timestamp).0 / period.0.max(1)
    }

    /// Where a finished file goes.
    fn finished_file(&self, number: u64) -> PathBuf {
        self.path.with_extension(format!("{number}.finished"))
    }

    /// Whether the sample after this one is probably in another file.
    fn ends_soon(&self, last: Option<&Sample>) -> bool {
        let (Retention::Periods(period), Some(last)) = (self.retention, last) else { return false };
        let next = last.timestamp.saturating_add(LONGEST_SEGMENT);
        self.period_of(next, period) > self.period_of(last.timestamp, period)
    }

    /// Keeps the waiting times that a new file needs: the line between two points may begin in the file before, and so may the line
    /// for samples that are written later.
    fn remember(&mut self, waiting: Vec<WaitingPoint>, last: Option<&Sample>) {
        if self.retention == Retention::Everything {
            return;
        }
        self.recent_waiting.extend(waiting);
        if let Some(last) = last {
            let passed = self.recent_waiting.partition_point(|point| point.timestamp <= last.timestamp);
            self.recent_waiting.drain(..passed.saturating_sub(1));
        }
    }

    /// Appends to the file with the source maps. If there are several files, that is one of its own, since scripts may have been compiled
    /// long before they are sampled.
    fn write_map(&mut self, write: impl FnOnce(&mut JournalWriter<File>) -> io::Result<()>) {
        if self.retention == Retention::Everything {
            return self.write(write);
        }
        if self.maps.is_none() && self.writer.is_some() {
            let path = self.path.with_extension("maps.journal");
            match File::create(path).and_then(|file| JournalWriter::create(file, &self.header)) {
                Ok(maps) => self.maps = Some(maps),
                Err(error) => return self.fail(&error),
            }
        }
        if let Some(maps) = &mut self.maps
            && let Err(error) = write(maps)
        {
            self.fail(&error);
        }
    }

    /// Appends to the file, possibly after an end that was not the last.
    fn write(&mut self, write: impl FnOnce(&mut JournalWriter<File>) -> io::Result<()>) {
        self.ended = false;
        let Some(writer) = &mut self.writer else { return };
        if let Err(error) = write(writer) {
            self.fail(&error);
        }
    }

    fn fail(&mut self, error: &io::Error) {
        if let Some(mut writer) = self.writer.take() {
            let reason = match error.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                    error.kind().to_string()
                }
                _ => error.to_string(),
            };
            // What is printed below may not be seen, and the recorder reads the journal.
            let _ = writer.fail(&reason);
        }
        // `eprintln!` would panic if stderr cannot be written, which a full disk may also cause.
        let _ = writeln!(
            io::stderr(),
            "selfprof: the trace is incomplete: the journal could not be written: {error}"
        );
    }
}
