//! Reading a journal, complete or not.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead};
use std::num::NonZeroU32;

use selfprof_trace::{
    Entries, Entry, EntryType, Frame, InternError, LabelSet, LabelSetId, Labels, Marker, Micros, Millis,
    Sample, Stack, TableFull, TableId, Trace, WaitingPoint, WaitingTimes,
};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use super::header::{End, EndLine, Header, HeaderLine, UnknownMode, VERSION};

/// The content of a journal.
#[derive(Clone, Debug)]
pub struct Journal {
    /// The description of the recording.
    pub header: Header,
    /// The recorded trace.
    pub trace: Trace,
    /// The number of samples that were taken but dropped.
    pub lost: u64,
    /// The source mapping URLs of scripts: each with the script's URL. Several scripts may have the same URL.
    pub source_maps: Vec<(String, String)>,
    /// The number of scripts whose source mapping URLs were too long or too many.
    pub left_out_source_maps: u64,
    /// The end of the recording; `None` if the process was killed before it could write one.
    pub end: Option<End>,
    /// Why the journal could not be written further, e.g. because the disk was full.
    pub failed: Option<String>,
    /// Whether the last line was incomplete and ignored.
    pub torn: bool,
}

/// The maximum number of samples in runs of idle samples: 37 hours of them at 1 ms. Other samples take memory in
/// proportion to the input.
const MAX_RUN_SAMPLES: u64 = 1 << 27;

/// Reads a journal from a file or from memory. See [`read_with`].
pub fn read(input: impl BufRead) -> Result<Journal, JournalError> {
    read_with(input, MAX_RUN_SAMPLES)
}

/// Reads a journal from a file or from memory. Of a run of idle samples that
/// exceeds `max_run_samples` with those before, the first and the last sample are kept, and the others are counted as
/// lost.
///
/// An incomplete last line is ignored and reported in [`Journal::torn`]. Anything else that this crate's writer would
/// not write is an error, because no other program writes journals. Memory is linear in the input and in
/// `max_run_samples`.
pub fn read_with(mut input: impl BufRead, max_run_samples: u64) -> Result<Journal, JournalError> {
    let mut line = Vec::new();
    let ended = read_line(&mut input, &mut line)?;
    if !ended && serde_json::from_slice::<HeaderLine>(&line).is_err() && is_start_of_header(&line) {
        return Err(JournalError::NoHeader);
    }
    let mut journal = Journal {
        header: read_header(&line)?,
        trace: Trace::new(),
        lost: 0,
        source_maps: Vec::new(),
        left_out_source_maps: 0,
        end: None,
        failed: None,
        torn: false,
    };
    let mut progress = Progress { last: Micros::ZERO, run_samples_left: max_run_samples };
    let mut waiting: Option<WaitingTimes> = None;
    let mut labels: Option<Labels> = None;
    let mut entries = journal.header.entries.then(Entries::new);
    // The samples recorded before the tables were last cleared.
    let mut before: Option<Trace> = None;
    for number in 2.. {
        let ended = read_line(&mut input, &mut line)?;
        if line.is_empty() {
            break;
        }
        match serde_json::from_slice::<Record<'_>>(&line) {
            // Only a complete object parses, so a line without an end that does not parse was cut off.
            Err(_) if !ended => journal.torn = true,
            Err(source) => return Err(JournalError::Json { line: number, source }),
            Ok(Record { end: Some(EndLine { reason, full }), .. }) => {
                journal.end = Some(End { reason, full });
            }
            Ok(Record { failed: Some(Text(reason)), .. }) => {
                journal.failed = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
            }
            Ok(mut record) => {
                let damaged = |flaw| JournalError::Record { line: number, flaw };
                if record.fresh {
                    let tables = std::mem::take(&mut journal.trace);
                    before.get_or_insert_default().merge(&tables).map_err(JournalError::TooLarge)?;
                }
                record.append_entries_to(&mut entries).map_err(damaged)?;
                record.append_waiting_to(&mut waiting);
                record.append_labels_to(&mut labels).map_err(damaged)?;
                record.append_to(&mut journal, &mut progress).map_err(damaged)?;
                journal.end = None;
            }
        }
    }
    if let Some(mut whole) = before {
        whole.merge(&journal.trace).map_err(JournalError::TooLarge)?;
        journal.trace = whole;
    }
    if let Some(entries) = &mut entries {
        entries.sort();
    }
    journal.trace.set_entries(entries);
    journal.trace.set_waiting(waiting);
    journal.trace.set_labels(labels);
    Ok(journal)
}

