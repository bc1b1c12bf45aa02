//! What a program says about its own work: labels of samples.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use indexmap::IndexSet;

use crate::id::LabelSetId;
use crate::micros::Micros;
use crate::sample::Sample;
use crate::table::{TableFull, id_at};

/// The labels that samples have at the same time: names with values, such as `http.route` and `/cart`. Each name occurs
/// once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LabelSet {
    /// Sorted by name.
    labels: Box<[(Box<str>, Box<str>)]>,
}

impl LabelSet {
    /// The set of these names and values. Of a name that occurs several times, the last value counts.
    pub fn new<N: Into<Box<str>>, V: Into<Box<str>>>(labels: impl IntoIterator<Item = (N, V)>) -> Self {
        let mut list: Vec<(Box<str>, Box<str>)> =
            labels.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        // Stable, so that the last of equal names stays last.
        list.sort_by(|(a, _), (b, _)| a.cmp(b));
        list.reverse();
        list.dedup_by(|(a, _), (b, _)| a == b);
        list.reverse();
        Self { labels: list.into() }
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        let index = self.labels.binary_search_by(|(own, _)| (**own).cmp(name)).ok()?;
        self.labels.get(index).map(|(_, value)| &**value)
    }

    /// The names and values, sorted by name.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &str)> + Clone {
        self.labels.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }
}

/// From when on samples have other labels than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LabelChange {
    /// The time of the first sample with these labels.
    pub timestamp: Micros,
    /// The labels; `None` if later samples have none.
    pub labels: Option<LabelSetId>,
}

/// The labels of a thread's samples: each distinct set once, and the times from which on samples have them. Before the
/// first change, samples have none.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    sets: IndexSet<LabelSet, RandomState>,
    changes: Vec<LabelChange>,
}

impl Labels {
    /// The id of a set; equal sets get the same id.
    ///
    /// Fails if there are 2^32 sets.
    pub fn set(&mut self, set: LabelSet) -> Result<LabelSetId, TableFull> {
        if let Some(index) = self.sets.get_index_of(&set) {
            return id_at(index);
        }
        let id = id_at(self.sets.len())?;
        self.sets.insert(set);
        Ok(id)
    }

    /// Samples have these labels from a time on. A set that is not here counts as none. A time before the last change
    /// becomes the time of that change.
    pub fn change(&mut self, timestamp: Micros, labels: Option<LabelSetId>) {
        let labels = labels.filter(|id| id.index() < self.sets.len());
        let last = self.changes.last().copied();
        if last.and_then(|last| last.labels) != labels {
            let timestamp = last.map_or(timestamp, |last| last.timestamp.max(timestamp));
            self.changes.push(LabelChange { timestamp, labels });
        }
    }

    /// The sets in the order of their ids.
    pub fn sets(&self) -> impl ExactSizeIterator<Item = &LabelSet> + DoubleEndedIterator {
        self.sets.iter()
    }

    /// The set with this id; `None` if the id is of another trace and too large.
    pub fn get(&self, id: LabelSetId) -> Option<&LabelSet> {
        self.sets.get_index(id.index())
    }

    /// The changes in time order.
    pub fn changes(&self) -> &[LabelChange] {
        &self.changes
    }

    /// Whether no sample has labels.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The labels of a sample. An idle one has none: nothing runs that they could be of.
    pub fn of_sample(&self, sample: &Sample) -> Option<LabelSetId> {
        if sample.is_idle() { None } else { self.at(sample.timestamp) }
    }

    fn at(&self, timestamp: Micros) -> Option<LabelSetId> {
        let passed = self.changes.partition_point(|change| change.timestamp <= timestamp);
        self.changes.get(passed.checked_sub(1)?)?.labels
    }

    /// The labels of each sample.
    pub fn of_samples(&self, samples: &[Sample]) -> Vec<Option<LabelSetId>> {
        samples.iter().map(|sample| self.of_sample(sample)).collect()
    }

    /// The same times with other sets. Samples whose set becomes empty have no labels.
    #[must_use]
    pub fn map(&self, other: impl Fn(&LabelSet) -> LabelSet) -> Self {
        let mut mapped = Self::default();
        // There are not more sets than before, so none is one too many.
        let ids: Vec<Option<LabelSetId>> = (self.sets.iter().map(other))
            .map(|set| if set.is_empty() { None } else { mapped.set(set).ok() })
            .collect();
        for change in &self.changes {
            mapped.change(change.timestamp, change.labels.and_then(|id| ids[id.index()]));
        }
        mapped
    }

