//! All profiling sessions of one agent, and the sampler that they share.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use selfprof_trace::Micros;

use crate::{Forced, Instant, RecordingCell, Sampler, SamplerError, Span, greatest_common_interval};

/// Names a session in its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u32);

/// The [state](https://wicg.github.io/js-self-profiling/#states) of a session that can still take samples. A session
/// that was stopped is no longer in its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Samples are taken.
    Started,
    /// No samples are taken until it is resumed.
    Paused,
    /// Its buffer is full: no samples are taken, unless its policy allows it to continue later. The trace waits to be
    /// collected.
    Full,
}

/// The options of a session.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// Its interval, already quantised.
    pub interval: Micros,
    /// How long its samples may stay in the sampler before a segment is cut.
    pub rotate_every: Micros,
    /// Where its samples go.
    pub cell: Arc<RecordingCell>,
}

/// A segment: the sampler's profile, and the sessions that get samples from it.
///
/// The caller reads the profile, on any thread, and appends it to each delivery's recording, in the order of the cuts.
/// It publishes the outcome of each append and, if a buffer became full, ticks the group.
#[derive(Debug)]
pub struct Cut<P> {
    /// What the sampler recorded. Some or all of its samples may belong to no session.
    pub profile: P,
    /// The sessions that were started while it was recorded.
    pub deliveries: Vec<Delivery>,
}

/// A session's part in a cut.
#[derive(Debug)]
pub struct Delivery {
    /// The session.
    pub session: SessionId,
    /// Its recording.
    pub cell: Arc<RecordingCell>,
    /// When it was in the started state. May begin before the segment and end after it.
    pub spans: Vec<Span>,
    /// The samples that were requested, rather than due.
    pub forced: Vec<Forced>,
}

/// What stopping a session returns.
#[derive(Debug)]
pub struct Left<P> {
    /// The segment with its last samples. `None` when all its samples were delivered before.
    pub cut: Option<Cut<P>>,
    /// Its recording.
    pub cell: Arc<RecordingCell>,
}

/// The sessions of one agent, sharing one sampler.
///
/// An engine limits the number of concurrent runs (V8: 100), and each run makes every sample more expensive. A group
/// keeps one run for any number of sessions, at the greatest common interval of those that are started. When that
/// interval changes, when a session ends, when a buffer may be full, or when the run is old, it starts the next run and
/// then stops this one. The two overlap, so that no sample is lost between them.
///
/// Not thread-safe: it belongs to its agent's thread. Time is passed in and must not go backwards.
#[derive(Debug)]
pub struct Group<S: Sampler> {
    sampler: S,
    members: BTreeMap<SessionId, Member>,
    run: Option<Run<S::Running>>,
    longest_run: Micros,
    next_id: u32,
}

#[derive(Debug)]
struct Run<R> {
    running: R,
    interval: Micros,
    started: Instant,
}

#[derive(Debug)]
struct Member {
    options: SessionOptions,
    state: State,
    /// Whether it is paused, even while it is full.
    paused: bool,
    /// Started spans that overlap the current run. The last one has no end while the session is started.
    spans: Vec<Span>,
    /// Requested samples in the current run, and how many of them it keeps.
    forced: Vec<Forced>,
    kept: u64,
}

impl Member {
    fn close_span(&mut self, now: Instant) {
        if let Some(span) = self.spans.last_mut() {
            span.to.get_or_insert(now);
        }
    }

    fn take_forced(&mut self) -> Vec<Forced> {
        self.kept = 0;
        std::mem::take(&mut self.forced)
    }

    /// When to check whether its buffer is full. Each requested sample brings that forward by one interval.
    fn check_at(&self) -> Instant {
        match self.options.cell.check_at() {
            Instant::NEVER => Instant::NEVER,
            Instant(at) => Instant(at.saturating_sub(self.options.interval.saturating_mul(self.kept).0)),
        }
    }
}

impl<S: Sampler> Group<S> {
    /// A group without sessions; the sampler is idle.
    pub fn new(sampler: S) -> Self {
        let longest_run = Micros(u64::MAX);
        Self { sampler, members: BTreeMap::new(), run: None, longest_run, next_id: 0 }
    }

    /// The sampler.
    pub fn sampler(&mut self) -> &mut S {
        &mut self.sampler
    }

    /// Runs are cut when they are this old, even if their sessions allow a longer time.
    pub fn set_longest_run(&mut self, longest: Micros) {
        self.longest_run = longest;
    }

    /// How many sessions there are, in any state.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is no session.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Whether the sampler is running.
    #[must_use]
    pub fn is_sampling(&self) -> bool {
        self.run.is_some()
    }

    /// All sessions, in any state, with their recordings.
    pub fn sessions(&self) -> impl Iterator<Item = (SessionId, &RecordingCell)> {
        self.members.iter().map(|(&session, member)| (session, &*member.options.cell))
    }

