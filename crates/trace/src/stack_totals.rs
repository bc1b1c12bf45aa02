//! Samples made of totals: for profiles that say how long each stack ran, but not when.

use crate::id::{LabelSetId, StackId};
use crate::marker::Marker;
use crate::micros::Micros;
use crate::sample::Sample;
use crate::trace::Trace;
use crate::weigh::PAUSE;

/// How long a stack ran, as a profiler has added it up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackTotal {
    /// The stack; `None` if no function ran.
    pub stack: Option<StackId>,
    /// The kind of work.
    pub marker: Option<Marker>,
    /// The labels, of [`Trace::label_set`].
    pub labels: Option<LabelSetId>,
    /// The time in nanoseconds.
    pub nanos: u64,
    /// The number of samples that were added up; 0 if it is not known.
    pub samples: u64,
}

/// Samples that stand for a total, evenly.
#[derive(Clone, Copy)]
struct Part {
    total: StackTotal,
    samples: u128,
}

impl Part {
    /// The time between two of its samples.
    fn gap(self) -> u128 {
        u128::from(self.total.nanos) / self.samples.max(1)
    }
}

impl Trace {
    /// Appends samples that stand for these totals, one total after the other: the trace then has the time of each, on a time axis that
    /// means nothing.
    ///
    /// A total has as many samples as it says, or else one for each `interval`. There are `most` samples at most. If these cannot show
    /// the times, each sample stands for the same time, and the times of totals are rounded to it.
    pub fn push_totals(&mut self, totals: &[StackTotal], interval: Option<Micros>, most: usize) {
        let with_time = || totals.iter().filter(|total| total.nanos > 0);
        let whole: u128 = with_time().map(|total| u128::from(total.nanos)).sum();
        let Some(smallest) = with_time().map(|total| total.nanos).min() else { return };
        let interval = interval.map_or(smallest, |interval| interval.0.saturating_mul(1_000));
        let interval = u128::from(interval).max(whole / most.max(1) as u128 + 1).max(1_000);
        let parts: Vec<Part> = with_time()
            .map(|&total| {
                let known = (total.samples > 0).then_some(u128::from(total.samples));
                let samples = known.unwrap_or((u128::from(total.nanos) + interval / 2) / interval).max(1);
                Part { total, samples }
            })
            .collect();
        match exact(parts, most) {
            Some(parts) => self.push_exact(&parts),
            None => self.push_rounded(with_time(), interval),
        }
    }

    fn push_exact(&mut self, parts: &[Part]) {
        let begin = self.samples().last().map_or(Micros::ZERO, |last| last.timestamp);
        let mut before: u128 = 0;
        for &Part { total, samples } in parts {
            for number in 1..=samples {
                let nanos = before + u128::from(total.nanos) * number / samples;
                self.push_at(begin, nanos, &total);
            }
            before += u128::from(total.nanos);
        }
    }

    fn push_rounded<'a>(&mut self, totals: impl Iterator<Item = &'a StackTotal>, interval: u128) {
        let begin = self.samples().last().map_or(Micros::ZERO, |last| last.timestamp);
        let (mut end, mut pushed) = (0, 0);
        for total in totals {
            end += u128::from(total.nanos);
            // What is missing here is made up for by the next total.
            while pushed < (end + interval / 2) / interval {
                pushed += 1;
                self.push_at(begin, pushed * interval, total);
            }
        }
    }

    fn push_at(&mut self, begin: Micros, nanos: u128, total: &StackTotal) {
        let micros = Micros(u64::try_from(nanos / 1_000).unwrap_or(u64::MAX));
        let timestamp = begin.saturating_add(micros);
        self.push_labelled(Sample { timestamp, stack: total.stack, marker: total.marker }, total.labels);
    }
}

