//! Comparing the functions of two traces, with a test of statistical significance.
//!
//! Traces differ in length, so functions are compared by their share of the busy time. The share is an estimate from
//! samples and differs between two traces of the same program. Whether a change is significant is decided by the
//! [two-proportion z-test] on the samples that were taken, with two corrections:
//!
//! - Consecutive samples of one long call are not independent. The variance of a share is therefore multiplied by
//!   (1 + r) / (1 - r), where r is the autocorrelation of a two-state Markov chain ("in the function" and "elsewhere")
//!   with as many transitions as the trace has. The factor is at most [`MAX_INFLATION`]: otherwise no change could ever
//!   be significant in a program that makes one long call.
//! - Of a thousand unchanged functions, fifty would appear changed at a significance level of 5 %. The p-values are
//!   therefore adjusted by the [Holm–Bonferroni method]: with a probability of 95 %, no unchanged function is reported
//!   as changed.
//!
//! A sample in which the thread partly waited counts once, in proportion: 0.3 samples of waiting, and 0.7 of the
//! function. Counting it for the larger part would never find waiting that is a small part of every sample. The test
//! assumes the variance p (1 - p) of samples that are either in a function or not. Parts vary less, so unchanged
//! functions are not reported more often. Only the variance of the parts themselves is multiplied by the factor above:
//! equal parts in all samples do not make them dependent.
//!
//! Formats such as pprof have a sum for each stack instead of samples in the order of time, so the first correction is
//! not possible: samples count as independent.
//!
//! If one of the profiles states how long samples last, a sample counts by its time: thousands of them may lie within
//! microseconds.
//!
//! Traces of different tools are compared by what both have: see [`OneSided`].
//!
//! Traces with fewer than [`MIN_SAMPLES`] busy samples are never significantly different. No test on two traces can
//! account for other differences between runs of the same program (input, machine, a cold cache).
//!
//! [two-proportion z-test]: https://en.wikipedia.org/wiki/Two-proportion_Z-test
//! [Holm–Bonferroni method]: https://en.wikipedia.org/wiki/Holm%E2%80%93Bonferroni_method

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};

use crate::evaluated::evaluated_script;
use crate::file_url::local_path;
use crate::frame::Frame;
use crate::id::{FrameId, StackId};
use crate::marker::Marker;
use crate::merged::MergedThreads;
use crate::micros::Micros;
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
    /// The number of busy samples in the first trace. A sample in which the thread partly waited is one.
    pub base_samples: u64,
    /// The number of busy samples in the second trace.
    pub new_samples: u64,
    /// The functions of both traces, most changed first.
    pub functions: Vec<FunctionChange>,
    /// What is left out of the functions, because only one of the traces can have it.
    pub left_out: Vec<LeftOut>,
    /// Whether the samples of the first trace are in the order of time. If not, each counts by itself.
    pub base_has_order: bool,
    /// Whether those of the second are.
    pub new_has_order: bool,
}

/// Rows that only one of two traces can have, because they come from different tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// What they are.
    pub what: OneSided,
    /// Which trace cannot have them.
    pub is_base_without: bool,
    /// The number of rows.
    pub rows: usize,
}

/// What only some tools tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OneSided {
    /// Functions of Node.js's own scripts, which others fold into their outermost function without a location.
    NodeFunctions,
    /// The garbage collector.
    Collector,
}

/// A function in both traces, or in only one of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FunctionChange {
    /// Its row in the first trace.
    pub base: Option<FunctionRow>,
    /// Its row in the second trace.
    pub new: Option<FunctionRow>,
    /// Its self time as a share of the first trace's busy time, from 0 to 1.
    pub base_share: f64,
    /// Its self time as a share of the second trace's busy time.
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
    /// Functions match if their names and locations are equal. The remaining ones match if the name is unique in its
    /// script, because code moves when other code changes.
    pub fn of(base: &Trace, new: &Trace) -> Self {
        let weights = [base, new].map(Trace::weights);
        let uneven = [base, new].iter().any(|trace| trace.durations().is_some());
        let [base_side, new_side] = [(base, &weights[0]), (new, &weights[1])]
            .map(|(trace, weights)| Side::of((trace, weights, &[]), uneven, Summary::of(trace)));
        Self::of_sides((base, base_side), (new, new_side))
    }

    /// Compares the functions of two programs, in all their threads.
    pub fn of_merged(base: &MergedThreads, new: &MergedThreads) -> Self {
        let uneven = base.states_durations || new.states_durations;
        let [base_side, new_side] = [base, new].map(|merged| {
            let samples = (&merged.trace, &*merged.weights, &*merged.split);
            Side::of(samples, uneven, Summary::of_merged(merged))
        });
        Self::of_sides((&base.trace, base_side), (&new.trace, new_side))
    }

    fn of_sides((base, base_side): (&Trace, Side), (new, new_side): (&Trace, Side)) -> Self {
        let mut pairs = pairs(base, new, &base_side.summary, &new_side.summary);
        let left_out = leave_out(&mut pairs, base, new);
        let mut functions: Vec<FunctionChange> = pairs
            .into_iter()
            .map(|(of_base, of_new)| {
                let (first, second) = (base_side.share(of_base), new_side.share(of_new));
                let probability = probability(first, second);
                FunctionChange {
                    base: of_base,
                    new: of_new,
                    base_share: base_side.share_of_time(of_base),
                    new_share: new_side.share_of_time(of_new),
                    probability,
                }
            })
            .collect();
        adjust(&mut functions);
        functions.sort_by(|a, b| b.change().abs().total_cmp(&a.change().abs()));
        Self {
            base_has_order: base_side.has_order,
            new_has_order: new_side.has_order,
            base_samples: base_side.samples,
            new_samples: new_side.samples,
            base: base_side.summary,
            new: new_side.summary,
            functions,
            left_out,
        }
    }
}

