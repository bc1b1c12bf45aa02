//! The samples of a profile, by thread.

use foldhash::{HashMap, HashMapExt as _};
use opentelemetry_proto::tonic::profiles::v1development::Sample as OtlpSample;
use selfprof_trace::foreign::LimitExceeded;
use selfprof_trace::{Micros, Sample, StackId, StackTotal, Trace};

use super::attributes::Attributes;
use crate::samples::value_types::{Kind, TimeType};
use crate::thread::{Process, Thread};

/// Threads of one profile.
const MAX_THREADS: usize = 256;

/// The 9th of September 2001 in nanoseconds since 1970. Earlier times are on a clock of their own, as those that
/// selfprof writes.
const FIRST_TIME: u64 = 1_000_000_000_000_000_000;

/// A sample with its time.
struct TimedSample {
    /// In nanoseconds.
    time: u64,
    /// What it stands for, in nanoseconds.
    nanos: u64,
    /// The index of its total.
    total: usize,
}

/// The threads of one profile.
pub(super) struct Threads {
    start: u64,
    period: Option<u64>,
    time: TimeType,
    indexes: HashMap<(Option<String>, Option<u32>), usize>,
    list: Vec<ThreadSamples>,
}

#[derive(Default)]
struct ThreadSamples {
    name: Option<String>,
    pid: Option<u32>,
    command: Option<String>,
    totals: Vec<StackTotal>,
    /// The samples that have a time.
    timed: Vec<TimedSample>,
    /// Whether others have none.
    has_untimed: bool,
}

impl Threads {
    pub(super) fn new(start: u64, period: Option<u64>, time: TimeType) -> Self {
        Self { start, period, time, indexes: HashMap::new(), list: Vec::new() }
    }

    pub(super) fn push(
        &mut self,
        stack: Option<StackId>,
        attributes: &Attributes,
        sample: &OtlpSample,
    ) -> Result<(), LimitExceeded> {
        let key = (attributes.thread.clone(), attributes.pid);
        let index = match self.indexes.get(&key) {
            Some(&index) => index,
            None => {
                LimitExceeded::check("threads", self.list.len(), MAX_THREADS)?;
                self.list.push(ThreadSamples {
                    name: key.0.clone(),
                    pid: key.1,
                    command: attributes.command.clone(),
                    ..ThreadSamples::default()
                });
                self.indexes.insert(key, self.list.len() - 1);
                self.list.len() - 1
            }
        };
        let times = &sample.timestamps_unix_nano;
        let sum =
            sample.values.iter().fold(0_u64, |sum, &value| sum.saturating_add(value.max(0).cast_unsigned()));
        let nanos = match (sample.values.is_empty(), self.period) {
            (false, _) => sum.saturating_mul(self.time.nanos),
            // Each timestamp is one sample.
            (true, Some(period)) => period.saturating_mul(times.len() as u64),
            (true, None) => 0,
        };
        let samples = match self.time.kind {
            _ if !times.is_empty() => times.len() as u64,
            Kind::Samples => sum,
            _ => 0,
        };
        let (marker, labels) = (attributes.marker, attributes.labels);
        let thread = &mut self.list[index];
        let total = thread.totals.len();
        thread.timed.extend(times.iter().enumerate().map(|(index, &time)| {
            let own = sample.values.get(index).filter(|_| sample.values.len() == times.len());
            let own = own.map(|&value| value.max(0).cast_unsigned().saturating_mul(self.time.nanos));
            TimedSample { time, nanos: own.unwrap_or(nanos / times.len() as u64), total }
        }));
        thread.totals.push(StackTotal { stack, marker, labels, nanos, waited: None, samples });
        thread.has_untimed |= times.is_empty();
        Ok(())
    }

    /// The threads. `tables` has all stacks, and no samples.
    pub(super) fn finish(self, tables: &mut Trace, most: usize) -> Vec<Thread> {
        let (start, interval) = (self.start, self.period.map(|period| Micros(period / 1_000)));
        let most = most / self.list.len().max(1);
        let thread = |mut samples: ThreadSamples| {
            samples.timed.sort_by_key(|sample| sample.time);
            let zero = zero_of(start, samples.timed.first().map(|sample| sample.time));
            push_timed(tables, &samples, zero);
            if explains(tables, &samples) {
                tables.set_durations(Some(durations(&samples)));
            } else {
                tables.clear_samples();
                tables.push_totals(&samples.totals, interval, most);
            }
            let trace = tables.take_narrowed();
            let process =
                samples.pid.map(|pid| Process { pid, tid: 0, command: samples.command.unwrap_or_default() });
            let name = samples.name.unwrap_or_else(|| Thread::MAIN.to_owned());
            let time_origin = (zero > 0).then_some(zero as f64 / 1e6);
            Thread { process, time_origin, ..Thread::named(name, trace) }
        };
        self.list.into_iter().map(thread).collect()
    }
}

/// When the times of a thread are 0, in nanoseconds.
fn zero_of(start: u64, first: Option<u64>) -> u64 {
    let start = if start == 0 { first.unwrap_or(0) } else { start.min(first.unwrap_or(start)) };
    if start < FIRST_TIME { 0 } else { start }
}

fn push_timed(trace: &mut Trace, samples: &ThreadSamples, zero: u64) {
    for &TimedSample { time, total, .. } in &samples.timed {
        let StackTotal { stack, marker, labels, .. } = samples.totals[total];
        let timestamp = Micros(time.saturating_sub(zero) / 1_000);
        trace.push_labelled(Sample { timestamp, stack, marker }, labels);
    }
}

/// The time of each sample, as stated. What rounding takes from one is added to the next.
fn durations(samples: &ThreadSamples) -> Vec<Micros> {
    let mut rest = 0;
    let duration = |sample: &TimedSample| {
        let nanos = sample.nanos.saturating_add(rest);
        rest = nanos % 1_000;
        Micros(nanos / 1_000)
    };
    samples.timed.iter().map(duration).collect()
}

/// Whether the time between samples is the time that they stand for, up to a tenth. It is not if a sampler only looks
/// at a thread while it runs on a processor.
fn explains(trace: &Trace, samples: &ThreadSamples) -> bool {
    let sum = |times: &mut dyn Iterator<Item = u64>| times.fold(0_u128, |sum, time| sum + u128::from(time));
    let between = sum(&mut trace.weights().into_iter().map(|weight| weight.0)) * 1_000;
    let stated = sum(&mut samples.totals.iter().map(|total| total.nanos));
    !samples.timed.is_empty() && !samples.has_untimed && between.abs_diff(stated) * 10 <= stated
}
