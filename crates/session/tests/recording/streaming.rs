//! A recording that is drained while it is active.

use selfprof_session::Recording;

use crate::notation::{EVERYTHING, append, show_samples};

/// What draining returns after each segment.
#[track_caller]
fn check(steps: &[(&str, &str)], rest: &str) {
    let mut recording = Recording::new(EVERYTHING);
    for (segment, expected) in steps {
        append(&mut recording, segment);
        let drained = recording.drain();
        assert_eq!(show_samples(recording.trace(), &drained), *expected, "after {segment:?}");
    }
    let trace = recording.finish();
    assert_eq!(show_samples(&trace, trace.samples()), rest);
}

#[test]
fn drained_samples_are_gone() {
    check(&[("0 a, 1 b", "0 a, 1 b"), ("", ""), ("2 a", "2 a")], "");
}

#[test]
fn collections_wait_for_their_stack() {
    check(&[("0 a;b, 1 gc", "0 a;b"), ("2 gc", ""), ("3 a;c, 4 gc", "1 a gc, 2 a gc, 3 a;c")], "4 gc");
    check(&[("0 a, 1 gc", "0 a"), ("2, 3 gc", "1 gc, 2")], "3 gc");
    check(&[("0 gc", ""), ("1 a, 2 gc, 3 a", "0 gc, 1 a, 2 a gc, 3 a")], "");
}

#[test]
fn drained_samples_count_as_taken() {
    let mut recording = Recording::new(EVERYTHING);
    append(&mut recording, "0 a, 1 b");
    recording.drain();
    append(&mut recording, "2 a");
    assert_eq!((recording.taken(), recording.trace().samples().len()), (3, 1));
}

#[test]
fn tables_can_be_replaced_between_segments() {
    let mut recording = Recording::new(EVERYTHING);
    append(&mut recording, "0 a;b, 1 a;c");
    assert!(!recording.renew_tables(0), "samples that are not drained keep their tables");
    recording.drain();
    assert!(!recording.renew_tables(3), "so do tables within the limit");
    assert!(recording.renew_tables(2));
    // The collection is still given what it shares with the stack before it, which came with the old tables.
    append(&mut recording, "2 gc, 3 a;d");
    let drained = recording.drain();
    assert_eq!(show_samples(recording.trace(), &drained), "2 a gc, 3 a;d");
    assert_eq!(recording.trace().stacks().len(), 3, "a, a;c, a;d");
}
