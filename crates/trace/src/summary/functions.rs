//! The times per function and per script.

use std::cmp::Reverse;

use super::call_tree::CallTree;
use super::tally::Tally;
use crate::id::{FrameId, ResourceId, StackId};
use crate::merged::MergedThreads;
use crate::micros::Micros;
use crate::trace::Trace;

/// The time of one function, regardless of its callers. Functions are frames: two functions of the same name at
/// different locations have two rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionRow {
    /// The function.
    pub frame: FrameId,
    /// The time in its own code.
    pub self_time: Micros,
    /// The time in its own code and its callees. Recursive calls count once.
    pub total_time: Micros,
    /// The number of samples with this function innermost.
    pub self_samples: u64,
    /// The number of samples with this function anywhere in the stack.
    pub total_samples: u64,
}

/// Code that is counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// The functions of a script.
    Script(ResourceId),
    /// Native functions.
    Native,
    /// The garbage collector, see [`Trace::add_gc_frames`].
    Gc,
    /// Waiting, see [`Trace::add_waiting_frames`].
    Waiting,
}

/// The time of the functions of one script, of the native functions, of the garbage collector, or of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceRow {
    /// The code.
    pub code: Code,
    /// The time in the script's code.
    pub self_time: Micros,
    /// The time in the script's code and its callees. A script that is several times on a stack counts once.
    pub total_time: Micros,
    /// The number of samples with one of its functions innermost.
    pub self_samples: u64,
    /// The number of samples with one of its functions anywhere in the stack.
    pub total_samples: u64,
}

/// The rows of all functions in samples, most self time first.
pub(super) fn rows(trace: &Trace, tree: &CallTree) -> Vec<FunctionRow> {
    let mut rows: Vec<FunctionRow> = sums(trace, tree, trace.frames().len(), FrameId::index)
        .into_iter()
        .zip(trace.frames().iter())
        .filter(|((_, total), _)| total.samples > 0)
        .map(|((own, total), (frame, _))| FunctionRow {
            frame,
            self_time: own.time,
            total_time: total.time,
            self_samples: own.samples,
            total_samples: total.samples,
        })
        .collect();
    rows.sort_unstable_by_key(|row| (Reverse(row.self_time), Reverse(row.total_time), row.frame));
    rows
}

/// The rows of all scripts in samples, most self time first.
pub(super) fn resource_rows(trace: &Trace, tree: &CallTree) -> Vec<ResourceRow> {
    // Three groups come after the scripts.
    let native = trace.resources().len();
    let gc = native + 1;
    let waiting = native + 2;
    let group = |frame| match trace.frames()[frame].resource {
        Some(script) => script.index(),
        None if trace.is_gc(frame) => gc,
        None if trace.is_waiting(frame) => waiting,
        None => native,
    };
    let code = |index| match ResourceId::from_index(index) {
        Some(script) if index < native => Code::Script(script),
        _ if index == gc => Code::Gc,
        _ if index == waiting => Code::Waiting,
        _ => Code::Native,
    };
    let mut rows: Vec<ResourceRow> = sums(trace, tree, waiting + 1, group)
        .into_iter()
        .enumerate()
        .filter(|(_, (_, total))| total.samples > 0)
        .map(|(index, (own, total))| ResourceRow {
            code: code(index),
            self_time: own.time,
            total_time: total.time,
            self_samples: own.samples,
            total_samples: total.samples,
        })
        .collect();
    rows.sort_unstable_by_key(|row| (Reverse(row.self_time), Reverse(row.total_time), row.code));
    rows
}

/// The self and total times of groups of code, for a grouping that the caller chooses. `group` returns a number below
/// `groups`.
pub fn group_times(
    merged: &MergedThreads,
    groups: usize,
    group: impl Fn(Code) -> usize,
) -> Vec<(Tally, Tally)> {
    let trace = &merged.trace;
    let tree = CallTree::new(trace, &merged.weights);
    sums(trace, &tree, groups, |frame| {
        group(match trace.frames()[frame].resource {
            Some(script) => Code::Script(script),
            None if trace.is_gc(frame) => Code::Gc,
            None if trace.is_waiting(frame) => Code::Waiting,
            None => Code::Native,
        })
    })
}

/// The self and total times of groups of functions.
fn sums(
    trace: &Trace,
    tree: &CallTree,
    groups: usize,
    group: impl Fn(FrameId) -> usize,
) -> Vec<(Tally, Tally)> {
    let mut sums = vec![(Tally::default(), Tally::default()); groups];
    walk(trace, tree, groups, &group, |stack, group, is_outermost| {
        let Some(node) = tree.node(stack) else { return };
        sums[group].0.include(node.own);
        if is_outermost {
            sums[group].1.include(node.total);
        }
    });
    sums
}

/// Visits every stack, parents first. The visitor also gets whether the stack's frame is the outermost one of its
/// group: only then does the stack add to the group's total, or recursion would count twice.
///
/// Uses a list of steps instead of recursion, because stacks may be very deep.
fn walk(
    trace: &Trace,
    tree: &CallTree,
    groups: usize,
    group: impl Fn(FrameId) -> usize,
    mut visit: impl FnMut(StackId, usize, bool),
) {
    enum Step {
        Enter(StackId),
        Leave(usize),
    }
    // The number of frames of each group on the path from the root to the current node.
    let mut on_path = vec![0_u32; groups];
    let mut steps: Vec<Step> = tree.roots().iter().copied().map(Step::Enter).collect();
    while let Some(step) = steps.pop() {
        match step {
            Step::Enter(stack) => {
                let group = group(trace.stacks()[stack].frame);
                visit(stack, group, on_path[group] == 0);
                on_path[group] += 1;
                steps.push(Step::Leave(group));
                steps.extend(tree.children(stack).iter().copied().map(Step::Enter));
            }
            Step::Leave(group) => on_path[group] -= 1,
        }
    }
}
