//! [States](https://wicg.github.io/js-self-profiling/#states): samples are taken only in the started state.

use selfprof_session::{Instant, Recording, Span};

use crate::notation::{Brackets, EVERYTHING, segment, show};

/// Spans as `(from, to)`, with 0 for an open end.
#[track_caller]
fn check(segments: &[(&str, &[(u64, u64)])], expected: &str) {
    let mut recording = Recording::new(EVERYTHING);
    for (notation, spans) in segments {
        let span = |&(from, to)| Span { from: Instant(from), to: (to != 0).then_some(Instant(to)) };
        let spans: Vec<_> = spans.iter().map(span).collect();
        recording.append(&segment(notation), &spans, &[], &Brackets).unwrap();
    }
    assert_eq!(show(&recording.finish()), expected);
}

#[test]
fn both_edges_belong_to_a_span() {
    check(&[("1 a, 2 b, 3 c, 4 d, 5 e", &[(2, 4)])], "2 b, 3 c, 4 d");
    check(&[("1 a, 2 b, 3 c", &[(2, 0)])], "2 b, 3 c");
    check(&[("1 a, 2 b, 3 c", &[(2, 2)])], "2 b");
}

#[test]
fn nothing_is_taken_between_pause_and_resumption() {
    check(&[("1 a, 2 b, 3 c, 4 d, 5 e", &[(1, 2), (4, 0)])], "1 a, 2 b, 4 d, 5 e");
    check(&[("1 a, 2 b, 3 c", &[])], "");
}

#[test]
fn a_sample_on_two_edges_is_taken_once() {
    check(&[("1 a, 2 b, 3 c", &[(1, 2), (2, 0)])], "1 a, 2 b, 3 c");
}

#[test]
fn spans_reach_over_seams() {
    check(&[("1 a, 2 b", &[(1, 0)]), ("2 b, 3 c, 4 d", &[(1, 3)])], "1 a, 2 b, 3 c");
    check(&[("1 a, 2 b", &[(1, 1)]), ("2 b, 3 c, 4 d", &[(3, 0)])], "1 a, 3 c, 4 d");
}
