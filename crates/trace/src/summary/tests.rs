//! The sums, over traces that are written as text.

use proptest::prelude::*;

use super::*;
use crate::{Frame, Sample, Stack, StackId};

/// A trace with one sample a millisecond. Each is a stack, root first with one letter a frame, then `!marker`;
/// `-` is an empty stack.
fn trace_of(samples: &str) -> Trace {
    let mut trace = Trace::new();
    for (index, sample) in samples.split_whitespace().enumerate() {
        let (path, marker) = sample.split_once('!').unwrap_or((sample, ""));
        let mut stack: Option<StackId> = None;
        for letter in path.trim_start_matches('-').chars() {
            let name = trace.name(&letter.to_string()).unwrap();
            let frame = trace.frame(Frame { name, resource: None, line: None, column: None }).unwrap();
            stack = Some(trace.stack(Stack { parent: stack, frame }).unwrap());
        }
        let timestamp = Micros(index as u64 * 1000);
        trace.push_sample(Sample { timestamp, stack, marker: marker.parse().ok() });
    }
    trace
}

#[test]
fn functions_have_self_and_total_time() {
    /// `expected`: `function self total`, in samples, which are milliseconds here.
    #[track_caller]
    fn check(samples: &str, expected: &[&str]) {
        let trace = trace_of(samples);
        let rows: Vec<String> = Summary::of(&trace)
            .functions
            .iter()
            .map(|row| {
                assert_eq!(row.self_time, Micros(row.self_samples * 1000));
                assert_eq!(row.total_time, Micros(row.total_samples * 1000));
                let name = &trace.names()[trace.frames()[row.frame].name];
                format!("{name} {} {}", row.self_samples, row.total_samples)
            })
            .collect();
        assert_eq!(rows, expected);
    }
    check("", &[]);
    check("- -", &[]);
    check("a ab ab", &["b 2 2", "a 1 3"]);
    // Recursion counts once, directly or through another function, and again on a sibling's path.
    check("aaa aa", &["a 2 2"]);
    check("aba abab", &["a 1 2", "b 1 2"]);
    check("abc acb", &["b 1 2", "c 1 2", "a 0 2"]);
    check("ca da", &["a 2 2", "c 0 1", "d 0 1"]);
}

#[test]
fn kinds_of_work_are_told_apart() {
    let summary = Summary::of(&trace_of("a!script a a!gc -!gc - -"));
    let counts = [summary.busy, summary.idle, summary.unmarked, summary.marker(Marker::Gc)];
    assert_eq!(counts.map(|tally| tally.samples), [4, 2, 1, 2]);
    assert_eq!(counts.map(|tally| tally.time), [4000, 2000, 1000, 2000].map(Micros));
    assert_eq!(summary.marker(Marker::Script).samples, 1);
    assert_eq!(summary.samples(), 6);
    assert_eq!(summary.interval, Some(Micros(1000)));
}

#[test]
fn the_call_tree_lists_the_heaviest_first() {
    #[track_caller]
    fn check(samples: &str, expected: &str) {
        let trace = trace_of(samples);
        let tree = CallTree::of(&trace);
        let mut text = String::new();
        let mut steps: Vec<_> = tree.roots().iter().rev().map(|&root| (0, root)).collect();
        while let Some((depth, stack)) = steps.pop() {
            let node = tree.node(stack).unwrap();
            let name = &trace.names()[trace.frames()[trace.stacks()[stack].frame].name];
            text += &format!("{}{name}{}/{} ", ".".repeat(depth), node.own.samples, node.total.samples);
            steps.extend(tree.children(stack).iter().rev().map(|&child| (depth + 1, child)));
        }
        assert_eq!(text.trim_end(), expected);
    }
    check("", "");
    check("a b b", "b2/2 a1/1");
    check("ab ac ac a d", "a1/4 .c2/2 .b1/1 d1/1");
    check("abc", "a0/1 .b0/1 ..c1/1");
}

proptest! {
    #[test]
    fn self_times_add_up_to_the_samples_with_a_stack(trace in crate::testing::trace()) {
        let summary = Summary::of(&trace);
        let with_stack = trace.samples().iter().filter(|sample| sample.stack.is_some()).count() as u64;
        let own: u64 = summary.functions.iter().map(|row| row.self_samples).sum();
        let tree = CallTree::of(&trace);
        let roots: u64 = tree.roots().iter().map(|&root| tree.node(root).unwrap().total.samples).sum();
        prop_assert_eq!((own, roots), (with_stack, with_stack));
        prop_assert_eq!(summary.samples(), trace.samples().len() as u64);
        for row in &summary.functions {
            let seen = |sample: &&Sample| sample.stack.is_some_and(|id| trace.path(id).any(|frame| frame == row.frame));
            prop_assert_eq!(row.total_samples, trace.samples().iter().filter(seen).count() as u64);
        }
    }
}