    /// The state of a session, `None` when it was stopped.
    #[must_use]
    pub fn state(&self, session: SessionId) -> Option<State> {
        self.members.get(&session).map(|member| member.state)
    }

    /// Starts a session. Its first sample is taken now. Returns the segment that was cut for the other sessions, if the
    /// new interval required a new run.
    ///
    /// # Errors
    /// When the engine refuses to sample. The group is then unchanged.
    #[allow(clippy::type_complexity)] // A session's id and an optional cut; an alias would not be clearer.
    pub fn join(
        &mut self,
        now: Instant,
        options: SessionOptions,
    ) -> Result<(SessionId, Option<Cut<S::Profile>>), SamplerError> {
        let id = SessionId(self.next_id);
        let span = Span { from: now, to: None };
        self.members.insert(
            id,
            Member {
                options,
                state: State::Started,
                paused: false,
                spans: vec![span],
                forced: Vec::new(),
                kept: 0,
            },
        );
        match self.begin_span(now) {
            Ok(cut) => {
                self.next_id += 1;
                Ok((id, cut))
            }
            Err(error) => {
                self.members.remove(&id);
                Err(error)
            }
        }
    }

    /// Stops a session and removes it from the group.
    ///
    /// # Errors
    /// [`GroupError::NoSuchSession`] when it was stopped before.
    pub fn leave(&mut self, now: Instant, session: SessionId) -> Result<Left<S::Profile>, GroupError> {
        let mut member = self.members.remove(&session).ok_or(GroupError::NoSuchSession(session))?;
        member.close_span(now);
        let cell = Arc::clone(&member.options.cell);
        if cell.is_full() || member.spans.is_empty() {
            return Ok(Left { cut: self.adjust(now), cell });
        }
        let mut cut = self.cut(now);
        if let Some(cut) = &mut cut {
            let Member { spans, forced, .. } = member;
            cut.deliveries.push(Delivery { session, cell: Arc::clone(&cell), spans, forced });
        }
        Ok(Left { cut, cell })
    }

    /// Pauses a started session; does nothing to one that is paused or full.
    ///
    /// # Errors
    /// [`GroupError::NoSuchSession`] when it was stopped.
    pub fn pause(&mut self, now: Instant, session: SessionId) -> Result<Option<Cut<S::Profile>>, GroupError> {
        let member = self.members.get_mut(&session).ok_or(GroupError::NoSuchSession(session))?;
        if member.state != State::Started {
            return Ok(None);
        }
        member.state = State::Paused;
        member.paused = true;
        member.close_span(now);
        Ok(self.adjust(now))
    }

    /// Resumes a paused session; does nothing to one that is started or full. A sample is taken now.
    ///
    /// # Errors
    /// [`GroupError::NoSuchSession`] when it was stopped; [`GroupError::Sampler`] when the engine refuses to sample:
    /// the session then stays paused.
    pub fn resume(
        &mut self,
        now: Instant,
        session: SessionId,
    ) -> Result<Option<Cut<S::Profile>>, GroupError> {
        let member = self.members.get_mut(&session).ok_or(GroupError::NoSuchSession(session))?;
        if member.state != State::Paused || member.options.cell.is_full() {
            return Ok(None);
        }
        member.state = State::Started;
        member.paused = false;
        member.spans.push(Span { from: now, to: None });
        self.begin_span(now).map_err(|error| {
            if let Some(member) = self.members.get_mut(&session) {
                member.state = State::Paused;
                member.paused = true;
                member.spans.pop();
            }
            GroupError::Sampler(error)
        })
    }

    /// Takes a sample now for the started sessions for which `is_for` is true, and for no other. Returns how many
    /// sessions got it. A session that is paused or full gets none.
    pub fn force_sample(&mut self, is_for: impl Fn(SessionId) -> bool) -> usize {
        let takes = |session, member: &Member| {
            member.state == State::Started && !member.options.cell.is_full() && is_for(session)
        };
        if self.run.is_none() || !self.members.iter().any(|(&session, member)| takes(session, member)) {
            return 0;
        }
        let within = self.sampler.sample_alone();
        let mut takers = 0;
        for (&session, member) in &mut self.members {
            let keep = takes(session, member);
            takers += usize::from(keep);
            member.kept += u64::from(keep);
            if member.state == State::Started {
                member.forced.push(Forced { within: within.clone(), keep });
            }
        }
        takers
    }

    /// Does what is due: cuts a segment when the run is old or a buffer may be full, stops sampling for sessions whose
    /// buffers are full, and resumes it for those whose buffers are no longer full.
    pub fn tick(&mut self, now: Instant) -> Option<Cut<S::Profile>> {
        for member in self.members.values_mut() {
            if member.options.cell.is_full() {
                member.state = State::Full;
                member.spans.clear();
                member.take_forced();
            } else if member.state == State::Full {
                member.state = if member.paused { State::Paused } else { State::Started };
                member.spans.extend((!member.paused).then_some(Span { from: now, to: None }));
            }
        }
        let due = self.next_deadline().is_some_and(|deadline| deadline <= now);
        if !due {
            return self.adjust(now);
        }
        // A paused session may get nothing from this cut, and then nothing would set its next check.
        let mut is_urgent = false;
        for member in self.started().filter(|member| member.check_at() <= now) {
            is_urgent = true;
            member.options.cell.clear_check();
        }
        if is_urgent { self.cut(now) } else { self.cut_by(now, S::retire) }
    }

