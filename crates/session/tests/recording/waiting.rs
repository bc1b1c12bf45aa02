//! How long the thread waited, from its CPU times and samples.

use selfprof_session::{CpuTime, Instant, RawSegment, Recording, RecordingOptions};
use selfprof_trace::Micros;

use super::notation::{ALWAYS, Brackets, EVERYTHING, segment};

const WORK: &str = "1000 a, 2000 a, 3000 a, 4000 a";

fn with_cpu_times(samples: &str, times: &[(u64, u64)]) -> RawSegment {
    let time = |&(at, cpu): &(u64, u64)| CpuTime { at: Instant(at), cpu: Micros(cpu), is_after_gap: false };
    RawSegment { cpu_times: Some(times.iter().map(time).collect()), ..segment(samples) }
}

/// Each segment has samples, and CPU times. `expected` has the points: when, and how long the thread had waited.
#[track_caller]
fn check(segments: &[(&str, &[(u64, u64)])], expected: &[(u64, u64)]) {
    let mut recording = Recording::new(RecordingOptions { waiting: true, ..EVERYTHING });
    let mut found = Vec::new();
    for (samples, times) in segments {
        recording.append(&with_cpu_times(samples, times), ALWAYS, &[], &Brackets).unwrap();
        found.extend(recording.drain_waiting().iter().map(|point| (point.timestamp.0, point.waited.0)));
    }
    assert_eq!(found, expected);
}

#[test]
fn a_thread_that_runs_does_not_wait() {
    check(&[(WORK, &[(1000, 0), (4000, 3000)])], &[(1000, 0)]);
    // Nor does one whose clocks are a little apart.
    check(&[(WORK, &[(1000, 0), (4000, 2960)])], &[(1000, 0)]);
}

#[test]
fn a_busy_thread_that_does_not_run_waits() {
    check(&[(WORK, &[(1000, 0), (2000, 1000), (4000, 1000)])], &[(1000, 0), (2000, 0), (4000, 2000)]);
    // In several segments.
    check(
        &[
            ("1000 a, 2000 a", &[(1000, 0), (2000, 0)]),
            ("3000 a, 4000 a", &[(4000, 0)]),
            ("5000 a", &[(5000, 1000)]),
        ],
        &[(1000, 0), (2000, 1000), (4000, 3000)],
    );
    // In a part of the time between two samples.
    check(&[("1000 a, 9000 a", &[(1000, 0), (9000, 2000)])], &[(1000, 0), (9000, 6000)]);
}

#[test]
fn an_idle_thread_does_not_wait() {
    check(&[("1000, 2000, 3000", &[(1000, 0), (3000, 20)])], &[(1000, 0)]);
    // Short tasks: two are found by samples, and two are not.
    check(
        &[(
            "1000, 2000 a, 3000 a, 4000, 5000, 6000",
            &[(1000, 0), (2000, 500), (3000, 1000), (4000, 1500), (5000, 2100), (6000, 2100)],
        )],
        &[(1000, 0)],
    );
}

#[test]
fn cpu_time_before_idle_samples_is_carried_into_the_next_segment() {
    check(
        &[
            ("1000, 2000, 3000 a", &[(1000, 0), (2000, 550), (3000, 1550)]),
            // Twice 500 µs in which it did not run: it was idle once.
            ("4000 a", &[(4000, 2050)]),
            ("5000 a", &[(5000, 2550)]),
        ],
        &[(1000, 0), (4000, 0), (5000, 500)],
    );
}

#[test]
fn time_after_an_idle_sample_is_not_waiting() {
    check(&[("1000, 9000 a", &[(1000, 0), (9000, 500)])], &[(1000, 0)]);
}

#[test]
fn waiting_in_one_place_is_not_idle_time() {
    // There is CPU time before an idle sample, but the thread did not run at all between the busy samples.
    check(&[("1000 a, 2000 a, 3000", &[(1000, 0), (2000, 40), (3000, 940)])], &[(1000, 0), (2000, 960)]);
}

#[test]
fn nothing_is_known_of_gaps() {
    let points = |is_after_gap| {
        let mut segment = with_cpu_times(WORK, &[(1000, 0), (2000, 1000), (4000, 1000)]);
        segment.cpu_times.as_mut().unwrap()[2].is_after_gap = is_after_gap;
        let mut recording = Recording::new(RecordingOptions { waiting: true, ..EVERYTHING });
        recording.append(&segment, ALWAYS, &[], &Brackets).unwrap();
        recording.drain_waiting().len()
    };
    assert_eq!((points(false), points(true)), (3, 1));
}

#[test]
fn segments_without_cpu_times_and_recordings_that_do_not_ask_have_none() {
    let mut recording = Recording::new(RecordingOptions { waiting: true, ..EVERYTHING });
    recording.append(&segment(WORK), ALWAYS, &[], &Brackets).unwrap();
    assert_eq!(recording.drain_waiting(), []);

    let mut recording = Recording::new(EVERYTHING);
    recording.append(&with_cpu_times(WORK, &[(1000, 0), (4000, 0)]), ALWAYS, &[], &Brackets).unwrap();
    assert_eq!(recording.drain_waiting(), []);
}
