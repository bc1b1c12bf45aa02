//! What a format cannot hold.

use std::fmt;

use selfprof_trace::{CallEventType, Entries, Marker};

use crate::format::Format;
use crate::thread::Thread;

/// Something that a format cannot hold. It is displayed as a noun phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// These threads.
    Threads(Vec<String>),
    /// The times of all samples.
    Times,
    /// The stated durations of samples.
    Durations,
    /// The markers of this many samples.
    Markers(u64),
    /// The labels of this many samples.
    Labels(u64),
    /// This many idle samples.
    IdleSamples(u64),
    /// This many marks and measures.
    Entries(u64),
    /// The number of marks and measures that were dropped while recording.
    DroppedEntries(u64),
    /// The counts of this many calls, whose times remain.
    Calls(u64),
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Threads(names) => match &names[..] {
                [name] => write!(f, "the thread {name}"),
                _ => write!(f, "the threads {}", names.join(", ")),
            },
            Self::Times => f.write_str("the times of samples"),
            Self::Durations => f.write_str("the durations of samples"),
            Self::Markers(1) => f.write_str("the marker of 1 sample"),
            Self::Markers(count) => write!(f, "the markers of {count} samples"),
            Self::Labels(1) => f.write_str("the labels of 1 sample"),
            Self::Labels(count) => write!(f, "the labels of {count} samples"),
            Self::IdleSamples(1) => f.write_str("1 idle sample"),
            Self::IdleSamples(count) => write!(f, "{count} idle samples"),
            Self::Entries(1) => f.write_str("1 mark or measure"),
            Self::Entries(count) => write!(f, "{count} marks and measures"),
            Self::Calls(1) => f.write_str("the count of 1 call"),
            Self::Calls(count) => write!(f, "the counts of {count} calls"),
            Self::DroppedEntries(count) => {
                write!(f, "the number of dropped marks and measures ({count})")
            }
        }
    }
}

/// What a format can hold besides functions and stacks.
struct Capabilities {
    threads: bool,
    times: bool,
    /// How long samples last, where their times do not imply it.
    durations: bool,
    /// Markers of samples with a stack.
    markers: bool,
    /// Markers of samples without a stack.
    states: bool,
    labels: bool,
    idle: bool,
    entries: bool,
    calls: bool,
    dropped_entries: bool,
}

impl Capabilities {
    fn of(format: Format) -> Self {
        let all = Self {
            threads: true,
            times: true,
            durations: true,
            markers: true,
            states: true,
            labels: false,
            idle: true,
            entries: true,
            calls: false,
            dropped_entries: false,
        };
        match format {
            Format::W3c => Self { labels: true, calls: true, dropped_entries: true, ..all },
            Format::Explainer => Self { durations: false, markers: false, states: false, ..all },
            Format::CpuProfile => Self { threads: false, markers: false, entries: false, ..all },
            Format::Chrome => Self { markers: false, calls: true, ..all },
            Format::Firefox => Self { calls: true, ..all },
            Format::Speedscope => Self { markers: false, entries: false, ..all },
            Format::Pprof => Self { labels: true, times: false, idle: false, entries: false, ..all },
            Format::Collapsed => {
                Self { threads: false, times: false, markers: false, idle: false, entries: false, ..all }
            }
            Format::Otlp => Self { labels: true, entries: false, ..all },
        }
    }
}

/// Whether this format holds more than one thread.
pub fn holds_threads(format: Format) -> bool {
    Capabilities::of(format).threads
}

/// What this format cannot hold of these threads.
pub fn losses(format: Format, threads: &[Thread]) -> Vec<Loss> {
    let holds = Capabilities::of(format);
    let kept = if holds.threads { threads } else { &threads[..threads.len().min(1)] };
    let samples = || kept.iter().flat_map(|thread| thread.trace.samples());
    let entries = || kept.iter().filter_map(|thread| thread.trace.entries());
    // Collections are written as a function, see `Trace::add_gc_frames`.
    let marked = samples().filter(|sample| {
        let is_other = sample.marker.is_some_and(|marker| marker != Marker::Gc);
        is_other && if sample.stack.is_some() { !holds.markers } else { !holds.states }
    });
    let labelled = kept.iter().map(|thread| {
        let Some(labels) = thread.trace.labels().filter(|_| !holds.labels) else { return 0 };
        thread.trace.samples().iter().filter(|sample| labels.of_sample(sample).is_some()).count() as u64
    });
    let began = kept.iter().filter_map(|thread| thread.trace.calls()).flat_map(|calls| calls.events());
    let calls = began.filter(|event| event.event_type == CallEventType::Enter).count() as u64;
    let counts = [
        (Loss::Markers as fn(u64) -> Loss, marked.count() as u64),
        (Loss::Labels, labelled.sum()),
        (
            Loss::IdleSamples,
            if holds.idle { 0 } else { samples().filter(|sample| sample.is_idle()).count() as u64 },
        ),
        (
            Loss::Entries,
            if holds.entries { 0 } else { entries().map(|entries| entries.list().len() as u64).sum() },
        ),
        (Loss::DroppedEntries, if holds.dropped_entries { 0 } else { entries().map(Entries::dropped).sum() }),
        (Loss::Calls, if holds.calls { 0 } else { calls }),
    ];
    let mut losses = Vec::new();
    if kept.len() < threads.len() {
        losses.push(Loss::Threads(
            threads[kept.len()..].iter().map(|thread| thread.label().into_owned()).collect(),
        ));
    }
    if !holds.times && samples().next().is_some() {
        losses.push(Loss::Times);
    }
    if !holds.durations && kept.iter().any(|thread| thread.trace.needs_durations()) {
        losses.push(Loss::Durations);
    }
    losses.extend(counts.into_iter().filter(|(_, count)| *count > 0).map(|(loss, count)| loss(count)));
    losses
}
