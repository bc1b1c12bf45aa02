//! Chromium's [trace events], as DevTools' Performance panel loads and Perfetto reads them.
//!
//! Samples are a CPU profile in events `Profile` and `ProfileChunk`, placed as in [`crate::cpuprofile`], so that DevTools shows
//! the sums of `selfprof top`; marks and measures are user timing events. The format has no place for the marker of a sample with
//! a stack. Times are whole microseconds; when the first sample stands for time before the time origin, or a measure begins
//! there, all of them are moved, since the format has none below zero.
//!
//! [trace events]: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU

use std::io::{self, Write};

use selfprof_trace::{Entries, Entry, EntryType, Micros, Millis, Stack, Trace};

use crate::cpuprofile::nodes::{Nodes, ROOT, ROOT_NAME, write_bare_call_frame, write_call_frame};
use crate::json::{number, string, write_list};
use crate::output::{self, Out};
use crate::spans::{self, Spans};
use crate::{Thread, WriteOptions};

/// How many samples an event has.
const CHUNK: usize = 10_000;

/// The furthest from zero that whole microseconds are exact in a double.
const FURTHEST: f64 = (1_u64 << 53) as f64;

/// Writes the profiles of some threads as one process on one line of JSON.
pub fn write(threads: &[Thread], out: impl Write, options: WriteOptions) -> io::Result<()> {
    output::write(out, options, |out| write_file(threads, out))
}

