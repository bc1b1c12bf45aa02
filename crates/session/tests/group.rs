//! What a group does with its sampler, step by step. Times are in milliseconds.

mod engine;

use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::Arc;

use engine::{Engine, Nobody, Profile};
use selfprof_session::{
    BufferPolicy, Cut, Group, GroupError, Instant, RecordingCell, RecordingOptions, SessionId, SessionOptions,
};
use selfprof_trace::Micros;

struct Scene {
    group: Group<Engine>,
    cuts: VecDeque<Cut<Profile>>,
    /// The recordings, each with the number of its chunks that wait.
    cells: Vec<(Arc<RecordingCell>, usize)>,
}

impl Scene {
    fn new() -> Self {
        Self {
            group: Group::new(Engine::new(Instant(1_000_000), 2)),
            cuts: VecDeque::new(),
            cells: Vec::new(),
        }
    }

    /// Does one step. Returns the calls of the sampler and the sessions that got a part of the segment.
    fn step(&mut self, step: &str) -> String {
        let words: Vec<&str> = step.split(' ').collect();
        let number = |index: usize| words[index].parse::<u64>().unwrap();
        let option = |name: &str| words.iter().position(|&word| word == name).map(|index| number(index + 1));
        let session = || SessionId(number(1) as u32);
        let now = self.group.sampler().now;
        let done = match words[0] {
            "join" => self.join(number(1), option("limit"), option("rotate"), option("chunks")),
            "leave" => self.group.leave(now, session()).map(|left| left.cut),
            "pause" => self.group.pause(now, session()),
            "resume" => self.group.resume(now, session()),
            "tick" => Ok(self.group.tick(now)),
            "close" => Ok(self.group.close(now)),
            "force" => {
                let chosen: Vec<u32> = words[1..].iter().map(|word| word.parse().unwrap()).collect();
                let takers = self.group.force_sample(|session| chosen.contains(&session.0));
                self.group.sampler().calls.push(format!("for {takers}"));
                Ok(None)
            }
            "flush" => Ok(self.group.flush(now)),
            "suspend" => Ok(self.group.suspend()),
            "wait" => {
                self.group.sampler().advance(Micros(number(1) * 1_000));
                Ok(None)
            }
            "runs" => {
                self.group.sampler().most_runs = number(1) as usize;
                Ok(None)
            }
            "build" => return self.build(),
            "consume" => return self.consume(number(1) as usize),
            "state" => return format!("{:?}", self.group.state(session())),
            "deadline" => return self.group.next_deadline().map_or("none".to_owned(), show),
            "trace" => {
                let recording = self.cells[number(1) as usize].0.recording.lock();
                let times = recording.trace().samples().iter().map(|sample| sample.timestamp.to_string());
                return times.collect::<Vec<_>>().join(" ");
            }
            word => panic!("{word}?"),
        };
        let mut said = std::mem::take(&mut self.group.sampler().calls).join(", ");
        match done {
            Ok(None) => {}
            Ok(Some(mut cut)) => {
                said += " |";
                cut.deliveries.sort_by_key(|delivery| delivery.session);
                for delivery in &cut.deliveries {
                    write!(said, " {}:", delivery.session.0).unwrap();
                    let span = |span: &selfprof_session::Span| {
                        format!("{}-{}", show(span.from), span.to.map_or(String::new(), show))
                    };
                    said += &delivery.spans.iter().map(span).collect::<Vec<_>>().join(",");
                }
                self.cuts.push_back(cut);
            }
            Err(GroupError::Sampler(error)) => write!(said, "refused: {}", error.reason).unwrap(),
            Err(error) => write!(said, "{error}").unwrap(),
        }
        said
    }

