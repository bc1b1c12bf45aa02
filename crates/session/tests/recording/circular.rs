//! A circular buffer holds the last samples, and only the table entries that they use.

use proptest::prelude::*;
use selfprof_session::{AgentState, Function, FunctionKind};
use selfprof_session::{BufferPolicy, Instant, RawNode, RawSample, RawSegment, Recording, RecordingOptions};
use selfprof_trace::Micros;

use crate::notation::{ALWAYS, Brackets, EVERYTHING, append, record, show, show_samples, show_stacks};
use crate::random::{assert_no_more_than_used, segments};

fn circular(limit: u64) -> RecordingOptions {
    RecordingOptions { limit: Some(limit), policy: BufferPolicy::Circular, ..EVERYTHING }
}

#[track_caller]
fn check(limit: u64, segments: &[&str], expected: &str) {
    let trace = record(circular(limit), segments);
    assert_eq!(show(&trace), expected);
    assert_no_more_than_used(&trace);
}

#[test]
fn the_last_samples_are_kept() {
    check(2, &["0 a, 1 b, 2 c"], "1 b, 2 c");
    check(2, &["0 a, 1 b", "1 b, 2 c", "3 d"], "2 c, 3 d");
    check(9, &["0 a, 1 b"], "0 a, 1 b");
    check(1, &["0 a, 1 b"], "1 b");
    check(0, &["0 a, 1 b"], "");
}

#[test]
fn it_is_never_full() {
    let mut recording = Recording::new(circular(2));
    for segment in ["0 a, 1 b, 2 c", "3 d, 4 e"] {
        let outcome = append(&mut recording, segment);
        assert_eq!((outcome.became_full, outcome.earliest_full), (false, None));
    }
    assert_eq!((recording.is_full(), recording.taken()), (false, 5));
}

#[test]
fn collections_at_the_edge_get_their_stack() {
    check(2, &["0 a;b, 1 gc, 2 a;c"], "1 a gc, 2 a;c");
    check(1, &["0 a;b, 1 gc", "2 gc"], "2 gc");
    check(2, &["0 a;b, 1 gc", "2 gc, 3 a;c"], "2 a gc, 3 a;c");
}

#[test]
fn stacks_come_in_the_order_of_their_use() {
    let trace = record(circular(3), &["0 z;y;x, 1 b;c, 2 a, 3 b"]);
    assert_eq!(show_stacks(&trace), ["b", "b;c", "a"]);
}

#[test]
fn without_a_limit_everything_is_kept() {
    let options = RecordingOptions { limit: None, ..circular(0) };
    assert_eq!(show(&record(options, &["0 a, 1 b", "2 c"])), "0 a, 1 b, 2 c");
}

/// Every sample has a stack of its own: two functions, the inner one new each time.
fn ever_new_stacks(from: u64, count: u64) -> RawSegment {
    let mut segment = RawSegment { strings: vec!["main".into(), "app.js".into()], ..RawSegment::default() };
    let function =
        |name| Function { name, resource: 1, script_id: 1, line: 7, column: 0, kind: FunctionKind::Script };
    segment.functions.push(function(0));
    segment.nodes.push(RawNode { parent: None, function: 0 });
    for at in from..from + count {
        let state = AgentState::JavaScript;
        segment.strings.push(format!("function {at}").into());
        segment.functions.push(function(segment.strings.len() as u32 - 1));
        segment.nodes.push(RawNode { parent: Some(0), function: segment.functions.len() as u32 - 1 });
        let node = Some(segment.nodes.len() as u32 - 1);
        segment.samples.push(RawSample { at: Instant(at), node, state });
    }
    segment
}

/// At one sample a millisecond these are ten minutes of the worst case.
#[test]
fn neither_samples_nor_tables_grow_without_end() {
    const LIMIT: u64 = 1_000;
    const SEGMENT: u64 = 2_000;
    let mut recording = Recording::new(circular(LIMIT));
    let mut most = [0; 4];
    for segment in 0..300 {
        recording.append(&ever_new_stacks(segment * SEGMENT, SEGMENT), ALWAYS, &[], &Brackets).unwrap();
        let trace = recording.trace();
        let held = [trace.samples().len(), trace.stacks().len(), trace.frames().len(), trace.names().len()];
        most = std::array::from_fn(|index| most[index].max(held[index]));
    }
    assert!(most[0] < 1_500, "{} samples", most[0]);
    // What a sweep leaves alone, twice what the samples use, and a segment.
    assert!(most[1..].iter().all(|&held| held < 11_000), "{most:?}");
    let trace = recording.finish();
    assert_eq!((trace.samples().len() as u64, trace.stacks().len() as u64), (LIMIT, LIMIT + 1));
    assert_no_more_than_used(&trace);
}

/// The stack before a collection may belong to no sample, because none was due.
#[test]
fn a_sweep_keeps_the_stack_before_a_collection() {
    let mut recording = Recording::new(RecordingOptions { interval: Micros(10), ..circular(1) });
    recording.append(&ever_new_stacks(0, 50_000), ALWAYS, &[], &Brackets).unwrap();
    assert_eq!(recording.trace().stacks().len(), 5_002);
    append(&mut recording, "50010 gc, 50020 main;x");
    assert!(recording.trace().stacks().len() < 1_000, "the tables were swept before");
    let samples = recording.trace().samples();
    let last = &samples[samples.len() - 2..];
    assert_eq!(show_samples(recording.trace(), last), "50010 main gc, 50020 main;x");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn it_equals_the_end_of_an_unlimited_recording(
        segments in segments(),
        limit in 0_u64..40,
        interval in 1_u64..4,
    ) {
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let endless = record(RecordingOptions { interval: Micros(interval), ..EVERYTHING }, &segments);
        let trace = record(RecordingOptions { interval: Micros(interval), ..circular(limit) }, &segments);
        let first = endless.samples().len().saturating_sub(limit as usize);
        prop_assert_eq!(show(&trace), show_samples(&endless, &endless.samples()[first..]));
        assert_no_more_than_used(&trace);
    }
}
