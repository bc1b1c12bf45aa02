//! How long the thread waited, from its CPU times and samples.

use selfprof_session::{CpuTime, Instant, RawCpuTimes, Recording, RecordingOptions};
use selfprof_trace::Micros;

use super::notation::{ALWAYS, Brackets, EVERYTHING, segment};

/// A segment in the notation of samples, its CPU times, and how long the event loop waited in it.
struct Part<'a> {
    samples: &'a str,
    times: &'a [(u64, u64)],
    loop_idle: u64,
}

/// `expected` has the points: when, and how long the thread had waited.
#[track_caller]
fn check(parts: &[Part<'_>], expected: &[(u64, u64)]) {
    let mut recording = Recording::new(RecordingOptions { waiting: true, ..EVERYTHING });
    let mut found = Vec::new();
    for part in parts {
        let time =
            |&(at, cpu): &(u64, u64)| CpuTime { at: Instant(at), cpu: Micros(cpu), is_after_gap: false };
        let mut segment = segment(part.samples);
        let times = part.times.iter().map(time).collect();
        segment.cpu_times = Some(RawCpuTimes { times, loop_idle: Micros(part.loop_idle) });
        recording.append(&segment, ALWAYS, &[], &Brackets).unwrap();
        found.extend(recording.drain_waiting().iter().map(|point| (point.timestamp.0, point.waited.0)));
    }
    assert_eq!(found, expected);
}

const WORK: &str = "1000 a, 2000 a, 3000 a, 4000 a";

#[test]
fn a_thread_that_runs_does_not_wait() {
    check(&[Part { samples: WORK, times: &[(1000, 0), (4000, 3000)], loop_idle: 0 }], &[(1000, 0)]);
    // Nor does one whose clocks are a little apart.
    check(&[Part { samples: WORK, times: &[(1000, 0), (4000, 2960)], loop_idle: 0 }], &[(1000, 0)]);
}

#[test]
fn a_busy_thread_that_does_not_run_waits() {
    check(
        &[Part { samples: WORK, times: &[(1000, 0), (2000, 1000), (4000, 1000)], loop_idle: 0 }],
        &[(1000, 0), (2000, 0), (4000, 2000)],
    );
    // In several segments.
    check(
        &[
            Part { samples: "1000 a, 2000 a", times: &[(1000, 0), (2000, 0)], loop_idle: 0 },
            Part { samples: "3000 a, 4000 a", times: &[(4000, 0)], loop_idle: 0 },
            Part { samples: "5000 a", times: &[(5000, 1000)], loop_idle: 0 },
        ],
        &[(1000, 0), (2000, 1000), (4000, 3000)],
    );
}

#[test]
fn an_idle_thread_does_not_wait() {
    check(
        &[Part { samples: "1000, 2000, 3000", times: &[(1000, 0), (3000, 20)], loop_idle: 2000 }],
        &[(1000, 0)],
    );
    // It was idle until shortly before the busy sample, and between two of them.
    check(
        &[Part {
            samples: "1000, 2000 a, 3000 a, 4000",
            times: &[(1000, 0), (2000, 300), (3000, 600), (4000, 600)],
            loop_idle: 2400,
        }],
        &[(1000, 0)],
    );
}

#[test]
fn waiting_is_more_likely_between_two_busy_samples() {
    // It waited 1000 µs in all, and did not run 700 µs after being idle and 1000 µs while busy.
    check(
        &[Part {
            samples: "1000, 2000 a, 3000 a, 4000",
            times: &[(1000, 0), (2000, 300), (3000, 300), (4000, 300)],
            loop_idle: 1700,
        }],
        &[(1000, 0), (2000, 0), (3000, 1000)],
    );
}

#[test]
fn nothing_is_known_of_gaps() {
    let times = |is_after_gap| {
        let time = |at, cpu, is_after_gap| CpuTime { at: Instant(at), cpu: Micros(cpu), is_after_gap };
        vec![time(1000, 0, false), time(2000, 1000, false), time(4000, 1000, is_after_gap)]
    };
    let points = |is_after_gap| {
        let mut recording = Recording::new(RecordingOptions { waiting: true, ..EVERYTHING });
        let cpu_times = RawCpuTimes { times: times(is_after_gap), loop_idle: Micros::ZERO };
        let segment = selfprof_session::RawSegment { cpu_times: Some(cpu_times), ..segment(WORK) };
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

    let times = vec![CpuTime { at: Instant(1000), cpu: Micros(0), is_after_gap: false }];
    let cpu_times = RawCpuTimes { times, loop_idle: Micros::ZERO };
    let segment = selfprof_session::RawSegment { cpu_times: Some(cpu_times), ..segment(WORK) };
    let mut recording = Recording::new(EVERYTHING);
    recording.append(&segment, ALWAYS, &[], &Brackets).unwrap();
    assert_eq!(recording.drain_waiting(), []);
}
