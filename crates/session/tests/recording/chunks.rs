//! Full buffers become chunks, and recording goes on without a sample lost or doubled between them.

use proptest::prelude::*;
use selfprof_session::{BufferPolicy, Instant, Recording, RecordingOptions};
use selfprof_trace::{Micros, Sample, Trace};

use crate::notation::{EVERYTHING, append, record, show, show_stacks};
use crate::random::{assert_no_more_than_used, segments};

const MANY: u32 = u32::MAX;

fn chunks_of(limit: u64, most_waiting: u32) -> RecordingOptions {
    RecordingOptions { limit: Some(limit), policy: BufferPolicy::Chunks { most_waiting }, ..EVERYTHING }
}

fn take(recording: &mut Recording) -> Vec<Trace> {
    let chunks = recording.take_chunks();
    chunks.iter().for_each(assert_no_more_than_used);
    chunks
}

/// After each segment, the chunks that it completed; at the end, what is left.
#[track_caller]
fn check(limit: u64, segments: &[(&str, &[&str])], rest: &str) {
    let mut recording = Recording::new(chunks_of(limit, MANY));
    for (segment, expected) in segments {
        let outcome = append(&mut recording, segment);
        assert!(!outcome.became_full, "{segment:?}");
        let chunks: Vec<_> = take(&mut recording).iter().map(show).collect();
        assert_eq!(chunks, *expected, "after {segment:?}");
    }
    let trace = recording.finish();
    assert_no_more_than_used(&trace);
    assert_eq!(show(&trace), rest);
}

#[test]
fn a_full_buffer_becomes_a_chunk_when_one_more_sample_is_due() {
    check(2, &[("0 a, 1 b", &[]), ("2 c", &["0 a, 1 b"]), ("3 d", &[])], "2 c, 3 d");
    check(2, &[("0 a, 1 b, 2 c, 3 d, 4 e", &["0 a, 1 b", "2 c, 3 d"])], "4 e");
    check(1, &[("0 a, 1 b, 2 c", &["0 a", "1 b"])], "2 c");
    check(3, &[("0 a", &[]), ("", &[])], "0 a");
}

#[test]
fn samples_in_two_segments_are_taken_once() {
    check(2, &[("0 a, 1 b", &[]), ("1 b, 2 c", &["0 a, 1 b"]), ("1 b, 2 c, 3 d", &[])], "2 c, 3 d");
}

#[test]
fn a_chunk_waits_for_the_stack_of_its_collections() {
    check(2, &[("0 a;b, 1 gc", &[]), ("2 gc", &[]), ("3 a;c", &["0 a;b, 1 a gc"])], "2 a gc, 3 a;c");
    check(1, &[("0 a;b, 1 gc, 2 gc", &["0 a;b"]), ("3 a;c", &["1 a gc", "2 a gc"])], "3 a;c");
    check(2, &[("0 a, 1 gc", &[])], "0 a, 1 gc");
}

/// A recording is ended by settling it, taking the chunks that this completes, and finishing it.
#[test]
fn at_the_end_waiting_collections_get_no_stack() {
    let mut recording = Recording::new(chunks_of(2, MANY));
    append(&mut recording, "0 a, 1 gc, 2 gc");
    assert!(take(&mut recording).is_empty());
    recording.settle();
    assert_eq!(take(&mut recording).iter().map(show).collect::<Vec<_>>(), ["0 a, 1 gc"]);
    assert_eq!(show(&recording.finish()), "2 gc");
}

#[test]
fn each_chunk_has_tables_of_its_own() {
    let mut recording = Recording::new(chunks_of(2, MANY));
    append(&mut recording, "0 a;b, 1 a, 2 c, 3 a;d, 4 a");
    let stacks: Vec<_> = take(&mut recording).iter().map(show_stacks).collect();
    assert_eq!(stacks, [["a", "a;b"].as_slice(), ["c", "a", "a;d"].as_slice()]);
    assert_eq!(show_stacks(&recording.finish()), ["a"]);
}

