//! Where the time of a trace went: per function, per node of the call tree, per kind of work, and per measure.
//!
//! Every sum over samples is of their [weights](crate::weigh). *Self* is what was spent in a function's own code,
//! *total* includes what it called. Sums over measures are of the durations that the program gave them.

mod call_tree;
mod functions;
mod tally;
mod user_timing;

use crate::weigh::{median_interval, weigh_by};
use crate::{Marker, Micros, Trace};

pub use call_tree::{CallNode, CallTree};
pub use functions::{FunctionRow, ResourceRow};
pub use tally::Tally;
pub use user_timing::{MarkRow, MeasureRow};

/// The sums over one trace.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The functions that were seen, those with the most self time first. Ties go by total time, then by id.
    pub functions: Vec<FunctionRow>,
    /// The scripts that were seen, those with the most self time first.
    pub resources: Vec<ResourceRow>,
    /// The samples at which something ran: a function, or work with a marker.
    pub busy: Tally,
    /// The samples at which nothing ran, or nothing that the trace may show.
    pub idle: Tally,
    /// The samples with a stack that tell no marker.
    pub unmarked: Tally,
    /// The median time between samples; `None` when there are too few of them.
    pub interval: Option<Micros>,
    /// The measures by name, those with the most total time first.
    pub measures: Vec<MeasureRow>,
    /// The marks by name, in time order.
    pub marks: Vec<MarkRow>,
    markers: [Tally; Marker::ALL.len()],
}

impl Summary {
    /// Sums up a trace, in time and memory linear in its samples, stacks and entries, apart from the ordering of rows.
    pub fn of(trace: &Trace) -> Self {
        let interval = median_interval(trace.samples());
        let weights = weigh_by(interval, trace.samples());
        let tree = CallTree::new(trace, &weights);
        let mut summary = Self {
            functions: functions::rows(trace, &tree),
            resources: functions::resource_rows(trace, &tree),
            busy: Tally::default(),
            idle: Tally::default(),
            unmarked: Tally::default(),
            interval,
            measures: trace.entries().map(user_timing::measures).unwrap_or_default(),
            marks: trace.entries().map(user_timing::marks).unwrap_or_default(),
            markers: Default::default(),
        };
        for (sample, &weight) in trace.samples().iter().zip(&weights) {
            match sample.marker {
                Some(marker) => summary.markers[marker.index()].add(weight),
                None if sample.is_idle() => summary.idle.add(weight),
                None => summary.unmarked.add(weight),
            }
            if !sample.is_idle() {
                summary.busy.add(weight);
            }
        }
        summary
    }

    /// The samples with this marker.
    pub fn marker(&self, marker: Marker) -> Tally {
        self.markers[marker.index()]
    }

    /// How many samples there are.
    pub fn samples(&self) -> u64 {
        self.busy.samples + self.idle.samples
    }
}

#[cfg(test)]
mod tests;