/// The data of one trace that the test needs.
struct Side {
    summary: Summary,
    /// The number of busy samples that were taken.
    samples: u64,
    /// How many samples of equal length say as much as these.
    equal_samples: f64,
    functions: Vec<Hits>,
    /// Whether the samples are in the order of time. Some formats, such as pprof, have a sum for each stack instead, so
    /// that all samples of a stack lie together.
    has_order: bool,
}

/// With so few stacks, samples in the order of time can look like sorted ones.
const FEW_STACKS: usize = 16;

/// What samples of uneven length count for.
///
/// Thousands of samples may lie within microseconds, each of which says little about where the time went. By
/// [Kish's effective sample size], samples with the weights w say as much as (Σw)² / Σw² samples of equal weights. A
/// sample counts for its share of those.
///
/// [Kish's effective sample size]: https://en.wikipedia.org/wiki/Effective_sample_size#Weighted_samples
struct Scale {
    equal_samples: f64,
    of_a_microsecond: f64,
}

impl Scale {
    /// `None` if the busy samples stand for no time.
    fn of(samples: &[Sample], weights: &[Micros], split: &[usize]) -> Option<Self> {
        let mut split = split.iter().copied().peekable();
        let (mut sum, mut squares) = (0.0, 0.0);
        let mut index = 0;
        while let Some(sample) = samples.get(index) {
            let is_split = split.next_if_eq(&index).is_some();
            let weight = if sample.is_idle() { 0.0 } else { weight(weights, index, is_split) };
            index += 1 + usize::from(is_split);
            sum += weight;
            squares += weight * weight;
        }
        let equal_samples = if squares > 0.0 { sum * sum / squares } else { return None };
        Some(Self { equal_samples, of_a_microsecond: equal_samples / sum })
    }

    fn of_one(&self, weights: &[Micros], index: usize, is_split: bool) -> f64 {
        weight(weights, index, is_split) * self.of_a_microsecond
    }
}

/// The weight of a sample in microseconds, together with its second part.
fn weight(weights: &[Micros], index: usize, is_split: bool) -> f64 {
    let other = weights.get(index + 1).filter(|_| is_split);
    weights[index].saturating_add(other.copied().unwrap_or_default()).0 as f64
}

/// How much of the busy samples is in a function: all, nothing or a part of each sample.
#[derive(Clone, Copy, Debug, Default)]
struct Hits {
    /// The sum of the parts.
    sum: f64,
    /// The sum of their squares.
    squares: f64,
    /// Half the sum of the squares of their changes from sample to sample. If the parts are all or nothing, this is the
    /// number of runs of consecutive samples in the function.
    changes: f64,
}

