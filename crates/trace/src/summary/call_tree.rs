//! The call tree with its sums.

use std::cmp::Reverse;
use std::ops::Range;

use super::Tally;
use crate::weigh::weigh;
use crate::{Micros, Stack, StackId, Trace};

/// The call tree of a trace: its nodes are the trace's stacks, each with what was spent there.
#[derive(Clone, Debug)]
pub struct CallTree {
    /// Indexed like the table of stacks.
    nodes: Vec<CallNode>,
    /// The children of all nodes, the roots first; each node has a range in here.
    children: Vec<StackId>,
    roots: Range<usize>,
}

/// What was spent in one stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallNode {
    /// The samples whose stack is this one.
    pub own: Tally,
    /// The samples whose stack is or begins with this one.
    pub total: Tally,
    children: Range<usize>,
}

impl CallTree {
    /// Builds the call tree, in time linear in samples and stacks, apart from the ordering of siblings.
    pub fn of(trace: &Trace) -> Self {
        Self::new(trace, &weigh(trace.samples()))
    }

    /// Like [`CallTree::of`], with the weights at hand.
    pub(super) fn new(trace: &Trace, weights: &[Micros]) -> Self {
        let mut nodes = sums(trace, weights);
        let (children, roots) = siblings(trace, &mut nodes);
        Self { nodes, children, roots }
    }

    /// The node of a stack; `None` when the stack is of another trace.
    pub fn node(&self, stack: StackId) -> Option<&CallNode> {
        self.nodes.get(stack.index())
    }

    /// The stacks of one frame, those with the most total time first. Ties go by id.
    pub fn roots(&self) -> &[StackId] {
        &self.children[self.roots.clone()]
    }

    /// The stacks that are one call deeper, those with the most total time first. Ties go by id.
    pub fn children(&self, stack: StackId) -> &[StackId] {
        self.node(stack).map_or(&[], |node| &self.children[node.children.clone()])
    }
}

/// The nodes with their sums, without their children.
fn sums(trace: &Trace, weights: &[Micros]) -> Vec<CallNode> {
    let empty = CallNode { own: Tally::default(), total: Tally::default(), children: 0..0 };
    let mut nodes = vec![empty; trace.stacks().len()];
    for (sample, &weight) in trace.samples().iter().zip(weights) {
        if let Some(stack) = sample.stack {
            nodes[stack.index()].own.add(weight);
        }
    }
    // Parents have smaller ids, so all children of a node have added to it before it adds to its parent.
    for (id, Stack { parent, .. }) in trace.stacks().iter().rev() {
        let node = &mut nodes[id.index()];
        node.total.include(node.own);
        let total = node.total;
        if let Some(parent) = parent {
            nodes[parent.index()].total.include(total);
        }
    }
    nodes
}

/// Sorts the stacks by their parents (a counting sort, so linear) and each node's children by their totals.
///
/// Sets the nodes' ranges, and returns what they point into and the range of the roots.
fn siblings(trace: &Trace, nodes: &mut [CallNode]) -> (Vec<StackId>, Range<usize>) {
    let mut roots = 0..0;
    for (_, Stack { parent, .. }) in trace.stacks().iter() {
        match parent {
            Some(parent) => nodes[parent.index()].children.end += 1,
            None => roots.end += 1,
        }
    }
    // Each range has its length as yet. It moves behind the range before it, and empties to be filled again.
    let mut start = roots.end;
    for node in nodes.iter_mut() {
        let length = node.children.end;
        node.children = start..start;
        start += length;
    }
    roots.end = 0;
    let mut by_parent = vec![None; trace.stacks().len()];
    for (id, Stack { parent, .. }) in trace.stacks().iter() {
        let range = parent.map_or(&mut roots, |parent| &mut nodes[parent.index()].children);
        by_parent[range.end] = Some(id);
        range.end += 1;
    }
    let mut children: Vec<StackId> = by_parent.into_iter().flatten().collect();
    for range in nodes.iter().map(|node| &node.children).chain([&roots]) {
        let heaviest_first = |id: &StackId| (Reverse(nodes[id.index()].total.time), *id);
        children[range.clone()].sort_unstable_by_key(heaviest_first);
    }
    (children, roots)
}
