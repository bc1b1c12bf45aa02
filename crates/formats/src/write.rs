//! Writing a profile in any format, and what gets lost on the way.

use std::fmt;
use std::io::Write;

use selfprof_trace::weigh::median_interval;
use selfprof_trace::{Entries, Micros, Trace};

use crate::{
    Format, Thread, WriteError, WriteOptions, chrome, collapsed, cpuprofile, explainer, firefox, otlp, pprof,
    speedscope, w3c,
};

/// Writes the threads in this format, or the first of them if it has room for one alone. [`losses`] tells what else it has
/// no place for.
pub fn write(
    format: Format,
    threads: &[Thread],
    out: impl Write,
    options: WriteOptions,
) -> Result<(), WriteError> {
    let nothing = Trace::new();
    let first = threads.first().map_or(&nothing, |thread| &thread.trace);
    match format {
        Format::W3c => Ok(w3c::write(first, out, options)?),
        Format::Explainer => {
            let interval = median_interval(first.samples()).unwrap_or(Micros::ZERO);
            let most = threads.iter().map(|thread| thread.trace.samples().len()).max().unwrap_or(0);
            let max_buffer_size = most.try_into().unwrap_or(u32::MAX);
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

/// Something that a format has no place for. Shown as what is lacking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// These threads.
    Threads(Vec<String>),
    /// The times of all samples.
    Times,
    /// The markers of so many samples.
    Markers(u64),
    /// So many samples at which nothing ran.
    IdleSamples(u64),
    /// So many marks and measures.
    Entries(u64),
    /// That there was no room for so many marks and measures when they were recorded.
    DroppedEntries(u64),
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Threads(names) => match &names[..] {
                [name] => write!(f, "the thread {name}"),
                _ => write!(f, "the threads {}", names.join(", ")),
            },
            Self::Times => f.write_str("when the samples were taken"),
            Self::Markers(1) => f.write_str("the marker of 1 sample"),
            Self::Markers(count) => write!(f, "the markers of {count} samples"),
            Self::IdleSamples(1) => f.write_str("1 idle sample"),
            Self::IdleSamples(count) => write!(f, "{count} idle samples"),
            Self::Entries(1) => f.write_str("1 mark or measure"),
            Self::Entries(count) => write!(f, "{count} marks and measures"),
            Self::DroppedEntries(count) => {
                write!(f, "the note that {count} marks and measures were not recorded")
            }
        }
    }
}

/// What a format has a place for, beside functions and stacks.
struct Holds {
    threads: bool,
    times: bool,
    /// Markers of samples with a stack.
    markers: bool,
    /// Markers of samples without a stack.
    states: bool,
    idle: bool,
    entries: bool,
    dropped_entries: bool,
}

impl Holds {
    fn of(format: Format) -> Self {
        let all = Self {
            threads: true,
            times: true,
            markers: true,
            states: true,
            idle: true,
            entries: true,
            dropped_entries: false,
        };
        match format {
            Format::W3c => Self { threads: false, dropped_entries: true, ..all },
            Format::Explainer => Self { markers: false, states: false, ..all },
            Format::CpuProfile => Self { threads: false, markers: false, entries: false, ..all },
            Format::Chrome => Self { markers: false, ..all },
            Format::Firefox => all,
            Format::Speedscope => Self { markers: false, entries: false, ..all },
            Format::Pprof => Self { times: false, idle: false, entries: false, ..all },
            Format::Collapsed => {
                Self { threads: false, times: false, markers: false, idle: false, entries: false, ..all }
            }
            Format::Otlp => Self { entries: false, ..all },
        }
    }
}

/// What of these threads has no place in this format.
pub fn losses(format: Format, threads: &[Thread]) -> Vec<Loss> {
    let holds = Holds::of(format);
    let kept = if holds.threads { threads } else { &threads[..threads.len().min(1)] };
    let samples = || kept.iter().flat_map(|thread| thread.trace.samples());
    let entries = || kept.iter().filter_map(|thread| thread.trace.entries());
    let marked = samples().filter(|sample| {
        sample.marker.is_some() && if sample.stack.is_some() { !holds.markers } else { !holds.states }
    });
    let counts = [
        (Loss::Markers as fn(u64) -> Loss, marked.count() as u64),
        (
            Loss::IdleSamples,
            if holds.idle { 0 } else { samples().filter(|sample| sample.is_idle()).count() as u64 },
        ),
        (
            Loss::Entries,
            if holds.entries { 0 } else { entries().map(|entries| entries.list().len() as u64).sum() },
        ),
        (Loss::DroppedEntries, if holds.dropped_entries { 0 } else { entries().map(Entries::dropped).sum() }),
    ];
    let mut losses = Vec::new();
    if kept.len() < threads.len() {
        losses.push(Loss::Threads(threads[kept.len()..].iter().map(|thread| thread.name.clone()).collect()));
    }
    if !holds.times && samples().next().is_some() {
        losses.push(Loss::Times);
    }
    losses.extend(counts.into_iter().filter(|(_, count)| *count > 0).map(|(loss, count)| loss(count)));
    losses
}

#[cfg(test)]
mod tests;