    fn join(
        &mut self,
        interval: u64,
        limit: Option<u64>,
        rotate: Option<u64>,
        chunks: Option<u64>,
    ) -> Result<Option<Cut<Profile>>, GroupError> {
        let now = self.group.sampler().now;
        let interval = Micros(interval * 1_000);
        let recording = RecordingOptions {
            origin: Instant(1_000_000),
            interval,
            limit,
            most_stacks: None,
            most_frame_bytes: None,
            policy: chunks
                .map_or(BufferPolicy::Stop, |most| BufferPolicy::Chunks { most_waiting: most as u32 }),
            resolution: Micros::ZERO,
            waiting: false,
            labels: false,
        };
        let cell = Arc::new(RecordingCell::new(recording, Arc::new(Nobody), now));
        let rotate_every = Micros(rotate.unwrap_or(1_000) * 1_000);
        let joined = self.group.join(now, SessionOptions { interval, rotate_every, cell: Arc::clone(&cell) });
        let (session, cut) = joined.map_err(GroupError::Sampler)?;
        assert_eq!(session.0 as usize, self.cells.len());
        self.cells.push((cell, 0));
        Ok(cut)
    }

    /// Appends all cuts and publishes the outcomes.
    fn build(&mut self) -> String {
        let mut said = Vec::new();
        for cut in self.cuts.drain(..) {
            for (SessionId(id), outcome) in engine::append(&cut) {
                let (cell, waiting) = &mut self.cells[id as usize];
                let mut recording = cell.recording.lock();
                for chunk in recording.take_chunks() {
                    *waiting += 1;
                    let times = chunk.samples().iter().map(|sample| sample.timestamp.to_string());
                    said.push(format!("{id} chunk {}", times.collect::<Vec<_>>().join(" ")));
                }
                recording.set_waiting_chunks(*waiting);
                cell.publish(outcome);
                if outcome.became_full {
                    said.push(format!("{id} full"));
                }
            }
        }
        said.join(", ")
    }

    /// A chunk of the session is consumed.
    fn consume(&mut self, session: usize) -> String {
        let now = self.group.sampler().now;
        let (cell, waiting) = &mut self.cells[session];
        let mut recording = cell.recording.lock();
        *waiting -= 1;
        recording.set_waiting_chunks(*waiting);
        let Some(check_at) = recording.resume_recording(now) else { return String::new() };
        cell.resume_recording(check_at);
        "goes on".to_owned()
    }
}

const REFUSED: &str = "refused: too many runs";

fn show(at: Instant) -> String {
    at.since(Instant(1_000_000)).to_string()
}

#[track_caller]
fn check(steps: &[(&str, &str)]) {
    let mut scene = Scene::new();
    for (index, (step, expected)) in steps.iter().enumerate() {
        assert_eq!(scene.step(step), *expected, "at step {index}, {step:?}");
    }
}

#[test]
fn the_first_session_starts_the_sampler_and_the_last_stops_it() {
    check(&[
        ("deadline", "none"),
        ("join 10", "start 10"),
        ("wait 25", ""),
        ("leave 0", "stop | 0:0-25"),
        ("build", ""),
        ("trace 0", "0 10 20"),
        ("state 0", "None"),
        ("deadline", "none"),
    ]);
}

#[test]
fn a_session_with_the_same_interval_takes_a_sample_at_once() {
    check(&[
        ("join 10", "start 10"),
        ("wait 14", ""),
        ("join 10", "sample"),
        ("wait 20", ""),
        ("leave 1", "start 10, stop | 0:0- 1:14-34"),
        ("leave 0", "stop | 0:0-34"),
        ("build", ""),
        ("trace 0", "0 10 20 30"),
        // Its slots come 10 apart too, as near to the ticks as can be told; the last is the sample of the cut.
        ("trace 1", "14 30 34"),
    ]);
}

#[test]
fn another_common_interval_cuts() {
    check(&[
        ("join 10", "start 10"),
        ("wait 10", ""),
        ("join 20", "sample"),
        ("wait 10", ""),
        ("join 15", "start 5, stop | 0:0- 1:10- 2:20-"),
        ("pause 2", "start 10, stop | 0:0- 1:10- 2:20-20"),
        ("pause 0", "start 20, stop | 0:0-20 1:10-"),
        ("resume 2", "start 5, stop | 1:10- 2:20-"),
        ("leave 1", "start 15, stop | 1:10-20 2:20-"),
        ("leave 0", ""),
        ("leave 2", "stop | 2:20-20"),
    ]);
}

