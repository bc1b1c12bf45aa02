//! The call tree with its times.

use std::cmp::Reverse;
use std::ops::Range;

use super::tally::Tally;
use crate::id::StackId;
use crate::micros::Micros;
use crate::stack::Stack;
use crate::trace::Trace;

/// The call tree of a trace. Its nodes are the trace's stacks, with their times.
#[derive(Clone, Debug)]
pub struct CallTree {
    /// Indexed like the table of stacks.
    nodes: Vec<CallNode>,
    /// The children of all nodes, the roots first; each node has a range of them.
    children: Vec<StackId>,
    roots: Range<usize>,
}

/// The time of one stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallNode {
    /// The samples with exactly this stack.
    pub own: Tally,
    /// The samples with this stack or a descendant.
    pub total: Tally,
    children: Range<usize>,
}

impl CallTree {
    /// Builds the call tree, in time linear in samples and stacks, except for sorting siblings.
    pub fn of(trace: &Trace) -> Self {
        Self::new(trace, &trace.weights())
    }

    /// Like [`CallTree::of`], with known weights.
    pub(super) fn new(trace: &Trace, weights: &[Micros]) -> Self {
        let mut nodes = sums(trace, weights);
        let (children, roots) = siblings(trace, &mut nodes);
        Self { nodes, children, roots }
    }

    /// The node of a stack; `None` if the stack is from another trace.
    pub fn node(&self, stack: StackId) -> Option<&CallNode> {
        self.nodes.get(stack.index())
    }

    /// The stacks without a parent, most total time first, then by id.
    pub fn roots(&self) -> &[StackId] {
        &self.children[self.roots.clone()]
    }

    /// The children of a stack, most total time first, then by id.
    pub fn children(&self, stack: StackId) -> &[StackId] {
        self.node(stack).map_or(&[], |node| &self.children[node.children.clone()])
    }
}

/// The nodes with their times, without their children.
fn sums(trace: &Trace, weights: &[Micros]) -> Vec<CallNode> {
    let empty = CallNode { own: Tally::default(), total: Tally::default(), children: 0..0 };
    let mut nodes = vec![empty; trace.stacks().len()];
    for (sample, &weight) in trace.samples().iter().zip(weights) {
        if let Some(stack) = sample.stack {
            nodes[stack.index()].own.add(weight);
        }
    }
    // Children have larger ids than their parents, so a node's total is complete before it is added to its parent's.
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

/// Groups the stacks by parent (a counting sort, so linear) and sorts each node's children by total time.
///
/// Sets the ranges of the nodes. Returns the list that they refer to, and the range of the roots.
fn siblings(trace: &Trace, nodes: &mut [CallNode]) -> (Vec<StackId>, Range<usize>) {
    let mut roots = 0..0;
    for (_, Stack { parent, .. }) in trace.stacks().iter() {
        match parent {
            Some(parent) => nodes[parent.index()].children.end += 1,
            None => roots.end += 1,
        }
    }
    // So far, `end` of each range is its length. Place each range after the previous one, and empty it.
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
