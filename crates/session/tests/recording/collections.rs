//! Garbage collections have no stack of their own; they get what the stacks before and after them share.

use selfprof_session::{Instant, Recording, RecordingOptions, Span};
use selfprof_trace::Micros;

use crate::notation::{Brackets, EVERYTHING, record, segment, show};

#[track_caller]
fn check_every(interval: u64, segments: &[&str], expected: &str) {
    let options = RecordingOptions { interval: Micros(interval), ..EVERYTHING };
    assert_eq!(show(&record(options, segments)), expected);
}

#[track_caller]
fn check(segments: &[&str], expected: &str) {
    check_every(1, segments, expected);
}

#[test]
fn a_collection_gets_the_shared_ancestor_of_its_neighbours() {
    check(&["0 a;b;c, 1 gc, 2 a;b;d"], "0 a;b;c, 1 a;b gc, 2 a;b;d");
    check(&["0 a;b, 1 gc, 2 a;b"], "0 a;b, 1 a;b gc, 2 a;b");
    check(&["0 a;b, 1 gc, 2 a"], "0 a;b, 1 a gc, 2 a");
    check(&["0 a, 1 gc, 2 b"], "0 a, 1 gc, 2 b");
}

#[test]
fn it_gets_no_stack_next_to_idle_time_or_an_edge() {
    check(&["0, 1 gc, 2 a"], "0, 1 gc, 2 a");
    check(&["0 a, 1 gc, 2"], "0 a, 1 gc, 2");
    check(&["0 gc, 1 a"], "0 gc, 1 a");
    check(&["0 a, 1 gc"], "0 a, 1 gc");
    check(&["0 gc"], "0 gc");
}

#[test]
fn a_run_of_collections_is_given_one_stack() {
    check(&["0 a;b, 1 gc, 2 gc, 3 gc, 4 a;c"], "0 a;b, 1 a gc, 2 a gc, 3 a gc, 4 a;c");
    check(&["0 a, 1 gc, 2 a;b, 3 gc, 4 a;b"], "0 a, 1 a gc, 2 a;b, 3 a;b gc, 4 a;b");
}

#[test]
fn neighbours_may_lie_in_other_segments() {
    check(&["0 a;b, 1 gc", "2 a;c"], "0 a;b, 1 a gc, 2 a;c");
    check(&["0 a;b", "1 gc", "", "2 gc", "3 a;c"], "0 a;b, 1 a gc, 2 a gc, 3 a;c");
    check(&["0 a;b, 1 gc", "1 gc, 2 a;c"], "0 a;b, 1 a gc, 2 a;c");
}

#[test]
fn neighbours_may_be_samples_that_are_not_due() {
    check_every(10, &["0 a;b, 4 a;c, 10 gc, 12 a;c;d, 20 b"], "0 a;b, 10 a;c gc, 20 b");
    check_every(10, &["0 a;b, 10 gc, 11, 20 a;b"], "0 a;b, 10 gc, 20 a;b");
    // The collection itself may not be due.
    check_every(10, &["0 a, 1 gc, 2 b, 10 a"], "0 a, 10 a");
}

#[test]
fn stacks_of_garbage_collections_that_the_engine_reports_are_ignored() {
    check(&["0 a, 1 b gc, 2 a"], "0 a, 1 a gc, 2 a");
}

#[test]
fn samples_on_both_sides_of_a_pause_are_no_neighbours() {
    let spans = |to| [Span { from: Instant(0), to: Some(Instant(1)) }, Span { from: Instant(5), to }];
    let mut recording = Recording::new(EVERYTHING);
    recording.append(&segment("0 a, 1 gc, 3 b, 5 gc, 6 a, 7 gc"), &spans(None), &[], &Brackets).unwrap();
    recording.append(&segment("8 a"), &spans(None)[1..], &[], &Brackets).unwrap();
    assert_eq!(show(&recording.finish()), "0 a, 1 gc, 5 gc, 6 a, 7 a gc, 8 a");
}
