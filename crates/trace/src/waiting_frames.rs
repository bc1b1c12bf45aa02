//! Waiting as a function of its own.

use crate::frame::Frame;
use crate::id::{FrameId, LabelSetId};
use crate::intern_error::InternError;
use crate::micros::Micros;
use crate::sample::Sample;
use crate::stack::Stack;
use crate::trace::Trace;

/// The name of the frame that stands for waiting.
pub const WAITING: &str = "(waiting)";

/// Samples, of which some are split in two.
struct Parts {
    samples: Vec<Sample>,
    weights: Vec<Micros>,
    /// The indexes of the first parts.
    split: Vec<usize>,
}

impl Trace {
    /// The part of each sample's weight in which the thread waited; `None` if that is not known.
    pub fn waiting_of_samples(&self, weights: &[Micros]) -> Option<Vec<Micros>> {
        self.waiting().map(|waiting| waiting.of_samples(self.samples(), weights))
    }

    /// Whether this frame stands for waiting.
    pub fn is_waiting(&self, frame: FrameId) -> bool {
        self.frames()
            .get(frame)
            .is_some_and(|frame| frame.resource.is_none() && &self.names()[frame.name] == WAITING)
    }

    /// Makes waiting a function named [`WAITING`], which the waiting function calls, so that the time is not attributed
    /// to any function. A sample that stands for both is split in two: first it waited, then it ran. Samples of waiting
    /// have no marker.
    ///
    /// Garbage collectors may wait, too, so this calls [`add_gc_frames`](Self::add_gc_frames) before.
    /// Like those, the frames are for showing a trace, not for storing it. If a table is full, the trace does not
    /// change.
    ///
    /// Returns the indexes of the first parts of split samples.
    pub fn add_waiting_frames(&mut self) -> Vec<usize> {
        if self.waiting().is_none() {
            return Vec::new();
        }
        self.add_gc_frames();
        let labels = self.labels().map(|labels| labels.of_samples(self.samples()));
        // The error is that a table is full.
        let Ok(Parts { samples, weights, split }) = self.samples_with_waiting() else { return Vec::new() };
        if let Some(labels) = labels {
            self.label_parts(&samples, &split, &labels);
        }
        self.split_samples(samples, weights);
        self.set_waiting(None);
        split
    }

    /// Gives both parts of a split sample its labels. `labels` has those of each sample before.
    fn label_parts(&mut self, parts: &[Sample], split: &[usize], labels: &[Option<LabelSetId>]) {
        let mut relabelled = self.labels().cloned().unwrap_or_default();
        relabelled.clear_changes();
        let (mut split, mut labels) = (split.iter().peekable(), labels.iter());
        let mut is_second = false;
        let mut current = None;
        for (index, part) in parts.iter().enumerate() {
            if !is_second {
                current = labels.next().copied().flatten();
            }
            relabelled.change(part.timestamp, current);
            is_second = split.next_if_eq(&&index).is_some();
        }
        self.set_labels(Some(relabelled));
    }

    /// Removes the samples of waiting, and their weights. Returns the weights.
    pub(crate) fn remove_waiting(&mut self, weights: &mut Vec<Micros>) -> Vec<Micros> {
        let mut removed = Vec::new();
        let waiting: Vec<bool> =
            self.stacks().iter().map(|(_, stack)| self.is_waiting(stack.frame)).collect();
        let is_kept = |sample: &Sample| !sample.stack.is_some_and(|stack| waiting[stack.index()]);
        let (mut samples, mut kept_weights) = (Vec::new(), Vec::new());
        for (&sample, &weight) in self.samples().iter().zip(&*weights) {
            if is_kept(&sample) {
                samples.push(sample);
                kept_weights.push(weight);
            } else {
                removed.push(weight);
            }
        }
        let had_durations = self.durations().is_some();
        self.set_samples(samples);
        self.set_durations(had_durations.then(|| kept_weights.clone()));
        *weights = kept_weights;
        removed
    }

