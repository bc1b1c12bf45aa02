//! What grew and what shrank from one trace to another, and what is no more than chance.
//!
//! Traces are of different lengths, so what compares is a function's share of the samples at which anything ran. That share is
//! an estimate from samples, so it differs between two traces of the same program. A change is told from chance by the
//! [two-proportion z-test], with two corrections:
//!
//! - Samples that follow one another in one long call are not independent: they saw one event. The variance of a share is
//!   therefore multiplied by (1 + r) / (1 - r), where r is the correlation between neighbours of a chain with the two states
//!   "in the function" and "elsewhere" that has as many changes of state as the trace has. It is multiplied by
//!   [`MOST_INFLATION`] at most: otherwise a program that does one long thing, once, could never be seen to change.
//! - Of a thousand functions, fifty would seem changed at a significance of 5 % where none is. The probabilities are therefore
//!   adjusted by [Holm's method]: with probability 95 % no function at all is wrongly called changed.
//!
//! Traces with fewer than [`LEAST_SAMPLES`] tell nothing. What no test on two traces can tell is how runs of the same program differ for reasons of their own (other input,
//! another machine, a cache that was cold).
//!
//! [two-proportion z-test]: https://en.wikipedia.org/wiki/Two-proportion_Z-test
//! [Holm's method]: https://en.wikipedia.org/wiki/Holm%E2%80%93Bonferroni_method

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::summary::{FunctionRow, Summary};
use crate::{Frame, FrameId, Sample, Trace};

/// Changes whose adjusted probability is below this are not chance.
pub const SIGNIFICANCE: f64 = 0.05;

/// As many samples in a row count as one event, at most.
pub const MOST_INFLATION: f64 = 20.0;

/// With fewer busy samples than this, a trace tells nothing about changes.
pub const LEAST_SAMPLES: u64 = 20;

/// The functions of two traces.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The sums over the first trace.
    pub base: Summary,
    /// The sums over the second trace.
    pub new: Summary,
    /// All functions of both, those that changed most first.
    pub functions: Vec<FunctionChange>,
}

/// A function in both traces, or in one of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FunctionChange {
    /// The row of the first trace.
    pub base: Option<FunctionRow>,
    /// The row of the second trace.
    pub new: Option<FunctionRow>,
    /// Its share of self samples in the first trace's busy ones, from 0 to 1.
    pub base_share: f64,
    /// The same of the second trace.
    pub new_share: f64,
    /// How probable so large a change is by chance, when nothing changed: adjusted for the number of functions.
    pub probability: f64,
}

impl FunctionChange {
    /// By how much the share grew; negative when it shrank.
    pub fn change(&self) -> f64 {
        self.new_share - self.base_share
    }

    /// Whether it is more than chance.
    pub fn is_significant(&self) -> bool {
        self.probability < SIGNIFICANCE
    }
}

impl Comparison {
    /// Compares the functions of two traces.
    ///
    /// Functions are the same when their names and places are; of those left over, when they are the only ones of their
    /// name in their script, since code moves when other code changes.
    pub fn of(base: &Trace, new: &Trace) -> Self {
        let (base_side, new_side) = (Side::of(base), Side::of(new));
        let mut functions: Vec<FunctionChange> = pairs(base, new, &base_side.summary, &new_side.summary)
            .into_iter()
            .map(|(of_base, of_new)| {
                let (first, second) = (base_side.share(of_base), new_side.share(of_new));
                let probability = probability(first, second);
                FunctionChange {
                    base: of_base,
                    new: of_new,
                    base_share: first.share(),
                    new_share: second.share(),
                    probability,
                }
            })
            .collect();
        adjust(&mut functions);
        functions.sort_by(|a, b| b.change().abs().total_cmp(&a.change().abs()));
        Self { base: base_side.summary, new: new_side.summary, functions }
    }
}

/// A trace with what the test needs of it.
struct Side {
    summary: Summary,
    /// How often each function begins to be the innermost one of a busy sample, when it was not that of the one before.
    runs: Vec<u64>,
}

impl Side {
    fn of(trace: &Trace) -> Self {
        let mut runs = vec![0; trace.frames().len()];
        let mut before = None;
        for sample in trace.samples().iter().filter(|sample| !Sample::is_idle(sample)) {
            let innermost = sample.stack.map(|stack| trace.stacks()[stack].frame);
            if let Some(frame) = innermost.filter(|_| innermost != before) {
                runs[frame.index()] += 1;
            }
            before = innermost;
        }
        Self { summary: Summary::of(trace), runs }
    }