    /// When [`tick`](Self::tick) must be called next.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        let run = self.run.as_ref()?;
        let longest = self.longest_run;
        self.started()
            .map(|member| run.started.after(member.options.rotate_every.min(longest)).min(member.check_at()))
            .min()
    }

    /// Ends the run because the process may be about to end. If it continues after all, the next [`tick`](Self::tick)
    /// starts another.
    pub fn suspend(&mut self) -> Option<Cut<S::Profile>> {
        self.replace_run(None, S::stop)
    }

    /// Cuts a segment now, because the process may end at any moment. Sampling goes on.
    pub fn flush(&mut self, now: Instant) -> Option<Cut<S::Profile>> {
        if self.is_sampling() { self.cut(now) } else { None }
    }

    /// Stops all sessions because their agent ends. The last segment is delivered to each of them.
    pub fn close(&mut self, now: Instant) -> Option<Cut<S::Profile>> {
        for member in self.members.values_mut() {
            member.close_span(now);
            member.state = State::Full;
        }
        let cut = self.cut(now);
        self.members.clear();
        cut
    }

    fn started(&self) -> impl Iterator<Item = &Member> {
        self.members.values().filter(|member| member.state == State::Started)
    }

    fn wanted_interval(&self) -> Option<Micros> {
        greatest_common_interval(self.started().map(|member| member.options.interval))
    }

    /// Ensures that the run serves a session that is started now, and takes a sample now.
    fn begin_span(&mut self, now: Instant) -> Result<Option<Cut<S::Profile>>, SamplerError> {
        let wanted = self.wanted_interval();
        match &self.run {
            Some(run) if Some(run.interval) == wanted => {
                self.sampler.sample_now();
                Ok(None)
            }
            _ => {
                let next = wanted.map(|interval| self.start_run(now, interval)).transpose()?;
                Ok(self.replace_run(next, S::stop))
            }
        }
    }

    /// Cuts a segment only if another interval is needed, or none.
    fn adjust(&mut self, now: Instant) -> Option<Cut<S::Profile>> {
        if self.run.as_ref().map(|run| run.interval) == self.wanted_interval() { None } else { self.cut(now) }
    }

    /// Ends the run and, if sessions are started, starts another. If the engine refuses that, the old run is ended
    /// first to make room. If it refuses again, [`tick`](Self::tick) retries.
    fn cut(&mut self, now: Instant) -> Option<Cut<S::Profile>> {
        self.cut_by(now, S::stop)
    }

    fn cut_by(&mut self, now: Instant, end: fn(&mut S, S::Running) -> S::Profile) -> Option<Cut<S::Profile>> {
        let wanted = self.wanted_interval();
        let next = wanted.and_then(|interval| self.start_run(now, interval).ok());
        let end = if next.is_some() { end } else { S::stop };
        let cut = self.replace_run(next, end);
        if self.run.is_none() {
            self.run = wanted.and_then(|interval| self.start_run(now, interval).ok());
        }
        cut
    }

    fn start_run(&mut self, now: Instant, interval: Micros) -> Result<Run<S::Running>, SamplerError> {
        Ok(Run { running: self.sampler.start(interval)?, interval, started: now })
    }

    fn replace_run(
        &mut self,
        next: Option<Run<S::Running>>,
        end: fn(&mut S, S::Running) -> S::Profile,
    ) -> Option<Cut<S::Profile>> {
        let old = std::mem::replace(&mut self.run, next)?;
        let profile = end(&mut self.sampler, old.running);
        let mut deliveries = Vec::new();
        for (&session, member) in &mut self.members {
            if !member.spans.is_empty() {
                let spans = member.spans.clone();
                member.spans.retain(|span| span.to.is_none());
                let forced = member.take_forced();
                deliveries.push(Delivery { session, cell: Arc::clone(&member.options.cell), spans, forced });
            }
        }
        Some(Cut { profile, deliveries })
    }
}

/// Why a session could not be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupError {
    /// The session was stopped, or never existed.
    NoSuchSession(SessionId),
    /// The engine refused.
    Sampler(SamplerError),
}

impl fmt::Display for GroupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchSession(SessionId(id)) => write!(f, "session {id} is not active"),
            Self::Sampler(_) => write!(f, "the session could not be resumed"),
        }
    }
}

impl std::error::Error for GroupError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NoSuchSession(_) => None,
            Self::Sampler(error) => Some(error),
        }
    }
}
