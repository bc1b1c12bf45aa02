//! Which functions called which, for how long.

use std::collections::BTreeMap;

use selfprof_trace::Marker;

use super::frame_info::FrameInfo;
use super::paths::COLLECTOR;
use super::stacks::StackSums;

/// A function as it was called by its parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The function, as an index into [`FlameGraph::functions`].
    pub function: usize,
    /// Its caller, as an index into [`FlameGraph::nodes`]; a caller comes before what it calls.
    pub parent: Option<usize>,
    /// The time in its own code, in microseconds.
    pub self_time: i64,
    /// The time in its own code and in what it calls.
    pub total_time: i64,
}

/// A tree of calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlameGraph {
    /// The functions, in alphabetical order.
    pub functions: Vec<FrameInfo>,
    /// The tree, parents first.
    pub nodes: Vec<Node>,
}

impl FlameGraph {
    /// The tree of these sums.
    pub fn of(sums: &StackSums) -> Self {
        let mut number: BTreeMap<&FrameInfo, usize> = sums.frames.iter().map(|frame| (frame, 0)).collect();
        if sums.rows.iter().any(|row| row.marker == Some(Marker::Gc)) {
            number.insert(&COLLECTOR, 0);
        }
        number.values_mut().enumerate().for_each(|(index, number)| *number = index);
        let mut graph =
            Self { functions: number.keys().map(|&function| function.clone()).collect(), nodes: Vec::new() };
        let mut node_of: BTreeMap<(Option<usize>, usize), usize> = BTreeMap::new();
        for row in &sums.rows {
            let mut parent = None;
            for frame in sums.path(row) {
                let function = number[frame];
                let next = graph.nodes.len();
                let node = *node_of.entry((parent, function)).or_insert(next);
                if node == next {
                    graph.nodes.push(Node { function, parent, self_time: 0, total_time: 0 });
                }
                graph.nodes[node].total_time = graph.nodes[node].total_time.saturating_add(row.weight);
                parent = Some(node);
            }
            if let Some(leaf) = parent {
                graph.nodes[leaf].self_time = graph.nodes[leaf].self_time.saturating_add(row.weight);
            }
        }
        graph
    }
}
