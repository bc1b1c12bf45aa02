//! The times of a trace: per function, per script, per node of the call tree, per kind of work, and per measure.
//!
//! The time of samples is the sum of their [weights](crate::weigh). *Self* time is spent in a function's own code;
//! *total* time includes its callees. The time of measures is the sum of their durations.

mod call_tree;
mod functions;
mod tally;
mod user_timing;

use crate::id::FrameId;
use crate::marker::Marker;
use crate::merged::MergedThreads;
use crate::micros::Micros;
use crate::sample::Sample;
use crate::trace::Trace;

pub use call_tree::{CallNode, CallTree};
pub use functions::{Code, FunctionRow, ResourceRow, group_times};
pub use tally::Tally;
pub use user_timing::{MarkRow, MeasureRow};

/// The times of a trace.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The functions in samples, most self time first, then most total time, then by id.
    pub functions: Vec<FunctionRow>,
    /// The scripts in samples, most self time first.
    pub resources: Vec<ResourceRow>,
    /// The samples with a stack or a marker.
    pub busy: Tally,
    /// The busy samples in which the thread waited, if waiting is [a function](Trace::add_waiting_frames).
    pub waiting: Tally,
    /// The samples with neither a stack nor a marker.
    pub idle: Tally,
    /// The samples with a marker but no stack.
    pub without_stack: Tally,
    /// The samples with a stack but no marker, without those of waiting.
    pub unmarked: Tally,
    /// The median time between samples; `None` if there are too few.
    pub interval: Option<Micros>,
    /// The measures by name, most total time first.
    pub measures: Vec<MeasureRow>,
    /// The marks by name, in time order.
    pub marks: Vec<MarkRow>,
    markers: [Tally; Marker::ALL.len()],
}

impl Summary {
    /// Summarizes a trace, in time and memory linear in its samples, stacks and entries, except for sorting the rows.
    pub fn of(trace: &Trace) -> Self {
        Self::weighted(trace, &trace.weights(), &[], trace.interval())
    }

    /// Summarizes all threads of a program. A sample in which the thread waited and ran counts for what took longer;
    /// its time counts for both.
    pub fn of_merged(merged: &MergedThreads) -> Self {
        Self::weighted(&merged.trace, &merged.weights, &merged.split, merged.interval)
    }

    fn weighted(trace: &Trace, weights: &[Micros], split: &[usize], interval: Option<Micros>) -> Self {
        let tree = CallTree::new(trace, weights);
        let mut summary = Self {
            functions: functions::rows(trace, &tree),
            resources: functions::resource_rows(trace, &tree),
            busy: Tally::default(),
            waiting: Tally::default(),
            idle: Tally::default(),
            without_stack: Tally::default(),
            unmarked: Tally::default(),
            interval,
            measures: trace.entries().map(user_timing::measures).unwrap_or_default(),
            marks: trace.entries().map(user_timing::marks).unwrap_or_default(),
            markers: Default::default(),
        };
        let waiting = waiting_frame(trace);
        let is_waiting = |sample: &Sample| {
            waiting.is_some() && sample.stack.map(|stack| trace.stacks()[stack].frame) == waiting
        };
        let mut smaller_parts =
            split.iter().map(|&first| first + usize::from(weights[first] > weights[first + 1]));
        let mut smaller_part = smaller_parts.next();
        for (index, (sample, &time)) in trace.samples().iter().zip(weights).enumerate() {
            let is_smaller_part = smaller_part == Some(index);
            if is_smaller_part {
                smaller_part = smaller_parts.next();
            }
            let part = Tally { samples: u64::from(!is_smaller_part), time };
            match sample.marker {
                _ if is_waiting(sample) => summary.waiting.include(part),
                Some(marker) => summary.markers[marker.index()].include(part),
                None if sample.is_idle() => summary.idle.include(part),
                None => summary.unmarked.include(part),
            }
            if !sample.is_idle() {
                summary.busy.include(part);
                if sample.stack.is_none() {
                    summary.without_stack.include(part);
                }
            }
        }
        summary
    }

    /// The samples with this marker.
    pub fn marker(&self, marker: Marker) -> Tally {
        self.markers[marker.index()]
    }

    /// The busy samples in which the thread did not wait, as far as is known.
    pub fn running(&self) -> Tally {
        Tally {
            samples: self.busy.samples - self.waiting.samples,
            time: self.busy.time.saturating_sub(self.waiting.time),
        }
    }

    /// The number of samples.
    pub fn samples(&self) -> u64 {
        self.busy.samples + self.idle.samples
    }
}

/// The frame that stands for waiting, if there is one.
fn waiting_frame(trace: &Trace) -> Option<FrameId> {
    trace.frames().iter().map(|(frame, _)| frame).find(|&frame| trace.is_waiting(frame))
}

#[cfg(test)]
mod tests;
