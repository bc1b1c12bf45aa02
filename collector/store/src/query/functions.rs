//! The times of functions.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::frame_info::FrameInfo;
use super::stacks::StackSums;

/// The times of one function, regardless of its callers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionTimes {
    /// The function.
    pub function: FrameInfo,
    /// The time in its own code, in microseconds.
    pub self_time: i64,
    /// The time in its own code and in what it calls. Recursive calls count once.
    pub total_time: i64,
    /// How many samples it was the innermost function of.
    pub self_samples: i64,
    /// How many samples it was in.
    pub total_samples: i64,
}

/// The functions of a selection, most self time first, and its sums.
#[derive(Clone, Debug, Default)]
pub struct Functions {
    /// The functions.
    pub rows: Vec<FunctionTimes>,
    /// The time of samples with a stack or a marker, in microseconds.
    pub busy: i64,
    /// The time of the other samples.
    pub idle: i64,
    /// How many samples there were.
    pub samples: i64,
}

impl Functions {
    /// The functions of these sums.
    pub fn of(sums: &StackSums) -> Self {
        let mut functions = Self::default();
        let mut index_of: HashMap<&FrameInfo, usize> = HashMap::new();
        let mut on_stack = Vec::new();
        for row in &sums.rows {
            functions.samples += row.count;
            if row.stack.is_none() && row.marker.is_none() {
                functions.idle = functions.idle.saturating_add(row.weight);
                continue;
            }
            functions.busy = functions.busy.saturating_add(row.weight);
            on_stack.clear();
            for frame in sums.path(row) {
                let next = functions.rows.len();
                let index = *index_of.entry(frame).or_insert(next);
                if index == next {
                    let function = frame.clone();
                    functions.rows.push(FunctionTimes {
                        function,
                        self_time: 0,
                        total_time: 0,
                        self_samples: 0,
                        total_samples: 0,
                    });
                }
                on_stack.push(index);
            }
            if let Some(&leaf) = on_stack.last() {
                let leaf = &mut functions.rows[leaf];
                leaf.self_time = leaf.self_time.saturating_add(row.weight);
                leaf.self_samples += row.count;
            }
            on_stack.sort_unstable();
            on_stack.dedup();
            for &index in &on_stack {
                let function = &mut functions.rows[index];
                function.total_time = function.total_time.saturating_add(row.weight);
                function.total_samples += row.count;
            }
        }
        functions.rows.sort_by(|a, b| {
            let key = |row: &FunctionTimes| (Reverse(row.self_time), Reverse(row.total_time));
            key(a).cmp(&key(b)).then_with(|| a.function.cmp(&b.function))
        });
        functions
    }
}
