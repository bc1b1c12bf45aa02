//! A fake sampler with a fake clock. As V8 does, it ticks late and processes ticks later, while a requested sample is
//! processed at once.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::rc::Rc;

use selfprof_session::{
    Admission, AgentState, Cut, FrameAdmission, Function, Instant, Outcome, RawSample, RawSegment, Sampler,
    SamplerError, SessionId,
};
use selfprof_trace::Micros;

#[derive(Debug, Default)]
pub struct Engine {
    pub now: Instant,
    /// The maximum number of concurrent runs.
    pub most_runs: usize,
    /// How long it takes from a call to the sample that the call takes.
    pub reaction: Micros,
    /// State of a small random generator that delays ticks and processes them; 0 does neither.
    pub noise: u64,
    /// Whether retired runs go on taking samples until [`end_retired_run`](Self::end_retired_run). Otherwise they end
    /// at once.
    pub retires: bool,
    /// The intervals and the samples of the active runs, including the retired one.
    pub runs: BTreeMap<u32, (Micros, Vec<Instant>)>,
    /// The calls since this was last read.
    pub calls: Vec<String>,
    /// Every instant at which it took a sample.
    pub sampled: BTreeSet<Instant>,
    retired: Option<RetiredRun>,
    next_run: u32,
    next_tick: Instant,
    unprocessed: Vec<Instant>,
}

#[derive(Debug)]
struct RetiredRun {
    run: u32,
    at: Instant,
    profile: Profile,
}

/// What a run recorded; nothing before it has ended.
#[derive(Clone, Debug, Default)]
pub struct Profile(Rc<RefCell<Option<RawSegment>>>);

impl Profile {
    pub fn is_running(&self) -> bool {
        self.0.borrow().is_none()
    }
}

impl Engine {
    pub fn new(now: Instant, most_runs: usize) -> Self {
        Self { now, most_runs, ..Self::default() }
    }

    pub fn interval(&self) -> Option<Micros> {
        self.runs.values().map(|(interval, _)| *interval).min()
    }

    /// The interval without that of the retired run.
    pub fn wanted_interval(&self) -> Option<Micros> {
        let is_retired = |run| self.retired.as_ref().is_some_and(|retired| retired.run == run);
        let wanted = self.runs.iter().filter(|(run, _)| !is_retired(**run));
        wanted.map(|(_, (interval, _))| *interval).min()
    }

    /// Whether a retired run has not ended.
    pub fn has_retired_run(&self) -> bool {
        self.retired.is_some()
    }

    /// Ends the retired run, if there is one. Without `at_once`, only if all samples that were taken before it was
    /// retired are processed. Returns whether no retired run is left.
    pub fn end_retired_run(&mut self, at_once: bool) -> bool {
        if at_once {
            self.process();
        }
        let unprocessed = &self.unprocessed;
        let is_due = |retired: &mut RetiredRun| unprocessed.iter().all(|&at| at > retired.at);
        if let Some(RetiredRun { run, profile, .. }) = self.retired.take_if(is_due) {
            self.end_run(run, &profile);
        }
        self.retired.is_none()
    }

    fn end_run(&mut self, run: u32, profile: &Profile) {
        assert!(profile.is_running(), "a run ends once");
        self.calls.push("stop".to_owned());
        let (_, samples) = self.runs.remove(&run).expect("only a run that is going is stopped");
        let sample = |at| RawSample { at, node: None, state: AgentState::Idle };
        let samples = samples.into_iter().map(sample).collect();
        *profile.0.borrow_mut() = Some(RawSegment { samples, ..RawSegment::default() });
    }

    /// Advances the clock.
    pub fn advance(&mut self, duration: Micros) {
        let until = self.now.after(duration);
        while let Some(interval) = self.interval() {
            let at = self.next_tick.after(Micros(self.random(interval.0 / 3))).max(self.now.after(Micros(1)));
            if at > until {
                break;
            }
            self.now = at;
            self.next_tick = self.next_tick.after(interval).max(at);
            self.sampled.insert(at);
            self.unprocessed.push(at);
            if self.random(3) == 1 {
                self.process();
            }
        }
        self.now = until;
    }

    fn process(&mut self) {
        let samples = std::mem::take(&mut self.unprocessed);
        self.runs.values_mut().for_each(|(_, run)| run.extend(&samples));
    }

    fn take_sample(&mut self) {
        self.now = self.now.after(self.reaction);
        self.sampled.insert(self.now);
        self.runs.values_mut().for_each(|(_, run)| run.push(self.now));
    }

    /// A number below `end`, or 0.
    fn random(&mut self, end: u64) -> u64 {
        // xorshift64
        self.noise ^= self.noise << 13;
        self.noise ^= self.noise >> 7;
        self.noise ^= self.noise << 17;
        self.noise % end.max(1)
    }
}

impl Sampler for Engine {
    type Running = u32;
    type Profile = Profile;

    fn start(&mut self, interval: Micros) -> Result<u32, SamplerError> {
        if self.runs.len() - usize::from(self.has_retired_run()) >= self.most_runs {
            return Err(SamplerError { reason: "too many runs" });
        }
        self.calls.push(format!("start {}", interval.0 / 1_000));
        self.next_run += 1;
        if self.interval().is_none_or(|before| interval < before) {
            self.next_tick = self.now.after(interval);
        }
        self.runs.insert(self.next_run, (interval, Vec::new()));
        self.take_sample();
        Ok(self.next_run)
    }

    fn stop(&mut self, running: u32) -> Profile {
        self.end_retired_run(true);
        self.process();
        let profile = Profile::default();
        self.end_run(running, &profile);
        profile
    }

    fn retire(&mut self, running: u32) -> Profile {
        if !self.retires {
            return self.stop(running);
        }
        self.end_retired_run(true);
        let profile = Profile::default();
        self.retired = Some(RetiredRun { run: running, at: self.now, profile: profile.clone() });
        assert!(self.wanted_interval().is_some(), "without another run, samples would be lost");
        profile
    }

    fn sample_now(&mut self) {
        self.calls.push("sample".to_owned());
        assert!(!self.runs.is_empty(), "without a run, nobody gets this sample");
        self.take_sample();
    }

    fn sample_alone(&mut self) -> RangeInclusive<Instant> {
        self.calls.push("force".to_owned());
        assert!(!self.runs.is_empty(), "without a run, nobody gets this sample");
        let from = self.now.after(Micros(1));
        self.now = from;
        self.take_sample();
        let to = self.now;
        self.now = to.after(Micros(1));
        from..=to
    }
}

/// Admits no function.
#[derive(Debug)]
pub struct Nobody;

impl FrameAdmission for Nobody {
    fn admit(&self, _: &Function, _: &str) -> Admission {
        Admission::Hide
    }
}

/// Appends a cut to the recordings of its deliveries, as the building thread does. The outcomes are not published yet.
pub fn append(cut: &Cut<Profile>) -> Vec<(SessionId, Outcome)> {
    let profile = cut.profile.0.borrow();
    let segment = profile.as_ref().expect("only the profile of a run that has ended is read");
    let append = |delivery: &selfprof_session::Delivery| {
        let mut recording = delivery.cell.recording.lock();
        let admission = &*delivery.cell.admission;
        let outcome = recording.append(segment, &delivery.spans, &delivery.forced, admission);
        (delivery.session, outcome.unwrap())
    };
    cut.deliveries.iter().map(append).collect()
}
