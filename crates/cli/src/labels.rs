//! Samples by their labels.

use std::cmp::Reverse;

use selfprof_formats::Thread;
use selfprof_trace::summary::Tally;
use selfprof_trace::{LabelSet, MergedThreads, Sample};

use crate::arguments::LabelArguments;
use crate::terminal::messages::warn;

/// The time of the samples with one value of a label.
#[derive(Clone, Debug)]
pub struct LabelRow {
    /// The value; `None` for samples without this label.
    pub value: Option<String>,
    /// The busy time.
    pub busy: Tally,
}

/// Makes samples idle that do not have these labels. Of each name, one of the values is enough.
pub fn retain(threads: &mut [Thread], arguments: &LabelArguments) {
    let wanted = &arguments.labels;
    if wanted.is_empty() {
        return;
    }
    let has = |set: &LabelSet, name: &str| {
        set.get(name).is_some_and(|value| wanted.iter().any(|(own, one)| own == name && one == value))
    };
    for thread in threads.iter_mut() {
        thread
            .trace
            .retain_labels(|set| set.is_some_and(|set| wanted.iter().all(|(name, _)| has(set, name))));
    }
    if threads.iter().all(|thread| thread.trace.samples().iter().all(Sample::is_idle)) {
        warn("no sample has such a label; `selfprof top --by label:NAME` prints the values of one");
    }
}

/// The values of a label, most time first.
pub fn rows(merged: &MergedThreads, name: &str) -> Vec<LabelRow> {
    // The value of each set of labels.
    let values: Vec<Option<&str>> = merged.label_sets.sets().map(|set| set.get(name)).collect();
    let mut names: Vec<Option<&str>> = values.clone();
    names.push(None);
    names.sort_unstable();
    names.dedup();
    let row_of = |value| names.binary_search(&value).unwrap_or(0);
    let of_set: Vec<usize> = values.into_iter().map(row_of).collect();
    let without = row_of(None);
    let mut tallies = vec![Tally::default(); names.len()];
    for (index, (sample, &weight)) in merged.trace.samples().iter().zip(&merged.weights).enumerate() {
        if sample.is_idle() {
            continue;
        }
        let labels = merged.labels.get(index).copied().flatten();
        let tally = &mut tallies[labels.map_or(without, |id| of_set[id.index()])];
        tally.add(weight);
        // The next one is the rest of the same sample.
        if merged.split.binary_search(&index).is_ok() {
            tally.samples -= 1;
        }
    }
    let rows = names.into_iter().zip(tallies).filter(|(_, busy)| busy.samples > 0);
    let mut rows: Vec<LabelRow> =
        rows.map(|(value, busy)| LabelRow { value: value.map(str::to_owned), busy }).collect();
    rows.sort_by_key(|row| Reverse(row.busy.time));
    rows
}