impl Side {
    /// `split` has the indexes of the samples that are one sample together with the next. If samples are `uneven`, each
    /// counts by its time.
    fn of((trace, weights, split): (&Trace, &[Micros], &[usize]), uneven: bool, summary: Summary) -> Self {
        let scale = if uneven { Scale::of(trace.samples(), weights, split) } else { None };
        let mut functions = vec![Hits::default(); trace.frames().len()];
        let mut add_change = |before: &[(FrameId, f64)], now: &[(FrameId, f64)]| {
            let part = |parts: &[(FrameId, f64)], frame| {
                parts.iter().filter(|(of, _)| *of == frame).map(|(_, part)| part).sum::<f64>()
            };
            for (index, &(frame, _)) in before.iter().chain(now).enumerate() {
                let is_new = !before.iter().chain(now).take(index).any(|(other, _)| *other == frame);
                if is_new {
                    let (from, to) = (part(before, frame), part(now, frame));
                    let hits = &mut functions[frame.index()];
                    hits.sum += to;
                    hits.squares += to * to;
                    hits.changes += (to - from) * (to - from) / 2.0;
                }
            }
        };
        let innermost = |sample: &Sample| sample.stack.map(|stack| trace.stacks()[stack].frame);
        let mut split = split.iter().copied().peekable();
        let mut samples = 0;
        // How many stacks there are, in how many runs of samples with the same stack.
        let mut is_known = vec![false; trace.stacks().len() + 1];
        let (mut stacks, mut runs, mut last) = (0, 0, None);
        let (mut before, mut now) = (Vec::new(), Vec::new());
        let mut index = 0;
        while let Some(sample) = trace.samples().get(index) {
            now.clear();
            let other = split.next_if_eq(&index).and_then(|_| trace.samples().get(index + 1));
            let part = match other {
                Some(_) => part_of(weights[index], weights[index + 1]),
                None => 1.0,
            };
            let of_one = scale.as_ref().map_or(1.0, |scale| scale.of_one(weights, index, other.is_some()));
            index += 1 + usize::from(other.is_some());
            if sample.is_idle() {
                continue;
            }
            samples += 1;
            // A sample that partly waited is one: its second part ran.
            let stack = other.unwrap_or(sample).stack.map_or(trace.stacks().len(), StackId::index);
            if last.replace(stack) != Some(stack) {
                runs += 1;
                stacks += usize::from(!std::mem::replace(&mut is_known[stack], true));
            }
            now.extend(innermost(sample).map(|frame| (frame, part * of_one)));
            now.extend(other.and_then(innermost).map(|frame| (frame, (1.0 - part) * of_one)));
            add_change(&before, &now);
            std::mem::swap(&mut before, &mut now);
        }
        add_change(&before, &[]);
        let equal_samples = scale.map_or(samples as f64, |scale| scale.equal_samples);
        let has_order = stacks < FEW_STACKS || runs > stacks + stacks / 10;
        Self { summary, samples, equal_samples, functions, has_order }
    }

    fn share_of_time(&self, row: Option<FunctionRow>) -> f64 {
        let (time, of) = (row.map_or(Micros::ZERO, |row| row.self_time), self.summary.busy.time);
        match of {
            // A single sample stands for no time.
            Micros::ZERO => self.share(row).share(),
            of => part_of(time, of.saturating_sub(time)),
        }
    }

    fn share(&self, row: Option<FunctionRow>) -> Share {
        let hits = row.map_or(Hits::default(), |row| self.functions[row.frame.index()]);
        Share { hits, of: self.equal_samples, has_order: self.has_order }
    }
}

/// The share that `time` has of it and `rest` together.
fn part_of(time: Micros, rest: Micros) -> f64 {
    let whole = time.saturating_add(rest);
    if whole > Micros::ZERO { time.0 as f64 / whole.0 as f64 } else { 0.5 }
}

/// How much of the busy samples is in a function, and the number of all busy samples.
#[derive(Clone, Copy, Debug)]
struct Share {
    hits: Hits,
    of: f64,
    has_order: bool,
}

impl Share {
    fn share(self) -> f64 {
        if self.of > 0.0 { self.hits.sum / self.of } else { 0.0 }
    }

    /// The factor by which its variance exceeds that of independent samples that are either in the function or not; at
    /// least 1.
    fn inflation(self) -> f64 {
        let Hits { sum, squares, changes } = self.hits;
        if sum == 0.0 || !self.has_order {
            return 1.0;
        }
        let of_parts = squares - sum * sum / self.of;
        let of_whole_samples = sum - sum * sum / self.of;
        // The share of the variance that is between samples. The rest is within them, and independent.
        let between = match of_whole_samples > 0.0 {
            true => (of_parts / of_whole_samples).clamp(0.0, 1.0),
            false => 1.0,
        };
        // For samples that are either in the function or not, this is what the transition probabilities of the chain
        // leave: 1 - `changes` / `sum` - `changes` / (`of` - `sum`).
        let correlation = match of_parts > 0.0 {
            true => (1.0 - changes / of_parts).clamp(-1.0, 1.0),
            false => 1.0,
        };
        let of_chain = ((1.0 + correlation) / (1.0 - correlation)).clamp(1.0, MAX_INFLATION);
        1.0 + between * (of_chain - 1.0)
    }
}