#[test]
fn a_session_that_leaves_is_delivered_its_last_segment() {
    check(&[
        ("join 10", "start 10"),
        ("join 10", "sample"),
        ("wait 15", ""),
        ("pause 1", ""),
        ("wait 10", ""),
        // Paused, but its samples are still in the sampler.
        ("leave 1", "start 10, stop | 0:0- 1:0-15"),
        ("build", ""),
        ("trace 1", "0 10"),
        ("leave 1", "session 1 is not active"),
        ("pause 1", "session 1 is not active"),
        ("resume 1", "session 1 is not active"),
    ]);
}

#[test]
fn a_session_that_was_delivered_before_leaves_without_a_cut() {
    check(&[
        ("join 10", "start 10"),
        ("join 20", "sample"),
        ("wait 5", ""),
        ("pause 0", "start 20, stop | 0:0-5 1:0-"),
        ("leave 0", ""),
    ]);
}

#[test]
fn nothing_is_sampled_while_all_are_paused() {
    check(&[
        ("join 10", "start 10"),
        ("wait 15", ""),
        ("pause 0", "stop | 0:0-15"),
        ("pause 0", ""),
        ("state 0", "Some(Paused)"),
        ("deadline", "none"),
        ("tick", ""),
        ("wait 50", ""),
        ("resume 0", "start 10"),
        ("resume 0", ""),
        ("state 0", "Some(Started)"),
        ("wait 10", ""),
        ("leave 0", "stop | 0:65-75"),
        ("build", ""),
        ("trace 0", "0 10 65 75"),
    ]);
}

#[test]
fn pauses_within_a_segment_make_several_spans() {
    check(&[
        ("join 10", "start 10"),
        ("join 10", "sample"),
        ("wait 5", ""),
        ("pause 1", ""),
        ("wait 10", ""),
        ("resume 1", "sample"),
        ("wait 6", ""),
        ("leave 0", "start 10, stop | 0:0-21 1:0-5,15-"),
        ("leave 1", "stop | 1:15-21"),
    ]);
}

#[test]
fn an_old_run_is_cut() {
    check(&[
        ("join 10 rotate 100", "start 10"),
        ("join 10 rotate 30", "sample"),
        ("deadline", "30"),
        ("wait 29", ""),
        ("tick", ""),
        ("wait 2", ""),
        ("tick", "start 10, stop | 0:0- 1:0-"),
        ("deadline", "61"),
        ("pause 1", ""),
        ("deadline", "131"),
    ]);
}

#[test]
fn a_full_session_is_no_longer_sampled() {
    check(&[
        ("join 10 limit 2", "start 10"),
        ("deadline", "20"),
        ("wait 20", ""),
        ("tick", "start 10, stop | 0:0-"),
        // No other check is due until this one is done.
        ("deadline", "1020"),
        ("build", "0 full"),
        ("state 0", "Some(Started)"),
        ("tick", "stop |"),
        ("state 0", "Some(Full)"),
        ("deadline", "none"),
        ("pause 0", ""),
        ("resume 0", ""),
        ("tick", ""),
        ("trace 0", "0 10"),
        ("leave 0", ""),
        ("state 0", "None"),
    ]);
}

#[test]
fn others_go_on_when_a_session_is_full() {
    check(&[
        ("join 10 limit 1", "start 10"),
        ("join 20", "sample"),
        ("join 10", "sample"),
        ("wait 10", ""),
        ("tick", "start 10, stop | 0:0- 1:0- 2:0-"),
        ("build", "0 full"),
        ("tick", ""),
        ("deadline", "1010"),
        ("leave 2", "start 20, stop | 1:0- 2:0-10"),
        ("leave 0", ""),
        ("leave 1", "stop | 1:0-10"),
    ]);
}

