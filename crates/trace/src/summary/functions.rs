//! The sums per function.

use std::cmp::Reverse;

use super::{CallTree, Tally};
use crate::{FrameId, Micros, ResourceId, StackId, Trace};

/// What was spent in one function, wherever it was called from. A function is a frame: two functions with
/// equal names in different places have two rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionRow {
    /// The function.
    pub frame: FrameId,
    /// The time in its own code.
    pub self_time: Micros,
    /// The time in it and in what it called. Time under recursive calls counts once.
    pub total_time: Micros,
    /// How many samples found it innermost.
    pub self_samples: u64,
    /// How many samples found it anywhere in their stack.
    pub total_samples: u64,
}

/// What was spent in the functions of one script, or in those without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceRow {
    /// The script; `None` for the functions of the host.
    pub resource: Option<ResourceId>,
    /// The time in code of the script.
    pub self_time: Micros,
    /// The time in it and in what it called. Time in which it stands on a stack several times counts once.
    pub total_time: Micros,
    /// How many samples found a function of it innermost.
    pub self_samples: u64,
    /// How many samples found a function of it anywhere in their stack.
    pub total_samples: u64,
}

/// The rows of all functions that were seen, most self time first.
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

/// The rows of all scripts that were seen, most self time first.
pub(super) fn resource_rows(trace: &Trace, tree: &CallTree) -> Vec<ResourceRow> {
    // The functions of the host come last.
    let host = trace.resources().len();
    let group = |frame| trace.frames()[frame].resource.map_or(host, ResourceId::index);
    let mut rows: Vec<ResourceRow> = sums(trace, tree, host + 1, group)
        .into_iter()
        .enumerate()
        .filter(|(_, (_, total))| total.samples > 0)
        .map(|(index, (own, total))| ResourceRow {
            resource: ResourceId::from_index(index).filter(|_| index < host),
            self_time: own.time,
            total_time: total.time,
            self_samples: own.samples,
            total_samples: total.samples,
        })
        .collect();
    rows.sort_unstable_by_key(|row| (Reverse(row.self_time), Reverse(row.total_time), row.resource));
    rows
}

/// What was spent in each of so many groups of functions: in their own code, and in total.
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

/// Visits every stack, parents first. The visitor is told whether the stack's frame is the outermost of its group on it:
/// only such stacks add to the group's total, or recursion would count twice.
///
/// Keeps its own list of what to do, since a stack may be deeper than the thread's.
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
    // How often each group is on the way from the root to the present node.
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