/// Reads one line; returns whether it has a line end.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> Result<bool, JournalError> {
    line.clear();
    input.read_until(b'\n', line).map_err(JournalError::Io)?;
    Ok(line.last() == Some(&b'\n'))
}

/// Whether this may be a header that was cut off.
fn is_start_of_header(line: &[u8]) -> bool {
    let start = b"{\"selfprofJournal\":";
    line.starts_with(start) || start.starts_with(line)
}

fn read_header(line: &[u8]) -> Result<Header, JournalError> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct VersionOnly {
        selfprof_journal: u64,
    }
    // The version is parsed first, because other versions may have other members.
    let version: VersionOnly = serde_json::from_slice(line).map_err(JournalError::NotAJournal)?;
    if !(1..=VERSION).contains(&version.selfprof_journal) {
        return Err(JournalError::Version(version.selfprof_journal));
    }
    let header: HeaderLine =
        serde_json::from_slice(line).map_err(|source| JournalError::Json { line: 1, source })?;
    header.try_into().map_err(|mode| JournalError::Record { line: 1, flaw: Flaw::Mode(mode) })
}

/// A line after the first: a segment, waiting times, marks and measures, or the end.
#[derive(Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Record<'line> {
    fresh: bool,
    #[serde(borrow)]
    names: Vec<Text<'line>>,
    #[serde(borrow)]
    resources: Vec<Text<'line>>,
    frames: Vec<(usize, i64, u32, u32)>,
    stacks: Vec<(i64, usize)>,
    samples: Vec<SampleRecord>,
    lost: u64,
    #[serde(borrow)]
    entry_names: Vec<Text<'line>>,
    entries: Vec<(usize, usize, f64, f64)>,
    dropped_entries: u64,
    waiting: Vec<(u64, u64)>,
    #[serde(borrow)]
    label_sets: Vec<BTreeMap<String, Text<'line>>>,
    labels: Vec<(u64, i64)>,
    #[serde(borrow)]
    source_maps: Vec<(Text<'line>, Text<'line>)>,
    left_out_source_maps: u64,
    #[serde(borrow)]
    failed: Option<Text<'line>>,
    end: Option<EndLine>,
}

/// How far the samples have been read.
struct Progress {
    /// The time of the last sample.
    last: Micros,
    /// How many samples in runs may follow.
    run_samples_left: u64,
}

/// A sample, or the first of a run of idle samples.
struct SampleRecord {
    since: u64,
    stack: i64,
    marker: usize,
    run: Option<Run>,
}

/// The rest of a run of idle samples.
#[derive(Clone, Copy)]
struct Run {
    /// The number of samples, with the first.
    count: u64,
    /// The time from the first sample to the last.
    length: Micros,
}

impl Run {
    /// The times of all samples but the first, since the first.
    fn offsets(self) -> impl Iterator<Item = Micros> {
        let intervals = u128::from(self.count - 1);
        (1..=intervals).map(move |index| {
            // At most the length, so it fits.
            Micros((u128::from(self.length.0) * index / intervals) as u64)
        })
    }
}

impl<'de> Deserialize<'de> for SampleRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Numbers;
        impl<'de> Visitor<'de> for Numbers {
            type Value = SampleRecord;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of 3 or 5 numbers")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<SampleRecord, A::Error> {
                let too_short = |length| move || A::Error::invalid_length(length, &Self);
                let since = list.next_element()?.ok_or_else(too_short(0))?;
                let stack = list.next_element()?.ok_or_else(too_short(1))?;
                let marker = list.next_element()?.ok_or_else(too_short(2))?;
                let run = match list.next_element()? {
                    None => None,
                    Some(count) => {
                        let length = Micros(list.next_element()?.ok_or_else(too_short(4))?);
                        Some(Run { count, length })
                    }
                };
                Ok(SampleRecord { since, stack, marker, run })
            }
        }
        deserializer.deserialize_seq(Numbers)
    }
}

