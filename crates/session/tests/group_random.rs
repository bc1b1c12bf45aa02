//! Random orders of everything that can happen to a group, against an oracle that knows when samples were taken.

mod engine;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use engine::Engine;
use proptest::prelude::*;
use selfprof_session::{
    Cut, Group, Instant, Outcome, RawSegment, RecordingCell, RecordingOptions, SessionId, SessionOptions,
    Span, State, greatest_common_interval,
};
use selfprof_trace::Micros;

const ORIGIN: Instant = Instant(50_000);

#[derive(Clone, Copy, Debug)]
enum Step {
    Join {
        interval: Micros,
        limit: Option<u64>,
    },
    Leave(prop::sample::Index),
    Pause(prop::sample::Index),
    Resume(prop::sample::Index),
    Tick,
    Wait(Micros),
    Close,
    /// The building thread gets on by one: it appends a cut, or publishes what the last one led to.
    Build,
}

fn step() -> impl Strategy<Value = Step> {
    let interval = (1_u64..=6).prop_map(|interval| Micros(interval * 1_000));
    let limit = prop_oneof![Just(None), (0_u64..12).prop_map(Some)];
    prop_oneof![
        4 => (interval, limit).prop_map(|(interval, limit)| Step::Join { interval, limit }),
        2 => any::<prop::sample::Index>().prop_map(Step::Leave),
        3 => any::<prop::sample::Index>().prop_map(Step::Pause),
        3 => any::<prop::sample::Index>().prop_map(Step::Resume),
        4 => Just(Step::Tick),
        6 => (0_u64..15_000).prop_map(|duration| Step::Wait(Micros(duration))),
        1 => Just(Step::Close),
        6 => Just(Step::Build),
    ]
}

/// What the test knows of a session.
struct Session {
    id: SessionId,
    options: RecordingOptions,
    cell: Arc<RecordingCell>,
    /// When it was started, whether or not its buffer was full by then.
    spans: Vec<Span>,
    times_full: usize,
}

impl Session {
    fn close_span(&mut self, now: Instant) {
        if let Some(span) = self.spans.last_mut() {
            span.to.get_or_insert(now);
        }
    }

    /// The samples that are its own and due, were there no limit: of all that were taken in its spans, the first, and
    /// then, of those around each slot, the one that seems nearest when it comes.
    fn due(&self, sampled: &BTreeSet<Instant>) -> Vec<u64> {
        let own: Vec<u64> = sampled
            .iter()
            .filter(|at| self.spans.iter().any(|span| span.contains(**at)))
            .map(|at| at.0)
            .collect();
        let interval = self.options.interval.0;
        let mut due = Vec::new();
        let mut slot = 0;
        for (index, &at) in own.iter().enumerate() {
            let step = |index: usize| if index == 0 { 0 } else { interval.min(own[index] - own[index - 1]) };
            let tolerance = step(index).max(if index == 0 { 0 } else { step(index - 1) }) / 2;
            if index == 0 || at + tolerance >= slot {
                due.push(at);
                slot = if index == 0 || slot + interval <= at { at + interval } else { slot + interval };
            }
        }
        due
    }
}

struct World {
    group: Group<Engine>,
    sessions: Vec<Session>,
    /// Cuts that the building thread has not come to.
    cuts: VecDeque<Cut<RawSegment>>,
    /// What it has appended but not yet published.
    outcomes: VecDeque<(SessionId, Outcome)>,
    builds_at_once: bool,
    most_runs: usize,
}

impl World {
    fn take(&mut self, step: Step) {
        let now = self.group.sampler().now;
        match step {
            Step::Join { interval, limit } => self.join(now, interval, limit),
            Step::Leave(index) => {
                let Some(session) = self.pick(index) else { return };
                let left = self.group.leave(now, session).unwrap();
                self.session(session).close_span(now);
                self.cuts.extend(left.cut);
            }
            Step::Pause(index) => {
                let Some(session) = self.pick(index) else { return };
                let cut = self.group.pause(now, session).unwrap();
                if self.group.state(session) == Some(State::Paused) {
                    self.session(session).close_span(now);
                }
                self.cuts.extend(cut);
            }
            Step::Resume(index) => {
                let Some(session) = self.pick(index) else { return };
                let was_paused = self.group.state(session) == Some(State::Paused);
                let cut = self.group.resume(now, session);
                if was_paused && self.group.state(session) == Some(State::Started) {
                    self.session(session).spans.push(Span { from: now, to: None });
                }
                if let Err(error) = &cut {
                    assert!(self.most_runs == 1, "{error}");
                }
                self.cuts.extend(cut.ok().flatten());
            }
            Step::Tick => {
                let cut = self.group.tick(now);
                self.cuts.extend(cut);
                for session in &self.sessions {
                    let unnoticed = session.cell.is_full()
                        && self.group.state(session.id).is_some_and(|state| state != State::Full);
                    assert!(!unnoticed, "{:?}", session.id);
                }
            }
            Step::Wait(duration) => self.group.sampler().advance(duration),
            Step::Close => self.close(now),
            Step::Build => self.build(),
        }
        while self.builds_at_once && !self.is_built() {
            self.build();
        }
    }

