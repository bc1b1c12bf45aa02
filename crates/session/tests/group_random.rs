//! Random orders of everything that can happen to a group, compared with a model that knows when samples were taken.

mod engine;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use engine::{Engine, Nobody, Profile};
use proptest::prelude::*;
use selfprof_session::{
    BufferPolicy, Cut, Group, Instant, Outcome, RecordingCell, RecordingOptions, SessionId, SessionOptions,
    Span, State, greatest_common_interval,
};
use selfprof_trace::{Micros, Trace};

const ORIGIN: Instant = Instant(50_000);

#[derive(Clone, Copy, Debug)]
enum Step {
    Join {
        interval: Micros,
        limit: Option<u64>,
        policy: BufferPolicy,
    },
    Leave(prop::sample::Index),
    Pause(prop::sample::Index),
    Resume(prop::sample::Index),
    Tick,
    Wait(Micros),
    /// A requested sample for every session whose id is a multiple of this.
    Force(u32),
    Close,
    /// A consumer takes a chunk, if one waits.
    Consume(prop::sample::Index),
    /// The building thread takes one step: it appends a cut, or publishes the outcome of the last one.
    Build,
}

fn step() -> impl Strategy<Value = Step> {
    let interval = (1_u64..=6).prop_map(|interval| Micros(interval * 1_000));
    let limit = prop_oneof![Just(None), (0_u64..12).prop_map(Some)];
    let policy = prop_oneof![
        Just(BufferPolicy::Stop),
        Just(BufferPolicy::Circular),
        prop_oneof![Just(u32::MAX), 0_u32..4].prop_map(|most_waiting| BufferPolicy::Chunks { most_waiting }),
    ];
    prop_oneof![
        4 => (interval, limit, policy)
            .prop_map(|(interval, limit, policy)| Step::Join { interval, limit, policy }),
        2 => any::<prop::sample::Index>().prop_map(Step::Leave),
        3 => any::<prop::sample::Index>().prop_map(Step::Pause),
        3 => any::<prop::sample::Index>().prop_map(Step::Resume),
        8 => Just(Step::Tick),
        6 => (0_u64..15_000).prop_map(|duration| Step::Wait(Micros(duration))),
        4 => (1_u32..4).prop_map(Step::Force),
        1 => Just(Step::Close),
        3 => any::<prop::sample::Index>().prop_map(Step::Consume),
        6 => Just(Step::Build),
    ]
}

/// The next steps of the building thread.
enum Job {
    Append(Cut<Profile>),
    ResumeRecording(SessionId),
}

fn times(trace: &Trace) -> Vec<u64> {
    trace.samples().iter().map(|sample| sample.timestamp.0 + ORIGIN.0).collect()
}

/// The model of a session.
struct Session {
    id: SessionId,
    options: RecordingOptions,
    cell: Arc<RecordingCell>,
    /// When it was started, whether or not its buffer was full by then.
    spans: Vec<Span>,
    /// The requested samples that it must keep.
    forced: BTreeSet<Instant>,
    times_full: usize,
    times_resumed: usize,
    /// Whether it is full until a chunk is consumed.
    resting: bool,
    /// Chunks that wait for a consumer, and those that were consumed, as the times of their samples.
    waiting: VecDeque<Vec<u64>>,
    chunks: Vec<Vec<u64>>,
}

impl Session {
    fn close_span(&mut self, now: Instant) {
        if let Some(span) = self.spans.last_mut() {
            span.to.get_or_insert(now);
        }
    }

    /// The samples that it would keep without a limit: of all that were taken in its spans, the first, and then, for
    /// each slot, the one that seems nearest when it is taken; and its requested samples.
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
        due.extend(self.forced.iter().map(|at| at.0));
        due.sort_unstable();
        due
    }
}

struct World {
    group: Group<Engine>,
    sessions: Vec<Session>,
    /// The cut whose run has not ended yet.
    retired: Option<Cut<Profile>>,
    /// What the building thread has not done yet.
    jobs: VecDeque<Job>,
    /// What it has appended but not yet published.
    outcomes: VecDeque<(SessionId, Outcome)>,
    builds_at_once: bool,
    most_runs: usize,
    /// The requested samples.
    forced: BTreeSet<Instant>,
}

