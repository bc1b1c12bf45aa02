//! The sums per function.

use std::cmp::Reverse;

use super::{CallTree, Tally};
use crate::{FrameId, Micros, StackId, Trace};

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

/// The rows of all functions that were seen, most self time first.
pub(super) fn rows(trace: &Trace, tree: &CallTree) -> Vec<FunctionRow> {
    let mut own = vec![Tally::default(); trace.frames().len()];
    let mut total = own.clone();
    walk(trace, tree, |stack, frame, is_outermost| {
        let Some(node) = tree.node(stack) else { return };
        own[frame.index()].include(node.own);
        if is_outermost {
            total[frame.index()].include(node.total);
        }
    });
    let mut rows: Vec<FunctionRow> = trace
        .frames()
        .iter()
        .zip(own.iter().zip(&total))
        .filter(|(_, (_, total))| total.samples > 0)
        .map(|((frame, _), (own, total))| FunctionRow {
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

/// Visits every stack, parents first. The visitor is told whether the stack's frame is the outermost call of
/// its function on it: only such stacks add to the function's total, or recursion would count twice.
///
/// Keeps its own list of what to do, since a stack may be deeper than the thread's.
fn walk(trace: &Trace, tree: &CallTree, mut visit: impl FnMut(StackId, FrameId, bool)) {
    enum Step {
        Enter(StackId),
        Leave(FrameId),
    }
    // How often each function is on the way from the root to the present node.
    let mut on_path = vec![0_u32; trace.frames().len()];
    let mut steps: Vec<Step> = tree.roots().iter().copied().map(Step::Enter).collect();
    while let Some(step) = steps.pop() {
        match step {
            Step::Enter(stack) => {
                let frame = trace.stacks()[stack].frame;
                visit(stack, frame, on_path[frame.index()] == 0);
                on_path[frame.index()] += 1;
                steps.push(Step::Leave(frame));
                steps.extend(tree.children(stack).iter().copied().map(Step::Enter));
            }
            Step::Leave(frame) => on_path[frame.index()] -= 1,
        }
    }
}
