//! Summaries of traces that are written as text.

use proptest::prelude::*;

use super::*;
use crate::{Entries, Entry, EntryType, Frame, Millis, RecommendedMark, Sample, Stack, StackId};

/// A trace with one sample per millisecond. Each is a stack, root first with one letter per frame, then `!marker`;
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
    /// `expected` has `function self total`, in samples (one per millisecond).
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
    // Direct and indirect recursion count once per path.
    check("aaa aa", &["a 2 2"]);
    check("aba abab", &["a 1 2", "b 1 2"]);
    check("abc acb", &["b 1 2", "c 1 2", "a 0 2"]);
    check("ca da", &["a 2 2", "c 0 1", "d 0 1"]);
}

#[test]
fn scripts_are_summed_up() {
    /// Upper-case functions are in the script `A`, lower-case ones are native; `!` is the garbage collector.
    #[track_caller]
    fn check(samples: &[&str], expected: &[&str]) {
        let mut trace = Trace::new();
        for (time, path) in (0..).zip(samples) {
            let mut stack = None;
            for name in path.chars() {
                let resource = name.is_ascii_uppercase().then(|| trace.resource("A").unwrap());
                let name = trace
                    .name(&if name == '!' { crate::GARBAGE_COLLECTOR.into() } else { name.to_string() })
                    .unwrap();
                let frame = trace.frame(crate::Frame { name, resource, line: None, column: None }).unwrap();
                stack = Some(trace.stack(crate::Stack { parent: stack, frame }).unwrap());
            }
            trace.push_sample(Sample { timestamp: Micros(time * 1000), stack, marker: None });
        }
        let row = |row: &ResourceRow| {
            let name = match row.code {
                Code::Script(id) => &trace.resources()[id],
                Code::Native => "native",
                Code::Gc => "gc",
                Code::Waiting => "waiting",
            };
            format!("{name} {} {}", row.self_samples, row.total_samples)
        };
        assert_eq!(Summary::of(&trace).resources.iter().map(row).collect::<Vec<_>>(), expected);
    }
    check(&[], &[]);
    check(&["AB", "Ax", "AxB", "x", "B"], &["A 3 4", "native 2 3"]);
    check(&["x"], &["native 1 1"]);
    check(&["A!", "x!", "A"], &["gc 2 2", "A 1 2", "native 0 1"]);
}

#[test]
fn times_are_summed_up_by_marker() {
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

/// A trace without samples; `name@time` is a mark, `name@start+duration` a measure.
fn trace_with(entries: &str) -> Trace {
    let mut list = Entries::new();
    for entry in entries.split_whitespace() {
        let (name, times) = entry.split_once('@').unwrap();
        let name = list.name(name).unwrap();
        let (entry_type, start, duration) = match times.split_once('+') {
            Some((start, duration)) => (EntryType::Measure, start, duration),
            None => (EntryType::Mark, times, "0"),
        };
        let [start_time, duration] =
            [start, duration].map(|text| Millis::new(text.parse().unwrap()).unwrap());
        list.push(Entry { entry_type, name, start_time, duration }).unwrap();
    }
    let mut trace = Trace::new();
    trace.set_entries(Some(list));
    trace
}

#[test]
fn measures_add_up_by_name() {
    /// `expected` has `name count total longest`.
    #[track_caller]
    fn check(entries: &str, expected: &[&str]) {
        let trace = trace_with(entries);
        let names = trace.entries().unwrap().names();
        let row =
            |row: &MeasureRow| format!("{} {} {} {}", &names[row.name], row.count, row.total, row.longest);
        assert_eq!(Summary::of(&trace).measures.iter().map(row).collect::<Vec<_>>(), expected);
    }
    check("", &[]);
    check("a@1", &[]);
    check("a@1+2 b@0+10.5 a@7+3 a@9", &["b 1 10.5 10.5", "a 2 5 3"]);
    // Equal totals are sorted by the longest measure, then by id.
    check("a@0+1 a@0+1 b@0+2 c@0+2", &["b 1 2 2", "c 1 2 2", "a 2 2 1"]);
    check("a@5+-3 a@5+1", &["a 2 -2 1"]);
    check("a@0+1e308 a@0+1.7e308", &["a 2 1.7976931348623157e+308 1.7e+308"]);
}

#[test]
fn marks_are_grouped_by_name() {
    /// `expected` has `name count first last` and the meaning.
    #[track_caller]
    fn check(entries: &str, expected: &[&str]) {
        let trace = trace_with(entries);
        let names = trace.entries().unwrap().names();
        let meaning = |row: &MarkRow| row.recommended.map_or("", RecommendedMark::meaning);
        let row = |row: &MarkRow| {
            format!("{} {} {} {} {}", &names[row.name], row.count, row.first, row.last, meaning(row))
        };
        assert_eq!(Summary::of(&trace).marks.iter().map(row).collect::<Vec<_>>(), expected);
    }
    check("a@1+2", &[]);
    check("b@3 a@1 b@2.5 a@0", &["a 2 0 1 ", "b 2 2.5 3 "]);
    check(
        "mark_interactive@5 mark_above_the_fold@4 mark_fully_visible@3 mark_fully_loaded@2 mark_time_to_user_action@1",
        &[
            "mark_time_to_user_action 1 1 1 first user action",
            "mark_fully_loaded 1 2 2 fully loaded",
            "mark_fully_visible 1 3 3 fully visible",
            "mark_above_the_fold 1 4 4 above the fold presented",
            "mark_interactive 1 5 5 interactive",
        ],
    );
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