#[test]
fn chunks_are_checked_for_and_do_not_end_a_session() {
    check(&[
        ("join 10 limit 2 chunks 9", "start 10"),
        ("deadline", "20"),
        ("wait 20", ""),
        ("tick", "start 10, stop | 0:0-"),
        ("build", "0 chunk 0 10"),
        ("deadline", "40"),
        ("wait 43", ""),
        ("tick", "start 10, stop | 0:0-"),
        ("build", "0 chunk 20 30, 0 chunk 40 50"),
        ("leave 0", "stop | 0:0-63"),
        ("build", ""),
        ("trace 0", "60"),
    ]);
}

#[test]
fn a_session_pauses_until_a_chunk_is_consumed() {
    check(&[
        ("join 10 limit 2 chunks 1", "start 10"),
        ("join 10", "sample"),
        ("wait 40", ""),
        ("tick", "start 10, stop | 0:0- 1:0-"),
        ("build", "0 chunk 0 10, 0 full"),
        ("tick", ""),
        ("state 0", "Some(Full)"),
        ("wait 20", ""),
        ("consume 0", "goes on"),
        ("state 0", "Some(Full)"),
        ("tick", ""),
        ("state 0", "Some(Started)"),
        ("deadline", "70"),
        ("wait 13", ""),
        ("tick", "start 10, stop | 0:60- 1:0-"),
        ("build", "0 chunk 20 30"),
        ("leave 1", "start 10, stop | 0:60- 1:0-73"),
        ("leave 0", "stop | 0:60-73"),
        ("build", ""),
        ("trace 0", "60 70"),
    ]);
}

#[test]
fn resuming_the_only_session_restarts_the_sampler() {
    check(&[
        ("join 10 limit 1 chunks 1", "start 10"),
        ("wait 20", ""),
        ("tick", "start 10, stop | 0:0-"),
        ("build", "0 chunk 0, 0 full"),
        ("tick", "stop |"),
        ("deadline", "none"),
        ("wait 20", ""),
        ("consume 0", "goes on"),
        ("tick", "start 10"),
        ("wait 5", ""),
        ("leave 0", "stop | 0:40-45"),
        ("build", "0 chunk 10"),
        ("trace 0", "40"),
    ]);
}

#[test]
fn a_session_that_was_paused_before_it_was_full_stays_paused() {
    check(&[
        ("join 10 limit 1 chunks 1", "start 10"),
        ("wait 20", ""),
        ("pause 0", "stop | 0:0-20"),
        ("build", "0 chunk 0, 0 full"),
        ("tick", ""),
        ("state 0", "Some(Full)"),
        ("resume 0", ""),
        ("consume 0", "goes on"),
        ("resume 0", ""),
        ("tick", ""),
        ("state 0", "Some(Paused)"),
        ("resume 0", "start 10"),
    ]);
}

#[test]
fn a_session_that_resumed_without_a_tick_leaves_without_delivery() {
    check(&[
        ("join 10 limit 1 chunks 1", "start 10"),
        ("join 10", "sample"),
        ("wait 20", ""),
        ("tick", "start 10, stop | 0:0- 1:0-"),
        ("build", "0 chunk 0, 0 full"),
        ("tick", ""),
        ("consume 0", "goes on"),
        ("leave 0", ""),
        ("trace 0", "10"),
    ]);
}

#[test]
fn a_session_that_became_full_without_a_tick_leaves_without_delivery() {
    check(&[
        ("join 10 limit 1", "start 10"),
        ("join 20", "sample"),
        ("wait 10", ""),
        ("tick", "start 10, stop | 0:0- 1:0-"),
        ("build", "0 full"),
        ("leave 0", "start 20, stop | 1:0-"),
    ]);
}

#[test]
fn a_full_session_is_not_resumed() {
    check(&[
        ("join 10 limit 1", "start 10"),
        ("wait 10", ""),
        ("pause 0", "stop | 0:0-10"),
        ("build", "0 full"),
        ("resume 0", ""),
        ("tick", ""),
        ("state 0", "Some(Full)"),
    ]);
}

