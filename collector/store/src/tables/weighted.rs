//! The samples of a profile, added up.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use selfprof_trace::{Marker, Micros, StackId, Trace};

use crate::ids::StackHash;
use crate::profile::{LabelTexts, Span};

/// Samples with the same stack, marker, spans and labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weighted {
    /// The stack; `None` if the thread was idle, or if its work has no stack.
    pub stack: Option<StackHash>,
    /// The kind of work.
    pub marker: Option<Marker>,
    /// Which set of spans was open, with the labels, as an index into [`Sums::span_sets`].
    pub spans: usize,
    /// Their time in microseconds, divided by the sampling probability.
    pub weight: i64,
    /// How many samples there are.
    pub count: i64,
}

/// The samples of a profile by stack, marker, spans and labels, in the order in which each combination came first.
#[derive(Debug, Default)]
pub struct Sums {
    /// The sums.
    pub rows: Vec<Weighted>,
    /// The sets of names of spans and [texts of labels](crate::profile::label_text); each is sorted.
    pub span_sets: Vec<Vec<String>>,
}

/// Adds up the samples of a profile, of which each stands for one of these times.
///
/// A sample belongs to the spans that cover its timestamp, which is when its stack was seen. Its time is the time since
/// the sample before, as in all tables of selfprof.
pub fn sums(
    trace: &Trace,
    weights: &[Micros],
    hash: impl Fn(StackId) -> StackHash,
    spans: &[Span],
    rate: f64,
) -> Sums {
    let mut sums = Sums::default();
    let mut row_of = HashMap::new();
    let mut open = OpenSpans::new(spans);
    let labels = LabelTexts::of(trace.labels(), trace.samples());
    let mut labelled = Labelled::default();
    for (index, (sample, weight)) in trace.samples().iter().zip(weights).enumerate() {
        let time = i64::try_from(sample.timestamp.0).unwrap_or(i64::MAX);
        let spans = open.at(time, &mut sums.span_sets);
        let spans = labelled.set(spans, labels.set(index), &labels, &mut sums.span_sets);
        // Rounded sample by sample, so that sums do not depend on their order.
        let weight = (weight.0 as f64 / rate).round() as i64;
        let stack = sample.stack.map(&hash);
        match row_of.entry((stack, sample.marker, spans)) {
            Entry::Vacant(entry) => {
                entry.insert(sums.rows.len());
                sums.rows.push(Weighted { stack, marker: sample.marker, spans, weight, count: 1 });
            }
            Entry::Occupied(entry) => {
                let row = &mut sums.rows[*entry.get()];
                row.weight = row.weight.saturating_add(weight);
                row.count += 1;
            }
        }
    }
    sums
}

/// The sets of spans with labels.
#[derive(Default)]
struct Labelled {
    /// By the set of spans and that of the labels.
    numbers: HashMap<(usize, usize), usize>,
}

impl Labelled {
    /// The number of the set of spans with these labels.
    fn set(
        &mut self,
        spans: usize,
        labels: Option<usize>,
        texts: &LabelTexts,
        sets: &mut Vec<Vec<String>>,
    ) -> usize {
        let Some(labels) = labels.filter(|&labels| !texts.texts(labels).is_empty()) else { return spans };
        *self.numbers.entry((spans, labels)).or_insert_with(|| {
            let mut both = sets[spans].clone();
            both.extend_from_slice(texts.texts(labels));
            both.sort_unstable();
            // Sets of labels that differ in those of requests only.
            sets.iter().position(|known| *known == both).unwrap_or_else(|| {
                sets.push(both);
                sets.len() - 1
            })
        })
    }
}

/// Which spans are open, for times that increase.
struct OpenSpans {
    /// Start, end and label, by start.
    spans: Vec<(i64, i64, String)>,
    passed: usize,
    open: Vec<usize>,
    /// The set at the last time.
    last: Option<usize>,
    number_of: HashMap<Vec<String>, usize>,
}