    fn join(&mut self, now: Instant, interval: Micros, limit: Option<u64>) {
        let options = RecordingOptions { origin: ORIGIN, interval, limit, resolution: Micros::ZERO };
        let cell = Arc::new(RecordingCell::new(options, now));
        let joining = SessionOptions { interval, rotate_every: Micros(20_000), cell: Arc::clone(&cell) };
        let (count, next_deadline) = (self.group.len(), self.group.next_deadline());
        match self.group.join(now, joining) {
            Ok((id, cut)) => {
                let spans = vec![Span { from: now, to: None }];
                self.sessions.push(Session { id, options, cell, spans, times_full: 0 });
                self.cuts.extend(cut);
            }
            Err(error) => {
                assert_eq!(self.most_runs, 1, "{error}");
                assert_eq!((self.group.len(), self.group.next_deadline()), (count, next_deadline));
            }
        }
    }

    fn close(&mut self, now: Instant) {
        let cut = self.group.close(now);
        self.cuts.extend(cut);
        self.sessions.iter_mut().for_each(|session| session.close_span(now));
        assert!(self.group.is_empty());
    }

    fn is_built(&self) -> bool {
        self.cuts.is_empty() && self.outcomes.is_empty()
    }

    fn build(&mut self) {
        if let Some((id, outcome)) = self.outcomes.pop_front() {
            let session = self.session(id);
            session.cell.publish(outcome);
            session.times_full += usize::from(outcome.became_full);
        } else if let Some(cut) = self.cuts.pop_front() {
            self.outcomes.extend(engine::append(&cut));
        }
    }

    fn session(&mut self, id: SessionId) -> &mut Session {
        self.sessions.iter_mut().find(|session| session.id == id).unwrap()
    }

    /// A session of the group.
    fn pick(&self, index: prop::sample::Index) -> Option<SessionId> {
        let active: Vec<_> = self.sessions.iter().filter(|s| self.group.state(s.id).is_some()).collect();
        (!active.is_empty()).then(|| index.get(&active).id)
    }

    /// What holds after every step.
    fn check_sampler(&mut self) {
        let started = self.sessions.iter().filter(|s| self.group.state(s.id) == Some(State::Started));
        let wanted = greatest_common_interval(started.map(|session| session.options.interval));
        assert_eq!(self.group.sampler().interval(), wanted);
        assert_eq!(self.group.sampler().runs.len(), usize::from(wanted.is_some()));
        assert_eq!(self.group.next_deadline().is_some(), wanted.is_some());
    }

    /// What holds at the end.
    fn check_recordings(&mut self) {
        let sampled = std::mem::take(&mut self.group.sampler().sampled);
        for session in &self.sessions {
            let due = session.due(&sampled);
            let limit = session.options.limit.map_or(usize::MAX, |limit| limit as usize);
            let recording = session.cell.recording.lock().unwrap();
            let kept: Vec<u64> =
                recording.trace().samples().iter().map(|sample| sample.timestamp.0 + ORIGIN.0).collect();
            assert_eq!(kept, &due[..limit.min(due.len())], "{:?} {:?}", session.id, session.spans);
            assert_eq!(session.times_full, usize::from(due.len() > limit), "{:?}", session.id);
            assert_eq!(session.cell.is_full(), due.len() > limit);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn each_session_has_the_samples_of_its_spans_once(
        steps in prop::collection::vec(step(), 1..60),
        noise in any::<u64>(),
        most_runs in prop_oneof![1 => Just(1_usize), 4 => Just(2)],
        reaction in 0_u64..3,
        builds_at_once in any::<bool>(),
    ) {
        let mut engine = Engine::new(ORIGIN.after(Micros(1_000_000)), most_runs);
        engine.noise = noise;
        // Without room for a second run, the next starts after the last has ended; at the very same time, its first
        // sample would lie on the edge of a span that was delivered already.
        engine.reaction = Micros(reaction.max(u64::from(most_runs == 1)));
        let mut world = World {
            group: Group::new(engine),
            sessions: Vec::new(),
            cuts: VecDeque::new(),
            outcomes: VecDeque::new(),
            builds_at_once,
            most_runs,
        };
        for step in steps {
            world.group.sampler().advance(Micros(1));
            world.take(step);
            world.check_sampler();
        }
        world.group.sampler().advance(Micros(1));
        world.take(Step::Close);
        world.check_sampler();
        while !world.is_built() {
            world.build();
        }
        world.check_recordings();
    }
}