#[test]
fn the_next_check_accounts_for_missed_slots() {
    check(&[
        ("join 10 limit 5", "start 10"),
        ("deadline", "50"),
        ("join 10", "sample"),
        ("wait 5", ""),
        ("pause 0", ""),
        ("wait 42", ""),
        ("resume 0", "sample"),
        ("deadline", "50"),
        ("wait 3", ""),
        ("tick", "start 10, stop | 0:0-5,47- 1:0-"),
        ("build", ""),
        // Two of five were taken, the last of them after 47.
        ("deadline", "87"),
        ("wait 37", ""),
        ("tick", "start 10, stop | 0:47- 1:0-"),
        ("build", "0 full"),
        ("trace 0", "0 47 60 70 80"),
    ]);
}

/// A check for another session may happen while this one is paused and gets nothing; its own check must stay due.
#[test]
fn a_pause_does_not_postpone_a_check() {
    check(&[
        ("join 10 limit 3", "start 10"),
        ("join 20", "sample"),
        ("wait 5", ""),
        ("pause 0", "start 20, stop | 0:0-5 1:0-"),
        ("build", ""),
        ("wait 1000", ""),
        ("tick", "start 20, stop | 1:0-"),
        ("build", ""),
        ("resume 0", "start 10, stop | 0:1005- 1:0-"),
        ("deadline", "30"),
        ("tick", "start 10, stop | 0:1005- 1:0-"),
        ("build", ""),
        ("deadline", "1025"),
    ]);
}

#[test]
fn no_buffer_at_all_is_full_at_once() {
    check(&[
        ("join 10 limit 0", "start 10"),
        ("deadline", "0"),
        ("tick", "start 10, stop | 0:0-"),
        ("build", "0 full"),
        ("tick", "stop |"),
        ("trace 0", ""),
    ]);
}

#[test]
fn a_refused_join_leaves_the_group_as_it_was() {
    check(&[
        ("runs 0", ""),
        ("join 10", REFUSED),
        ("state 0", "None"),
        ("runs 1", ""),
        ("join 10", "start 10"),
        ("join 15", REFUSED),
        ("join 20", "sample"),
        ("leave 1", "stop, start 10 | 0:0- 1:0-0"),
    ]);
}

#[test]
fn a_refused_resumption_leaves_the_session_paused() {
    check(&[
        ("join 10", "start 10"),
        ("join 15", "start 5, stop | 0:0- 1:0-"),
        ("pause 1", "start 10, stop | 0:0- 1:0-0"),
        ("runs 1", ""),
        ("wait 5", ""),
        ("resume 1", REFUSED),
        ("state 1", "Some(Paused)"),
        ("leave 1", ""),
        ("leave 0", "stop | 0:0-5"),
    ]);
}

#[test]
fn a_cut_makes_room_for_the_next_run() {
    check(&[
        ("runs 1", ""),
        ("join 10 rotate 30", "start 10"),
        ("wait 30", ""),
        ("tick", "stop, start 10 | 0:0-"),
        ("wait 10", ""),
        ("leave 0", "stop | 0:0-40"),
        ("build", ""),
        ("trace 0", "0 10 20 30 40"),
    ]);
}

#[test]
fn a_run_that_was_refused_is_tried_again() {
    check(&[
        ("join 10 rotate 30", "start 10"),
        ("runs 0", ""),
        ("wait 30", ""),
        ("tick", "stop | 0:0-"),
        ("tick", ""),
        ("runs 2", ""),
        ("wait 10", ""),
        ("tick", "start 10"),
        ("leave 0", "stop | 0:0-40"),
        ("build", ""),
        ("trace 0", "0 10 20 30 40"),
    ]);
}

#[test]
fn one_run_serves_any_number_of_sessions() {
    let mut scene = Scene::new();
    for session in 0..150 {
        assert_eq!(scene.step("join 10"), if session == 0 { "start 10" } else { "sample" });
    }
    scene.step("wait 20");
    scene.step("close");
    scene.step("build");
    for session in 0..150 {
        assert_eq!(scene.step(&format!("trace {session}")), "0 10 20");
    }
}