#[test]
fn the_next_check_is_when_the_buffer_may_be_full() {
    let options = RecordingOptions { interval: Micros(10), ..chunks_of(3, MANY) };
    let mut recording = Recording::new(options);
    for (segment, expected) in [
        ("", None),
        ("0 a", Some(30)),
        ("10 a, 20 a", Some(30)),
        ("30 a", Some(60)),
        ("90 a", Some(110)),
        ("100 a, 110 a", Some(140)),
    ] {
        let outcome = append(&mut recording, segment);
        assert_eq!(outcome.earliest_full.map(|at| at.0), expected, "{segment:?}");
        recording.take_chunks();
    }
}

#[test]
fn recording_pauses_when_too_many_chunks_wait() {
    let mut recording = Recording::new(chunks_of(2, 1));
    assert!(!append(&mut recording, "0 a, 1 b, 2 c").became_full);
    assert_eq!(take(&mut recording).len(), 1);
    recording.set_waiting_chunks(1);
    assert!(!append(&mut recording, "3 d").became_full, "the buffer is full, but no sample is due");
    assert!(append(&mut recording, "4 e").became_full);
    assert!(!append(&mut recording, "5 f").became_full, "once");
    assert!(recording.is_full() && take(&mut recording).is_empty());

    assert_eq!(recording.resume_recording(Instant(9)), None, "one still waits");
    recording.set_waiting_chunks(0);
    assert_eq!(recording.resume_recording(Instant(9)), Some(Instant(10)));
    assert_eq!(recording.resume_recording(Instant(9)), None, "it goes on already");
    assert!(!append(&mut recording, "6 g, 7 h").became_full);
    assert_eq!(take(&mut recording).iter().map(show).collect::<Vec<_>>(), ["2 c, 3 d"]);
    recording.set_waiting_chunks(1);
    assert!(append(&mut recording, "8 i").became_full, "it may be full again");
    assert_eq!(show(&recording.finish()), "6 g, 7 h");
}

/// Otherwise it would be full again at once, without end.
#[test]
fn recording_does_not_go_on_while_one_buffer_fills_the_tables() {
    let options = RecordingOptions { most_stacks: Some(2), ..chunks_of(3, MANY) };
    let mut recording = Recording::new(options);
    assert!(append(&mut recording, "0 a, 1 b, 2 c").became_full);
    assert_eq!(recording.resume_recording(Instant(9)), None);

    let mut recording = Recording::new(RecordingOptions { most_stacks: Some(4), ..options });
    assert!(append(&mut recording, "0 a, 1 b, 2 b, 3 c, 4 d, 5 e").became_full);
    assert_eq!(take(&mut recording).iter().map(show).collect::<Vec<_>>(), ["0 a, 1 b, 2 b"]);
    assert_eq!(
        recording.resume_recording(Instant(9)),
        Some(Instant(10)),
        "the tables hold what no sample uses"
    );
    assert!(!append(&mut recording, "10 e, 11 d").became_full);
    assert_eq!(take(&mut recording).iter().map(show).collect::<Vec<_>>(), ["3 c, 4 d, 10 e"]);
}

#[test]
fn chunks_of_one_segment_count_too() {
    let mut recording = Recording::new(chunks_of(2, 2));
    assert!(append(&mut recording, "0 a, 1 b, 2 c, 3 d, 4 e, 5 f, 6 g").became_full);
    assert_eq!(take(&mut recording).iter().map(show).collect::<Vec<_>>(), ["0 a, 1 b", "2 c, 3 d"]);
    assert_eq!(show(&recording.finish()), "4 e, 5 f");
}

#[test]
fn samples_on_both_sides_of_a_pause_for_chunks_are_no_neighbours() {
    let mut recording = Recording::new(chunks_of(2, 0));
    assert!(append(&mut recording, "0 a;b, 1 gc, 2 gc").became_full);
    recording.set_waiting_chunks(0);
    assert_eq!(recording.resume_recording(Instant(9)), None, "no chunk may ever wait");

    let mut recording = Recording::new(chunks_of(2, 1));
    append(&mut recording, "0 a;b, 1 a;b, 2 a;b");
    recording.take_chunks();
    recording.set_waiting_chunks(1);
    assert!(append(&mut recording, "3 gc, 4 gc").became_full);
    recording.set_waiting_chunks(0);
    assert_eq!(recording.resume_recording(Instant(9)), Some(Instant(10)));
    append(&mut recording, "9 gc, 10 a;b");
    assert_eq!(take(&mut recording).iter().map(show).collect::<Vec<_>>(), ["2 a;b, 3 gc"]);
    assert_eq!(show(&recording.finish()), "9 gc, 10 a;b");
}

