//! Writing the profile.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::iter::Peekable;

use selfprof_trace::weigh::median_interval;
use selfprof_trace::{Entries, Entry, EntryType, Frame, Micros, Sample, Stack, TableFull, Trace};

use super::VERSION;
use crate::json::{list, string};

/// The profile of one thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// The name of its list: `main-thread`, or `worker-` and the worker's number.
    pub name: String,
    /// What was recorded there. All threads count time from the same origin.
    pub trace: Trace,
}

/// The configuration that was really used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The sample interval.
    pub interval: Micros,
    /// How many samples of a thread were kept at most.
    pub max_buffer_size: u32,
}

/// Writes the profile of some threads on one line of JSON. The names of threads must be distinct, and none may be
/// `strings` or `stackFrames`, beside which they stand.
///
/// Functions are strings by their frames, so two functions may have equal strings. The output is buffered here, and
/// flushed at the end.
pub fn write(threads: &[Thread], options: Options, out: impl Write) -> Result<(), WriteError> {
    // The threads share their tables. The samples are taken out, since each thread has its own list of them.
    let mut tables = Trace::new();
    let mut lists = Vec::with_capacity(threads.len());
    for Thread { name, trace } in threads {
        tables.merge(trace).map_err(WriteError::TooLarge)?;
        lists.push(List { name, samples: tables.drain_samples(usize::MAX), entries: trace.entries() });
    }
    let effective = threads.first().and_then(|thread| median_interval(thread.trace.samples()));
    write_all(&tables, &lists, (options, effective), &mut BufWriter::new(out)).map_err(WriteError::Io)
}

/// What happened on one thread.
struct List<'threads> {
    name: &'threads str,
    samples: Vec<Sample>,
    entries: Option<&'threads Entries>,
}

fn write_all(
    tables: &Trace,
    lists: &[List<'_>],
    (options, effective): (Options, Option<Micros>),
    out: &mut impl Write,
) -> io::Result<()> {
    let Options { interval, max_buffer_size } = options;
    write!(out, "{{\"version\":{VERSION},\"options\":{{\"interval\":{interval},")?;
    write!(out, "\"maxBufferSize\":{max_buffer_size},\"version\":{VERSION}}},\"effectiveInterval\":")?;
    match effective {
        Some(interval) => write!(out, "{interval}")?,
        None => out.write_all(b"null")?,
    }
    list(out, ",\"profile\":{\"strings\":[", tables.frames().iter(), |out, (_, frame)| {
        string(out, &function(tables, &frame))
    })?;
    list(out, "],\"stackFrames\":{", tables.stacks().iter(), |out, (id, stack)| {
        let Stack { parent, frame } = stack;
        write!(out, "\"{}\":{{\"name\":{}", id.index() + 1, frame.index())?;
        if let Some(parent) = parent {
            write!(out, ",\"parent\":{}", parent.index() + 1)?;
        }
        out.write_all(b"}")
    })?;
    out.write_all(b"}")?;
    for List { name, samples, entries } in lists {
        out.write_all(b",")?;
        string(out, name)?;
        let list_of_entries = entries.map(Entries::list).unwrap_or_default();
        let events =
            Events { samples: samples.iter().peekable(), entries: list_of_entries.iter().peekable() };
        list(out, ":[", events, |out, event| match event {
            Event::Sample(sample) => write_sample(out, sample),
            Event::Entry(entry) => {
                write_entry(out, entry, entries.map_or("", |entries| &entries.names()[entry.name]))
            }
        })?;
        out.write_all(b"]")?;
    }
    out.write_all(b"}}")?;
    out.flush()
}

/// `name @ resource:line:column`
fn function(tables: &Trace, frame: &Frame) -> String {
    let name = &tables.names()[frame.name];
    let mut text = if name.is_empty() { "(anonymous)".to_owned() } else { name.to_owned() };
    if let Some(resource) = frame.resource {
        text += " @ ";
        text += &tables.resources()[resource];
        for number in [frame.line, frame.line.and(frame.column)].into_iter().flatten() {
            text += &format!(":{number}");
        }
    }
    text
}

fn write_sample(out: &mut impl Write, sample: &Sample) -> io::Result<()> {
    write!(out, "{{\"type\":\"stack\",\"timestamp\":{}", sample.timestamp)?;
    if let Some(stack) = sample.stack {
        write!(out, ",\"stack\":{}", stack.index() + 1)?;
    }
    out.write_all(b"}")
}

fn write_entry(out: &mut impl Write, entry: &Entry, name: &str) -> io::Result<()> {
    let Entry { entry_type, start_time, duration, .. } = entry;
    write!(out, "{{\"type\":\"{entry_type}\",\"timestamp\":{start_time},\"name\":")?;
    string(out, name)?;
    if *entry_type == EntryType::Measure {
        write!(out, ",\"duration\":{duration}")?;
    }
    out.write_all(b"}")
}

/// Samples and entries in time order, as both of them are. At equal times the sample comes first.
struct Events<S: Iterator, E: Iterator> {
    samples: Peekable<S>,
    entries: Peekable<E>,
}

enum Event<'list> {
    Sample(&'list Sample),
    Entry(&'list Entry),
}

impl<'list, S: Iterator<Item = &'list Sample>, E: Iterator<Item = &'list Entry>> Iterator for Events<S, E> {
    type Item = Event<'list>;

    fn next(&mut self) -> Option<Event<'list>> {
        let is_entry = match (self.samples.peek(), self.entries.peek()) {
            (Some(sample), Some(entry)) => entry.start_time.get() < sample.timestamp.as_millis_f64(),
            (sample, _) => sample.is_none(),
        };
        if is_entry { self.entries.next().map(Event::Entry) } else { self.samples.next().map(Event::Sample) }
    }
}

/// Why a profile could not be written.
#[derive(Debug)]
pub enum WriteError {
    /// The tables of all threads together have more entries than one can.
    TooLarge(TableFull),
    /// The output failed.
    Io(io::Error),
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLarge(_) => "the threads have more stacks than a profile can hold",
            Self::Io(_) => "the profile could not be written",
        })
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::TooLarge(source) => Some(source),
            Self::Io(source) => Some(source),
        }
    }
}
