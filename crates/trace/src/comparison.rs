//! Comparing the functions of two traces, with a test of statistical significance.
//!
//! Traces differ in length, so functions are compared by their share of the busy samples. The share is an estimate from samples and
//! differs between two traces of the same program. Whether a change is significant is decided by the [two-proportion z-test],
//! with two corrections:
//!
//! - Consecutive samples of one long call are not independent. The variance of a share is therefore multiplied by
//!   (1 + r) / (1 - r), where r is the autocorrelation of a two-state Markov chain ("in the function" and "elsewhere") with as many
//!   transitions as the trace has. The factor is at most [`MAX_INFLATION`]: otherwise no change could ever be significant
//!   in a program that makes one long call.
//! - Of a thousand unchanged functions, fifty would appear changed at a significance level of 5 %. The p-values are therefore
//!   adjusted by the [Holm–Bonferroni method]: with a probability of 95 %, no unchanged function is reported as changed.
//!
//! Traces with fewer than [`MIN_SAMPLES`] busy samples are never significantly different. No test on two traces can account for other
//! differences between runs of the same program (input, machine, a cold cache).
//!
//! [two-proportion z-test]: https://en.wikipedia.org/wiki/Two-proportion_Z-test
//! [Holm–Bonferroni method]: https://en.wikipedia.org/wiki/Holm%E2%80%93Bonferroni_method

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::frame::Frame;
use crate::id::FrameId;
use crate::merged::MergedThreads;
use crate::sample::Sample;
use crate::summary::{FunctionRow, Summary};
use crate::trace::Trace;

/// Changes with an adjusted p-value below this are significant.
pub const SIGNIFICANCE: f64 = 0.05;

/// The maximum factor by which the variance is inflated for dependent samples.
pub const MAX_INFLATION: f64 = 20.0;

/// With fewer busy samples than this in either trace, no change is significant.
pub const MIN_SAMPLES: u64 = 20;

/// The comparison of two traces.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The summary of the first trace.
    pub base: Summary,
    /// The summary of the second trace.
    pub new: Summary,
    /// The functions of both traces, most changed first.
    pub functions: Vec<FunctionChange>,
}

/// A function in both traces, or in only one of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FunctionChange {
    /// Its row in the first trace.
    pub base: Option<FunctionRow>,
    /// Its row in the second trace.
    pub new: Option<FunctionRow>,
    /// Its self samples as a share of the first trace's busy samples, from 0 to 1.
    pub base_share: f64,
    /// Its self samples as a share of the second trace's busy samples.
    pub new_share: f64,
    /// The p-value of the change, adjusted for the number of functions.
    pub probability: f64,
}

impl FunctionChange {
    /// The change of the share; negative if it decreased.
    pub fn change(&self) -> f64 {
        self.new_share - self.base_share
    }

    /// Whether the change is statistically significant.
    pub fn is_significant(&self) -> bool {
        self.probability < SIGNIFICANCE
    }
}

impl Comparison {
    /// Compares the functions of two traces.
    ///
    /// Functions match if their names and locations are equal. The remaining ones match if the name is unique in its script, because
    /// code moves when other code changes.
    pub fn of(base: &Trace, new: &Trace) -> Self {
        Self::of_summaries((base, Summary::of(base)), (new, Summary::of(new)))
    }

    /// Compares the functions of two programs, in all their threads.
    pub fn of_merged(base: &MergedThreads, new: &MergedThreads) -> Self {
        let summaries = [base, new].map(Summary::of_merged);
        let [base_summary, new_summary] = summaries;
        Self::of_summaries((&base.trace, base_summary), (&new.trace, new_summary))
    }

    fn of_summaries((base, base_summary): (&Trace, Summary), (new, new_summary): (&Trace, Summary)) -> Self {
        let (base_side, new_side) = (Side::of(base, base_summary), Side::of(new, new_summary));
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

/// The data of one trace that the test needs.
struct Side {
    summary: Summary,
    /// For each function, the number of runs of consecutive busy samples that have it innermost.
    runs: Vec<u64>,
}

impl Side {
    fn of(trace: &Trace, summary: Summary) -> Self {
        let mut runs = vec![0; trace.frames().len()];
        let mut before = None;
        for sample in trace.samples().iter().filter(|sample| !Sample::is_idle(sample)) {
            let innermost = sample.stack.map(|stack| trace.stacks()[stack].frame);
            if let Some(frame) = innermost.filter(|_| innermost != before) {
                runs[frame.index()] += 1;
            }
            before = innermost;
        }
        Self { summary, runs }
    }

    fn share(&self, row: Option<FunctionRow>) -> Share {
        let (hits, runs) = row.map_or((0, 0), |row| (row.self_samples, self.runs[row.frame.index()]));
        Share { hits: hits as f64, runs: runs as f64, of: self.summary.busy.samples as f64 }
    }
}

/// The number of samples in a function (hits), of their runs, and of all busy samples.
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

    /// The factor by which its variance exceeds that of independent samples; at least 1.
    fn inflation(self) -> f64 {
        if self.hits == 0.0 {
            return 1.0;
        }
        // The transition probabilities of the chain.
        let leave = (self.runs / self.hits).min(1.0);
        let enter = if self.hits < self.of { (self.runs / (self.of - self.hits)).min(1.0) } else { 0.0 };
        let correlation = 1.0 - leave - enter;
        ((1.0 + correlation) / (1.0 - correlation)).clamp(1.0, MAX_INFLATION)
    }
}

/// The p-value of the difference between two shares.
fn probability(base: Share, new: Share) -> f64 {
    if base.of.min(new.of) < MIN_SAMPLES as f64 {
        return 1.0;
    }
    let pooled = (base.hits + new.hits) / (base.of + new.of);
    // A trace without the function has no information on the length of its runs.
    let inflation = base.inflation().max(new.inflation());
    let variance = pooled * (1.0 - pooled) * inflation * (1.0 / base.of + 1.0 / new.of);
    if variance <= 0.0 {
        return 1.0;
    }
    // Continuity correction.
    let correction = 0.5 * (1.0 / base.of + 1.0 / new.of);
    let difference = ((new.share() - base.share()).abs() - correction).max(0.0);
    libm::erfc(difference / variance.sqrt() / std::f64::consts::SQRT_2)
}

/// The Holm–Bonferroni method: the smallest p-value is multiplied by the number of functions, the next by one less, and so on.
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

/// The rows of both traces, with matching functions paired.
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
        exact.insert((named(new, row.frame), position(new.frames()[row.frame])), row);
    }
    for &row in &base_summary.functions {
        match exact.remove(&(named(base, row.frame), position(base.frames()[row.frame]))) {
            Some(other) => pairs.push((Some(row), Some(other))),
            None => left_of_base.push(row),
        }
    }
    left_of_new.extend(exact.into_values());
    // The order of the map is random.
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

/// A function's position in its script.
fn position(frame: Frame) -> (Option<u32>, Option<u32>) {
    (frame.line.map(Into::into), frame.column.map(Into::into))
}

#[cfg(test)]
mod tests;