/// A string that is copied only if it has escapes.
#[derive(serde::Deserialize)]
struct Text<'line>(#[serde(borrow)] Cow<'line, str>);

impl Record<'_> {
    fn append_entries_to(&self, entries: &mut Option<Entries>) -> Result<(), Flaw> {
        if self.entries.is_empty() && self.dropped_entries == 0 {
            return Ok(());
        }
        let mut line = Entries::new();
        for Text(name) in &self.entry_names {
            let expected = line.names().len();
            is_new(line.name(name).map_err(InternError::from)?, expected)?;
        }
        for &(entry_type, name, start_time, duration) in &self.entries {
            let entry_type = EntryType::from_index(entry_type).ok_or(Flaw::Number)?;
            let [start_time, duration] =
                [start_time, duration].map(|time| Millis::new(time).ok_or(Flaw::Number));
            let entry = Entry { entry_type, name: id(name)?, start_time: start_time?, duration: duration? };
            if !entry.is_possible() {
                return Err(Flaw::Number);
            }
            line.push(entry)?;
        }
        line.count_dropped(self.dropped_entries);
        entries.get_or_insert_default().merge(&line).map_err(InternError::from)?;
        Ok(())
    }

    fn append_waiting_to(&self, waiting: &mut Option<WaitingTimes>) {
        for &(time, waited) in &self.waiting {
            let waiting = waiting.get_or_insert_default();
            let last = waiting.points().last().copied().unwrap_or_default();
            let timestamp = last.timestamp.saturating_add(Micros(time));
            waiting.push(WaitingPoint { timestamp, waited: last.waited.saturating_add(Micros(waited)) });
        }
    }

    fn append_labels_to(&mut self, labels: &mut Option<Labels>) -> Result<(), Flaw> {
        if self.labels.is_empty() {
            return Ok(());
        }
        let labels = labels.get_or_insert_default();
        let sets = std::mem::take(&mut self.label_sets).into_iter();
        let set = |set: BTreeMap<String, Text<'_>>| {
            LabelSet::new(set.into_iter().map(|(name, Text(value))| (name, value.into_owned())))
        };
        let ids: Vec<LabelSetId> =
            sets.map(|one| labels.set(set(one))).collect::<Result<_, _>>().map_err(InternError::from)?;
        for &(timestamp, set) in &self.labels {
            let set = match set {
                -1 => None,
                _ => Some(usize::try_from(set).ok().and_then(|index| ids.get(index)).ok_or(Flaw::Number)?),
            };
            labels.change(Micros(timestamp), set.copied());
        }
        Ok(())
    }

    fn append_to(self, journal: &mut Journal, progress: &mut Progress) -> Result<(), Flaw> {
        let trace = &mut journal.trace;
        let mut left_out = 0_u64;
        for Text(name) in &self.names {
            let expected = trace.names().len();
            is_new(trace.name(name).map_err(InternError::from)?, expected)?;
        }
        for Text(url) in &self.resources {
            let expected = trace.resources().len();
            is_new(trace.resource(url).map_err(InternError::from)?, expected)?;
        }
        for &(name, resource, line, column) in &self.frames {
            let expected = trace.frames().len();
            let frame = Frame {
                name: id(name)?,
                resource: optional_id(resource)?,
                line: NonZeroU32::new(line),
                column: NonZeroU32::new(column),
            };
            is_new(trace.frame(frame)?, expected)?;
        }
        for &(parent, frame) in &self.stacks {
            let expected = trace.stacks().len();
            is_new(trace.stack(Stack { parent: optional_id(parent)?, frame: id(frame)? })?, expected)?;
        }
        for &SampleRecord { since, stack, marker, run } in &self.samples {
            let stack = optional_id(stack)?;
            if let Some(stack) = stack.filter(|&stack| !trace.stacks().contains(stack)) {
                return Err(Flaw::Reference(InternError::Unknown { table: "stack", index: stack.index() }));
            }
            let marker = match marker.checked_sub(1) {
                None => None,
                Some(index) => Some(Marker::from_index(index).ok_or(Flaw::Number)?),
            };
            let first = progress.last.saturating_add(Micros(since));
            progress.last = first;
            let sample = Sample { timestamp: first, stack, marker };
            trace.push_sample(sample);
            if let Some(run) = run {
                if !sample.is_idle() || run.count < 2 {
                    return Err(Flaw::Number);
                }
                progress.last = first.saturating_add(run.length);
                match progress.run_samples_left.checked_sub(run.count) {
                    Some(left) => {
                        progress.run_samples_left = left;
                        for offset in run.offsets() {
                            trace.push_sample(Sample { timestamp: first.saturating_add(offset), ..sample });
                        }
                    }
                    // The first and the last sample remain.
                    None => {
                        trace.push_sample(Sample { timestamp: progress.last, ..sample });
                        left_out = left_out.saturating_add(run.count - 2);
                    }
                }
            }
        }
        journal.lost = journal.lost.saturating_add(self.lost).saturating_add(left_out);
        let source_maps = self.source_maps.into_iter();
        journal
            .source_maps
            .extend(source_maps.map(|(script, url)| (script.0.into_owned(), url.0.into_owned())));
        journal.left_out_source_maps = journal.left_out_source_maps.saturating_add(self.left_out_source_maps);
        Ok(())
    }
}

