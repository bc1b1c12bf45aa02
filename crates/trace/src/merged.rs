//! The threads of a program as one trace.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::evaluated::{evaluated_resource, evaluated_script};
use crate::id::LabelSetId;
use crate::labels::Labels;
use crate::micros::Micros;
use crate::table::TableFull;
use crate::trace::Trace;
use crate::weigh::Gaps;

/// What the times of functions are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// The time that passes. Waiting is [a function of its own](Trace::add_waiting_frames) if it is known.
    #[default]
    WaitingApart,
    /// The time in which the thread runs. Where waiting is not known, this is the time that passes.
    Cpu,
    /// The time that passes, with waiting as part of the function that waits.
    Wall,
}

/// The threads of a program as one trace, with the weights that their samples have in their own threads.
///
/// The samples are in the order of the threads, so they are not sorted by time, and only these weights are right for
/// them.
#[derive(Clone, Debug, Default)]
pub struct MergedThreads {
    /// The samples, marks and measures of all threads.
    pub trace: Trace,
    /// The weight of each sample.
    pub weights: Vec<Micros>,
    /// The indexes of each thread's samples.
    pub ranges: Vec<Range<usize>>,
    /// The median time between samples in the first thread that has one.
    pub interval: Option<Micros>,
    /// What the weights leave out of the time between samples.
    pub gaps: Gaps,
    /// Whether a profile states how long samples last, so that they may last differently without a reason in the
    /// program.
    pub states_durations: bool,
    /// The number of threads whose waiting times are known.
    pub with_waiting_times: usize,
    /// How long the threads waited, if that was left out.
    pub left_out: Option<Micros>,
    /// The sets of labels of all threads; the times in it mean nothing.
    pub label_sets: Labels,
    /// The labels of each sample; empty if no sample has any.
    pub labels: Vec<Option<LabelSetId>>,
    /// The number of samples as they were recorded.
    pub recorded: u64,
    /// The indexes of samples that are one recorded sample together with the next: first the thread waited, then it
    /// ran.
    pub split: Vec<usize>,
}

impl MergedThreads {
    /// Merges threads that have the same time origin. Scripts that `eval` made keep their ids, unless another thread
    /// has used them: engines count them per thread.
    pub fn of<'a>(threads: impl IntoIterator<Item = &'a Trace>) -> Result<Self, TableFull> {
        Self::by(Clock::default(), threads)
    }

    /// The same with other times.
    pub fn by<'a>(clock: Clock, threads: impl IntoIterator<Item = &'a Trace>) -> Result<Self, TableFull> {
        let mut merged = Self::default();
        let mut evaluated = EvaluatedScripts::default();
        for thread in threads {
            let renumbered = evaluated.renumbered(thread);
            let thread = renumbered.as_ref().unwrap_or(thread);
            let interval = thread.interval();
            let mut thread = Cow::Borrowed(thread);
            if thread.calls().is_some() {
                // Fails only if the table of stacks is full.
                let _ = thread.to_mut().add_call_samples();
            }
            merged.recorded += thread.samples().len() as u64;
            merged.states_durations |= thread.durations().is_some();
            let knows_waiting = thread.waiting().is_some();
            merged.with_waiting_times += usize::from(knows_waiting);
            let start = merged.weights.len();
            if clock != Clock::Wall && knows_waiting {
                let split = thread.to_mut().add_waiting_frames();
                if clock == Clock::WaitingApart {
                    merged.split.extend(split.into_iter().map(|index| start + index));
                }
            }
            let mut weights = thread.weights();
            merged.gaps.include(thread.gaps());
            if clock == Clock::Cpu && knows_waiting {
                let left_out = thread.to_mut().remove_waiting(&mut weights);
                let sum = left_out.into_iter().fold(Micros::ZERO, Micros::saturating_add);
                merged.left_out = Some(merged.left_out.unwrap_or_default().saturating_add(sum));
            }
            merged.add_labels(&thread)?;
            merged.weights.append(&mut weights);
            merged.ranges.push(start..merged.weights.len());
            merged.interval = merged.interval.or(interval);
            merged.trace.merge(&thread)?;
            // They are those of a thread.
            merged.trace.set_waiting(None);
            merged.trace.set_labels(None);
        }
        if !merged.labels.is_empty() {
            merged.labels.resize(merged.weights.len(), None);
        }
        Ok(merged)
    }

    /// Adds the labels of a thread whose samples come next.
    ///
    /// Fails if there are 2^32 sets.
    pub fn add_labels(&mut self, thread: &Trace) -> Result<(), TableFull> {
        let Some(labels) = thread.labels() else { return Ok(()) };
        let ids = self.label_sets.add_sets(labels)?;
        self.labels.resize(self.weights.len(), None);
        let of_samples = labels.of_samples(thread.samples()).into_iter();
        self.labels.extend(of_samples.map(|id| id.map(|id| ids[id.index()])));
        Ok(())
    }
}

