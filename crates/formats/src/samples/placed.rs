//! Samples of formats in which a sample lasts from its time on.

use selfprof_trace::{Micros, Sample, StackId, Trace};

use crate::formats::cpuprofile::nodes::{ROOT_NAME, state_of};

/// A sample with its place on the time axis, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedSample {
    pub(crate) start: f64,
    pub(crate) length: f64,
    pub(crate) stack: Option<StackId>,
    pub(crate) marker: Option<selfprof_trace::Marker>,
}

impl PlacedSample {
    /// A sample with this stack. The innermost function may stand for work without a function, such as
    /// `(garbage collector)`.
    pub(crate) fn of(trace: &Trace, start: f64, length: f64, stack: Option<StackId>) -> Self {
        let innermost = stack.map(|id| trace.stacks()[id]);
        let frame = innermost.map(|stack| trace.frames()[stack.frame]);
        let name = frame.filter(|frame| frame.resource.is_none()).map(|frame| &trace.names()[frame.name]);
        let caller = innermost.and_then(|stack| stack.parent);
        match name.map(|name| (name, state_of(name))) {
            Some((_, Some(marker))) => Self { start, length, stack: marker.and(caller), marker },
            Some((ROOT_NAME, None)) if caller.is_none() => Self { start, length, stack: None, marker: None },
            _ => Self { start, length, stack, marker: None },
        }
    }

    fn end(&self) -> f64 {
        self.start + self.length
    }
}

/// Appends samples to a trace without samples, in the order of time. In the trace, the time of a sample is its end.
/// Times before the time origin are moved to it. If the lengths are not `stated`, they are left to the
/// [rule for gaps](selfprof_trace::weigh).
pub(crate) fn push_placed(trace: &mut Trace, mut samples: Vec<PlacedSample>, stated: bool) {
    samples.retain(|sample| sample.start.is_finite() && sample.length.is_finite());
    samples.sort_by(|a, b| a.end().total_cmp(&b.end()));
    let first = samples.iter().map(|sample| sample.start).fold(0.0, f64::min);
    let micros = |time: f64| Micros::from_millis_f64((time - first) / 1_000.0).unwrap_or_default();
    let mut last = Micros::ZERO;
    for sample in &samples {
        let timestamp = micros(sample.end()).max(last);
        last = timestamp;
        let PlacedSample { stack, marker, .. } = *sample;
        let placed = Sample { timestamp, stack, marker };
        match stated {
            true => trace.push_lasting(placed, timestamp.saturating_sub(micros(sample.start)), None),
            false => trace.push_sample(placed),
        }
    }
}
