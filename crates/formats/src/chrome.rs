//! Chromium's [trace events], as DevTools' Performance panel loads and Perfetto reads them.
//!
//! Samples are a CPU profile in events `Profile` and `ProfileChunk`, placed as in [`crate::cpuprofile`], so that DevTools shows
//! the sums of `selfprof top`; marks and measures are user timing events. The format has no place for the marker of a sample with
//! a stack. Times are whole microseconds; when the first sample stands for time before the time origin, or a measure begins
//! there, all of them are moved, since the format has none below zero.
//!
//! [trace events]: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU

use std::io::{self, Write};

use selfprof_trace::{Entries, Entry, EntryType, Millis, Stack, Trace};

use crate::cpuprofile::nodes::{Nodes, ROOT, ROOT_NAME, write_bare_call_frame, write_call_frame};
use crate::json::{list, string};
use crate::output::{self, Out};
use crate::spans::{self, Span, spans};
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
    let shift = shift(threads);
    out.write_all(br#"{"metadata":{"source":"selfprof"},"traceEvents":["#)?;
    out.write_all(br#"{"args":{"name":"Renderer"},"cat":"__metadata","name":"process_name","ph":"M","pid":1,"tid":1,"ts":0}"#)?;
    let first =
        threads.iter().filter_map(|thread| Some(spans(&thread.trace).next()?.start)).min().unwrap_or(0);
    // DevTools begins with this one. It tells which process is the page's.
    out.write_all(br#",{"args":{"data":{"frameTreeNodeId":1,"frames":[{"frame":"1","isInPrimaryMainFrame":true,"isOutermostMainFrame":true,"name":"","processId":1,"url":"about:blank"}],"persistentIds":true}},"#)?;
    out.write_all(br#""cat":"disabled-by-default-devtools.timeline","name":"TracingStartedInBrowser","ph":"I","pid":1,"s":"t","tid":1,"#)?;
    write!(out, "\"ts\":{}}}", first.saturating_add(shift))?;
    for (tid, Thread { name, trace }) in (1..).zip(threads) {
        // DevTools takes a thread of this name for the page's.
        let name = if tid == 1 { "CrRendererMain" } else { name };
        out.write_all(b",{\"args\":{\"name\":")?;
        string(out, name)?;
        write!(
            out,
            "}},\"cat\":\"__metadata\",\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":{tid},\"ts\":0}}"
        )?;
        write_samples(trace, (tid, shift), out)?;
        if let Some(entries) = trace.entries() {
            write_entries(entries, (tid, shift), out)?;
        }
    }
    out.write_all(b"]}")
}

/// By how much all times are moved, in microseconds.
fn shift(threads: &[Thread]) -> i64 {
    let entries = threads.iter().filter_map(|thread| thread.trace.entries()).flat_map(Entries::list);
    let earliest = entries.map(|entry| bounds(entry)[0]).min().unwrap_or(0);
    spans::shift(threads.iter().map(|thread| &thread.trace)).max(earliest.saturating_neg())
}

fn write_samples(trace: &Trace, (tid, shift): (usize, i64), out: &mut Out<'_>) -> io::Result<()> {
    let all: Vec<Span<'_>> = spans(trace).collect();
    let (Some(first), Some(last)) = (all.first(), all.last()) else { return Ok(()) };
    let [start, end] = [first.start, last.end()].map(|time| time.saturating_add(shift));
    let head = |out: &mut Out<'_>, name: &str, time: i64| {
        write!(
            out,
            ",{{\"cat\":\"disabled-by-default-v8.cpu_profiler\",\"id\":\"0x{tid:x}\",\"name\":\"{name}\","
        )?;
        write!(out, "\"ph\":\"P\",\"pid\":1,\"tid\":{tid},\"ts\":{time},\"args\":{{\"data\":{{")
    };
    head(out, "Profile", start)?;
    write!(out, "\"startTime\":{start}}}}}}}")?;

    write_tasks(&all, (tid, shift), out)?;

    let nodes = Nodes::of(trace);
    // The last one tells where the one before it ends.
    let samples = all.iter().map(|span| nodes.of_sample(span.sample)).chain([nodes.of_state(None)]);
    let samples: Vec<usize> = samples.collect();
    let deltas: Vec<u64> = [0].into_iter().chain(all.iter().map(|span| span.length.0)).collect();
    for (index, (samples, deltas)) in samples.chunks(CHUNK).zip(deltas.chunks(CHUNK)).enumerate() {
        head(out, "ProfileChunk", start)?;
        out.write_all(b"\"cpuProfile\":{")?;
        if index == 0 {
            write_nodes(trace, out)?;
            out.write_all(b",")?;
        }
        list(out, "\"samples\":[", samples.iter(), |out, id| write!(out, "{id}"))?;
        list(out, "]},\"timeDeltas\":[", deltas.iter(), |out, delta| write!(out, "{delta}"))?;
        out.write_all(b"]")?;
        if (index + 1) * CHUNK > all.len() {
            write!(out, ",\"endTime\":{end}")?;
        }
        out.write_all(b"}}}")?;
    }
    Ok(())
}

/// Writes each stretch in which something ran as a task: DevTools draws functions within tasks alone.
fn write_tasks(all: &[Span<'_>], (tid, shift): (usize, i64), out: &mut Out<'_>) -> io::Result<()> {
    for task in all.chunk_by(|span, next| span.is_idle() == next.is_idle()) {
        let (Some(first), Some(last)) = (task.first(), task.last()) else { continue };
        if first.is_idle() {
            continue;
        }
        // A microsecond earlier, since of two that are equal DevTools takes either for the outer one.
        let start = 0.max(first.start.saturating_add(shift).saturating_sub(1));
        let length = last.end().saturating_add(shift).saturating_sub(start);
        out.write_all(
            b",{\"cat\":\"disabled-by-default-devtools.timeline\",\"name\":\"RunTask\",\"ph\":\"X\",",
        )?;
        write!(out, "\"pid\":1,\"tid\":{tid},\"ts\":{start},\"dur\":{length},\"args\":{{}}}}")?;
    }
    Ok(())
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