impl OpenSpans {
    fn new(spans: &[Span]) -> Self {
        let end = |span: &Span| span.start.saturating_add(span.duration);
        let mut spans: Vec<_> =
            spans.iter().filter_map(|span| Some((span.start, end(span), span.label()?))).collect();
        spans.sort_unstable();
        Self { spans, passed: 0, open: Vec::new(), last: None, number_of: HashMap::new() }
    }

    /// The number of the set of spans at a time.
    fn at(&mut self, time: i64, sets: &mut Vec<Vec<String>>) -> usize {
        let before = (self.passed, self.open.len());
        while let Some((start, ..)) = self.spans.get(self.passed)
            && *start <= time
        {
            self.open.push(self.passed);
            self.passed += 1;
        }
        self.open.retain(|&span| self.spans[span].1 >= time);
        match self.last {
            Some(last) if before == (self.passed, self.open.len()) => last,
            _ => {
                let mut names: Vec<String> =
                    self.open.iter().map(|&span| self.spans[span].2.clone()).collect();
                names.sort_unstable();
                names.dedup();
                let number = *self.number_of.entry(names).or_insert_with_key(|names| {
                    sets.push(names.clone());
                    sets.len() - 1
                });
                self.last = Some(number);
                number
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use selfprof_trace::{Frame, Sample, Stack};

    use super::*;
    use crate::profile::SpanKind;

    fn trace(samples: &[(u64, bool)]) -> Trace {
        let mut trace = Trace::new();
        let name = trace.name("f").unwrap();
        let frame = trace.frame(Frame { name, resource: None, line: None, column: None }).unwrap();
        let stack = trace.stack(Stack { parent: None, frame }).unwrap();
        for &(time, is_busy) in samples {
            let stack = is_busy.then_some(stack);
            trace.push_sample(Sample { timestamp: Micros(time), stack, marker: None });
        }
        trace
    }

    fn measure(name: &str, start: i64, duration: i64) -> Span {
        Span { kind: SpanKind::Measure, name: name.into(), start, duration }
    }

    fn sums_of(trace: &Trace, spans: &[Span], rate: f64) -> Sums {
        sums(trace, &trace.weights(), |stack| StackHash(stack.index() as i64), spans, rate)
    }

    #[track_caller]
    fn check(sums: &Sums, expected: &[(bool, &str, i64, i64)]) {
        let row = |row: &Weighted| {
            (row.stack.is_some(), sums.span_sets[row.spans].join(" "), row.weight, row.count)
        };
        let rows: Vec<_> = sums.rows.iter().map(row).collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|&(busy, spans, weight, count)| (busy, spans.to_owned(), weight, count))
            .collect();
        assert_eq!(rows, expected);
    }

    #[test]
    fn samples_are_added_up_by_stack_and_by_spans() {
        let trace = trace(&[(10, true), (20, true), (30, false), (40, true), (50, true)]);
        check(&sums_of(&trace, &[], 1.0), &[(true, "", 40, 4), (false, "", 10, 1)]);
        check(&sums_of(&trace, &[], 0.1), &[(true, "", 400, 4), (false, "", 100, 1)]);
        let spans =
            [measure("checkout", 35, 10), measure("a", 0, 100), measure("a", 5, 1), measure("(x", 50, 0)];
        check(
            &sums_of(&trace, &spans, 1.0),
            &[(true, "a", 20, 2), (false, "a", 10, 1), (true, "a checkout", 10, 1), (true, " (x a", 10, 1)],
        );
    }

    #[test]
    fn long_tasks_and_slow_interactions_have_names_of_their_own() {
        let trace = trace(&[(10, true), (300_010, true)]);
        let event = |duration| Span { kind: SpanKind::Event, name: "click".into(), start: 0, duration };
        let task = Span { kind: SpanKind::LongTask, name: "self".into(), start: 0, duration: 60_000 };
        let spans = [event(200_000), event(200_001), task];
        check(
            &sums_of(&trace, &spans, 1.0),
            &[(true, "(long task) (slow interaction)", 300_000, 1), (true, "", 300_000, 1)],
        );
    }
}