fn id<I: TableId>(index: usize) -> Result<I, Flaw> {
    I::from_index(index).ok_or(Flaw::Number)
}

fn optional_id<I: TableId>(index: i64) -> Result<Option<I>, Flaw> {
    match index {
        -1 => Ok(None),
        _ => usize::try_from(index).map_err(|_| Flaw::Number).and_then(id).map(Some),
    }
}

/// Fails if the entry is a duplicate: ids count the entries, so it would shift all later ids.
fn is_new<I: TableId>(id: I, expected: usize) -> Result<(), Flaw> {
    if id.index() == expected { Ok(()) } else { Err(Flaw::Duplicate) }
}

/// Why a journal could not be read.
#[derive(Debug)]
pub enum JournalError {
    /// The input failed.
    Io(io::Error),
    /// The input ends within the header: the recording had not started.
    NoHeader,
    /// The first line is not a journal's header.
    NotAJournal(serde_json::Error),
    /// The journal has an unsupported version.
    Version(u64),
    /// The merged tables of the recording exceed the size of a table.
    TooLarge(TableFull),
    /// A line is not the expected JSON.
    Json {
        /// The 1-based line number.
        line: u64,
        /// The error in the line.
        source: serde_json::Error,
    },
    /// A line is inconsistent with the lines before it.
    Record {
        /// The 1-based line number.
        line: u64,
        /// The inconsistency.
        flaw: Flaw,
    },
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(_) => f.write_str("cannot read the journal"),
            Self::NoHeader => f.write_str("the journal ends within its header"),
            Self::NotAJournal(_) => f.write_str("the first line is not the header of a selfprof journal"),
            Self::Version(found) => {
                write!(f, "the journal has version {found}; this selfprof reads versions up to {VERSION}")
            }
            Self::TooLarge(_) => f.write_str("the recording has more stacks than a trace can hold"),
            Self::Json { line, .. } | Self::Record { line, .. } => {
                write!(f, "line {line} of the journal is corrupt")
            }
        }
    }
}

impl std::error::Error for JournalError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(source) => Some(source),
            Self::NotAJournal(source) | Self::Json { source, .. } => Some(source),
            Self::Record { flaw, .. } => Some(flaw),
            Self::TooLarge(source) => Some(source),
            Self::NoHeader | Self::Version(_) => None,
        }
    }
}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// It uses an undefined id, or defines too many.
    Reference(InternError),
    /// A number is not a valid id, marker or time.
    Number,
    /// It defines an entry again.
    Duplicate,
    /// The header has an unknown mode.
    Mode(UnknownMode),
}

impl From<InternError> for Flaw {
    fn from(error: InternError) -> Self {
        Self::Reference(error)
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reference(error) => error.fmt(f),
            Self::Number => f.write_str("a number is not a valid id, marker or time"),
            Self::Duplicate => f.write_str("a table entry is duplicated"),
            Self::Mode(mode) => mode.fmt(f),
        }
    }
}

impl std::error::Error for Flaw {}