impl World {
    fn take(&mut self, step: Step) {
        // As the agent does: a retired run ends before anything else changes.
        match step {
            Step::Wait(_) | Step::Consume(_) | Step::Build => {}
            Step::Tick => self.end_retired_run(false),
            _ => self.end_retired_run(true),
        }
        let now = self.group.sampler().now;
        match step {
            Step::Join { interval, limit, policy } => self.join(now, interval, limit, policy),
            Step::Leave(index) => {
                let Some(session) = self.pick(index) else { return };
                let left = self.group.leave(now, session).unwrap();
                self.session(session).close_span(now);
                self.deliver(left.cut);
            }
            Step::Pause(index) => {
                let Some(session) = self.pick(index) else { return };
                let cut = self.group.pause(now, session).unwrap();
                if self.group.state(session) == Some(State::Paused) {
                    self.session(session).close_span(now);
                }
                self.deliver(cut);
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
                self.deliver(cut.ok().flatten());
            }
            Step::Tick => {
                let cut = self.group.tick(now);
                self.deliver(cut);
                for session in &self.sessions {
                    let full = self.group.state(session.id).is_none_or(|state| state == State::Full);
                    assert!(full || !session.cell.is_full(), "{:?} is full unnoticed", session.id);
                    let gone = self.group.state(session.id).is_none();
                    assert!(!full || gone || session.cell.is_full(), "{:?} goes on unnoticed", session.id);
                }
            }
            Step::Wait(duration) => self.group.sampler().advance(duration),
            Step::Force(divisor) => self.force(divisor),
            Step::Close => self.close(now),
            Step::Consume(index) => self.consume(index),
            Step::Build => self.build(),
        }
        while self.builds_at_once && !self.is_built() {
            self.build();
        }
    }

    fn join(&mut self, now: Instant, interval: Micros, limit: Option<u64>, policy: BufferPolicy) {
        let options = RecordingOptions {
            origin: ORIGIN,
            interval,
            limit,
            most_stacks: None,
            most_frame_bytes: None,
            policy,
            resolution: Micros::ZERO,
            waiting: false,
            labels: false,
        };
        let cell = Arc::new(RecordingCell::new(options, Arc::new(Nobody), now));
        let joining = SessionOptions { interval, rotate_every: Micros(5_000), cell: Arc::clone(&cell) };
        let (count, next_deadline) = (self.group.len(), self.group.next_deadline());
        match self.group.join(now, joining) {
            Ok((id, cut)) => {
                let spans = vec![Span { from: now, to: None }];
                self.sessions.push(Session {
                    id,
                    options,
                    cell,
                    spans,
                    forced: BTreeSet::new(),
                    times_full: 0,
                    times_resumed: 0,
                    resting: false,
                    waiting: VecDeque::new(),
                    chunks: Vec::new(),
                });
                self.deliver(cut);
            }
            Err(error) => {
                assert_eq!(self.most_runs, 1, "{error}");
                assert_eq!((self.group.len(), self.group.next_deadline()), (count, next_deadline));
            }
        }
    }

    fn force(&mut self, divisor: u32) {
        let is_for = |id: SessionId| id.0.is_multiple_of(divisor);
        let takers = self.group.force_sample(is_for);
        let at = self.group.sampler().sampled.last().copied().filter(|_| takers > 0);
        let Some(at) = at else { return };
        self.forced.insert(at);
        let mut taken = 0;
        for session in self.sessions.iter_mut().filter(|session| is_for(session.id)) {
            if self.group.state(session.id) == Some(State::Started) && !session.cell.is_full() {
                session.forced.insert(at);
                taken += 1;
            }
        }
        assert_eq!(taken, takers);
    }

    fn close(&mut self, now: Instant) {
        let cut = self.group.close(now);
        self.deliver(cut);
        self.sessions.iter_mut().for_each(|session| session.close_span(now));
        assert!(self.group.is_empty());
    }

    /// Hands a cut to the building thread once its run has ended, after those before it.
    fn deliver(&mut self, cut: Option<Cut<Profile>>) {
        let Some(cut) = cut else { return };
        self.end_retired_run(true);
        if cut.profile.is_running() {
            self.retired = Some(cut);
        } else {
            self.jobs.push_back(Job::Append(cut));
        }
    }

    fn end_retired_run(&mut self, at_once: bool) {
        let Some(cut) = self.retired.take() else { return };
        if cut.profile.is_running() && !self.group.sampler().end_retired_run(at_once) {
            self.retired = Some(cut);
        } else {
            self.jobs.push_back(Job::Append(cut));
        }
    }

    fn is_built(&self) -> bool {
        self.jobs.is_empty() && self.outcomes.is_empty()
    }

    fn build(&mut self) {
        if let Some((id, outcome)) = self.outcomes.pop_front() {
            let session = self.session(id);
            session.cell.publish(outcome);
            session.times_full += usize::from(outcome.became_full);
            session.resting |= outcome.became_full;
            // A chunk may have been consumed since the segment was appended.
            self.resume_recording(id);
            return;
        }
        match self.jobs.pop_front() {
            Some(Job::ResumeRecording(id)) => self.resume_recording(id),
            Some(Job::Append(cut)) => {
                for session in &self.sessions {
                    session.cell.recording.lock().set_waiting_chunks(session.waiting.len());
                }
                self.outcomes.extend(engine::append(&cut));
                for session in &mut self.sessions {
                    let chunks = session.cell.recording.lock().take_chunks();
                    session.waiting.extend(chunks.iter().map(times));
                    if let BufferPolicy::Chunks { most_waiting } = session.options.policy {
                        assert!(session.waiting.len() <= most_waiting as usize, "{:?}", session.id);
                    }
                }
            }
            None => {}
        }
    }

