//! Requested samples.

use selfprof_session::{AgentState, Forced, Instant, Recording, RecordingOptions};
use selfprof_trace::{Marker, Micros};

use crate::notation::{ALWAYS, Brackets, EVERYTHING, segment, show};

fn forced(at: u64, keep: bool) -> Forced {
    Forced { within: Instant(at - 1)..=Instant(at + 1), keep }
}

/// Samples every 10 µs; each at `out_of_turn` is kept or not.
#[track_caller]
fn check(samples: &str, out_of_turn: &[(u64, bool)], expected: &str) {
    let forced: Vec<_> = out_of_turn.iter().map(|&(at, keep)| forced(at, keep)).collect();
    let mut recording = Recording::new(RecordingOptions { interval: Micros(10), ..EVERYTHING });
    recording.append(&segment(samples), ALWAYS, &forced, &Brackets).unwrap();
    assert_eq!(show(&recording.finish()), expected);
}

#[test]
fn it_is_kept_whether_or_not_one_is_due() {
    check("0 a, 4 b, 10 a, 20 b, 30 a", &[(4, true), (20, true)], "0 a, 4 b, 10 a, 20 b, 30 a");
    check("0 a, 2 b, 5 b, 8 b, 10 a", &[(2, true), (5, true), (8, true)], "0 a, 2 b, 5 b, 8 b, 10 a");
}

#[test]
fn it_does_not_move_the_other_samples() {
    check("0 a, 9 b, 19 a, 21 c, 29 a", &[(9, true), (21, true)], "0 a, 9 b, 19 a, 21 c, 29 a");
    check("0 a, 8 b, 11 a, 20 a", &[(8, true)], "0 a, 8 b, 11 a, 20 a");
}

#[test]
fn a_session_that_does_not_keep_it_is_not_affected() {
    check("0 a, 8 b, 12 a, 20 a", &[(8, false)], "0 a, 12 a, 20 a");
    check("0 a, 10 b, 20 a", &[(10, false)], "0 a, 20 a");
    // Not even as a neighbour of a garbage collection.
    check("0 a;b, 10 gc, 15 a;c, 20 a;b", &[(15, false)], "0 a;b, 10 a;b gc, 20 a;b");
    check("0 a;b, 10 gc, 15 a;c, 20 a;b", &[(15, true)], "0 a;b, 10 a gc, 15 a;c, 20 a;b");
}

/// A script requests a sample in a host function, but the sample must show what the script was doing.
#[test]
fn it_is_marked_as_what_it_interrupts() {
    for (notation, expected) in [("0 a", Some(Marker::Script)), ("0", Some(Marker::Script))] {
        let mut segment = segment(notation);
        segment.samples[0].state = AgentState::External;
        segment.samples[0].at = Instant(5);
        let mut recording = Recording::new(EVERYTHING);
        recording.append(&segment, ALWAYS, &[forced(5, true)], &Brackets).unwrap();
        assert_eq!(recording.finish().samples()[0].marker, expected, "{notation:?}");
    }
}

#[test]
fn it_fills_the_buffer() {
    let options = RecordingOptions { interval: Micros(10), limit: Some(2), ..EVERYTHING };
    let mut recording = Recording::new(options);
    let outcome = recording.append(&segment("0 a, 3 b"), ALWAYS, &[forced(3, true)], &Brackets).unwrap();
    assert_eq!((outcome.became_full, outcome.earliest_full), (false, Some(Instant(10))));
    let outcome = recording.append(&segment("6 b"), ALWAYS, &[forced(6, true)], &Brackets).unwrap();
    assert!(outcome.became_full);
    assert_eq!(show(&recording.finish()), "0 a, 3 b");
}
