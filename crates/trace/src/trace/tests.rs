//! Interning, merging, and walking stacks.

use proptest::prelude::*;

use super::*;
use crate::testing::{parts, spelled, trace};
use std::num::NonZeroU32;

/// A trace with these stacks, root first with one letter per frame, and their ids.
fn trace_of(paths: &[&str]) -> (Trace, Vec<StackId>) {
    let mut trace = Trace::new();
    let mut ids = Vec::new();
    for path in paths {
        let mut parent = None;
        for letter in path.chars() {
            let name = trace.name(&letter.to_string()).unwrap();
            let frame = trace.frame(Frame { name, resource: None, line: None, column: None }).unwrap();
            parent = Some(trace.stack(Stack { parent, frame }).unwrap());
        }
        ids.push(parent.unwrap());
    }
    (trace, ids)
}

/// A stack, root first.
fn path_of(trace: &Trace, stack: StackId) -> String {
    let mut path: Vec<&str> = trace.path(stack).map(|id| &trace.names()[trace.frames()[id].name]).collect();
    path.reverse();
    path.concat()
}

#[test]
fn equal_entries_have_one_id() {
    let (trace, ids) = trace_of(&["abc", "abd", "abc", "b"]);
    assert_eq!(ids[0], ids[2]);
    assert_eq!((trace.names().len(), trace.frames().len(), trace.stacks().len()), (4, 4, 5));
}

/// As many bytes as the W3C format has, in which each frame has its name.
#[test]
fn texts_count_once_for_each_frame_and_resource() {
    let mut trace = Trace::new();
    let (name, url) = (trace.name("four").unwrap(), trace.resource("app.js").unwrap());
    let mut frame =
        |line| trace.frame(Frame { name, resource: Some(url), line: NonZeroU32::new(line), column: None });
    let (first, _, _) = (frame(1).unwrap(), frame(2).unwrap(), frame(1).unwrap());
    trace.resource("app.js").unwrap();
    assert_eq!(trace.text_bytes(), 4 + 4 + 6);

    let stack = Some(trace.stack(Stack { parent: None, frame: first }).unwrap());
    trace.push_sample(Sample { timestamp: Micros(1), stack, marker: None });
    assert_eq!(trace.narrowed().text_bytes(), 4 + 6);
    assert_eq!(trace.with_resources(|_| "a").unwrap().text_bytes(), 4 + 4 + 1);
    let mut merged = trace.clone();
    merged.merge(&trace).unwrap();
    assert_eq!(merged.text_bytes(), 4 + 4 + 6);
}

#[test]
fn ids_of_other_traces_are_errors() {
    let (other, ids) = trace_of(&["abc"]);
    let Stack { frame, .. } = other.stacks()[ids[0]];
    let Frame { name, .. } = other.frames()[frame];
    let (mut trace, _) = trace_of(&["a"]);
    let frame_error = trace.frame(Frame { name, resource: None, line: None, column: None });
    assert_eq!(frame_error, Err(InternError::Unknown { table: "name", index: 2 }));
    let stack_error = trace.stack(Stack { parent: None, frame });
    assert_eq!(stack_error, Err(InternError::Unknown { table: "frame", index: 2 }));
    let frame = FrameId::from_index(0).unwrap();
    let parent_error = trace.stack(Stack { parent: Some(ids[0]), frame });
    assert_eq!(parent_error.unwrap_err().to_string(), "the trace has no stack with id 2");
    trace.push_sample(Sample { timestamp: Micros(1), stack: Some(ids[0]), marker: None });
    assert_eq!(trace.samples()[0].stack, None);
    assert_eq!(trace.path(ids[0]).count(), 0);
}

