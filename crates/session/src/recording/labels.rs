//! The labels of the samples of a recording.

use std::collections::VecDeque;
use std::sync::Arc;

use selfprof_trace::{LabelSet, Micros};

use crate::{Instant, RawLabels};

/// From when on recorded samples have other labels than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedLabels {
    /// The timestamp of the first of them.
    pub timestamp: Micros,
    /// The labels; `None` if they have none.
    pub labels: Option<Arc<LabelSet>>,
}

/// Finds the labels of samples.
#[derive(Debug, Default)]
pub(super) struct LabelRecorder {
    /// Those that no sample has reached. A segment may have labels of samples that the next one has.
    later: VecDeque<RawLabels>,
    /// Those that were read last.
    read: Option<Arc<LabelSet>>,
    /// The time of the last sample.
    last: Option<Instant>,
    /// Those of the last sample.
    current: Option<Arc<LabelSet>>,
    changes: Vec<RecordedLabels>,
}

impl LabelRecorder {
    /// Adds what a segment says.
    pub(super) fn add(&mut self, labels: &[RawLabels]) {
        self.later.extend(labels.iter().cloned());
    }

    /// Finds the labels of the next sample, which was taken at `at`. V8 takes some samples without a signal, when it
    /// deoptimises a function; their labels are not read.
    pub(super) fn find(&mut self, at: Instant) -> Option<Arc<LabelSet>> {
        while let Some(next) = self.later.pop_front_if(|next| next.from <= at) {
            self.read = next.labels;
        }
        let last = self.last.replace(at);
        let is_unknown = self.later.front().is_some_and(|next| {
            let has_other_labels = next.labels != self.read;
            has_other_labels && next.before <= at && last.is_some_and(|last| next.before <= last)
        });
        if is_unknown { None } else { self.read.clone() }
    }

    /// A sample with these labels was recorded.
    pub(super) fn record(&mut self, timestamp: Micros, labels: Option<Arc<LabelSet>>) {
        if labels != self.current {
            self.current.clone_from(&labels);
            self.changes.push(RecordedLabels { timestamp, labels });
        }
    }

    /// Removes and returns the changes so far.
    pub(super) fn take(&mut self) -> Vec<RecordedLabels> {
        std::mem::take(&mut self.changes)
    }
}
