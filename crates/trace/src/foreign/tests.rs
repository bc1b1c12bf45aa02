//! Each kind of problem with its remedy, and random garbage.

use proptest::prelude::*;

use super::*;
use crate::{
    Entries, Entry, EntryType, Frame, Marker, Micros, ResourceId, Sample, Stack, Trace, UnknownMarker,
};

const MAIN: ForeignFrame<'static> =
    ForeignFrame { name: "main", resource_id: None, line: None, column: None };

/// A foreign trace with one resource and these elements.
fn foreign(
    frames: &[ForeignFrame<'_>],
    stacks: &[(Option<f64>, f64)],
    samples: &[ForeignSample],
) -> ForeignTrace {
    let mut foreign = ForeignTrace::new(Limits::default());
    foreign.push_resource("file:///a.js").unwrap();
    frames.iter().for_each(|frame| foreign.push_frame(frame).unwrap());
    for &(parent_id, frame_id) in stacks {
        foreign.push_stack(ForeignStack { parent_id, frame_id }).unwrap();
    }
    samples.iter().for_each(|&sample| foreign.push_sample(sample).unwrap());
    foreign
}

fn sentences(problems: &Problems) -> Vec<String> {
    problems.list().iter().map(Problem::to_string).collect()
}

#[test]
fn invalid_frames_are_repaired() {
    #[track_caller]
    fn check(
        (resource_id, line, column): (Option<f64>, Option<f64>, Option<f64>),
        expected: (Option<usize>, Option<u32>, Option<u32>),
        problems: &[&str],
    ) {
        let frame = ForeignFrame { name: "f", resource_id, line, column };
        let (trace, found) = foreign(&[frame], &[], &[]).validate();
        let Frame { resource, line, column, .. } = trace.frames().iter().next().unwrap().1;
        let got = (resource.map(ResourceId::index), line.map(Into::into), column.map(Into::into));
        assert_eq!((got, sentences(&found)), (expected, problems.iter().map(ToString::to_string).collect()));
    }
    check((Some(0.0), Some(3.0), Some(4.0)), (Some(0), Some(3), Some(4)), &[]);
    check((Some(-0.0), None, None), (Some(0), None, None), &[]);
    let dangling = |id| {
        format!(
            "frames[0].resourceId is {id}, which is not the id of an entry: the frame is kept without a \
             location"
        )
    };
    for (value, shown) in [(1.0, "1"), (-1.0, "-1"), (0.5, "0.5"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")]
    {
        check((Some(value), Some(3.0), Some(4.0)), (None, None, None), &[&dangling(shown)]);
    }
    check(
        (Some(0.0), Some(0.0), Some(4294967296.0)),
        (Some(0), None, None),
        &[
            "frames[0].line is 0, which is not a 1-based line or column: the frame is kept without it",
            "frames[0].column is 4294967296, which is not a 1-based line or column: the frame is kept \
             without it",
        ],
    );
    check(
        (None, Some(3.0), None),
        (None, None, None),
        &["frames[0].line is 3, which belongs to a frame without a resource: the frame is kept without it"],
    );
}

#[test]
fn invalid_stacks_are_repaired() {
    /// `expected` has the parent and the frame of each remaining stack, in the order of the trace.
    #[track_caller]
    fn check(stacks: &[(Option<f64>, f64)], expected: &[(Option<usize>, usize)], problems: &[&str]) {
        let frames = ["a", "b", "c"].map(|name| ForeignFrame { name, ..MAIN });
        let (trace, found) = foreign(&frames, stacks, &[]).validate();
        let got: Vec<_> = trace
            .stacks()
            .iter()
            .map(|(_, Stack { parent, frame })| (parent.map(|id| id.index()), frame.index()))
            .collect();
        assert_eq!(got, expected);
        assert_eq!(sentences(&found), problems);
    }
    check(&[(None, 0.0), (Some(0.0), 1.0)], &[(None, 0), (Some(0), 1)], &[]);
    // Children before their parents, and equal entries.
    check(&[(Some(1.0), 1.0), (Some(2.0), 0.0), (None, 2.0)], &[(None, 2), (Some(0), 0), (Some(1), 1)], &[]);
    check(&[(None, 0.0), (None, 0.0), (Some(1.0), 1.0)], &[(None, 0), (Some(0), 1)], &[]);
    check(
        &[(Some(0.0), 0.0)],
        &[(None, 0)],
        &[
            "stacks[0].parentId is 0, which makes the stack its own ancestor: the stack is kept without a parent",
        ],
    );
    check(
        &[(Some(2.0), 0.0), (Some(0.0), 1.0), (Some(1.0), 2.0)],
        &[(None, 1), (Some(0), 2), (Some(1), 0)],
        &[
            "stacks[1].parentId is 0, which makes the stack its own ancestor: the stack is kept without a parent",
        ],
    );
    check(
        &[(Some(0.5), 0.0), (Some(9.0), 1.0)],
        &[(None, 0), (None, 1)],
        &[
            "stacks[0].parentId is 0.5, which is not the id of an entry: the stack is kept without a parent",
            "stacks[1].parentId is 9, which is not the id of an entry: the stack is kept without a parent",
        ],
    );
    check(
        &[(None, 0.0), (Some(0.0), 3.0), (Some(1.0), 2.0)],
        &[(None, 0), (Some(0), 2)],
        &["stacks[1].frameId is 3, which is not the id of an entry: the stack is replaced by its parent"],
    );
}

#[test]
fn invalid_samples_are_repaired() {
    #[track_caller]
    fn check(samples: &[(f64, Option<f64>)], expected: &[(u64, bool)], problems: &[&str]) {
        let samples: Vec<_> = samples
            .iter()
            .map(|&(timestamp, stack_id)| ForeignSample { timestamp, stack_id, marker: None })
            .collect();
        let (trace, found) = foreign(&[MAIN], &[(None, 0.0)], &samples).validate();
        let got: Vec<_> =
            trace.samples().iter().map(|sample| (sample.timestamp.0, sample.stack.is_some())).collect();
        assert_eq!(got, expected);
        assert_eq!(sentences(&found), problems);
    }
    check(&[(0.1, Some(0.0)), (0.2, None)], &[(100, true), (200, false)], &[]);
    check(
        &[(1.0, Some(1.0))],
        &[(1000, false)],
        &["samples[0].stackId is 1, which is not the id of an entry: the sample is kept without a stack"],
    );
    // Values that cannot be an index are reported as they were read.
    let invalid = [-1.0, 4_294_967_294.0, 4_294_967_295.0, 0.5, f64::INFINITY];
    let samples: Vec<_> = invalid.iter().flat_map(|&id| [(1.0, Some(0.0)), (1.0, Some(id))]).collect();
    let messages: Vec<String> = invalid
        .iter()
        .zip((1..).step_by(2))
        .map(|(id, index)| {
            format!(
                "samples[{index}].stackId is {id}, which is not the id of an entry: the sample is kept without a stack"
            )
        })
        .collect();
    let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
    check(&samples, &[(1000, true), (1000, false)].repeat(invalid.len()), &messages);
    check(
        &[(-1.0, None), (f64::NAN, None), (1.0, None)],
        &[(1000, false)],
        &[
            "samples[0].timestamp is -1, which is not a valid timestamp: the sample is dropped",
            "samples[1].timestamp is NaN, which is not a valid timestamp: the sample is dropped",
        ],
    );
    check(
        &[(2.0, Some(0.0)), (1.0, None), (2.0, None)],
        &[(1000, false), (2000, true), (2000, false)],
        &["samples[1].timestamp is 1, which is earlier than the previous one: the list is sorted"],
    );
}

#[test]
fn unknown_markers_become_other() {
    let sample = |marker| ForeignSample { timestamp: 0.0, stack_id: None, marker: Some(marker) };
    let samples = [sample(Ok(Marker::Gc)), sample(Err(UnknownMarker))];
    let (trace, problems) = foreign(&[], &[], &samples).validate();
    let markers: Vec<_> = trace.samples().iter().map(|sample| sample.marker).collect();
    assert_eq!(markers, [Some(Marker::Gc), Some(Marker::Other)]);
    assert_eq!(sentences(&problems), ["samples[1].marker is not a known marker: it is replaced by `other`"]);
}

#[test]
fn invalid_entries_are_repaired_or_dropped() {
    /// The entry type, start time and duration of a raw entry.
    type Raw<'text> = (&'text str, Option<f64>, Option<f64>);
    /// `expected` has `type start duration` of each remaining entry.
    #[track_caller]
    fn check(entries: &[Raw<'_>], expected: &[&str], problems: &[&str]) {
        let mut foreign = foreign(&[], &[], &[]);
        for &(entry_type, start_time, duration) in entries {
            let entry_type = Some(entry_type.parse());
            foreign.push_entry(&ForeignEntry { entry_type, name: Some("n"), start_time, duration }).unwrap();
        }
        let (trace, found) = foreign.validate();
        let spell = |entry: &Entry| format!("{} {} {}", entry.entry_type, entry.start_time, entry.duration);
        let list = trace.entries().map(Entries::list).unwrap_or_default();
        assert_eq!(list.iter().map(spell).collect::<Vec<_>>(), expected);
        assert_eq!(sentences(&found), problems);
    }
    check(&[], &[], &[]);
    check(
        &[
            ("measure", Some(-7.5), Some(10.0)),
            ("mark", Some(1.23456789), Some(0.0)),
            ("mark", Some(1e300), None),
        ],
        &["measure -7.5 10", "mark 1.23456789 0", "mark 1e+300 0"],
        &[],
    );
    // A measure may have a negative duration.
    check(&[("measure", Some(5.0), Some(-2.0))], &["measure 5 -2"], &[]);
    check(
        &[("resource", Some(1.0), Some(2.0)), ("mark", Some(2.0), Some(0.0))],
        &["mark 2 0"],
        &["entries[0].entryType is neither `mark` nor `measure`: the entry is dropped"],
    );
    check(
        &[("mark", Some(-1.0), Some(0.0)), ("mark", Some(1.0), Some(3.0))],
        &["mark 1 0"],
        &[
            "entries[0].startTime is -1, which is not a valid timestamp: the entry is dropped",
            "entries[1].duration is 3, which is a duration, but marks have none: the mark is kept without it",
        ],
    );
    check(
        &[
            ("mark", Some(f64::NAN), Some(0.0)),
            ("mark", None, None),
            ("measure", Some(f64::INFINITY), Some(0.0)),
            ("measure", Some(1.0), None),
            ("measure", Some(1.0), Some(f64::NEG_INFINITY)),
        ],
        &[],
        &[
            "entries[0].startTime is NaN, which is not a number of milliseconds: the entry is dropped",
            "entries[1].startTime is not a number of milliseconds: the entry is dropped",
            "entries[2].startTime is inf, which is not a number of milliseconds: the entry is dropped",
            "entries[3].duration is not a number of milliseconds: the entry is dropped",
            "entries[4].duration is -inf, which is not a number of milliseconds: the entry is dropped",
        ],
    );
    check(
        &[("mark", Some(2.0), None), ("measure", Some(1.0), Some(1.0)), ("mark", Some(1.0), None)],
        &["measure 1 1", "mark 1 0", "mark 2 0"],
        &["entries[1].startTime is 1, which is earlier than the previous one: the list is sorted"],
    );
}

#[test]
fn entries_that_are_not_a_list_are_ignored() {
    let nothing = ForeignEntry { entry_type: None, name: None, start_time: None, duration: None };
    let mut foreign = foreign(&[], &[], &[]);
    foreign.push_entry(&nothing).unwrap();
    foreign.push_entry(&ForeignEntry { entry_type: Some(Ok(EntryType::Mark)), ..nothing }).unwrap();
    foreign.set_entries_unreadable();
    foreign.set_dropped_entries(Some(-1.0));
    let mut forgotten = foreign.clone();
    let (trace, problems) = foreign.validate();
    assert!(trace.entries().unwrap().is_empty());
    assert_eq!(
        sentences(&problems),
        [
            "entries is not a list of entries: it is ignored",
            "entries[0].entryType is neither `mark` nor `measure`: the entry is dropped",
            "entries[1].name is not a string: the entry is dropped",
            "droppedEntriesCount is -1, which is not a number of entries: it is ignored",
        ]
    );
    forgotten.forget_entries();
    let (trace, problems) = forgotten.validate();
    assert!(trace.entries().is_none() && problems.is_empty());
}

#[test]
fn a_deep_chain_needs_no_recursion() {
    let depth = 1_000_000;
    let mut foreign = ForeignTrace::new(Limits::default());
    foreign.push_frame(&MAIN).unwrap();
    // The innermost stack is first, so that resolving it visits the whole chain.
    for index in 1..=depth {
        let parent_id = (index < depth).then_some(f64::from(index));
        foreign.push_stack(ForeignStack { parent_id, frame_id: 0.0 }).unwrap();
    }
    foreign.push_sample(ForeignSample { timestamp: 0.0, stack_id: Some(0.0), marker: None }).unwrap();
    let (trace, problems) = foreign.validate();
    assert!(problems.is_empty());
    let leaf = trace.samples()[0].stack.unwrap();
    assert_eq!(trace.path(leaf).count(), depth as usize);
    assert_eq!(crate::summary::Summary::of(&trace).functions[0].total_samples, 1);
}

#[test]
fn limits_are_enforced() {
    let limits = Limits { resources: 1, frames: 1, stacks: 1, samples: 1, entries: 1, text_bytes: 8 };
    #[track_caller]
    fn check(mut push: impl FnMut() -> Result<(), LimitExceeded>, expected: &str) {
        assert_eq!(push(), Ok(()));
        assert_eq!(push().unwrap_err().to_string(), expected);
    }
    let mut foreign = ForeignTrace::new(limits);
    check(|| foreign.push_resource("url"), "the trace has more than 1 resources");
    check(|| foreign.push_frame(&MAIN), "the trace has more than 1 frames");
    check(
        || foreign.push_stack(ForeignStack { parent_id: None, frame_id: 0.0 }),
        "the trace has more than 1 stacks",
    );
    check(
        || foreign.push_sample(ForeignSample { timestamp: 0.0, stack_id: None, marker: None }),
        "the trace has more than 1 samples",
    );
    let mark = ForeignEntry {
        entry_type: Some(Ok(EntryType::Mark)),
        name: None,
        start_time: Some(0.0),
        duration: None,
    };
    check(|| foreign.push_entry(&mark), "the trace has more than 1 entries");
    let mut foreign = ForeignTrace::new(Limits { text_bytes: 99, frames: 2, ..limits });
    foreign.push_frame(&MAIN).unwrap();
    foreign.push_frame(&MAIN).unwrap();
    assert_eq!(foreign.set_evaluated(0.0, 1.0, [None; 2]), None);
    assert_eq!(foreign.set_evaluated(1.0, 2.0, [None; 2]), Some(ProblemKind::EvaluatedLimit));
    let mut foreign = ForeignTrace::new(Limits { resources: 9, ..limits });
    check(|| foreign.push_resource("12345"), "the trace has more than 8 bytes of text");
    let mut foreign = ForeignTrace::new(Limits { entries: 9, ..limits });
    let named = ForeignEntry { name: Some("12345"), ..mark };
    check(|| foreign.push_entry(&named), "the trace has more than 8 bytes of text");
}

#[test]
fn problems_beyond_the_list_are_counted() {
    let samples = [ForeignSample { timestamp: -1.0, stack_id: None, marker: None }; 1000];
    let (_, problems) = foreign(&[], &[], &samples).validate();
    assert_eq!(problems.list().len(), Problems::LISTED);
    assert_eq!((problems.count(ProblemKind::Timestamp), problems.total()), (1000, 1000));
}

/// Random numbers, most of them valid ids.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![8 => (0..12_u8).prop_map(f64::from), 1 => any::<f64>()]
}

proptest! {
    #[test]
    fn garbage_becomes_a_valid_trace(
        frames in prop::collection::vec(
            (any::<u8>(), prop::option::of(number()), prop::option::of(number()), prop::option::of(number())),
            0..10,
        ),
        stacks in prop::collection::vec((prop::option::of(number()), number()), 0..12),
        samples in prop::collection::vec((number(), prop::option::of(number())), 0..12),
        entries in prop::collection::vec(
            (any::<Option<bool>>(), any::<bool>(), prop::option::of(number()), prop::option::of(number())),
            0..12,
        ),
    ) {
        let names: Vec<String> = frames.iter().map(|frame| (frame.0 % 3).to_string()).collect();
        let frames: Vec<_> = frames
            .iter()
            .zip(&names)
            .map(|(&(_, resource_id, line, column), name)| ForeignFrame { name, resource_id, line, column })
            .collect();
        let samples: Vec<_> = samples
            .iter()
            .map(|&(timestamp, stack_id)| ForeignSample { timestamp, stack_id, marker: None })
            .collect();
        let mut foreign = foreign(&frames, &stacks, &samples);
        for (is_mark, has_name, start_time, duration) in entries {
            let entry_type = is_mark.map(|is_mark| Ok(EntryType::ALL[usize::from(!is_mark)]));
            let name = has_name.then_some("n");
            foreign.push_entry(&ForeignEntry { entry_type, name, start_time, duration }).unwrap();
        }
        let (trace, _) = foreign.validate();
        prop_assert!(trace.stacks().iter().all(|(id, stack)| stack.parent < Some(id)));
        prop_assert!(trace.samples().is_sorted_by_key(|sample| sample.timestamp));
        for sample in trace.samples() {
            let depth = sample.stack.map_or(0, |stack| trace.path(stack).count());
            prop_assert!(depth <= trace.stacks().len());
        }
        let entries = trace.entries().map(Entries::list).unwrap_or_default();
        prop_assert!(entries.is_sorted_by_key(|entry| entry.start_time));
        let _ = crate::summary::Summary::of(&trace);
    }

    #[test]
    fn valid_traces_are_unchanged(trace in crate::testing::trace()) {
        let (back, problems) = raw(&trace).validate();
        prop_assert!(problems.is_empty());
        prop_assert_eq!(crate::testing::parts(&back), crate::testing::parts(&trace));
    }
}

/// Pushes a valid trace as a reader would.
fn raw(trace: &Trace) -> ForeignTrace {
    let mut foreign = ForeignTrace::new(Limits::default());
    for (_, url) in trace.resources().iter() {
        foreign.push_resource(url).unwrap();
    }
    for (_, frame) in trace.frames().iter() {
        let number = |number: Option<std::num::NonZeroU32>| number.map(|number| f64::from(number.get()));
        foreign
            .push_frame(&ForeignFrame {
                name: &trace.names()[frame.name],
                resource_id: frame.resource.map(|id| id.index() as f64),
                line: number(frame.line),
                column: number(frame.column),
            })
            .unwrap();
    }
    for (_, stack) in trace.stacks().iter() {
        let (parent_id, frame_id) = (stack.parent.map(|id| id.index() as f64), stack.frame.index() as f64);
        foreign.push_stack(ForeignStack { parent_id, frame_id }).unwrap();
    }
    for &Sample { timestamp: Micros(micros), stack, marker } in trace.samples() {
        let (timestamp, stack_id) = (micros as f64 / 1000.0, stack.map(|id| id.index() as f64));
        foreign.push_sample(ForeignSample { timestamp, stack_id, marker: marker.map(Ok) }).unwrap();
    }
    if let Some(entries) = trace.entries() {
        foreign.begin_entries();
        for entry in entries.list() {
            let (start_time, duration) = (Some(entry.start_time.get()), Some(entry.duration.get()));
            let (entry_type, name) = (Some(Ok(entry.entry_type)), Some(&entries.names()[entry.name]));
            foreign.push_entry(&ForeignEntry { entry_type, name, start_time, duration }).unwrap();
        }
        foreign.set_dropped_entries(Some(entries.dropped() as f64));
    }
    foreign
}
