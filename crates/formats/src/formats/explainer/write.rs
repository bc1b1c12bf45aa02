//! Writing the profile.

use std::borrow::Cow;
use std::io::{self, Write};
use std::iter::Peekable;

use selfprof_trace::{Entries, Entry, EntryType, Frame, Micros, Sample, Stack, StackId, Trace};

use crate::error::WriteError;
use crate::functions::{self, ANONYMOUS};
use crate::json::{millis, number, string, write_list};
use crate::options::WriteOptions;
use crate::streams::output;
use crate::thread::Thread;

/// The version of the format.
pub const VERSION: u32 = 1;

/// The options of the recording, as they took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The sample interval.
    pub interval: Micros,
    /// The maximum number of samples per thread.
    pub max_buffer_size: u32,
}

/// Writes a profile of several threads, as one line of JSON. The threads' names must be distinct, and none may be
/// `strings` or `stackFrames`, which are members of the same object.
///
/// Each frame is one string, so two functions may have equal strings. The output is buffered, and flushed at the end.
pub fn write(threads: &[Thread], options: Options, out: impl Write) -> Result<(), WriteError> {
    write_with(threads, options, out, WriteOptions::default())
}

/// Like [`write()`], optionally gzipped.
pub(crate) fn write_with(
    threads: &[Thread],
    options: Options,
    out: impl Write,
    output: WriteOptions,
) -> Result<(), WriteError> {
    // The threads share their tables.
    let mut tables = Trace::new();
    let mut lists = Vec::with_capacity(threads.len());
    for thread in threads {
        let (name, trace) = (thread.label(), &thread.trace);
        let stacks = tables.merge_tables(trace).map_err(WriteError::TooLarge)?;
        lists.push(List { name, samples: trace.samples(), stacks, entries: trace.entries() });
    }
    let effective = threads.first().and_then(|thread| thread.trace.interval());
    Ok(output::write(out, output, |out| write_all(&tables, &lists, (options, effective), out))?)
}

/// The samples and entries of one thread.
struct List<'threads> {
    name: Cow<'threads, str>,
    samples: &'threads [Sample],
    /// The ids of the thread's stacks in the shared table.
    stacks: Vec<StackId>,
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
    write_list(out, ",\"profile\":{\"strings\":[", tables.frames().iter(), |out, (_, frame)| {
        string(out, &function(tables, &frame))
    })?;
    write_list(out, "],\"stackFrames\":{", tables.stacks().iter(), |out, (id, stack)| {
        let Stack { parent, frame } = stack;
        write!(out, "\"{}\":{{\"name\":{}", id.index() + 1, frame.index())?;
        if let Some(parent) = parent {
            write!(out, ",\"parent\":{}", parent.index() + 1)?;
        }
        out.write_all(b"}")
    })?;
    out.write_all(b"}")?;
    for List { name, samples, stacks, entries } in lists {
        out.write_all(b",")?;
        string(out, name)?;
        let list_of_entries = entries.map(Entries::list).unwrap_or_default();
        let events =
            Events { samples: samples.iter().peekable(), entries: list_of_entries.iter().peekable() };
        write_list(out, ":[", events, |out, event| match event {
            Event::Sample(sample) => write_sample(out, sample, stacks),
            Event::Entry(entry) => {
                write_entry(out, entry, entries.map_or("", |entries| &entries.names()[entry.name]))
            }
        })?;
        out.write_all(b"]")?;
    }
    out.write_all(b"}}")
}

/// `name @ resource:line:column`
fn function(tables: &Trace, frame: &Frame) -> String {
    let name = &tables.names()[frame.name];
    let name = if name.is_empty() { ANONYMOUS } else { name };
    match functions::location(tables, frame) {
        Some(location) => format!("{name} @ {location}"),
        None => name.to_owned(),
    }
}

fn write_sample(out: &mut impl Write, sample: &Sample, stacks: &[StackId]) -> io::Result<()> {
    out.write_all(b"{\"type\":\"stack\",\"timestamp\":")?;
    millis(out, sample.timestamp)?;
    if let Some(stack) = sample.stack {
        out.write_all(b",\"stack\":")?;
        number(out, stacks[stack.index()].index() + 1)?;
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

/// Merges samples and entries, both in time order. At equal times, the sample comes first.
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
