//! Writing a profile in any format.

use std::io::Write;

use selfprof_trace::weigh::median_interval;
use selfprof_trace::{Marker, Micros, Trace};

use crate::error::WriteError;
use crate::format::Format;
use crate::formats::{chrome, collapsed, cpuprofile, explainer, firefox, otlp, pprof, speedscope, w3c};
use crate::options::WriteOptions;
use crate::thread::Thread;

/// Writes the threads in this format, or only the first one if the format holds only one. [`losses`](crate::losses()) lists
/// what else the format cannot hold.
///
/// In all formats but W3C's, the garbage collector is [a function](Trace::add_collector_frames).
pub fn write(
    format: Format,
    threads: &[Thread],
    out: impl Write,
    options: WriteOptions,
) -> Result<(), WriteError> {
    if format != Format::W3c && threads.iter().any(has_collections) {
        let mut threads = threads.to_vec();
        threads.iter_mut().for_each(|thread| thread.trace.add_collector_frames());
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
        Format::W3c => match threads.first() {
            Some(thread) => Ok(w3c::write_thread(thread, out, options)?),
            None => Ok(w3c::write(&empty, out, options)?),
        },
        Format::Explainer => {
            let interval = median_interval(first.samples()).unwrap_or(Micros::ZERO);
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