#[test]
fn no_buffer_at_all_is_full_at_once() {
    let mut recording = Recording::new(chunks_of(0, MANY));
    assert!(append(&mut recording, "0 a, 1 b").became_full);
    assert!(take(&mut recording).is_empty());
    assert_eq!(recording.resume_recording(Instant(9)), None);
    assert_eq!(show(&recording.finish()), "");
}

#[test]
fn other_policies_give_no_chunks() {
    for policy in [BufferPolicy::Stop, BufferPolicy::Circular] {
        let mut recording = Recording::new(RecordingOptions { policy, ..chunks_of(1, MANY) });
        append(&mut recording, "0 a, 1 b");
        assert!(recording.take_chunks().is_empty());
        assert_eq!(recording.resume_recording(Instant(9)), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn together_the_chunks_equal_an_unlimited_recording(
        segments in segments(),
        limit in 1_u64..12,
        interval in 1_u64..4,
    ) {
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let interval = Micros(interval);
        let endless = record(RecordingOptions { interval, ..EVERYTHING }, &segments);
        let mut recording = Recording::new(RecordingOptions { interval, ..chunks_of(limit, MANY) });
        let mut chunks = Vec::new();
        for segment in segments {
            append(&mut recording, segment);
            chunks.extend(take(&mut recording));
        }
        recording.settle();
        chunks.extend(take(&mut recording));
        let rest = recording.finish();
        assert_no_more_than_used(&rest);
        prop_assert!(chunks.iter().all(|chunk| chunk.samples().len() as u64 == limit));
        prop_assert!(rest.samples().len() as u64 <= limit);
        prop_assert_eq!(rest.samples().is_empty(), endless.samples().is_empty());
        let together: Vec<String> = chunks.iter().chain([&rest]).map(show).filter(|text| !text.is_empty()).collect();
        prop_assert_eq!(together.join(", "), show(&endless));
    }

    /// With a random consumer: every sample is there once, in order, and no more chunks wait than allowed.
    #[test]
    fn pauses_for_chunks_lose_no_recorded_sample(
        segments in segments(),
        limit in 0_u64..6,
        most_waiting in 0_u32..4,
        consumed in prop::collection::vec(0_usize..3, 10),
    ) {
        let mut recording = Recording::new(chunks_of(limit, most_waiting));
        let mut waiting = 0;
        let mut samples: Vec<Sample> = Vec::new();
        let mut rested = false;
        for (segment, consumed) in segments.iter().zip(consumed) {
            recording.set_waiting_chunks(waiting);
            rested |= append(&mut recording, segment).became_full;
            for chunk in take(&mut recording) {
                prop_assert_eq!(chunk.samples().len() as u64, limit);
                samples.extend(chunk.samples());
                waiting += 1;
            }
            prop_assert!(waiting <= most_waiting as usize);
            prop_assert!(recording.trace().samples().len() as u64 <= limit * (1 + u64::from(most_waiting)));
            waiting = waiting.saturating_sub(consumed);
            recording.set_waiting_chunks(waiting);
            let was_full = recording.is_full();
            prop_assert_eq!(recording.resume_recording(Instant(0)).is_some(), was_full && waiting < most_waiting as usize && limit > 0);
        }
        let taken = recording.taken();
        recording.settle();
        for chunk in take(&mut recording) {
            samples.extend(chunk.samples());
        }
        samples.extend(recording.finish().samples());
        prop_assert_eq!(samples.len() as u64, taken);
        prop_assert!(samples.is_sorted_by(|a, b| a.timestamp < b.timestamp));
        if !rested {
            let endless = record(EVERYTHING, &segments.iter().map(String::as_str).collect::<Vec<_>>());
            prop_assert!(segments.len() > 10 || endless.samples().len() == samples.len());
        }
    }
}
