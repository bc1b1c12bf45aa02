//! Writing a profile in any format.

use std::io::Write;

use selfprof_trace::{Marker, Micros, Trace};

use crate::error::WriteError;
use crate::format::Format;
use crate::formats::{chrome, collapsed, cpuprofile, explainer, firefox, otlp, pprof, speedscope, w3c};
use crate::options::WriteOptions;
use crate::thread::Thread;

/// Writes the threads in this format, or only the first one if the format holds only one. [`losses`](crate::losses())
/// lists what else the format cannot hold.
///
/// In all formats but W3C's, a trace with calls has [samples of them](Trace::add_call_samples), the garbage collector
/// is [a function](Trace::add_gc_frames), and so is [waiting](Trace::add_waiting_frames), except in pprof's,
/// which has CPU time instead.
pub fn write(
    format: Format,
    threads: &[Thread],
    out: impl Write,
    options: WriteOptions,
) -> Result<(), WriteError> {
    let waits = |thread: &Thread| format != Format::Pprof && thread.trace.waiting().is_some();
    let is_changed =
        |thread: &Thread| has_collections(thread) || waits(thread) || thread.trace.calls().is_some();
    if format != Format::W3c && threads.iter().any(is_changed) {
        let mut threads = threads.to_vec();
        for thread in &mut threads {
            thread.trace.add_call_samples().map_err(std::io::Error::other)?;
            thread.trace.add_gc_frames();
            // Firefox's has both, and adds them itself.
            if waits(thread) && format != Format::Firefox {
                thread.trace.add_waiting_frames();
            }
        }
        return write_as_given(format, &threads, out, options);
    }
    write_as_given(format, threads, out, options)
}

fn has_collections(thread: &Thread) -> bool {
    thread.trace.samples().iter().any(|sample| sample.marker == Some(Marker::Gc))
}

fn write_as_given(
    format: Format,
    threads: &[Thread],
    out: impl Write,
    options: WriteOptions,
) -> Result<(), WriteError> {
    let empty = Trace::new();
    let first = threads.first().map_or(&empty, |thread| &thread.trace);
    match format {
        Format::W3c => Ok(w3c::write_threads(threads, out, options)?),
        Format::Explainer => {
            let interval = first.interval().unwrap_or(Micros::ZERO);
            let longest = threads.iter().map(|thread| thread.trace.samples().len()).max().unwrap_or(0);
            let max_buffer_size = longest.try_into().unwrap_or(u32::MAX);
            explainer::write_with(threads, explainer::Options { interval, max_buffer_size }, out, options)
        }
        Format::CpuProfile => Ok(cpuprofile::write(first, out, options)?),
        Format::Chrome => Ok(chrome::write(threads, out, options)?),
        Format::Firefox => Ok(firefox::write(threads, out, options)?),
        Format::Speedscope => speedscope::write(threads, out, options),
        Format::Pprof => pprof::write(threads, out, options),
        Format::Collapsed => collapsed::write(first, out, options),
        Format::Otlp => otlp::write(threads, out, options),
    }
}

#[cfg(test)]
mod tests;
