//! The member `labels` and the samples' `labelsId`, selfprof's own.

use std::collections::BTreeMap;
use std::io::{self, Write};

use selfprof_trace::foreign::{ForeignTrace, LimitExceeded, Location, Problem, ProblemKind, Remedy};
use selfprof_trace::{LabelSet, LabelSetId, Labels, Micros};
use serde_json::value::RawValue;

use crate::json::{Text, write_list, write_strings};

const MEMBER: &str = "labels";

/// Writes the member, followed by a comma, unless no sample has labels.
pub(super) fn write_labels(out: &mut impl Write, labels: Option<&Labels>) -> io::Result<()> {
    let Some(labels) = labels else { return Ok(()) };
    write_list(out, "\"labels\":[", labels.sets(), |out, set| write_strings(out, set.iter()))?;
    out.write_all(b"],")
}

/// What was read of the labels.
#[derive(Default)]
pub(super) struct ForeignLabels {
    /// `None` if there is no such member.
    sets: Option<Vec<LabelSet>>,
    /// Whether there was something other than a list of such objects.
    is_unreadable: bool,
    /// The times of samples whose `labelsId` differs from that of the sample before.
    changes: Vec<(Option<f64>, Option<f64>)>,
}

impl ForeignLabels {
    /// Reads the member. Other programs' traces may have anything in its place.
    pub(super) fn read(&mut self, json: &RawValue, trace: &mut ForeignTrace) -> Result<(), LimitExceeded> {
        let text = json.get();
        if text == "null" {
            return Ok(());
        }
        trace.count_text(text)?;
        let sets: Result<Vec<BTreeMap<Box<str>, Text>>, _> = serde_json::from_str(text);
        self.is_unreadable = sets.is_err();
        let set = |set: BTreeMap<Box<str>, Text>| {
            LabelSet::new(set.into_iter().map(|(name, Text(value))| (name, value)))
        };
        self.sets = Some(sets.unwrap_or_default().into_iter().map(set).collect());
        Ok(())
    }

    /// Adds the next sample.
    pub(super) fn push_sample(&mut self, timestamp: Option<f64>, labels_id: Option<f64>) {
        if self.changes.last().and_then(|&(_, last)| last) != labels_id {
            self.changes.push((timestamp, labels_id));
        }
    }

    /// The labels. Reports ids that are none, and a member that cannot be read.
    pub(super) fn validate(self, trace: &mut ForeignTrace) -> Option<Labels> {
        if self.is_unreadable {
            let (location, kind) = (Location::Member(MEMBER), ProblemKind::Labels);
            trace.report(Problem { location, value: None, kind, remedy: Remedy::NoMember });
        }
        // Without the member, the ids of samples are something else.
        let sets = self.sets.filter(|_| !self.is_unreadable)?;
        let mut labels = Labels::default();
        // Fails only if there are 2^32 sets.
        let ids: Vec<Option<LabelSetId>> = sets.into_iter().map(|set| labels.set(set).ok()).collect();
        let mut changes: Vec<(Micros, Option<LabelSetId>)> = Vec::with_capacity(self.changes.len());
        for (timestamp, labels_id) in self.changes {
            let index = labels_id.filter(|id| id.fract() == 0.0 && *id >= 0.0).map(|id| id as usize);
            let known = index.and_then(|index| ids.get(index)).copied().flatten();
            if labels_id.is_some() && known.is_none() {
                let (location, kind) = (Location::Member("labelsId"), ProblemKind::Dangling);
                trace.report(Problem { location, value: labels_id, kind, remedy: Remedy::NoLabels });
            }
            // A sample without a valid time is dropped. Those after it may have the same labels.
            let before = changes.last().map_or(Micros::ZERO, |&(before, _)| before);
            changes.push((timestamp.and_then(Micros::from_millis_f64).unwrap_or(before), known));
        }
        changes.sort_by_key(|&(timestamp, _)| timestamp);
        for (timestamp, known) in changes {
            labels.change(timestamp, known);
        }
        Some(labels)
    }
}
