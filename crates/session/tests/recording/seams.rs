//! Segments overlap and may be out of order; the trace is neither.

use selfprof_session::{Instant, RawSegment, Recording, RecordingOptions};
use selfprof_trace::Micros;

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
fn timestamps_lie_on_the_grid_of_the_clock() {
    #[track_caller]
    fn check(origin: u64, resolution: u64, expected: &str) {
        let options =
            RecordingOptions { origin: Instant(origin), resolution: Micros(resolution), ..EVERYTHING };
        assert_eq!(show(&record(options, &["100 a, 104 b, 105 c, 109 a, 110 b"])), expected);
    }
    check(0, 1, "100 a, 104 b, 105 c, 109 a, 110 b");
    check(0, 5, "100 a, 100 b, 105 c, 105 a, 110 b");
    // The time since the origin is rounded, as in a reading of the clock.
    check(2, 5, "95 a, 100 b, 100 c, 105 a, 105 b");
    check(0, 100, "100 a, 100 b, 100 c, 100 a, 100 b");
}

/// Whether a sample is due does not depend on the rounding: a coarse clock loses no sample and adds none.
#[test]
fn a_coarse_clock_takes_the_same_samples() {
    let options = RecordingOptions { interval: Micros(10), resolution: Micros(100), ..EVERYTHING };
    let trace = record(options, &["0 a, 4 b, 10 c, 20 a, 110 b"]);
    assert_eq!(show(&trace), "0 a, 0 c, 0 a, 100 b");
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
