//! What is sent together: the parts of one process in one period.

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};

use selfprof_formats::journal::{self, Header, Journal, JournalError};
use selfprof_formats::{Process, ScriptMap, Thread};
use selfprof_trace::Micros;

use crate::folder::Folder;
use crate::folder::names::{self, Part};
use crate::requests::name_slow_requests;

/// A longer journal is not read.
const MAX_PART_BYTES: u64 = 256 << 20;

/// The most idle samples of a part: an hour of them at 1 ms. What is more is left out.
const MAX_IDLE_SAMPLES: u64 = 1 << 22;

/// Finds the source maps of scripts, from the URLs of the scripts and of their maps.
pub type FindMaps = dyn Fn(&[(String, String)]) -> Vec<ScriptMap> + Send + Sync;

/// Parts of one process and one period, the main thread's first.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Where they are.
    pub folder: Folder,
    /// At least one.
    pub parts: Vec<Part>,
}

/// A part that was read.
#[derive(Debug)]
pub struct Recorded {
    /// The first line of its journal.
    pub header: Header,
    /// The thread and its trace, on its own time axis.
    pub thread: Thread,
    /// The URLs of scripts and of their source maps.
    pub map_urls: Vec<(String, String)>,
}

impl Recorded {
    /// The times of the first and the last sample in milliseconds since 1970. The first one stands for an interval
    /// before it.
    pub fn times(&self) -> Option<(f64, f64)> {
        let (first, last) = self.thread.trace.span()?;
        let origin = self.header.time_origin_ms;
        let start = first.saturating_sub(self.header.interval);
        Some((origin + start.as_millis_f64(), origin + last.as_millis_f64()))
    }
}

/// Why a part has no trace.
#[derive(Debug)]
pub enum PartError {
    /// The file is not there any more.
    Gone,
    /// It has no samples.
    Empty,
    /// It cannot be read, now or ever.
    Corrupt(String),
    /// The disk or the system failed.
    Io(io::Error),
}

impl fmt::Display for PartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone => f.write_str("it was deleted"),
            Self::Empty => f.write_str("it has no samples"),
            Self::Corrupt(reason) => f.write_str(reason),
            Self::Io(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for PartError {}

/// Reads a journal. Without samples, it is [`PartError::Empty`].
pub fn read(folder: &Folder, name: &str) -> Result<Recorded, PartError> {
    let journal = journal(folder, name)?;
    if journal.trace.samples().is_empty() {
        return Err(PartError::Empty);
    }
    // Times beyond this would overflow in formats that count nanoseconds.
    if !(0.0..7.26e12).contains(&journal.header.time_origin_ms) || journal.header.interval == Micros::ZERO {
        return Err(PartError::Corrupt("its times are impossible".to_owned()));
    }
    let Journal { header, mut trace, source_maps, .. } = journal;
    name_slow_requests(&mut trace);
    let process = Process { pid: header.pid, tid: header.thread_id, command: header.command.clone() };
    let time_origin = Some(header.time_origin_ms);
    let thread = Thread { process: Some(process), time_origin, ..Thread::named(header.name(), trace) };
    Ok(Recorded { header, thread, map_urls: source_maps })
}

fn journal(folder: &Folder, name: &str) -> Result<Journal, PartError> {
    let file = File::open(folder.file(name)).map_err(of_io)?;
    let metadata = file.metadata().map_err(PartError::Io)?;
    if !metadata.is_file() || metadata.len() > MAX_PART_BYTES {
        return Err(PartError::Corrupt(format!("it is longer than {} MiB", MAX_PART_BYTES >> 20)));
    }
    let input = BufReader::new(file.take(MAX_PART_BYTES));
    journal::read_with(input, MAX_IDLE_SAMPLES).map_err(|error| match error {
        JournalError::Io(error) => of_io(error),
        JournalError::NoHeader => PartError::Empty,
        error => {
            let cause = std::error::Error::source(&error).map_or(String::new(), |cause| format!(": {cause}"));
            PartError::Corrupt(format!("{error}{cause}"))
        }
    })
}

/// The source maps of the scripts in a part. They are in a journal of their own, for all periods.
fn source_maps(batch: &Batch, part: &Part, recorded: &Recorded, find: &FindMaps) -> Vec<ScriptMap> {
    let mut urls = recorded.map_urls.clone();
    if let Ok(maps) = journal(&batch.folder, &names::maps(&part.process, part.thread)) {
        urls.extend(maps.source_maps);
    }
    let scripts: HashSet<&str> = recorded.thread.trace.resources().iter().map(|(_, url)| url).collect();
    urls.retain(|(script, _)| scripts.contains(&**script));
    if urls.is_empty() { Vec::new() } else { find(&urls) }
}

fn of_io(error: io::Error) -> PartError {
    if error.kind() == io::ErrorKind::NotFound { PartError::Gone } else { PartError::Io(error) }
}

/// What a batch consists of.
#[derive(Debug, Default)]
pub struct Contents {
    /// The threads that have samples, on the time axis of the first.
    pub threads: Vec<Thread>,
    /// The header of the first.
    pub header: Option<Header>,
    /// When it begins and ends, in milliseconds since 1970.
    pub times: (f64, f64),
    /// The parts that cannot be read, and why.
    pub corrupt: Vec<(Part, String)>,
}

impl Contents {
    /// Reads parts. Fails if the disk or the system does.
    pub fn read(batch: &Batch, parts: &[Part], find_maps: Option<&FindMaps>) -> io::Result<Self> {
        let mut contents = Self { times: (f64::INFINITY, f64::NEG_INFINITY), ..Self::default() };
        for part in parts {
            let mut recorded = match read(&batch.folder, &part.file_name()) {
                Ok(recorded) => recorded,
                Err(PartError::Gone | PartError::Empty) => continue,
                Err(PartError::Corrupt(reason)) => {
                    contents.corrupt.push((part.clone(), reason));
                    continue;
                }
                Err(PartError::Io(error)) => return Err(error),
            };
            if let Some((start, end)) = recorded.times() {
                contents.times = (contents.times.0.min(start), contents.times.1.max(end));
            }
            let first = contents.header.get_or_insert_with(|| recorded.header.clone());
            recorded.thread.trace.shift(recorded.header.since(first));
            recorded.thread.time_origin = Some(first.time_origin_ms);
            if let Some(find) = find_maps {
                recorded.thread.source_maps = source_maps(batch, part, &recorded, find);
            }
            contents.threads.push(recorded.thread);
        }
        Ok(contents)
    }
}
