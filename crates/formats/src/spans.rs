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

impl<'trace> Span<'trace> {
    fn of((sample, &length): (&'trace Sample, &Micros)) -> Self {
        let at = i64::try_from(sample.timestamp.0).unwrap_or(i64::MAX);
        let start = at.saturating_sub(length.0.try_into().unwrap_or(i64::MAX));
        Self { start, length, sample: Some(sample) }
    }

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
///
/// They are made as they are asked for, since there are as many of them as of samples.
#[derive(Default)]
pub(crate) struct Spans<'trace> {
    samples: &'trace [Sample],
    weights: Vec<Micros>,
}

impl<'trace> Spans<'trace> {
    pub(crate) fn of(trace: &'trace Trace) -> Self {
        Self { samples: trace.samples(), weights: weigh(trace.samples()) }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Span<'trace>> {
        let mut samples = self.samples.iter().zip(&self.weights);
        let (mut end, mut after_pause) = (None, None);
        std::iter::from_fn(move || {
            if let Some(span) = after_pause.take() {
                return Some(span);
            }
            let span = Span::of(samples.next()?);
            match end.replace(span.end()) {
                Some(since) if since < span.start => {
                    after_pause = Some(span);
                    Some(Span { start: since, length: Micros(since.abs_diff(span.start)), sample: None })
                }
                _ => Some(span),
            }
        })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.iter().count()
    }

    /// Where the first one begins.
    pub(crate) fn start(&self) -> Option<i64> {
        self.iter().next().map(|span| span.start)
    }

    /// Where the last one ends, which is always a sample.
    pub(crate) fn end(&self) -> Option<i64> {
        Some(Span::of((self.samples.last()?, self.weights.last()?)).end())
    }
}

/// By how much the times of threads that start there are to be moved so that none is before zero, as some formats want it.
pub(crate) fn shift(starts: impl Iterator<Item = i64>) -> i64 {
    starts.min().map_or(0, |start| 0.max(start.saturating_neg()))
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
            let spans = Spans::of(&trace);
            let all = spans.iter().map(|span| (span.start, span.length.0, span.sample.is_some()));
            assert_eq!(all.collect::<Vec<_>>(), expected);
            assert_eq!(spans.count(), expected.len());
            assert_eq!(spans.start(), expected.first().map(|(start, ..)| *start));
            let end = expected.last().map(|(start, length, _)| start + i64::try_from(*length).unwrap());
            assert_eq!(spans.end(), end);
        }
        check(&[], &[]);
        check(&[7], &[(7, 0, true)]);
        check(&[5, 15, 15, 27], &[(-5, 10, true), (5, 10, true), (15, 0, true), (15, 12, true)]);
        check(&[10, 20, 2000], &[(0, 10, true), (10, 10, true), (20, 1970, false), (1990, 10, true)]);
    }
}