/// The ids of evaluated scripts in the threads so far.
#[derive(Default)]
struct EvaluatedScripts {
    used: HashSet<u32>,
}

impl EvaluatedScripts {
    /// The thread with other ids for those scripts whose ids are used; `None` if it needs none.
    fn renumbered(&mut self, thread: &Trace) -> Option<Trace> {
        let own: Vec<u32> = thread.resources().iter().filter_map(|(_, url)| evaluated_script(url)).collect();
        let mut next = own.iter().chain(&self.used).max().copied().unwrap_or(0);
        let mut changed: HashMap<String, String> = HashMap::new();
        for id in own {
            if !self.used.insert(id) {
                // No thread has so many scripts.
                next = next.saturating_add(1);
                self.used.insert(next);
                changed.insert(evaluated_resource(id), evaluated_resource(next));
            }
        }
        if changed.is_empty() {
            return None;
        }
        thread.with_resources(|url| changed.get(url).map_or(url, String::as_str)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;
    use crate::sample::Sample;
    use crate::stack::Stack;
    use crate::summary::Summary;

    #[test]
    fn evaluated_scripts_of_different_threads_stay_apart() {
        let thread = |urls: &[&str]| {
            let mut trace = Trace::new();
            let name = trace.name("f").unwrap();
            for url in urls {
                let resource = trace.resource(url).ok();
                let frame = trace.frame(Frame { name, resource, line: None, column: None }).unwrap();
                let stack = trace.stack(Stack { parent: None, frame }).ok();
                trace.push_sample(Sample { timestamp: Micros(1), stack, marker: None });
            }
            trace
        };
        let threads =
            [thread(&["(eval 7)", "a.js"]), thread(&["(eval 9)", "(eval 7)", "a.js"]), thread(&["(eval 9)"])];
        let merged = MergedThreads::of(&threads).unwrap().trace;
        let resource = |sample: &Sample| {
            let frame = merged.frames()[merged.stacks()[sample.stack.unwrap()].frame];
            &merged.resources()[frame.resource.unwrap()]
        };
        let resources: Vec<&str> = merged.samples().iter().map(resource).collect();
        assert_eq!(resources, ["(eval 7)", "a.js", "(eval 9)", "(eval 10)", "a.js", "(eval 11)"]);
    }

    #[test]
    fn samples_keep_the_weights_of_their_threads() {
        let thread = |name: &str, times: &[u64]| {
            let mut trace = Trace::new();
            let name = trace.name(name).unwrap();
            let frame = trace.frame(Frame { name, resource: None, line: None, column: None }).unwrap();
            let stack = trace.stack(Stack { parent: None, frame }).ok();
            for &time in times {
                trace.push_sample(Sample { timestamp: Micros(time), stack, marker: None });
            }
            trace
        };
        let threads =
            [thread("a", &[0, 10, 30]), thread("b", &[]), thread("a", &[1005, 1010]), thread("c", &[5])];

        let merged = MergedThreads::of(&threads).unwrap();

        assert_eq!(merged.weights, [10, 10, 20, 5, 5, 0].map(Micros));
        assert_eq!(merged.ranges, [0..3, 3..3, 3..5, 5..6]);
        assert_eq!(merged.interval, Some(Micros(10)));
        let summary = Summary::of_merged(&merged);
        let rows: Vec<_> = summary.functions.iter().map(|row| (row.self_time.0, row.self_samples)).collect();
        assert_eq!(rows, [(50, 5), (0, 1)]);
        assert_eq!(summary.interval, Some(Micros(10)));
    }
}
