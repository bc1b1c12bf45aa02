//! Writing a trace as browsers do.

use std::io::{self, Write};

use selfprof_trace::{Entries, Entry, Frame, Sample, Stack, Trace};

use super::calls::write_calls;
use super::durations::write_durations;
use super::evaluated::{WrittenResources, write_evaluated};
use super::labels::write_labels;
use super::source_maps::write_source_maps;
use super::waiting_times::write_waiting_times;
use crate::json::{millis, number, string, write_list};
use crate::options::WriteOptions;
use crate::script_map::ScriptMap;
use crate::streams::output::{self, Out};
use crate::thread::Thread;

/// Writes a trace as a `ProfilerTrace` on one line of JSON.
///
/// Members are in lexicographical order, as in Chromium, and absent if they have no value. Timestamps are milliseconds
/// with up to three decimals; the times of entries have full precision. The output is buffered, and flushed at the end.
pub fn write(trace: &Trace, out: impl Write, options: WriteOptions) -> io::Result<()> {
    output::write(out, options, |out| write_buffered(trace, out))
}

/// Writes the first thread as [`write()`] does. What else is known of the threads follows in members of selfprof's own:
/// `thread` describes the first thread, `threads` has the others, and `waitingTimes` says how long the thread had
/// waited at some times.
///
/// ```json
/// {"frames":[],"resources":[],"samples":[],"stacks":[],
///  "thread":{"command":"node a.js","name":"main-thread","pid":7,"tid":0,"timeOrigin":1700000000000.5},
///  "threads":[{"frames":[],"resources":[],"samples":[],"stacks":[],"thread":{"name":"worker-1"}}],
///  "waitingTimes":{"timestamps":[10,20],"values":[0,7.5]}}
/// ```
pub fn write_threads(threads: &[Thread], out: impl Write, options: WriteOptions) -> io::Result<()> {
    output::write(out, options, |out| match threads {
        [] => write_buffered(&Trace::new(), out),
        [only] if only.process.is_none() && only.time_origin.is_none() => {
            out.write_all(b"{")?;
            write_members(&only.trace, &only.source_maps, out)?;
            write_waiting_times(out, &only.trace)?;
            out.write_all(b"}")
        }
        [first, others @ ..] => {
            out.write_all(b"{")?;
            write_described(first, out)?;
            if !others.is_empty() {
                write_list(out, ",\"threads\":[", others.iter(), |out, thread| {
                    out.write_all(b"{")?;
                    write_described(thread, out)?;
                    write_waiting_times(out, &thread.trace)?;
                    out.write_all(b"}")
                })?;
                out.write_all(b"]")?;
            }
            write_waiting_times(out, &first.trace)?;
            out.write_all(b"}")
        }
    })
}

/// Writes the members of a thread's trace and its description.
fn write_described(thread: &Thread, out: &mut Out<'_>) -> io::Result<()> {
    write_members(&thread.trace, &thread.source_maps, out)?;
    out.write_all(b",\"thread\":{")?;
    if let Some(process) = &thread.process {
        out.write_all(b"\"command\":")?;
        string(out, &process.command)?;
        out.write_all(b",")?;
    }
    out.write_all(b"\"name\":")?;
    string(out, &thread.name)?;
    if let Some(process) = &thread.process {
        write!(out, ",\"pid\":{},\"tid\":{}", process.pid, process.tid)?;
    }
    if let Some(time_origin) = thread.time_origin {
        write!(out, ",\"timeOrigin\":{time_origin}")?;
    }
    out.write_all(b"}")
}

fn write_buffered(trace: &Trace, out: &mut Out<'_>) -> io::Result<()> {
    out.write_all(b"{")?;
    write_members(trace, &[], out)?;
    write_waiting_times(out, trace)?;
    out.write_all(b"}")
}

fn write_members(trace: &Trace, source_maps: &[ScriptMap], out: &mut Out<'_>) -> io::Result<()> {
    write_calls(out, trace)?;
    write_durations(out, trace)?;
    if let Some(entries) = trace.entries() {
        write_entries(out, entries)?;
    }
    let resources = WrittenResources::of(trace);
    write_evaluated(out, trace)?;
    write_list(out, "\"frames\":[", trace.frames().iter(), |out, (id, frame)| {
        // Such a function has only a name in the standard.
        let Frame { name, resource, line, column } = match trace.evaluated_script(id) {
            Some(_) => Frame { resource: None, line: None, column: None, ..frame },
            None => frame,
        };
        out.write_all(b"{")?;
        if let Some(column) = column {
            write!(out, "\"column\":{column},")?;
        }
        if let Some(line) = line {
            write!(out, "\"line\":{line},")?;
        }
        out.write_all(b"\"name\":")?;
        string(out, &trace.names()[name])?;
        if let Some(resource) = resource {
            write!(out, ",\"resourceId\":{}", resources.id(resource))?;
        }
        out.write_all(b"}")
    })?;
    out.write_all(b"],")?;
    write_labels(out, trace.labels())?;
    write_list(out, "\"resources\":[", resources.urls(), string)?;
    write_list(out, "],\"samples\":[", trace.samples().iter(), |out, sample| {
        let Sample { timestamp, stack, marker } = sample;
        out.write_all(b"{")?;
        if let Some(labels) = trace.labels().and_then(|labels| labels.of_sample(sample)) {
            out.write_all(b"\"labelsId\":")?;
            number(out, labels.index())?;
            out.write_all(b",")?;
        }
        if let Some(marker) = marker {
            out.write_all(b"\"marker\":\"")?;
            out.write_all(marker.as_str().as_bytes())?;
            out.write_all(b"\",")?;
        }
        if let Some(stack) = stack {
            out.write_all(b"\"stackId\":")?;
            number(out, stack.index())?;
            out.write_all(b",")?;
        }
        out.write_all(b"\"timestamp\":")?;
        millis(out, *timestamp)?;
        out.write_all(b"}")
    })?;
    out.write_all(b"],")?;
    write_source_maps(out, &resources, source_maps)?;
    write_list(out, "\"stacks\":[", trace.stacks().iter(), |out, (_, stack)| {
        let Stack { parent, frame } = stack;
        write!(out, "{{\"frameId\":{}", frame.index())?;
        if let Some(parent) = parent {
            write!(out, ",\"parentId\":{}", parent.index())?;
        }
        out.write_all(b"}")
    })?;
    out.write_all(b"]")
}

/// Writes the members of selfprof's extension, each followed by a comma.
fn write_entries(out: &mut impl Write, entries: &Entries) -> io::Result<()> {
    if entries.dropped() > 0 {
        write!(out, "\"droppedEntriesCount\":{},", entries.dropped())?;
    }
    write_list(out, "\"entries\":[", entries.list().iter(), |out, entry| {
        let Entry { entry_type, name, start_time, duration } = entry;
        write!(out, "{{\"duration\":{duration},\"entryType\":\"{entry_type}\",\"name\":")?;
        string(out, &entries.names()[*name])?;
        write!(out, ",\"startTime\":{start_time}}}")
    })?;
    out.write_all(b"],")
}
