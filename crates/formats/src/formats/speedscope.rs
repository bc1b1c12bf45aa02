//! speedscope's [file format]: one sampled profile per thread.
//!
//! The weight of a sample is the time that it stands for, so speedscope shows the times of `selfprof top`. Pauses and
//! idle samples have no stack, and work without a function is shown as one, e.g. `(layout)`. The format cannot hold the
//! marker of a sample with a stack, nor marks and measures.
//!
//! On reading, each profile is a thread, whose samples last as long as their weights say. An evented profile
//! has a sample between each two events.
//!
//! [file format]: https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources

mod read;

use std::io::{self, Write};

use selfprof_trace::{Frame, FrameId, Trace};

use crate::error::WriteError;
use crate::functions;
use crate::json::{number, string, write_list};
use crate::options::WriteOptions;
use crate::samples::spans::Spans;
use crate::samples::states;
use crate::samples::totals::check_depth;
use crate::streams::output::{self, Out};
use crate::thread::Thread;

pub use read::read;
pub(crate) use read::read_text;

/// Writes the profiles of all threads, as one line of JSON.
pub fn write(threads: &[Thread], out: impl Write, options: WriteOptions) -> Result<(), WriteError> {
    for Thread { trace, .. } in threads {
        check_depth(trace, trace.samples().iter().map(|sample| sample.stack))?;
    }
    Ok(output::write(out, options, |out| write_file(threads, out))?)
}

fn write_file(threads: &[Thread], out: &mut Out<'_>) -> io::Result<()> {
    out.write_all(
        br#"{"$schema":"https://www.speedscope.app/file-format-schema.json","activeProfileIndex":0,"exporter":"selfprof","#,
    )?;
    // The states come first, then the functions of each thread.
    write_list(out, "\"shared\":{\"frames\":[", states::all(), |out, marker| {
        write!(out, "{{\"name\":\"{}\"}}", states::name(marker))
    })?;
    let mut starts = Vec::with_capacity(threads.len());
    let mut start = states::COUNT;
    for Thread { trace, .. } in threads {
        starts.push(start);
        start += trace.frames().len();
        for (_, frame) in trace.frames().iter() {
            write_frame(out, trace, &frame)?;
        }
    }
    let profiles = threads.iter().zip(starts);
    write_list(out, "]},\"profiles\":[", profiles, |out, (thread, start)| write_profile(thread, start, out))?;
    out.write_all(b"]}")
}

fn write_frame(out: &mut Out<'_>, trace: &Trace, frame: &Frame) -> io::Result<()> {
    let Frame { resource, line, column, .. } = *frame;
    out.write_all(b",{\"name\":")?;
    string(out, functions::name(trace, frame))?;
    if let Some(resource) = resource {
        out.write_all(b",\"file\":")?;
        string(out, &trace.resources()[resource])?;
    }
    if let Some(line) = line {
        write!(out, ",\"line\":{line}")?;
    }
    if let Some(column) = column {
        write!(out, ",\"col\":{column}")?;
    }
    out.write_all(b"}")
}

fn write_profile(thread: &Thread, first: usize, out: &mut Out<'_>) -> io::Result<()> {
    let trace = &thread.trace;
    let spans = Spans::of(trace);
    let [start, end] = [spans.start(), spans.end()].map(Option::unwrap_or_default);
    out.write_all(b"{\"type\":\"sampled\",\"name\":")?;
    string(out, &thread.label())?;
    write!(out, ",\"unit\":\"microseconds\",\"startValue\":{start},\"endValue\":{end}")?;
    let mut path: Vec<FrameId> = Vec::new();
    write_list(out, ",\"samples\":[", spans.iter(), |out, span| {
        path.clear();
        let sample = span.sample.filter(|_| !span.is_idle());
        match sample.map(|sample| (sample.stack, sample.marker)) {
            None => out.write_all(b"[")?,
            Some((None, marker)) => write!(out, "[{}", states::index(marker))?,
            Some((Some(stack), _)) => {
                path.extend(trace.path(stack));
                write_list(out, "[", path.iter().rev(), |out, frame| number(out, first + frame.index()))?;
            }
        }
        out.write_all(b"]")
    })?;
    write_list(out, "],\"weights\":[", spans.iter(), |out, span| number(out, span.length.0))?;
    out.write_all(b"]}")
}

#[cfg(test)]
mod tests;