    fn samples_with_waiting(&mut self) -> Result<Parts, InternError> {
        let weights = self.weights();
        let waiting = self.waiting_of_samples(&weights).unwrap_or_default();
        let has_durations = self.durations().is_some();
        let mut samples: Vec<Sample> = Vec::with_capacity(self.samples().len());
        let mut part_weights: Vec<Micros> = Vec::with_capacity(weights.len());
        let mut split = Vec::new();
        let name = self.name(WAITING)?;
        let frame = self.frame(Frame { name, resource: None, line: None, column: None })?;
        let mut before: Option<Micros> = None;
        for index in 0..self.samples().len() {
            let sample = self.samples()[index];
            let (weight, waited) = (weights[index], waiting[index]);
            let since =
                before.replace(sample.timestamp).map(|before| sample.timestamp.saturating_sub(before));
            if waited <= negligible(weight) {
                samples.push(sample);
                part_weights.push(weight);
                continue;
            }
            let ran = weight.saturating_sub(waited);
            let stack = Some(self.stack(Stack { parent: sample.stack, frame })?);
            // The weight of the first sample is a guess, unless it is stated. Stated ones may be longer than the time
            // since the sample before.
            let can_split = since.map_or(has_durations, |since| weight <= since);
            if can_split && ran > negligible(weight) {
                let timestamp = sample.timestamp.saturating_sub(ran);
                split.push(samples.len());
                samples.extend([Sample { timestamp, stack, marker: None }, sample]);
                part_weights.extend([waited, ran]);
                continue;
            }
            part_weights.push(weight);
            if can_split || waited > ran {
                samples.push(Sample { stack, marker: None, ..sample });
            } else {
                samples.push(sample);
            }
        }
        Ok(Parts { samples, weights: part_weights, split })
    }
}