    /// The same labels without the sets that no sample has.
    pub(crate) fn narrowed(&self) -> Self {
        let mut narrow = Self::default();
        let mut ids: HashMap<LabelSetId, Option<LabelSetId>, RandomState> = HashMap::default();
        for &LabelChange { timestamp, labels } in &self.changes {
            // There are not more sets than before, so none is one too many.
            let mut narrowed = |id| *ids.entry(id).or_insert_with(|| narrow.set(self.get(id)?.clone()).ok());
            let labels = labels.and_then(&mut narrowed);
            narrow.changes.push(LabelChange { timestamp, labels });
        }
        narrow
    }

    /// Appends the labels of samples that come after those so far. They have none before the first change, from `start`
    /// on.
    ///
    /// Fails if there are 2^32 sets.
    pub(crate) fn append(&mut self, other: &Self, start: Option<Micros>) -> Result<(), TableFull> {
        if let Some(start) = start {
            self.change(start, None);
        }
        let ids = self.add_sets(other)?;
        for change in &other.changes {
            self.change(change.timestamp, change.labels.map(|id| ids[id.index()]));
        }
        Ok(())
    }

    /// Adds the sets of other labels. Returns their ids here, by their ids there.
    pub(crate) fn add_sets(&mut self, other: &Self) -> Result<Vec<LabelSetId>, TableFull> {
        other.sets.iter().map(|set| self.set(set.clone())).collect()
    }

    /// Samples have no labels again. The sets stay.
    pub(crate) fn clear_changes(&mut self) {
        self.changes.clear();
    }

    /// All times are later by `offset`.
    pub(crate) fn shift(&mut self, offset: Micros) {
        for change in &mut self.changes {
            change.timestamp = change.timestamp.saturating_add(offset);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> LabelSet {
        LabelSet::new(text.split_whitespace().filter_map(|label| label.split_once('=')))
    }

    #[test]
    fn sets_are_sorted_and_the_last_value_counts() {
        let labels = set("b=1 a=2 b=3 c=4 b=5");
        assert_eq!(labels.iter().collect::<Vec<_>>(), [("a", "2"), ("b", "5"), ("c", "4")]);
        assert_eq!((labels.get("b"), labels.get("d")), (Some("5"), None));
        assert!(set("").is_empty());
    }

    #[test]
    fn samples_have_the_labels_of_the_last_change() {
        let mut labels = Labels::default();
        let cart = labels.set(set("route=/cart")).ok();
        assert_eq!(labels.set(set("route=/cart")).ok(), cart);
        let home = labels.set(set("route=/")).ok();
        labels.change(Micros(10), cart);
        labels.change(Micros(12), cart);
        labels.change(Micros(20), None);
        labels.change(Micros(15), home);
        assert_eq!(labels.changes().len(), 3);
        let at = |time| labels.at(Micros(time));
        assert_eq!([9, 10, 19, 20, 99].map(at), [None, cart, cart, home, home]);
    }

    #[test]
    fn sets_that_become_equal_are_one() {
        let mut labels = Labels::default();
        for (time, text) in [(1, "a=1 b=1"), (2, "a=1 b=2"), (3, "b=3"), (4, "a=2")] {
            let id = labels.set(set(text)).ok();
            labels.change(Micros(time), id);
        }
        let mapped = labels.map(|set| LabelSet::new(set.iter().filter(|(name, _)| *name == "a")));
        let found: Vec<_> = mapped
            .changes()
            .iter()
            .map(|change| (change.timestamp.0, change.labels.and_then(|id| mapped.get(id)?.get("a"))))
            .collect();
        assert_eq!(found, [(1, Some("1")), (3, None), (4, Some("2"))]);
        assert_eq!(mapped.sets().len(), 2);
    }

    #[test]
    fn labels_of_another_trace_follow() {
        let of = |changes: &[(u64, &str)]| {
            let mut labels = Labels::default();
            for &(time, text) in changes {
                let id = (!text.is_empty()).then(|| labels.set(set(text)).unwrap());
                labels.change(Micros(time), id);
            }
            labels
        };
        let mut first = of(&[(1, "a=1"), (2, "a=2")]);
        first.append(&of(&[(7, "a=3"), (8, "a=1")]), Some(Micros(5))).unwrap();
        let found: Vec<_> = first
            .changes()
            .iter()
            .map(|change| (change.timestamp.0, change.labels.and_then(|id| first.get(id)?.get("a"))))
            .collect();
        assert_eq!(found, [(1, Some("1")), (2, Some("2")), (5, None), (7, Some("3")), (8, Some("1"))]);
    }
}
