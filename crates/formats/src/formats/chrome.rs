//! Chromium's [trace events], for the Performance panel of DevTools and for Perfetto.
//!
//! Samples are written as a CPU profile in `Profile` and `ProfileChunk` events, with times as in [`crate::cpuprofile`],
//! so that DevTools shows the times of `selfprof top`. Calls are `B` and `E` events, which Perfetto and other programs
//! show in a track of their own, besides the samples that stand for them. Marks and measures are user timing events.
//! The format cannot hold the marker of a sample with a stack. Times are whole microseconds and not negative; if the
//! first sample's span, or a measure, starts before the time origin, all times are shifted.
//!
//! On reading, CPU profiles are read as [`crate::cpuprofile`] does. Without any, events that begin and end are
//! functions.
//!
//! [trace events]: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU

mod call_events;
mod read;

use std::io::{self, Write};

use selfprof_trace::{Entries, Entry, EntryType, Micros, Millis, Stack, Trace};

use crate::formats::cpuprofile::nodes::{Nodes, ROOT, ROOT_NAME, write_bare_call_frame, write_call_frame};
use crate::json::{number, string, write_list};
use crate::options::WriteOptions;
use crate::samples::spans::{self, Spans};
use crate::samples::states;
use crate::streams::output::{self, Out};
use crate::thread::Thread;

pub use read::read;
pub(crate) use read::read_text;

/// The number of samples per `ProfileChunk` event.
const CHUNK: usize = 10_000;

/// The largest number of microseconds that a double represents exactly.
const MAX_EXACT: f64 = (1_u64 << 53) as f64;

/// Writes the threads of one process, as one line of JSON.
pub fn write(threads: &[Thread], out: impl Write, options: WriteOptions) -> io::Result<()> {
    output::write(out, options, |out| write_file(threads, out))
}

fn write_file(threads: &[Thread], out: &mut Out<'_>) -> io::Result<()> {
    let all: Vec<Spans<'_>> = threads.iter().map(|thread| Spans::of(&thread.trace)).collect();
    let starts = || all.iter().filter_map(Spans::start);
    // Tasks start a microsecond before their functions; see `write_tasks`.
    let tasks = starts().map(|start| start.saturating_sub(1));
    let shift = spans::shift(tasks.chain(threads.iter().filter_map(first_entry)));
    out.write_all(br#"{"metadata":{"source":"selfprof"},"traceEvents":["#)?;
    out.write_all(br#"{"args":{"name":"Renderer"},"cat":"__metadata","name":"process_name","ph":"M","pid":1,"tid":1,"ts":0}"#)?;
    // DevTools requires this event, which identifies the page's process.
    out.write_all(br#",{"args":{"data":{"frameTreeNodeId":1,"frames":[{"frame":"1","isInPrimaryMainFrame":true,"isOutermostMainFrame":true,"name":"","processId":1,"url":"about:blank"}],"persistentIds":true}},"#)?;
    out.write_all(br#""cat":"disabled-by-default-devtools.timeline","name":"TracingStartedInBrowser","ph":"I","pid":1,"s":"t","tid":1,"#)?;
    write!(out, "\"ts\":{}}}", starts().min().unwrap_or(0).saturating_add(shift))?;
    for ((tid, thread), spans) in (1..).zip(threads).zip(&all) {
        let trace = &thread.trace;
        let label = thread.label();
        // DevTools identifies the page's main thread by this name.
        let name = if tid == 1 { "CrRendererMain" } else { &label };
        out.write_all(b",{\"args\":{\"name\":")?;
        string(out, name)?;
        write!(
            out,
            "}},\"cat\":\"__metadata\",\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":{tid},\"ts\":0}}"
        )?;
        write_samples((trace, spans), (tid, shift), out)?;
        call_events::write_calls(thread, (threads.len() + tid, shift), out)?;
        if let Some(entries) = trace.entries() {
            write_entries(entries, (tid, shift), out)?;
        }
    }
    out.write_all(b"]}")
}

/// The start of a thread's first entry, in microseconds.
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
    // An extra idle sample marks the end of the last span.
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

/// Writes each busy stretch as a task: DevTools draws functions only within tasks.
fn write_tasks(spans: &Spans<'_>, (tid, shift): (usize, i64), out: &mut Out<'_>) -> io::Result<()> {
    let write = |out: &mut Out<'_>, [start, end]: [i64; 2]| {
        // A task starts a microsecond early: of two events with equal times, DevTools may nest either in the other.
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

/// Writes all nodes. In trace events, nodes refer to their parents rather than to their children.
fn write_nodes(trace: &Trace, out: &mut Out<'_>) -> io::Result<()> {
    let nodes = Nodes::of(trace);
    write!(out, "\"nodes\":[{{\"id\":{ROOT},\"callFrame\":")?;
    write_bare_call_frame(out, ROOT_NAME)?;
    out.write_all(b"}")?;
    for (id, Stack { parent, frame }) in trace.stacks().iter() {
        let parent = parent.map_or(ROOT, |parent| nodes.of_stack(parent));
        write!(out, ",{{\"id\":{},\"parent\":{parent},\"callFrame\":", nodes.of_stack(id))?;
        write_call_frame(out, trace, frame)?;
        out.write_all(b"}")?;
    }
    for marker in states::all() {
        write!(out, ",{{\"id\":{},\"parent\":{ROOT},\"callFrame\":", nodes.of_state(marker))?;
        write_bare_call_frame(out, states::name(marker))?;
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

/// The start and end of an entry, in microseconds. A negative duration swaps them.
fn bounds(entry: &Entry) -> [i64; 2] {
    let micros = |time: Millis| (time.get() * 1000.0).round().clamp(-MAX_EXACT, MAX_EXACT) as i64;
    let start = micros(entry.start_time);
    let end = micros(entry.start_time.saturating_add(entry.duration));
    [start.min(end), start.max(end)]
}

#[cfg(test)]
mod tests;
