//! Labels of samples, such as `tenant` = `a`.

use std::collections::{HashMap, HashSet};

use selfprof_trace::{LabelSet, Labels, Sample};
use serde::{Deserialize, Serialize};

use super::clean::clean_text;

/// Labels that name a single request: too many values to add up by. They stay in the trace.
const OF_REQUESTS: [&str; 3] = ["request", "span_id", "trace_id"];

/// A label may have this many values in a profile. With more, all its values become [`MANY`].
const MAX_VALUES: usize = 50;

/// The value of labels with too many values.
pub const MANY: &str = "(many)";

/// The text in the column `spans` by which samples with a label are found. The names of measures do not begin with `(`.
pub fn label_text(name: &str, value: &str) -> String {
    format!("(label) {name}={value}")
}

/// Labels in few bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CompactLabels {
    sets: Vec<Vec<(String, String)>>,
    /// The time since the change before, and the set plus 1 or 0.
    changes: Vec<(u64, u32)>,
}

impl CompactLabels {
    /// Takes labels over, as clean texts.
    pub fn of(labels: Option<&Labels>) -> Self {
        let Some(labels) = labels else { return Self::default() };
        let set =
            |set: &LabelSet| set.iter().map(|(name, value)| (clean_text(name), clean_text(value))).collect();
        let mut last = 0;
        let changes = labels.changes().iter().map(|change| {
            let time = change.timestamp.0 - last;
            last = change.timestamp.0;
            (time, change.labels.map_or(0, |id| u32::try_from(id.index() + 1).unwrap_or(0)))
        });
        Self { sets: labels.sets().map(set).collect(), changes: changes.collect() }
    }

    /// The labels. Numbers of no set are none.
    pub fn to_labels(&self) -> Option<Labels> {
        let mut labels = Labels::default();
        let ids: Vec<_> =
            self.sets.iter().map(|set| labels.set(LabelSet::new(set.iter().cloned())).ok()).collect();
        let mut time = 0_u64;
        for &(since, number) in &self.changes {
            time = time.saturating_add(since);
            let set = (number as usize).checked_sub(1).and_then(|index| ids.get(index)).copied().flatten();
            labels.change(selfprof_trace::Micros(time), set);
        }
        (!labels.is_empty()).then_some(labels)
    }
}

/// The texts of the labels by which samples are added up.
#[derive(Debug, Default)]
pub struct LabelTexts {
    /// Of each set.
    texts: Vec<Vec<String>>,
    /// The set of each sample.
    sets: Vec<Option<usize>>,
}

impl LabelTexts {
    /// Those of these samples.
    pub fn of(labels: Option<&Labels>, samples: &[Sample]) -> Self {
        let Some(labels) = labels else { return Self::default() };
        let kept = |name: &str| !OF_REQUESTS.contains(&name);
        let mut values: HashMap<&str, HashSet<&str>> = HashMap::new();
        for (name, value) in labels.sets().flat_map(LabelSet::iter).filter(|(name, _)| kept(name)) {
            let values = values.entry(name).or_default();
            if values.len() <= MAX_VALUES {
                values.insert(value);
            }
        }
        let has_many = |name: &str| values.get(name).is_some_and(|values| values.len() > MAX_VALUES);
        let text = |name: &str, value: &str| label_text(name, if has_many(name) { MANY } else { value });
        let texts = |set: &LabelSet| {
            set.iter().filter(|(name, _)| kept(name)).map(|(name, value)| text(name, value)).collect()
        };
        let sets = labels.of_samples(samples).into_iter().map(|id| id.map(|id| id.index()));
        Self { texts: labels.sets().map(texts).collect(), sets: sets.collect() }
    }

    /// The set of a sample, by its index.
    pub fn set(&self, sample: usize) -> Option<usize> {
        self.sets.get(sample).copied().flatten()
    }

    /// The texts of a set.
    pub fn texts(&self, set: usize) -> &[String] {
        self.texts.get(set).map(Vec::as_slice).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use selfprof_trace::{Marker, Micros};

    use super::*;

    fn labels(sets: &[&[(&str, &str)]]) -> Labels {
        let mut labels = Labels::default();
        for (index, set) in sets.iter().enumerate() {
            let id = labels.set(LabelSet::new(set.iter().copied())).ok();
            labels.change(Micros(index as u64 * 10 + 5), id);
        }
        labels
    }

    #[test]
    fn labels_are_as_they_were() {
        let before = labels(&[&[("tenant", "a"), ("job", "x")], &[], &[("tenant", "b")]]);
        let compact = CompactLabels::of(Some(&before));
        let after = compact.to_labels().unwrap();
        assert_eq!(after.changes(), before.changes());
        assert!(after.sets().eq(before.sets()));
        assert!(CompactLabels::of(None).to_labels().is_none());
    }

    #[test]
    fn labels_of_requests_and_with_many_values_are_not_added_up_by() {
        let values: Vec<String> = (0..60).map(|value| value.to_string()).collect();
        let sets: Vec<Vec<(&str, &str)>> = values
            .iter()
            .map(|value| vec![("user", &**value), ("tenant", "a"), ("trace_id", value)])
            .collect();
        let labels = labels(&sets.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let sample = Sample { timestamp: Micros(16), stack: None, marker: Some(Marker::Script) };
        let idle = Sample { marker: None, ..sample };
        let texts = LabelTexts::of(Some(&labels), &[sample, idle]);
        assert_eq!(texts.texts(texts.set(0).unwrap()), ["(label) tenant=a", "(label) user=(many)"]);
        assert_eq!((texts.set(1), texts.set(2)), (None, None));
    }
}