#[test]
fn shared_ancestors_are_common_prefixes() {
    #[track_caller]
    fn check(a: &str, b: &str, expected: Option<&str>) {
        for paths in [[a, b], [b, a]] {
            let (trace, ids) = trace_of(&paths);
            let shared = trace.shared_ancestor(ids[0], ids[1]);
            assert_eq!(shared.map(|id| path_of(&trace, id)).as_deref(), expected);
        }
    }
    check("a", "a", Some("a"));
    check("a", "b", None);
    check("abc", "abd", Some("ab"));
    check("abc", "a", Some("a"));
    check("abcde", "abxy", Some("ab"));
    check("ab", "ba", None);
}

#[test]
fn draining_keeps_the_tables() {
    #[track_caller]
    fn check(up_to: usize, drained: &[u64], left: &[u64]) {
        let (mut trace, ids) = trace_of(&["a"]);
        for time in [1, 2, 3] {
            trace.push_sample(Sample { timestamp: Micros(time), stack: Some(ids[0]), marker: None });
        }
        let times = |samples: &[Sample]| samples.iter().map(|sample| sample.timestamp.0).collect::<Vec<_>>();
        assert_eq!(times(&trace.drain_samples(up_to)), drained);
        assert_eq!(times(trace.samples()), left);
        assert_eq!(trace.stacks().len(), 1);
    }
    check(0, &[], &[1, 2, 3]);
    check(2, &[1, 2], &[3]);
    check(3, &[1, 2, 3], &[]);
    check(9, &[1, 2, 3], &[]);
}

#[test]
fn the_stack_of_a_sample_can_be_set_later() {
    let (mut trace, ids) = trace_of(&["a"]);
    trace.push_sample(Sample { timestamp: Micros(1), stack: None, marker: None });
    assert!(trace.set_sample_stack(0, Some(ids[0])));
    assert_eq!(trace.samples()[0].stack, Some(ids[0]));
    assert!(!trace.set_sample_stack(1, None));
}

proptest! {
    #[test]
    fn merging_appends_the_samples_with_their_stacks(mut first in trace(), second in trace()) {
        let expected = [spelled(&first), spelled(&second)].concat();
        let count = |trace: &Trace| trace.entries().map(|entries| entries.list().len());
        let entries = [&first, &second].into_iter().filter_map(count).reduce(|a, b| a + b);
        first.merge(&second).unwrap();
        prop_assert_eq!(spelled(&first), expected);
        prop_assert_eq!(count(&first), entries);
        prop_assert!(first.entries().is_none_or(|entries| entries.list().is_sorted_by_key(|entry| entry.start_time)));
        prop_assert!(first.stacks().iter().all(|(id, stack)| stack.parent < Some(id)));
    }

    #[test]
    fn merging_into_an_empty_trace_copies(other in trace()) {
        let mut copy = Trace::new();
        copy.merge(&other).unwrap();
        prop_assert_eq!(parts(&copy), parts(&other));
    }

    #[test]
    fn narrowing_keeps_the_entries_that_samples_use(trace in trace()) {
        let narrow = trace.narrowed();
        prop_assert_eq!(spelled(&narrow), spelled(&trace));
        prop_assert_eq!(parts(&narrow).entries, parts(&trace).entries);
        let used: std::collections::HashSet<_> =
            narrow.samples().iter().filter_map(|sample| sample.stack).flat_map(|stack| narrow.path(stack)).collect();
        prop_assert_eq!(used.len(), narrow.frames().len());
        prop_assert_eq!(parts(&narrow.narrowed()), parts(&narrow));
    }

    #[test]
    fn merging_twice_adds_no_entries(other in trace()) {
        let mut twice = other.clone();
        twice.merge(&other).unwrap();
        let (twice, once) = (parts(&twice), parts(&other));
        prop_assert_eq!(twice.names, once.names);
        prop_assert_eq!(twice.resources, once.resources);
        prop_assert_eq!(twice.frames, once.frames);
        prop_assert_eq!(twice.stacks, once.stacks);
        prop_assert_eq!(twice.entries.map(|entries| entries.0), once.entries.map(|entries| entries.0));
    }
}