/// The parts, in an order in which the weights of their samples are their gaps, as far as the first sample allows; `None` if there is no
/// such order.
fn exact(mut parts: Vec<Part>, most: usize) -> Option<Vec<Part>> {
    let samples: u128 = parts.iter().map(|part| part.samples).sum();
    if samples > most as u128 {
        return None;
    }
    let mut by_gap: Vec<usize> = (0..parts.len()).collect();
    by_gap.sort_by_key(|&index| parts[index].gap());
    let middle = (samples - 1) / 2;
    let mut seen = 0;
    let median = *by_gap.iter().find(|&&index| {
        seen += parts[index].samples;
        seen > middle
    })?;
    let longest = parts[*by_gap.last()?].gap();
    // The rounding to microseconds must not make a gap longer than a pause.
    if longest > parts[median].gap() * u128::from(PAUSE) / 2 || parts[median].gap() < 2_000 {
        return None;
    }
    // The first sample stands for the median of all others, because there is none before it.
    parts[..=median].rotate_right(1);
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;
    use crate::labels::LabelSet;
    use crate::stack::Stack;

    /// The time in microseconds and the number of samples of each stack, from totals in the same form.
    fn through(totals: &[(u64, u64)], interval: Option<u64>, most: usize) -> Vec<(u64, u64)> {
        let mut trace = Trace::new();
        let totals: Vec<StackTotal> = totals
            .iter()
            .enumerate()
            .map(|(number, &(micros, samples))| {
                let name = trace.name(&number.to_string()).unwrap();
                let frame = trace.frame(Frame { name, resource: None, line: None, column: None }).unwrap();
                let stack = trace.stack(Stack { parent: None, frame }).unwrap();
                let nanos = micros.saturating_mul(1_000);
                StackTotal { stack: Some(stack), marker: None, labels: None, nanos, samples }
            })
            .collect();
        trace.push_totals(&totals, interval.map(Micros), most);
        assert!(trace.samples().is_sorted_by_key(|sample| sample.timestamp));
        let mut sums = vec![(0, 0); totals.len()];
        for (sample, weight) in trace.samples().iter().zip(trace.weights()) {
            let sum = &mut sums[sample.stack.unwrap().index()];
            *sum = (sum.0 + weight.0, sum.1 + 1);
        }
        sums
    }

    #[test]
    fn times_are_those_of_the_totals() {
        #[track_caller]
        fn check(totals: &[(u64, u64)], interval: Option<u64>, expected: &[(u64, u64)]) {
            assert_eq!(through(totals, interval, 100_000), expected);
        }
        check(&[], None, &[]);
        check(&[(0, 5)], None, &[(0, 0)]);
        // One sample has no interval.
        check(&[(30_000, 0)], Some(10_000), &[(30_000, 3)]);
        check(&[(30_000, 3), (10_000, 1)], None, &[(30_000, 3), (10_000, 1)]);
        check(&[(30_000, 0), (10_000, 0)], None, &[(30_000, 3), (10_000, 1)]);
        check(&[(500_000, 1), (10_000, 1), (20_000, 2)], None, &[(500_000, 1), (10_000, 1), (20_000, 2)]);
        let uneven = [(12_345, 0), (20_000, 0), (9_000, 0)];
        check(&uneven, Some(10_000), &[(12_345, 1), (20_000, 2), (9_000, 1)]);
        // One long sample beside many short ones would count as a pause.
        check(&[(10_000_000, 1), (30_000, 3)], Some(10_000), &[(10_000_000, 1_000), (30_000, 3)]);
    }

    #[test]
    fn samples_have_the_labels_of_their_totals() {
        let mut trace = Trace::new();
        assert!(trace.label_set(LabelSet::new([("unused", "x")])).is_ok());
        let cart = trace.label_set(LabelSet::new([("route", "/cart")])).ok();
        let total = |labels, samples| {
            let nanos = samples * 10_000_000;
            StackTotal { stack: None, marker: Some(Marker::Script), labels, nanos, samples }
        };
        assert!(trace.labels().is_none());
        trace.push_totals(&[total(None, 2), total(cart, 3), total(None, 1)], None, 100);
        let routes = |trace: &Trace| -> Vec<Option<String>> {
            let Some(labels) = trace.labels() else { return Vec::new() };
            let sets = labels.of_samples(trace.samples()).into_iter();
            sets.map(|id| Some(labels.get(id?)?.get("route")?.to_owned())).collect()
        };
        let route = Some("/cart".to_owned());
        // What the first sample stands for is not known, so a total in the middle comes first.
        let expected = [route.clone(), route.clone(), route, None, None, None];
        assert_eq!(routes(&trace), expected);
        let narrow = trace.narrowed();
        assert_eq!(
            (routes(&narrow), narrow.labels().map(|labels| labels.sets().len())),
            (expected.into(), Some(1))
        );
        trace.clear_samples();
        assert!(trace.labels().is_none() && trace.samples().is_empty());
    }

    #[test]
    fn there_are_never_too_many() {
        let sums = through(&[(1_000_000, 0), (3, 0), (500_000, 1_000_000_000)], Some(1), 150);
        let samples: u64 = sums.iter().map(|sum| sum.1).sum();
        assert!(samples <= 150, "{sums:?}");
        assert!(sums[0].0.abs_diff(1_000_000) <= 20_000 && sums[2].0.abs_diff(500_000) <= 20_000, "{sums:?}");
        let many = vec![(1, 0); 10_000];
        let sums = through(&many, None, 100);
        assert!(sums.iter().map(|sum| sum.1).sum::<u64>() <= 101);
        let huge = through(&[(u64::MAX, 0), (u64::MAX, u64::MAX)], Some(0), 1_000);
        assert!(huge.iter().map(|sum| sum.1).sum::<u64>() <= 1_000);
    }
}
