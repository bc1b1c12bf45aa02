//! Reading the journals of a recording.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use selfprof_formats::journal::{self, Header, Journal, JournalError};
use selfprof_formats::{Process, Thread};
use selfprof_trace::{Entries, Micros};

use crate::failure::Failure;
use crate::source_maps;
use crate::terminal::messages::{say, warn};
use crate::terminal::names::printable;

/// A thread that was recorded.
#[derive(Debug)]
pub struct RecordedThread {
    /// The thread and its trace, on the time axis of the first thread.
    pub thread: Thread,
    /// The interval that was asked for.
    pub interval: Micros,
}

/// The journals in a directory.
pub fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "journal") {
            files.push(path);
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Which times of the system's monotonic clock are kept of a recording.
pub type IsKept<'a> = &'a dyn Fn(Micros) -> bool;

/// Reads all threads: the main thread of the first process, then its workers, then the other processes in the order in
/// which they started. Warns about incomplete data; the failures are those of threads that cannot be read.
pub fn read(files: &[PathBuf], is_kept: Option<IsKept<'_>>) -> (Vec<RecordedThread>, Vec<Failure>) {
    let (mut journals, mut failures) = (Vec::new(), Vec::new());
    for path in files {
        match File::open(path).map_err(JournalError::Io).and_then(|file| journal::read(BufReader::new(file)))
        {
            Ok(journal) => journals.push(journal),
            // The process ended before it had written the first line.
            Err(JournalError::NoHeader) => {}
            Err(error) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                failures.push(
                    Failure::job(format!("cannot read {name}, the recording of a thread")).because(&error),
                );
            }
        }
    }
    sort(&mut journals);
    let mut journals = joined(journals);
    if let Some(is_kept) = is_kept {
        journals.iter_mut().for_each(|journal| cut(journal, is_kept));
    }
    let first = journals.first().map(|journal| journal.header.clone());
    let is_alone = journals.len() == 1;
    let has_failed = journals.iter().any(|journal| journal.failed.is_some());
    // The one that contains the folder of the recording, which will be deleted.
    let folder =
        files.first().and_then(|file| file.parent()?.parent()).map(Path::to_owned).unwrap_or_default();
    let threads = journals.into_iter().map(|journal| {
        let offset = first.as_ref().map_or(Micros::ZERO, |first| journal.header.since(first));
        let time_origin = first.as_ref().map(|first| first.time_origin_ms);
        recorded(journal, (offset, time_origin), is_alone, &folder)
    });
    let threads = threads.collect();
    if has_failed {
        say("hint: TMPDIR sets another directory for temporary files");
    }
    (threads, failures)
}

/// The main thread of the process that started first, then the others. A process comes before its children, which start
/// later.
fn sort(journals: &mut [Journal]) {
    let mut starts: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for Journal { header, .. } in journals.iter().filter(|journal| journal.header.thread_id == 0) {
        starts.entry(header.pid).or_insert((header.origin.0, header.time_origin_ms as u64));
    }
    journals.sort_by_cached_key(|Journal { header, trace, .. }| {
        let start = starts.get(&header.pid).copied().unwrap_or((u64::MAX, u64::MAX));
        (start, header.pid, header.thread_id, header.origin, Reverse(trace.samples().len()))
    });
}

/// Joins the files of a thread that has several, because only its last seconds are kept.
fn joined(journals: Vec<Journal>) -> Vec<Journal> {
    let mut joined: Vec<Journal> = Vec::with_capacity(journals.len());
    for mut journal in journals {
        let is_same = |earlier: &mut Journal| {
            let key = |header: &Header| (header.pid, header.thread_id, header.origin);
            key(&earlier.header) == key(&journal.header) && journal.header.origin > Micros::ZERO
        };
        match joined.pop_if(is_same) {
            None => joined.push(journal),
            Some(mut other) => {
                let start = |journal: &Journal| journal.trace.span().map(|(first, _)| first);
                if start(&other) > start(&journal) {
                    std::mem::swap(&mut other, &mut journal);
                }
                // Fails if the tables are full; the later samples matter more.
                if other.trace.merge(&journal.trace).is_ok() {
                    journal.trace = other.trace;
                }
                journal.failed = journal.failed.take().or(other.failed);
                journal.lost += other.lost;
                journal.source_maps.append(&mut other.source_maps);
                journal.left_out_source_maps += other.left_out_source_maps;
                joined.push(journal);
            }
        }
    }
    joined
}

/// Removes what is not kept.
fn cut(journal: &mut Journal, is_kept: IsKept<'_>) {
    let origin = journal.header.origin;
    if origin > Micros::ZERO {
        journal.trace.retain_times(|time| is_kept(origin.saturating_add(time)));
        journal.trace = journal.trace.narrowed();
    }
}

fn recorded(
    journal: Journal,
    (offset, time_origin): (Micros, Option<f64>),
    is_alone: bool,
    folder: &Path,
) -> RecordedThread {
    let Header { pid, thread_id: tid, interval, .. } = journal.header;
    let name = journal.header.name();
    let process = Process { pid, tid, command: journal.header.command.clone() };
    let source_maps = source_maps::recorded_maps(&journal.source_maps, &mut |problem| warn(problem));
    let mut thread = Thread { name, process: Some(process), time_origin, trace: journal.trace, source_maps };
    // Programs name their threads, and a terminal would obey control characters.
    let label = if is_alone { "the main thread".to_owned() } else { printable(&thread.label()) };
    let trace = &thread.trace;
    if journal.end.as_ref().is_some_and(|end| end.full) {
        warn(format_args!("the sample buffer of {label} was full; later samples are missing"));
    }
    if journal.lost > 0 {
        warn(format_args!("{} samples of {label} were lost", journal.lost));
    }
    let dropped = trace.entries().map_or(0, Entries::dropped);
    if dropped > 0 {
        warn(format_args!("the entry buffer of {label} was full; {dropped} marks and measures are missing"));
    }
    if journal.left_out_source_maps > 0 {
        warn(format_args!(
            "the source maps of {} scripts of {label} are missing: they are too long, or too many",
            journal.left_out_source_maps
        ));
    }
    if let Some(reason) = &journal.failed {
        let last = trace.samples().last().map_or(Micros::ZERO, |sample| sample.timestamp);
        let seconds = last.saturating_add(offset).as_millis_f64() / 1000.0;
        warn(format_args!(
            "the recording of {label} ends at {seconds:.1} s, and later samples are missing: cannot write to {}: {}",
            printable(&folder.display().to_string()),
            printable(reason)
        ));
    } else if journal.end.is_none() {
        warn(format_args!("the recording of {label} was interrupted; its last samples may be missing"));
    }
    thread.trace.shift(offset);
    RecordedThread { thread, interval }
}