#[test]
fn closing_delivers_to_all() {
    check(&[
        ("join 10", "start 10"),
        ("join 10", "sample"),
        ("join 10 limit 1", "sample"),
        ("wait 15", ""),
        ("pause 1", ""),
        ("wait 10", ""),
        ("close", "stop | 0:0-25 1:0-15 2:0-25"),
        ("state 0", "None"),
        ("close", ""),
        ("deadline", "none"),
        ("build", "2 full"),
        ("trace 0", "0 10 20"),
        ("trace 1", "0 10"),
        ("trace 2", "0"),
    ]);
}

#[test]
fn a_suspended_group_samples_again_at_the_next_tick() {
    check(&[
        ("join 10", "start 10"),
        ("wait 15", ""),
        ("suspend", "stop | 0:0-"),
        ("deadline", "none"),
        ("wait 20", ""),
        ("tick", "start 10"),
        ("wait 10", ""),
        ("leave 0", "stop | 0:0-45"),
        ("build", ""),
        ("trace 0", "0 10 35 45"),
    ]);
}

#[test]
fn a_flushed_group_goes_on() {
    check(&[
        ("flush", ""),
        ("join 10", "start 10"),
        ("wait 15", ""),
        ("flush", "start 10, stop | 0:0-"),
        ("wait 20", ""),
        ("suspend", "stop | 0:0-"),
        ("flush", ""),
        ("close", ""),
        ("build", ""),
        ("trace 0", "0 10 15 30"),
    ]);
}

#[test]
fn a_closed_group_may_be_joined_again() {
    check(&[("join 10", "start 10"), ("close", "stop | 0:0-0"), ("join 20", "start 20")]);
}

/// A forced sample takes 2 µs here, and one more passes after it.
#[test]
fn a_forced_sample_is_only_for_the_named_sessions() {
    check(&[
        ("join 10", "start 10"),
        ("join 10", "sample"),
        ("wait 4", ""),
        ("force 1", "force, for 1"),
        ("wait 16", ""),
        ("force 0 1", "force, for 2"),
        ("close", "stop | 0:0-20.004 1:0-20.004"),
        ("build", ""),
        ("trace 0", "0 10 20 20.003"),
        ("trace 1", "0 4.001 10 20 20.003"),
    ]);
}

#[test]
fn only_started_sessions_take_a_forced_sample() {
    check(&[
        ("force 0", "for 0"),
        ("join 10", "start 10"),
        ("join 10", "sample"),
        ("join 10 limit 0", "sample"),
        ("pause 0", ""),
        ("tick", "start 10, stop | 0:0-0 1:0- 2:0-"),
        ("build", "2 full"),
        // The group has not been ticked since it became full.
        ("force 0 2", "for 0"),
        ("tick", ""),
        ("force 0 1 2", "force, for 1"),
        ("leave 1", "stop | 1:0-0.002"),
        ("force 0 1 2", "for 0"),
        ("build", ""),
        ("trace 0", "0"),
        ("trace 1", "0 0.001"),
        ("trace 2", ""),
    ]);
}

#[test]
fn forced_samples_fill_a_buffer_and_bring_the_check_forward() {
    check(&[
        ("join 100 limit 3", "start 100"),
        ("deadline", "300"),
        ("force 0", "force, for 1"),
        ("deadline", "200"),
        ("force 0", "force, for 1"),
        ("force 0", "force, for 1"),
        ("deadline", "0"),
        ("tick", "start 100, stop | 0:0-"),
        ("build", "0 full"),
        ("tick", "stop |"),
        ("trace 0", "0 0.001 0.003"),
    ]);
}

/// A sample that was processed late is in two runs.
#[test]
fn a_forced_sample_is_taken_once_though_it_lies_in_two_segments() {
    check(&[
        ("join 10 rotate 30", "start 10"),
        ("join 10", "sample"),
        ("force 0", "force, for 1"),
        ("wait 30", ""),
        ("tick", "start 10, stop | 0:0- 1:0-"),
        ("close", "stop | 0:0-30.002 1:0-30.002"),
        ("build", ""),
        ("trace 0", "0 0.001 10 20 30"),
        ("trace 1", "0 10 20 30"),
    ]);
}