/// The p-value of the difference between two shares.
fn probability(base: Share, new: Share) -> f64 {
    if base.of.min(new.of) < MIN_SAMPLES as f64 {
        return 1.0;
    }
    let pooled = (base.hits.sum + new.hits.sum) / (base.of + new.of);
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

/// The Holm–Bonferroni method: the smallest p-value is multiplied by the number of functions, the next by one less, and
/// so on.
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
    // Only functions of evaluated scripts can be alike: those with the most time are paired first.
    let mut exact: HashMap<_, VecDeque<FunctionRow>> = HashMap::new();
    for &row in &new_summary.functions {
        exact.entry((named(new, row.frame), position(new.frames()[row.frame]))).or_default().push_back(row);
    }
    for &row in &base_summary.functions {
        let alike = exact.get_mut(&(named(base, row.frame), position(base.frames()[row.frame])));
        match alike.and_then(VecDeque::pop_front) {
            Some(other) => pairs.push((Some(row), Some(other))),
            None => left_of_base.push(row),
        }
    }
    left_of_new.extend(exact.into_values().flatten());
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

/// Removes the rows that only one of the traces can have.
fn leave_out(
    pairs: &mut Vec<(Option<FunctionRow>, Option<FunctionRow>)>,
    base: &Trace,
    new: &Trace,
) -> Vec<LeftOut> {
    let mut left_out = Vec::new();
    let mut remove =
        |what, is_base_without, is_one_sided: &dyn Fn(Option<FrameId>, Option<FrameId>) -> bool| {
            let before = pairs.len();
            let frame = |row: Option<FunctionRow>| row.map(|row| row.frame);
            pairs.retain(|&(of_base, of_new)| !is_one_sided(frame(of_base), frame(of_new)));
            let rows = before - pairs.len();
            if rows > 0 {
                left_out.push(LeftOut { what, is_base_without, rows });
            }
        };
    let (base_has_node, new_has_node) = (has_node_functions(base), has_node_functions(new));
    if base_has_node != new_has_node && has_functions(base) && has_functions(new) {
        let (with, without) = if base_has_node { (base, new) } else { (new, base) };
        remove(OneSided::NodeFunctions, new_has_node, &|of_base, of_new| {
            let (of_with, of_without) = if base_has_node { (of_base, of_new) } else { (of_new, of_base) };
            match (of_with, of_without) {
                (Some(frame), None) => is_node_function(with, frame),
                // Where others fold, there is a function without a location.
                (None, Some(frame)) => is_without_script(without, frame),
                _ => false,
            }
        });
    }
    let [base_collects, new_collects] =
        [base, new].map(|trace| trace.samples().iter().any(|sample| sample.marker == Some(Marker::Gc)));
    let [base_marks, new_marks] =
        [base, new].map(|trace| trace.samples().iter().any(|sample| sample.marker.is_some()));
    if base_collects && !new_marks || new_collects && !base_marks {
        let with = if base_collects { base } else { new };
        remove(OneSided::Collector, new_collects, &|of_base, of_new| {
            let frame = if base_collects { of_base } else { of_new };
            frame.is_some_and(|frame| with.is_gc(frame))
        });
    }
    left_out
}

/// Whether a trace tells functions of Node.js's own scripts apart.
fn has_node_functions(trace: &Trace) -> bool {
    trace.resources().iter().any(|(_, url)| url.starts_with("node:"))
}

/// Whether a trace has functions with a script.
fn has_functions(trace: &Trace) -> bool {
    !trace.resources().is_empty()
}

fn is_node_function(trace: &Trace, frame: FrameId) -> bool {
    trace.frames()[frame].resource.is_some_and(|resource| trace.resources()[resource].starts_with("node:"))
}

fn is_without_script(trace: &Trace, frame: FrameId) -> bool {
    trace.frames()[frame].resource.is_none() && !trace.is_gc(frame) && !trace.is_waiting(frame)
}

/// A function's name, and what its script is compared by.
fn named(trace: &Trace, frame: FrameId) -> (&str, Option<Cow<'_, str>>) {
    let frame = trace.frames()[frame];
    let resource = frame.resource.map(|id| &trace.resources()[id]);
    (&trace.names()[frame.name], resource.map(script))
}

/// What all evaluated scripts are compared by: their numbers differ from run to run.
pub const EVALUATED: &str = "(eval)";

/// What the URL of a script is compared by: the same for a path and its `file:` URL, and for all evaluated scripts.
pub fn script(url: &str) -> Cow<'_, str> {
    match evaluated_script(url) {
        Some(_) => EVALUATED.into(),
        None => local_path(url).unwrap_or(url.into()),
    }
}

/// A function's position in its script.
fn position(frame: Frame) -> (Option<u32>, Option<u32>) {
    (frame.line.map(Into::into), frame.column.map(Into::into))
}

#[cfg(test)]
mod tests;
