//! Samples as time spans.
//!
//! In selfprof, a sample stands for the time [since the sample before](selfprof_trace::weigh). Most viewers draw it
//! from its own time to that of the next sample. To make them show the same times, a sample is written at the start of
//! its span, and the span's end is written explicitly.

use selfprof_trace::{Micros, Sample, Trace};

/// The span that a sample stands for, or a pause in sampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span<'trace> {
    /// In microseconds since the time origin. The span of the first sample may start before it.
    pub(crate) start: i64,
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

    /// Whether the span is a pause or an idle sample.
    pub(crate) fn is_idle(&self) -> bool {
        self.sample.is_none_or(Sample::is_idle)
    }

    /// The end, in microseconds since the time origin.
    pub(crate) fn end(&self) -> i64 {
        self.start.saturating_add(self.length.0.try_into().unwrap_or(i64::MAX))
    }
}

/// The spans of a trace's samples, and of the pauses between them, in order: each starts at the end of the one before.
///
/// Spans are computed during iteration, to save memory.
#[derive(Default)]
pub(crate) struct Spans<'trace> {
    samples: &'trace [Sample],
    weights: Vec<Micros>,
}

impl<'trace> Spans<'trace> {
    pub(crate) fn of(trace: &'trace Trace) -> Self {
        Self { samples: trace.samples(), weights: trace.weights() }
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

    /// The number of spans.
    pub(crate) fn count(&self) -> usize {
        self.iter().count()
    }

    /// The start of the first span.
    pub(crate) fn start(&self) -> Option<i64> {
        self.iter().next().map(|span| span.start)
    }

    /// The end of the last span, which always belongs to a sample.
    pub(crate) fn end(&self) -> Option<i64> {
        Some(Span::of((self.samples.last()?, self.weights.last()?)).end())
    }
}

/// The offset that makes the times of threads with these starts non-negative, as some formats require.
pub(crate) fn shift(starts: impl Iterator<Item = i64>) -> i64 {
    starts.min().map_or(0, |start| 0.max(start.saturating_neg()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_contiguous() {
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
        check(
            &[10_000, 20_000, 2_000_000],
            &[
                (0, 10_000, true),
                (10_000, 10_000, true),
                (20_000, 980_000, false),
                (1_000_000, 1_000_000, true),
            ],
        );
    }
}