    fn resume_recording(&mut self, id: SessionId) {
        let now = self.group.sampler().now;
        let session = self.session(id);
        let mut recording = session.cell.recording.lock();
        recording.set_waiting_chunks(session.waiting.len());
        if session.resting
            && let Some(check_at) = recording.resume_recording(now)
        {
            session.cell.resume_recording(check_at);
            session.resting = false;
            session.times_resumed += 1;
        }
    }

    fn consume(&mut self, index: prop::sample::Index) {
        let waiting: Vec<_> = self.sessions.iter().filter(|s| !s.waiting.is_empty()).map(|s| s.id).collect();
        if waiting.is_empty() {
            return;
        }
        let session = self.session(*index.get(&waiting));
        session.chunks.extend(session.waiting.pop_front());
        let resting = session.resting.then_some(Job::ResumeRecording(session.id));
        self.jobs.extend(resting);
    }

    fn session(&mut self, id: SessionId) -> &mut Session {
        self.sessions.iter_mut().find(|session| session.id == id).unwrap()
    }

    /// A session of the group.
    fn pick(&self, index: prop::sample::Index) -> Option<SessionId> {
        let active: Vec<_> = self.sessions.iter().filter(|s| self.group.state(s.id).is_some()).collect();
        (!active.is_empty()).then(|| index.get(&active).id)
    }

    /// The invariants after every step.
    fn check_sampler(&mut self) {
        let started = self.sessions.iter().filter(|s| self.group.state(s.id) == Some(State::Started));
        let wanted = greatest_common_interval(started.map(|session| session.options.interval));
        assert_eq!(self.group.sampler().wanted_interval(), wanted);
        let retired = self.group.sampler().has_retired_run();
        assert_eq!(retired, self.retired.is_some());
        assert_eq!(self.group.sampler().runs.len(), usize::from(wanted.is_some()) + usize::from(retired));
        assert_eq!(self.group.next_deadline().is_some(), wanted.is_some());
    }

    /// The invariants at the end.
    fn check_recordings(&mut self) {
        let mut sampled = std::mem::take(&mut self.group.sampler().sampled);
        sampled.retain(|at| !self.forced.contains(at));
        for session in &self.sessions {
            let due = session.due(&sampled);
            let limit = session.options.limit.map_or(usize::MAX, |limit| limit as usize);
            let recording = session.cell.recording.lock();
            let kept = times(recording.trace());
            let overflows = due.len() > limit;
            let times_full = match session.options.policy {
                BufferPolicy::Stop => {
                    assert_eq!(kept, &due[..limit.min(due.len())], "{:?} {:?}", session.id, session.spans);
                    usize::from(overflows)
                }
                BufferPolicy::Circular => {
                    // Samples beyond the limit are dropped when there are enough of them.
                    assert!(due.ends_with(&kept), "{:?} {kept:?} of {due:?}", session.id);
                    assert!(kept.len() >= limit.min(due.len()), "{:?}", session.id);
                    0
                }
                BufferPolicy::Chunks { .. } => {
                    let chunks = || session.chunks.iter().chain(&session.waiting);
                    assert!(chunks().all(|chunk| chunk.len() == limit), "{:?}", session.id);
                    let all: Vec<u64> = chunks().flatten().chain(&kept).copied().collect();
                    assert_eq!(all.len() as u64, recording.taken(), "{:?}", session.id);
                    if session.times_full == 0 {
                        assert_eq!(all, due, "{:?} {:?}", session.id, session.spans);
                    }
                    assert!(all.is_sorted_by(|a, b| a < b), "{:?} {all:?}", session.id);
                    let own = |at: &u64| {
                        let at = &Instant(*at);
                        (sampled.contains(at) || session.forced.contains(at))
                            && session.spans.iter().any(|span| span.contains(*at))
                    };
                    assert!(all.iter().all(own), "{:?} {all:?}", session.id);
                    session.times_resumed + usize::from(session.cell.is_full())
                }
            };
            assert_eq!(session.times_full, times_full, "{:?}", session.id);
            if session.times_resumed == 0 {
                assert_eq!(session.cell.is_full(), times_full > 0);
            }
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
        retires in any::<bool>(),
    ) {
        let mut engine = Engine::new(ORIGIN.after(Micros(1_000_000)), most_runs);
        engine.noise = noise;
        engine.retires = retires;
        // Without room for a second run, the next starts after the last has ended; at the very same time, its first
        // sample would lie on the edge of a span that was delivered already.
        engine.reaction = Micros(reaction.max(u64::from(most_runs == 1)));
        let mut world = World {
            group: Group::new(engine),
            sessions: Vec::new(),
            retired: None,
            jobs: VecDeque::new(),
            outcomes: VecDeque::new(),
            builds_at_once,
            most_runs,
            forced: BTreeSet::new(),
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
