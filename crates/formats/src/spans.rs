//! Samples as stretches of time.
//!
//! Here a sample stands for the time [since the one before](selfprof_trace::weigh). Most programs that show profiles draw
//! it the other way, from its own time to that of the next. So that they show the same sums, what is written for them
//! begins each sample where the time that it stands for begins, and says where it ends.

use selfprof_trace::weigh::weigh;
use selfprof_trace::{Marker, Micros, Sample, Trace};

/// What a sample stands for, or a pause, in which nobody looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span<'trace> {
    /// In microseconds since the time origin. The first sample may stand for time before that.
    pub(crate) start: i64,
    /// How long it is.
    pub(crate) length: Micros,
    /// `None` for a pause.
    pub(crate) sample: Option<&'trace Sample>,
}

impl Span<'_> {
    /// Whether nothing is known to have run.
    pub(crate) fn is_idle(&self) -> bool {
        self.sample.is_none_or(Sample::is_idle)
    }

    /// Where it ends, in microseconds since the time origin.
    pub(crate) fn end(&self) -> i64 {
        self.start.saturating_add(self.length.0.try_into().unwrap_or(i64::MAX))
    }
}

/// All samples of a trace, in order, with the pauses between them: each span begins where the one before it ends.
pub(crate) fn spans(trace: &Trace) -> impl Iterator<Item = Span<'_>> {
    let mut end = None;
    trace.samples().iter().zip(weigh(trace.samples())).flat_map(move |(sample, length)| {
        let at = i64::try_from(sample.timestamp.0).unwrap_or(i64::MAX);
        let start = at.saturating_sub(length.0.try_into().unwrap_or(i64::MAX));
        let paused_since = end.replace(at).filter(|&since| since < start);
        let pause = paused_since.map(|since| Span {
            start: since,
            length: Micros(since.abs_diff(start)),
            sample: None,
        });
        pause.into_iter().chain([Span { start, length, sample: Some(sample) }])
    })
}

/// By how much the times of these threads are to be moved so that none is before zero, as some formats want it.
pub(crate) fn shift<'trace>(traces: impl Iterator<Item = &'trace Trace>) -> i64 {
    traces
        .filter_map(|trace| Some(spans(trace).next()?.start))
        .min()
        .map_or(0, |start| 0.max(start.saturating_neg()))
}

/// What stands in the place of a function where work without one is to be shown, e.g. `(gc)`.
///
/// Not the names that V8 uses: those that show its profiles put its `(garbage collector)` on top of the stack before, and
/// take a `(program)` between equal stacks for one of them.
pub(crate) fn state(marker: Option<Marker>) -> &'static str {
    match marker {
        Some(Marker::Script) => "(script)",
        Some(Marker::Gc) => "(gc)",
        Some(Marker::Parse) => "(parse)",
        Some(Marker::Paint) => "(paint)",
        Some(Marker::Style) => "(style)",
        Some(Marker::Layout) => "(layout)",
        Some(Marker::Other) => "(other)",
        None => "(idle)",
    }
}

/// How many states there are.
pub(crate) const STATES: usize = Marker::ALL.len() + 1;

/// The number of a state, counted from 0, without gaps.
pub(crate) fn state_index(marker: Option<Marker>) -> usize {
    marker.map_or(0, |marker| marker.index() + 1)
}

/// All states, in the order of their numbers.
pub(crate) fn states() -> impl Iterator<Item = Option<Marker>> {
    [None].into_iter().chain(Marker::ALL.into_iter().map(Some))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_lie_end_to_end() {
        #[track_caller]
        fn check(timestamps: &[u64], expected: &[(i64, u64, bool)]) {
            let mut trace = Trace::new();
            for &time in timestamps {
                trace.push_sample(Sample { timestamp: Micros(time), stack: None, marker: None });
            }
            let spans: Vec<_> =
                spans(&trace).map(|span| (span.start, span.length.0, span.sample.is_some())).collect();
            assert_eq!(spans, expected);
        }
        check(&[], &[]);
        check(&[7], &[(7, 0, true)]);
        check(&[5, 15, 15, 27], &[(-5, 10, true), (5, 10, true), (15, 0, true), (15, 12, true)]);
        check(&[10, 20, 2000], &[(0, 10, true), (10, 10, true), (20, 1970, false), (1990, 10, true)]);
    }
}
