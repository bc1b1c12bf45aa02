//! Samples by their labels.

use std::cmp::Reverse;
use std::path::Path;

use selfprof_formats::Thread;
use selfprof_trace::summary::Tally;
use selfprof_trace::{LabelSet, MergedThreads, Sample};

use crate::arguments::LabelArguments;
use crate::collector::Address;
use crate::failure::Failure;
use crate::terminal::messages::warn;
use crate::terminal::names::printable;

/// The time of the samples with one value of a label.
#[derive(Clone, Debug)]
pub struct LabelRow {
    /// The value; `None` for samples without this label.
    pub value: Option<String>,
    /// The busy time.
    pub busy: Tally,
}

/// Fails if this input is a collector's sum of many profiles, whose samples have no labels any more, and labels are
/// wanted.
pub fn check_input(path: &Path, arguments: &LabelArguments) -> Result<(), Failure> {
    if arguments.labels.is_empty() || !Address::of(path)?.is_some_and(|address| address.is_selection()) {
        return Ok(());
    }
    let failure = Failure::usage("`--label` does not work with what a collector adds up");
    Err(failure.hint(format!("let the collector filter: where={} in the URL", condition(&arguments.labels))))
}

/// The labels as a collector's filter.
fn condition(labels: &[(String, String)]) -> String {
    let mut names: Vec<&str> = labels.iter().map(|(name, _)| &**name).collect();
    names.sort_unstable();
    names.dedup();
    let is_plain = |name: &str| name.chars().all(|one| one.is_ascii_alphabetic() || matches!(one, '_' | '.'));
    let of_name = |name: &str| {
        let values = labels.iter().filter(|(other, _)| other == name);
        let values: Vec<String> =
            values.map(|(_, value)| format!("'{}'", value.replace('\'', "''"))).collect();
        let name = match is_plain(name) {
            true => name.to_owned(),
            false => format!("\"{}\"", name.replace('"', "\"\"")),
        };
        match &values[..] {
            [value] => format!("label.{name} = {value}"),
            _ => format!("label.{name} in ({})", values.join(", ")),
        }
    };
    printable(&names.into_iter().map(of_name).collect::<Vec<_>>().join(" and "))
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
