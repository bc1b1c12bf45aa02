//! Segments overlap and may be out of order; the trace is neither.

use selfprof_session::{Instant, RawSegment, Recording, RecordingOptions};

use crate::notation::{ALWAYS, Brackets, EVERYTHING, append, record, show};

#[track_caller]
fn check(segments: &[&str], expected: &str) {
    assert_eq!(show(&record(EVERYTHING, segments)), expected);
}

#[test]
fn a_sample_in_two_segments_is_taken_once() {
    check(&["0 a, 1 b, 2 c", "1 b, 2 c, 3 d"], "0 a, 1 b, 2 c, 3 d");
    check(&["0 a, 1 b", "0 a, 1 b", "2 c"], "0 a, 1 b, 2 c");
}

#[test]
fn samples_of_a_segment_are_put_in_order() {
    check(&["2 c, 0 a, 1 b"], "0 a, 1 b, 2 c");
    check(&["1 b, 0 a", "3 d, 1 b, 2 c"], "0 a, 1 b, 2 c, 3 d");
}

#[test]
fn an_empty_segment_changes_nothing() {
    check(&["", "0 a", "", "1 b", ""], "0 a, 1 b");
}

#[test]
fn timestamps_count_from_the_origin() {
    #[track_caller]
    fn check(origin: u64, expected: &str) {
        let options = RecordingOptions { origin: Instant(origin), ..EVERYTHING };
        assert_eq!(show(&record(options, &["100 a, 150 b"])), expected);
    }
    check(0, "100 a, 150 b");
    check(90, "10 a, 60 b");
    // A worker's sampler may be older than its time origin.
    check(120, "0 a, 30 b");
}

#[test]
fn lost_samples_are_counted() {
    let mut recording = Recording::new(EVERYTHING);
    for lost in [3, 0, 4] {
        let segment = RawSegment { lost, ..RawSegment::default() };
        recording.append(&segment, ALWAYS, &[], &Brackets).unwrap();
    }
    append(&mut recording, "0 a");
    assert_eq!((recording.lost(), recording.taken()), (7, 1));
}
