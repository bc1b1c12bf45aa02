//! A session selects its samples from a sampler that may be faster and whose ticks jitter.

use proptest::prelude::*;
use selfprof_session::{AgentState, Instant, RawSample, RawSegment, Recording, RecordingOptions};
use selfprof_trace::Micros;

use crate::notation::{ALWAYS, Brackets, EVERYTHING};

fn taken(interval: u64, ticks: &[u64]) -> Vec<u64> {
    let sample = |&at: &u64| RawSample { at: Instant(at), node: None, state: AgentState::Idle };
    let segment = RawSegment { samples: ticks.iter().map(sample).collect(), ..RawSegment::default() };
    let mut recording = Recording::new(RecordingOptions { interval: Micros(interval), ..EVERYTHING });
    recording.append(&segment, ALWAYS, &[], &Brackets).unwrap();
    recording.finish().samples().iter().map(|sample| sample.timestamp.0).collect()
}

#[track_caller]
fn check(interval: u64, ticks: &[u64], expected: &[u64]) {
    assert_eq!(taken(interval, ticks), expected);
}

#[test]
fn the_tick_nearest_to_each_slot_is_taken() {
    check(20, &[0, 10, 20, 30, 40, 50, 60], &[0, 20, 40, 60]);
    check(20, &[0, 11, 19, 31, 39, 51, 60], &[0, 19, 39, 60]);
    check(30, &[0, 12, 22, 32, 42, 52, 62], &[0, 32, 62]);
}

#[test]
fn the_first_sample_is_always_due() {
    check(10, &[1_000_003], &[1_000_003]);
}

#[test]
fn ticks_next_to_it_are_not_taken_in_addition() {
    check(100, &[0, 20, 100, 130, 200], &[0, 100, 200]);
    // One that stands for its slot is.
    check(100, &[0, 80, 110, 190, 290], &[0, 80, 190, 290]);
}

#[test]
fn after_a_stall_slots_count_from_the_late_tick() {
    check(10, &[0, 10, 20, 57, 58, 67, 77], &[0, 10, 20, 57, 67, 77]);
}

#[test]
fn a_steady_tick_out_of_phase_loses_one_slot_at_most() {
    for phase in 1..10 {
        let mut ticks = vec![0];
        ticks.extend((0..100).map(|tick| phase + tick * 10));
        assert!(taken(10, &ticks).len() >= 100, "phase {phase}");
    }
}

proptest! {
    /// As long as neighbouring ticks deviate by less than a sixth of a tick, the choice is exact; with `ratio` 1, no
    /// regular sample is lost.
    #[test]
    fn jitter_does_not_change_the_choice(
        ratio in 1_usize..12,
        jitter in prop::collection::vec(0_u64..=332, 1..200),
    ) {
        let ticks: Vec<u64> = jitter.iter().zip(1..).map(|(jitter, tick)| tick * 1_000 + jitter).collect();
        let expected: Vec<u64> = ticks.iter().copied().step_by(ratio).collect();
        prop_assert_eq!(taken(ratio as u64 * 1_000, &ticks), expected);
    }
}