fn write_file(threads: &[Thread], out: &mut Out<'_>) -> io::Result<()> {
    let all: Vec<Spans<'_>> = threads.iter().map(|thread| Spans::of(&thread.trace)).collect();
    let starts = || all.iter().filter_map(Spans::start);
    // Tasks begin a microsecond before their functions.
    let tasks = starts().map(|start| start.saturating_sub(1));
    let shift = spans::shift(tasks.chain(threads.iter().filter_map(first_entry)));
    out.write_all(br#"{"metadata":{"source":"selfprof"},"traceEvents":["#)?;
    out.write_all(br#"{"args":{"name":"Renderer"},"cat":"__metadata","name":"process_name","ph":"M","pid":1,"tid":1,"ts":0}"#)?;
    // DevTools begins with this one. It tells which process is the page's.
    out.write_all(br#",{"args":{"data":{"frameTreeNodeId":1,"frames":[{"frame":"1","isInPrimaryMainFrame":true,"isOutermostMainFrame":true,"name":"","processId":1,"url":"about:blank"}],"persistentIds":true}},"#)?;
    out.write_all(br#""cat":"disabled-by-default-devtools.timeline","name":"TracingStartedInBrowser","ph":"I","pid":1,"s":"t","tid":1,"#)?;
    write!(out, "\"ts\":{}}}", starts().min().unwrap_or(0).saturating_add(shift))?;
    for ((tid, Thread { name, trace }), spans) in (1..).zip(threads).zip(&all) {
        // DevTools takes a thread of this name for the page's.
        let name = if tid == 1 { "CrRendererMain" } else { name };
        out.write_all(b",{\"args\":{\"name\":")?;
        string(out, name)?;
        write!(
            out,
            "}},\"cat\":\"__metadata\",\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":{tid},\"ts\":0}}"
        )?;
        write_samples((trace, spans), (tid, shift), out)?;
        if let Some(entries) = trace.entries() {
            write_entries(entries, (tid, shift), out)?;
        }
    }
    out.write_all(b"]}")
}

/// Where a thread's first entry begins, in microseconds.
fn first_entry(thread: &Thread) -> Option<i64> {
    thread.trace.entries()?.list().iter().map(|entry| bounds(entry)[0]).min()
}

fn write_samples(
    (trace, spans): (&Trace, &Spans<'_>),
    (tid, shift): (usize, i64),
    out: &mut Out<'_>,
) -> io::Result<()> {
    let (Some(start), Some(end)) = (spans.start(), spans.end()) else { return Ok(()) };
    let [start, end] = [start, end].map(|time| time.saturating_add(shift));
    let head = |out: &mut Out<'_>, name: &str, time: i64| {
        write!(
            out,
            ",{{\"cat\":\"disabled-by-default-v8.cpu_profiler\",\"id\":\"0x{tid:x}\",\"name\":\"{name}\","
        )?;
        write!(out, "\"ph\":\"P\",\"pid\":1,\"tid\":{tid},\"ts\":{time},\"args\":{{\"data\":{{")
    };
    head(out, "Profile", start)?;
    write!(out, "\"startTime\":{start}}}}}}}")?;

    write_tasks(spans, (tid, shift), out)?;

    let nodes = Nodes::of(trace);
    // The last one tells where the one before it ends.
    let samples = spans.iter().map(|span| nodes.of_sample(span.sample)).chain([nodes.of_state(None)]);
    let deltas = [0].into_iter().chain(spans.iter().map(|span| span.length.0));
    let mut rest = samples.zip(deltas).peekable();
    let mut is_first = true;
    while rest.peek().is_some() {
        let chunk: Vec<(usize, u64)> = rest.by_ref().take(CHUNK).collect();
        head(out, "ProfileChunk", start)?;
        out.write_all(b"\"cpuProfile\":{")?;
        if std::mem::take(&mut is_first) {
            write_nodes(trace, out)?;
            out.write_all(b",")?;
        }
        write_list(out, "\"samples\":[", chunk.iter(), |out, (id, _)| number(out, *id))?;
        write_list(out, "]},\"timeDeltas\":[", chunk.iter(), |out, (_, delta)| number(out, *delta))?;
        out.write_all(b"]")?;
        if rest.peek().is_none() {
            write!(out, ",\"endTime\":{end}")?;
        }
        out.write_all(b"}}}")?;
    }
    Ok(())
}

/// Writes each stretch in which something ran as a task: DevTools draws functions within tasks alone.
fn write_tasks(spans: &Spans<'_>, (tid, shift): (usize, i64), out: &mut Out<'_>) -> io::Result<()> {
    let write = |out: &mut Out<'_>, [start, end]: [i64; 2]| {
        // A microsecond earlier, since of two that are equal DevTools takes either for the outer one.
        let start = start.saturating_add(shift).saturating_sub(1);
        let length = end.saturating_add(shift).saturating_sub(start);
        out.write_all(
            b",{\"cat\":\"disabled-by-default-devtools.timeline\",\"name\":\"RunTask\",\"ph\":\"X\",",
        )?;
        write!(out, "\"pid\":1,\"tid\":{tid},\"ts\":{start},\"dur\":{length},\"args\":{{}}}}")
    };
    let mut task: Option<[i64; 2]> = None;
    for span in spans.iter() {
        if !span.is_idle() {
            task.get_or_insert([span.start, span.start])[1] = span.end();
        } else if span.length != Micros::ZERO
            && let Some(task) = task.take()
        {
            write(out, task)?;
        }
    }
    task.map_or(Ok(()), |task| write(out, task))
}

/// Writes all nodes. Here they name their parents, and not their children.
fn write_nodes(trace: &Trace, out: &mut Out<'_>) -> io::Result<()> {
    let nodes = Nodes::of(trace);
    write!(out, "\"nodes\":[{{\"id\":{ROOT},\"callFrame\":")?;
    write_bare_call_frame(out, ROOT_NAME)?;
    out.write_all(b"}")?;
    for (id, Stack { parent, frame }) in trace.stacks().iter() {
        let parent = parent.map_or(ROOT, |parent| nodes.of_stack(parent));
        write!(out, ",{{\"id\":{},\"parent\":{parent},\"callFrame\":", nodes.of_stack(id))?;
        write_call_frame(out, trace, &trace.frames()[frame])?;
        out.write_all(b"}")?;
    }
    for marker in spans::states() {
        write!(out, ",{{\"id\":{},\"parent\":{ROOT},\"callFrame\":", nodes.of_state(marker))?;
        write_bare_call_frame(out, spans::state(marker))?;
        out.write_all(b"}")?;
    }
    out.write_all(b"]")
}

fn write_entries(entries: &Entries, (tid, shift): (usize, i64), out: &mut Out<'_>) -> io::Result<()> {
    for (index, entry) in entries.list().iter().enumerate() {
        let [start, end] = bounds(entry).map(|time| time.saturating_add(shift));
        let phases: &[(&str, i64)] = match entry.entry_type {
            EntryType::Mark => &[("I", start)],
            EntryType::Measure => &[("b", start), ("e", end)],
        };
        for &(phase, time) in phases {
            out.write_all(b",{\"cat\":\"blink.user_timing\",\"name\":")?;
            string(out, &entries.names()[entry.name])?;
            write!(out, ",\"ph\":\"{phase}\",\"pid\":1,\"tid\":{tid},\"ts\":{time},\"args\":{{")?;
            match entry.entry_type {
                EntryType::Mark => {
                    write!(out, "\"data\":{{\"startTime\":{}}}}},\"s\":\"t\"}}", entry.start_time)?;
                }
                EntryType::Measure => write!(out, "}},\"id2\":{{\"local\":\"0x{tid:x}{index:08x}\"}}}}")?,
            }
        }
    }
    Ok(())
}

/// Where an entry begins and ends, in microseconds; one that ends before it begins is turned round.
fn bounds(entry: &Entry) -> [i64; 2] {
    let micros = |time: Millis| (time.get() * 1000.0).round().clamp(-FURTHEST, FURTHEST) as i64;
    let start = micros(entry.start_time);
    let end = micros(entry.start_time.saturating_add(entry.duration));
    [start.min(end), start.max(end)]
}

#[cfg(test)]
mod tests;
