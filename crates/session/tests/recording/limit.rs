//! The sample buffer size limit: step 1 of
//! [take a sample](https://wicg.github.io/js-self-profiling/#take-a-sample).

use selfprof_session::{BufferPolicy, Recording, RecordingOptions};
use selfprof_trace::Micros;

use crate::notation::{EVERYTHING, append, show};

/// After each segment: whether the buffer became full, and when to check again.
type Seen = (bool, Option<u64>);

#[track_caller]
fn check(limit: u64, segments: &[(&str, Seen)], expected: &str) {
    let options = RecordingOptions { interval: Micros(10), limit: Some(limit), ..EVERYTHING };
    let mut recording = Recording::new(options);
    for &(segment, (became_full, earliest_full)) in segments {
        let outcome = append(&mut recording, segment);
        let earliest = outcome.earliest_full.map(|at| at.0);
        assert_eq!((outcome.became_full, earliest), (became_full, earliest_full), "{segment:?}");
    }
    let was_full = segments.iter().any(|(_, (became_full, _))| *became_full);
    assert_eq!((recording.is_full(), recording.taken() <= limit), (was_full, true));
    assert_eq!(show(&recording.finish()), expected);
}

#[test]
fn the_buffer_is_full_when_one_more_sample_is_due() {
    check(2, &[("0 a", (false, Some(20))), ("10 a", (false, Some(20))), ("20 a", (true, None))], "0 a, 10 a");
    check(2, &[("0 a, 10 a, 20 a, 30 a", (true, None))], "0 a, 10 a");
}

#[test]
fn it_becomes_full_once() {
    let twice = [("0 a, 10 a", (true, None)), ("20 a, 30 a", (false, None)), ("", (false, None))];
    check(1, &twice, "0 a");
}

#[test]
fn samples_that_are_not_due_do_not_fill_it() {
    check(1, &[("0 a, 1 a, 2 a", (false, Some(10))), ("3 a, 4 a", (false, Some(10)))], "0 a");
}

#[test]
fn a_buffer_of_size_zero_holds_nothing() {
    check(0, &[("", (false, None)), ("0 a", (true, None)), ("10 a", (false, None))], "");
}

#[test]
fn a_sample_that_does_not_fit_leaves_nothing_in_the_tables() {
    for limit in [0, 1] {
        let mut recording =
            Recording::new(RecordingOptions { interval: Micros(10), limit: Some(limit), ..EVERYTHING });
        let _ = append(&mut recording, "0 a, 10 b");
        let trace = recording.finish();
        let counts = [trace.names().len(), trace.frames().len(), trace.stacks().len()];
        assert_eq!(counts, [limit as usize; 3]);
    }
}

#[test]
fn missed_slots_postpone_the_next_check() {
    check(3, &[("0 a, 50 a", (false, Some(70)))], "0 a, 50 a");
}

#[test]
fn a_collection_before_the_end_still_gets_its_stack() {
    check(2, &[("0 a, 10 gc, 20 a", (true, None))], "0 a, 10 a gc");
}

#[test]
fn without_a_limit_no_check_is_due() {
    let mut recording = Recording::new(EVERYTHING);
    assert_eq!(append(&mut recording, "0 a, 1 a, 2 a").earliest_full, None);
}

#[test]
fn a_recording_with_too_many_stacks_is_full_whatever_its_policy() {
    let chunks = BufferPolicy::Chunks { most_waiting: 9 };
    let policies = [BufferPolicy::Stop, BufferPolicy::Circular, chunks];
    for policy in policies {
        let options = RecordingOptions { limit: Some(100), most_stacks: Some(4), policy, ..EVERYTHING };
        let mut recording = Recording::new(options);
        assert!(!append(&mut recording, "0 a, 1 a;b, 2 a;b, 3 a;b").became_full, "{policy:?}");
        assert!(append(&mut recording, "4 c;d, 5 a, 6 e").became_full, "{policy:?}");
        assert_eq!(show(&recording.finish()), "0 a, 1 a;b, 2 a;b, 3 a;b, 4 c;d", "{policy:?}");
    }
}

#[test]
fn a_recording_of_long_names_is_full_whatever_its_policy() {
    let chunks = BufferPolicy::Chunks { most_waiting: 9 };
    let policies = [BufferPolicy::Stop, BufferPolicy::Circular, chunks];
    for policy in policies {
        // Two frames and a script take 100 bytes each, beside 19 for names and 6 for the URL.
        let options =
            RecordingOptions { limit: Some(100), most_frame_bytes: Some(326), policy, ..EVERYTHING };
        let mut recording = Recording::new(options);
        assert!(!append(&mut recording, "0 ten_bytes1, 1 nine_byte, 2 ten_bytes1").became_full, "{policy:?}");
        assert!(append(&mut recording, "3 a;ten_bytes2, 4 b, 5 ten_bytes1").became_full, "{policy:?}");
        let expected = "0 ten_bytes1, 1 nine_byte, 2 ten_bytes1, 3 a;ten_bytes2";
        assert_eq!(show(&recording.finish()), expected, "{policy:?}");
    }
}

#[test]
fn stacks_and_names_of_samples_that_were_dropped_do_not_count() {
    for (most_stacks, most_frame_bytes) in [(Some(80), None), (None, Some(8_500))] {
        let options = RecordingOptions {
            limit: Some(1),
            most_stacks,
            most_frame_bytes,
            policy: BufferPolicy::Circular,
            ..EVERYTHING
        };
        let mut recording = Recording::new(options);
        for at in 0..1_000 {
            assert!(!append(&mut recording, &format!("{at} f{at}")).became_full);
        }
    }
}

#[test]
fn samples_that_are_not_due_leave_one_stack_of_each_segment_and_none_in_full_tables() {
    let stacks = |most_stacks| {
        let mut recording =
            Recording::new(RecordingOptions { interval: Micros(1_000), most_stacks, ..EVERYTHING });
        for at in 0..100 {
            let segment = format!("{} a{at}, {} b{at}, {} c{at}", 3 * at, 3 * at + 1, 3 * at + 2);
            assert!(!append(&mut recording, &segment).became_full);
        }
        recording.trace().stacks().len()
    };
    assert_eq!(stacks(None), 101);
    assert_eq!(stacks(Some(5)), 5);
}