    fn share(&self, row: Option<FunctionRow>) -> Share {
        let (hits, runs) = row.map_or((0, 0), |row| (row.self_samples, self.runs[row.frame.index()]));
        Share { hits: hits as f64, runs: runs as f64, of: self.summary.busy.samples as f64 }
    }
}

/// So many hits, in so many runs, of so many samples.
#[derive(Clone, Copy, Debug)]
struct Share {
    hits: f64,
    runs: f64,
    of: f64,
}

impl Share {
    fn share(self) -> f64 {
        if self.of > 0.0 { self.hits / self.of } else { 0.0 }
    }

    /// By how much its variance is larger than that of independent samples; at least 1.
    fn inflation(self) -> f64 {
        if self.hits == 0.0 {
            return 1.0;
        }
        // How probable it is that a chain in either state leaves it.
        let leave = (self.runs / self.hits).min(1.0);
        let come_back = if self.hits < self.of { (self.runs / (self.of - self.hits)).min(1.0) } else { 0.0 };
        let correlation = 1.0 - leave - come_back;
        ((1.0 + correlation) / (1.0 - correlation)).clamp(1.0, MOST_INFLATION)
    }
}

/// How probable a difference as large as that between these shares is, if there is none.
fn probability(base: Share, new: Share) -> f64 {
    if base.of.min(new.of) < LEAST_SAMPLES as f64 {
        return 1.0;
    }
    let pooled = (base.hits + new.hits) / (base.of + new.of);
    // Of a function that one trace lacks, that trace does not tell how long its runs are.
    let inflation = base.inflation().max(new.inflation());
    let variance = pooled * (1.0 - pooled) * inflation * (1.0 / base.of + 1.0 / new.of);
    if variance <= 0.0 {
        return 1.0;
    }
    // A hit more or less is no evidence (continuity correction).
    let correction = 0.5 * (1.0 / base.of + 1.0 / new.of);
    let difference = ((new.share() - base.share()).abs() - correction).max(0.0);
    libm::erfc(difference / variance.sqrt() / std::f64::consts::SQRT_2)
}

/// Holm's method: the smallest probability counts as often as there are functions, the next once less, and so on.
fn adjust(functions: &mut [FunctionChange]) {
    let count = functions.len();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| functions[a].probability.total_cmp(&functions[b].probability));
    let mut least = 0.0_f64;
    for (rank, index) in order.into_iter().enumerate() {
        least = least.max(functions[index].probability * (count - rank) as f64).min(1.0);
        functions[index].probability = least;
    }
}

/// The rows of both traces, with those of the same function side by side.
fn pairs(
    base: &Trace,
    new: &Trace,
    base_summary: &Summary,
    new_summary: &Summary,
) -> Vec<(Option<FunctionRow>, Option<FunctionRow>)> {
    let mut pairs = Vec::new();
    let (mut left_of_base, mut left_of_new) = (Vec::new(), Vec::new());
    let mut exact: HashMap<_, FunctionRow> = HashMap::new();
    for &row in &new_summary.functions {
        exact.insert((named(new, row.frame), place(new.frames()[row.frame])), row);
    }
    for &row in &base_summary.functions {
        match exact.remove(&(named(base, row.frame), place(base.frames()[row.frame]))) {
            Some(other) => pairs.push((Some(row), Some(other))),
            None => left_of_base.push(row),
        }
    }
    left_of_new.extend(exact.into_values());
    // The map has an order of its own.
    left_of_new.sort_unstable_by_key(|row| (Reverse(row.self_time), row.frame));

    let mut by_name: HashMap<_, [Vec<FunctionRow>; 2]> = HashMap::new();
    for &row in &left_of_base {
        by_name.entry(named(base, row.frame)).or_default()[0].push(row);
    }
    for &row in &left_of_new {
        by_name.entry(named(new, row.frame)).or_default()[1].push(row);
    }
    let partner = |key, side: usize| match by_name.get(&key).map(|rows| (&rows[0][..], &rows[1][..])) {
        Some(([a], [b])) => Some([*b, *a][side]),
        _ => None,
    };
    for row in left_of_base {
        pairs.push((Some(row), partner(named(base, row.frame), 0)));
    }
    for row in left_of_new {
        if partner(named(new, row.frame), 1).is_none() {
            pairs.push((None, Some(row)));
        }
    }
    pairs
}

/// A function's name and script.
fn named(trace: &Trace, frame: FrameId) -> (&str, Option<&str>) {
    let frame = trace.frames()[frame];
    (&trace.names()[frame.name], frame.resource.map(|id| &trace.resources()[id]))
}

/// A function's place in its script.
fn place(frame: Frame) -> (Option<u32>, Option<u32>) {
    (frame.line.map(Into::into), frame.column.map(Into::into))
}

#[cfg(test)]
mod tests;
