//! Samples made of totals: for profiles that say how long each stack ran, but not when.

use crate::id::{LabelSetId, StackId};
use crate::marker::Marker;
use crate::micros::Micros;
use crate::sample::Sample;
use crate::trace::Trace;
use crate::waiting::WaitingPoint;

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
    /// How much of it the thread waited, if that is known.
    pub waited: Option<u64>,
    /// The number of samples that were added up; 0 if it is not known.
    pub samples: u64,
}

impl Trace {
    /// Appends samples that stand for these totals, one total after the other: the trace then has the time of each, on
    /// a time axis that means nothing.
    ///
    /// A total has as many samples as it says, or else one for each `interval`. There are `most` samples at most: if
    /// there would be more, totals have fewer, and if there are more totals than that, each sample stands for the same
    /// time, and totals are rounded to it.
    pub fn push_totals(&mut self, totals: &[StackTotal], interval: Option<Micros>, most: usize) {
        let with_time = || totals.iter().filter(|total| total.nanos > 0);
        let Some(smallest) = with_time().map(|total| total.nanos).min() else { return };
        let interval = interval.map_or(smallest, |interval| interval.0.saturating_mul(1_000)).max(1_000);
        let counts: Vec<u128> = with_time()
            .map(|total| match total.samples {
                0 => (u128::from(total.nanos) + u128::from(interval / 2)) / u128::from(interval),
                samples => samples.into(),
            })
            .map(|count| count.max(1))
            .collect();
        let whole: u128 = with_time().map(|total| u128::from(total.nanos)).sum();
        if counts.iter().sum::<u128>() <= most as u128 {
            return self.push_exact(with_time().zip(counts));
        }
        // Each total has one sample, and these are left for the longer ones.
        let more = most.saturating_sub(counts.len()) as u128;
        match whole.checked_div(more) {
            Some(interval) => {
                let count = |total: &StackTotal| (u128::from(total.nanos) / (interval + 1)).max(1);
                self.push_exact(with_time().map(|total| (total, count(total))));
            }
            None => self.push_rounded(with_time(), whole / most.max(1) as u128 + 1),
        }
    }

    /// Each total with the number of its samples.
    fn push_exact<'a>(&mut self, totals: impl Iterator<Item = (&'a StackTotal, u128)>) {
        let begin = self.samples().last().map_or(Micros::ZERO, |last| last.timestamp);
        let mut waiting = self.waiting().cloned().unwrap_or_default();
        waiting
            .push(WaitingPoint { timestamp: begin, ..waiting.points().last().copied().unwrap_or_default() });
        let first_waited = waiting.points().last().map_or(Micros::ZERO, |point| point.waited);
        let (mut knows_waiting, mut waited) = (false, 0_u128);
        let (mut before, mut last) = (0_u128, begin);
        for (total, samples) in totals {
            for number in 1..=samples {
                let nanos = before + u128::from(total.nanos) * number / samples;
                let timestamp = begin.saturating_add(micros(nanos));
                let sample = Sample { timestamp, stack: total.stack, marker: total.marker };
                self.push_lasting(sample, timestamp.saturating_sub(last), total.labels);
                last = timestamp;
            }
            before += u128::from(total.nanos);
            knows_waiting |= total.waited.is_some();
            waited += u128::from(total.waited.unwrap_or(0).min(total.nanos));
            waiting
                .push(WaitingPoint { timestamp: last, waited: first_waited.saturating_add(micros(waited)) });
        }
        if knows_waiting {
            self.set_waiting(Some(waiting));
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
                let timestamp = begin.saturating_add(micros(pushed * interval));
                let sample = Sample { timestamp, stack: total.stack, marker: total.marker };
                self.push_lasting(sample, micros(interval), total.labels);
            }
        }
    }
}

fn micros(nanos: u128) -> Micros {
    Micros(u64::try_from(nanos / 1_000).unwrap_or(u64::MAX))
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
                StackTotal { stack: Some(stack), marker: None, labels: None, nanos, waited: None, samples }
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
        check(&[(30_000, 0)], Some(10_000), &[(30_000, 3)]);
        check(&[(30_000, 3), (10_000, 1)], None, &[(30_000, 3), (10_000, 1)]);
        check(&[(30_000, 0), (10_000, 0)], None, &[(30_000, 3), (10_000, 1)]);
        check(&[(500_000, 1), (10_000, 1), (20_000, 2)], None, &[(500_000, 1), (10_000, 1), (20_000, 2)]);
        let uneven = [(12_345, 0), (20_000, 0), (9_000, 0)];
        check(&uneven, Some(10_000), &[(12_345, 1), (20_000, 2), (9_000, 1)]);
        // One long sample beside many short ones is one long sample.
        check(&[(10_000_000, 1), (30_000, 3)], Some(10_000), &[(10_000_000, 1), (30_000, 3)]);
    }

    #[test]
    fn samples_have_the_labels_of_their_totals() {
        let mut trace = Trace::new();
        assert!(trace.label_set(LabelSet::new([("unused", "x")])).is_ok());
        let cart = trace.label_set(LabelSet::new([("route", "/cart")])).ok();
        let total = |labels, samples| {
            let nanos = samples * 10_000_000;
            StackTotal { stack: None, marker: Some(Marker::Script), labels, nanos, waited: None, samples }
        };
        assert!(trace.labels().is_none());
        trace.push_totals(&[total(None, 2), total(cart, 3), total(None, 1)], None, 100);
        let routes = |trace: &Trace| -> Vec<Option<String>> {
            let Some(labels) = trace.labels() else { return Vec::new() };
            let sets = labels.of_samples(trace.samples()).into_iter();
            sets.map(|id| Some(labels.get(id?)?.get("route")?.to_owned())).collect()
        };
        let route = Some("/cart".to_owned());
        let expected = [None, None, route.clone(), route.clone(), route, None];
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