/// A part that is too small for a sample of its own: reading the clocks takes a few microseconds, and so does the
/// sampler.
fn negligible(weight: Micros) -> Micros {
    Micros((weight.0 / 50).max(20))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::marker::Marker;
    use crate::merged::{Clock, MergedThreads};
    use crate::summary::Summary;
    use crate::testing::waiting_times;
    use crate::waiting::{WaitingPoint, WaitingTimes};

    /// Samples at these times: of `work`, of a garbage collection (`!`), or idle (`-`).
    fn trace(samples: &[(u64, char)], waiting: &[(u64, u64)]) -> Trace {
        let mut trace = Trace::new();
        let name = trace.name("work").unwrap();
        let frame = trace.frame(Frame { name, resource: None, line: None, column: None }).unwrap();
        let work = trace.stack(Stack { parent: None, frame }).ok();
        for &(timestamp, kind) in samples {
            let (stack, marker) = match kind {
                '-' => (None, None),
                '!' => (work, Some(Marker::Gc)),
                _ => (work, Some(Marker::Script)),
            };
            trace.push_sample(Sample { timestamp: Micros(timestamp), stack, marker });
        }
        trace.set_waiting(Some(waiting_times(waiting)));
        trace
    }

    #[test]
    fn waiting_is_part_of_the_time_of_busy_samples() {
        #[track_caller]
        fn check(samples: &[(u64, char)], points: &[(u64, u64)], expected: &[u64]) {
            let trace = trace(samples, points);
            let waiting = trace.waiting_of_samples(&trace.weights()).unwrap();
            assert_eq!(waiting, expected.iter().map(|&time| Micros(time)).collect::<Vec<_>>());
        }
        let busy = [(1000, 'w'), (2000, 'w'), (3000, 'w')];
        check(&busy, &[], &[0, 0, 0]);
        check(&busy, &[(1000, 0)], &[0, 0, 0]);
        check(&busy, &[(1000, 0), (2000, 900), (3000, 1000)], &[0, 900, 100]);
        // The line between two points.
        check(&busy, &[(0, 0), (4000, 2000)], &[500, 500, 500]);
        check(&busy, &[(0, 500), (500, 1000)], &[500, 0, 0]);
        check(&[(1000, 'w'), (2000, '-'), (3000, '!')], &[(0, 0), (3000, 3000)], &[1000, 0, 1000]);
    }

    #[test]
    fn waiting_becomes_a_function() {
        /// `expected` has the function, its self time and its total time; then the times running, waiting and idle.
        #[track_caller]
        fn check(trace: Trace, expected: &[(&str, u64, u64)], times: [u64; 3]) {
            let merged = MergedThreads::of([&trace]).unwrap();
            let (trace, summary) = (&merged.trace, Summary::of_merged(&merged));
            let row = |row: &crate::summary::FunctionRow| {
                let name = &trace.names()[trace.frames()[row.frame].name];
                (name, row.self_time.0, row.total_time.0)
            };
            assert_eq!(summary.functions.iter().map(row).collect::<Vec<_>>(), expected);
            assert_eq!([summary.running(), summary.waiting, summary.idle].map(|tally| tally.time.0), times);
        }
        let busy = [(1000, 'w'), (2000, 'w'), (3000, 'w'), (4000, '-')];
        check(trace(&busy, &[]), &[("work", 3000, 3000)], [3000, 0, 1000]);
        let waits = [(1000, 0), (2000, 600), (3000, 1595), (4000, 1595)];
        check(trace(&busy, &waits), &[("(waiting)", 1600, 1600), ("work", 1400, 3000)], [1400, 1600, 1000]);
        // The second sample counts for what took longer.
        let summary = Summary::of_merged(&MergedThreads::of([&trace(&busy, &waits)]).unwrap());
        assert_eq!([summary.running(), summary.waiting, summary.busy].map(|tally| tally.samples), [1, 2, 3]);
        let collection = [(1000, 'w'), (2000, '!'), (3000, 'w')];
        check(
            trace(&collection, &[(1000, 0), (2000, 400)]),
            &[("work", 2000, 3000), ("(garbage collector)", 600, 1000), ("(waiting)", 400, 400)],
            [2600, 400, 0],
        );
        // The first sample is not split, since nothing is known of the time before it.
        check(
            trace(&[(1000, 'w'), (2000, 'w')], &[(0, 0), (1000, 600)]),
            &[("work", 1000, 2000), ("(waiting)", 1000, 1000)],
            [1000, 1000, 0],
        );
    }

    #[test]
    fn times_are_cpu_time_or_the_time_that_passes() {
        #[track_caller]
        fn check(clock: Clock, rows: &[(&str, u64)], left_out: Option<u64>) {
            let trace = trace(
                &[(1000, 'w'), (2000, 'w'), (3000, 'w'), (4000, '-')],
                &[(1000, 0), (2000, 600), (3000, 1595), (4000, 1595)],
            );
            let merged = MergedThreads::by(clock, [&trace]).unwrap();
            let names = |frame: FrameId| &merged.trace.names()[merged.trace.frames()[frame].name];
            let summary = Summary::of_merged(&merged);
            let found = summary.functions.iter().map(|row| (names(row.frame), row.self_time.0));
            assert_eq!(found.collect::<Vec<_>>(), rows);
            assert_eq!((merged.left_out, merged.interval), (left_out.map(Micros), Some(Micros(1000))));
            assert_eq!(merged.ranges.len(), 1);
            assert_eq!(merged.ranges[0], 0..merged.weights.len());
            assert_eq!(merged.with_waiting_times, 1);
        }
        check(Clock::WaitingApart, &[("(waiting)", 1600), ("work", 1400)], None);
        check(Clock::Cpu, &[("work", 1400)], Some(1600));
        check(Clock::Wall, &[("work", 3000)], None);
    }

    proptest! {
        #[test]
        fn no_time_is_lost(mut trace in crate::testing::trace(), points in prop::collection::vec((0..9_000_u64, 0..9_000_u64), 0..40)) {
            let mut times = WaitingTimes::default();
            let (mut timestamp, mut waited) = (Micros::ZERO, Micros::ZERO);
            for (since, more) in points {
                timestamp = timestamp.saturating_add(Micros(since));
                waited = waited.saturating_add(Micros(more));
                times.push(WaitingPoint { timestamp, waited });
            }
            trace.set_waiting(Some(times));
            let sums = |clock| {
                let merged = MergedThreads::by(clock, [&trace]).unwrap();
                let summary = Summary::of_merged(&merged);
                if clock != Clock::Cpu {
                    assert_eq!(summary.samples(), trace.samples().len() as u64);
                }
                (summary.busy.time.saturating_add(merged.left_out.unwrap_or_default()), summary.idle.time)
            };
            prop_assert_eq!(sums(Clock::WaitingApart), sums(Clock::Wall));
            prop_assert_eq!(sums(Clock::Cpu), sums(Clock::Wall));
            let sum = |trace: &Trace| trace.weights().into_iter().fold(Micros::ZERO, Micros::saturating_add);
            let before = (trace.interval(), sum(&trace));
            trace.add_waiting_frames();
            prop_assert_eq!((trace.interval(), sum(&trace)), before);
            prop_assert!(trace.samples().is_sorted_by_key(|sample| sample.timestamp));
        }
    }
}
