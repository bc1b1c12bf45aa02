//! One agent a JS thread: its sessions, its sampler, its end.

use std::cell::RefCell;
use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use selfprof_session::{
    AdmitScripts, BufferPolicy, Cut, FrameAdmission, Group, GroupError, Instant, RealmId, RecordingCell,
    RecordingOptions, SamplerError, SessionId, SessionOptions, quantise,
};
use selfprof_trace::Micros;
use selfprof_v8::{CpuSampler, Environment, Interrupter, LoggingMode, Profile};

use crate::builder::{self, Finished, Job, Stream};
use crate::chunks::{Backlog, Chunked};
use crate::entries::{self, EntryStore, Recorder};
use crate::journal::Journal;
use crate::locks::lock;
use crate::threads::{self, Portion, ProfilingId, Thread};
use crate::{alarm, signals};

/// Names an agent in the process, for the threads that serve all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentKey(u64);

/// How long a session's samples may stay in V8: long enough that cutting costs nothing that can be measured, short enough
/// that V8's share stays below a megabyte.
const ROTATE_SESSION: Micros = Micros(10_000_000);
/// A streamed recording is cut more often: what is still in V8 is lost when the process is killed.
const ROTATE_JOURNAL: Micros = Micros(2_000_000);

/// The resolution of a clock in a [cross-origin isolated](https://w3c.github.io/hr-time/#dfn-coarsen-time) place, which a
/// process is: all that runs in it belongs to one owner.
pub const RESOLUTION: Micros = Micros(5);

/// Who opened a session, to be told of it from any thread.
pub struct Audience {
    /// Its buffer is full.
    pub on_full: Box<dyn Fn(SessionId) + Send + Sync>,
    /// A chunk waits.
    pub on_chunk: Box<dyn Fn(SessionId) + Send + Sync>,
}

/// How long a thread that seemed to end may go on before it is sampled again: longer than a process takes to end.
const RESUME_AFTER: Micros = Micros(100_000);

/// How long the building thread may take to read a segment, as a rule.
const BURY_AFTER: Micros = Micros(200_000);

/// What an agent is made with.
pub struct AgentOptions {
    /// When V8 notes down where code lies.
    pub mode: LoggingMode,
    /// Which functions traces may show.
    pub admission: AdmitScripts,
    /// The time origin of the thread's `performance`.
    pub origin: Instant,
    /// The thread.
    pub thread: Thread,
    /// Has JavaScript look, soon, whether marks and measures are wanted.
    pub on_entries_wanted: Box<dyn Fn()>,
}

/// The agent of one JS thread. Lives from [`begin`] until its environment is torn down or the process ends; only its own
/// thread touches it.
pub struct Agent {
    group: Group<CpuSampler>,
    view: View,
    notifier: Arc<Notifier>,
    on_entries_wanted: Box<dyn Fn()>,
}

/// What a thread records for a profiling of all threads.
#[derive(Clone)]
pub struct Recorded {
    /// The samples.
    pub cell: Arc<RecordingCell>,
    /// The marks and measures, when they are wanted.
    pub entries: Option<Arc<EntryStore>>,
}

/// How the building thread reaches an agent. It outlives the agent if jobs are still queued, and then reaches nobody.
pub struct Notifier {
    key: AgentKey,
    interrupter: Interrupter,
    /// Who is told of a session. The agent adds and, when it has ended, the building thread takes out.
    audiences: Mutex<HashMap<SessionId, Arc<Audience>>>,
    /// Sessions whose full buffers become chunks. As above.
    chunked: Mutex<HashMap<SessionId, Chunked>>,
    /// Recordings that are streamed. The agent adds, the building thread looks up.
    streams: Mutex<HashMap<SessionId, Stream>>,
    /// Whether the thread is to look at what others ask of it. Any thread sets it, the agent's takes it back.
    attention: AtomicBool,
}

impl Notifier {
    /// A session's buffer is full: tells whoever opened it.
    pub fn buffer_full(&self, session: SessionId) {
        if let Some(audience) = self.audience(session) {
            (audience.on_full)(session);
        }
        // The group stops sampling for it at its next tick.
        self.look_at(selfprof_v8::now());
    }

    /// Chunks of a session wait.
    pub fn chunks_wait(&self, session: SessionId) {
        if let Some(audience) = self.audience(session) {
            (audience.on_chunk)(session);
        }
    }

    fn audience(&self, session: SessionId) -> Option<Arc<Audience>> {
        // Its lock is not held while it is told: that takes a lock of Node's.
        lock(&self.audiences).get(&session).cloned()
    }

    /// Nobody is to be told of this session any more, nor to be given its chunks.
    pub fn forget(&self, session: SessionId) {
        lock(&self.audiences).remove(&session);
        lock(&self.chunked).remove(&session);
    }

    /// Where a session's chunks go, if its full buffers become some.
    pub fn chunked(&self, session: SessionId) -> Option<Chunked> {
        lock(&self.chunked).get(&session).cloned()
    }

    /// The group is to look after its sessions at `at`.
    pub fn look_at(&self, at: Instant) {
        alarm::set(self.key, &self.interrupter, at);
    }

    /// Has the agent's thread look at what others ask of it, soon.
    pub fn call_attention(&self) {
        self.attention.store(true, Ordering::Release);
        self.look_at(selfprof_v8::now());
    }

    /// Where a session is streamed to, if it is.
    pub fn stream(&self, session: SessionId) -> Option<Stream> {
        lock(&self.streams).get(&session).cloned()
    }
}

thread_local! {
    // Never dropped with the thread: of the main thread that would be after V8's end. `end` takes it out in time.
    static AGENT: ManuallyDrop<RefCell<Option<Agent>>> = const { ManuallyDrop::new(RefCell::new(None)) };
}

/// Why a session could not be opened or closed.
#[derive(Debug)]
pub enum AgentError {
    /// The thread has no agent: it was never made, or its environment has ended.
    NoAgent,
    /// V8 refused.
    Sampler(SamplerError),
    /// The session was closed before.
    Group(GroupError),
}

impl std::fmt::Display for AgentError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoAgent => write!(f, "this thread is ending and takes no more samples"),
            Self::Sampler(error) => error.fmt(f),
            Self::Group(error) => error.fmt(f),
        }
    }
}

/// Makes this thread's agent, unless it has one. Says whether it did.
pub fn begin(options: AgentOptions) -> Result<bool, AgentError> {
    static NEXT_KEY: AtomicU64 = AtomicU64::new(0);
    let is_new = AGENT.with(|agent| {
        let mut agent = agent.try_borrow_mut().map_err(|_| AgentError::NoAgent)?;
        if agent.is_some() {
            return Ok(false);
        }
        let environment = Environment::current().ok_or(AgentError::NoAgent)?;
        environment.on_cleanup(on_cleanup);
        environment.on_exit(on_exit);
        let notifier = Arc::new(Notifier {
            key: AgentKey(NEXT_KEY.fetch_add(1, Ordering::Relaxed)),
            interrupter: environment.interrupter(),
            audiences: Mutex::new(HashMap::new()),
            chunked: Mutex::new(HashMap::new()),
            streams: Mutex::new(HashMap::new()),
            attention: AtomicBool::new(false),
        });
        *agent = Some(Agent {
            group: Group::new(CpuSampler::new(&environment, options.mode)),
            view: View {
                admission: Arc::new(options.admission),
                origin: options.origin,
                resolution: RESOLUTION,
            },
            notifier: Arc::clone(&notifier),
            on_entries_wanted: options.on_entries_wanted,
        });
        threads::began(notifier.key, options.thread, notifier);
        Ok(true)
    })?;
    // The process may be profiled already.
    attend();
    Ok(is_new)
}

/// What a session sees.
#[derive(Clone)]
pub struct View {
    /// Which functions its trace may show.
    pub admission: Arc<dyn FrameAdmission>,
    /// Its time origin.
    pub origin: Instant,
    /// The grid of its timestamps.
    pub resolution: Micros,
}

/// What a session is opened with.
#[derive(Clone, Copy)]
pub struct Wishes {
    /// The sample interval, not yet quantised.
    pub interval: Micros,
    /// The sample buffer size limit.
    pub limit: Option<u64>,
    /// What happens when it is reached.
    pub policy: BufferPolicy,
    /// Whether the trace is to have marks and measures, which this side has to see to only when other threads are profiled.
    pub entries: bool,
}

/// Opens a session on this thread, whose chunks go to `backlog`. It has the view of a realm, or else the thread's. Returns
/// its id and the interval it got.
pub fn open(
    wishes: &Wishes,
    view: Option<View>,
    audience: Arc<Audience>,
    backlog: Option<Arc<Backlog>>,
) -> Result<(SessionId, Micros), AgentError> {
    with(|agent| {
        let view = view.unwrap_or_else(|| agent.view.clone());
        let (session, interval, cell) = agent.join(wishes, view, ROTATE_SESSION)?;
        lock(&agent.notifier.audiences).insert(session, audience);
        if let Some(backlog) = backlog {
            lock(&agent.notifier.chunked).insert(session, Chunked { cell, backlog });
        }
        Ok((session, interval))
    })
}

/// A chunk of a session was taken that rested because too many waited.
pub fn go_on(session: SessionId) {
    let _ = with(|agent| {
        if agent.notifier.chunked(session).is_some() {
            builder::send(Job::GoOn { session, notifier: Arc::clone(&agent.notifier) });
        }
        Ok(())
    });
}

/// Opens a session on this thread whose samples are streamed into `journal`.
pub fn open_journal(wishes: &Wishes, journal: Arc<Journal>) -> Result<SessionId, AgentError> {
    with(|agent| {
        let (session, _, cell) = agent.join(wishes, agent.view.clone(), ROTATE_JOURNAL)?;
        lock(&agent.notifier.streams).insert(session, Stream { cell, journal });
        signals::watch(&agent.notifier.interrupter);
        Ok(session)
    })
}

/// A session that was stopped and whose trace is still to be built.
pub struct Stopped {
    session: SessionId,
    cell: Arc<RecordingCell>,
    notifier: Arc<Notifier>,
}

/// Stops a session.
pub fn close(session: SessionId) -> Result<Stopped, AgentError> {
    with(|agent| {
        let left = agent.group.leave(selfprof_v8::now(), session).map_err(AgentError::Group)?;
        agent.deliver(left.cut);
        Ok(Stopped { session, cell: left.cell, notifier: Arc::clone(&agent.notifier) })
    })
}

impl Stopped {
    /// Has the trace built; `done` gets it on the building thread, `None` when that failed.
    pub fn build(self, done: impl FnOnce(Option<Finished>) + Send + 'static) {
        let Self { session, cell, notifier } = self;
        let backlog = notifier.chunked(session).map(|chunked| chunked.backlog);
        let done = move |finished| {
            notifier.forget(session);
            done(finished);
        };
        builder::send(Job::Finish { cell, backlog, done: Box::new(done) });
    }
}

/// Stops a session and forgets what it recorded. Does nothing when it was closed before.
pub fn abandon(session: SessionId) {
    let _ = with(|agent| {
        agent.abandon(session);
        Ok(())
    });
}

/// Starts to profile all threads that have an agent, and those that get one. Returns the interval it got, too.
pub fn profile_threads(wishes: Wishes) -> Result<(ProfilingId, Micros), AgentError> {
    with(|agent| {
        let id = threads::start(agent, wishes);
        threads::attend(agent);
        Ok((id, quantise(wishes.interval, CpuSampler::BASE)))
    })
}

/// Stops to profile all threads; `stopped` gets what they recorded on the building thread.
pub fn stop_threads(id: ProfilingId, stopped: impl FnOnce(Vec<Portion>) + Send + 'static) {
    threads::stop(id, Box::new(stopped));
    attend();
}

/// Stops to profile all threads and forgets what was recorded.
pub fn cancel_threads(id: ProfilingId) {
    threads::cancel(id);
    attend();
}

/// Does what other threads ask of this one.
fn attend() {
    let _ = with(|agent| {
        threads::attend(agent);
        Ok(())
    });
}

/// Takes a sample now for each started session of a realm, or of none: it is theirs alone. Returns how many took it.
pub fn force_sample(realm: Option<RealmId>) -> Result<usize, AgentError> {
    with(|agent| {
        let sessions = agent.sessions_of(realm);
        Ok(agent.group.force_sample(|session| sessions.contains(&session)))
    })
}

/// Pauses a realm's sessions, or resumes those that are paused.
pub fn set_paused(realm: RealmId, paused: bool) -> Result<(), AgentError> {
    with(|agent| {
        for session in agent.sessions_of(Some(realm)) {
            let now = selfprof_v8::now();
            let cut = if paused { agent.group.pause(now, session) } else { agent.group.resume(now, session) };
            agent.deliver(cut.map_err(AgentError::Group)?);
        }
        Ok(())
    })
}

/// Frees what V8 still holds of profiles that have been read.
pub fn bury() {
    let _ = with(|agent| {
        agent.group.sampler().bury();
        Ok(())
    });
}

/// Does what is due in this thread's group. The alarm calls this, between two JavaScript instructions or from the event
/// loop.
pub fn on_tick() {
    let _ = with(|agent| {
        let cut = agent.group.tick(selfprof_v8::now());
        agent.deliver(cut);
        agent.group.sampler().bury();
        if agent.notifier.attention.swap(false, Ordering::AcqRel) {
            threads::attend(agent);
        }
        Ok(())
    });
}

/// The thread seems to end. Everything is written out and the sampler rests; should JavaScript go on after all, sampling
/// does too, a moment later.
pub fn on_exit() {
    let _ = with(|agent| {
        let cut = agent.group.suspend();
        agent.deliver(cut);
        agent.end_streams("exit");
        builder::wait();
        agent.group.sampler().bury();
        agent.notifier.look_at(selfprof_v8::now().after(RESUME_AFTER));
        Ok(())
    });
    signals::hold();
}

/// Ends this thread's agent, because its environment is torn down.
pub fn on_cleanup() {
    end("exit");
    signals::hold();
}

/// Ends this thread's agent, because a signal is about to end the process.
pub fn on_signal() {
    end("signal");
    signals::ended();
    signals::hold();
}

fn end(reason: &'static str) {
    let agent = AGENT.with(|agent| agent.try_borrow_mut().ok().and_then(|mut agent| agent.take()));
    let Some(mut agent) = agent else { return };
    agent.notifier.interrupter.revoke();
    alarm::forget(agent.notifier.key);
    let cut = agent.group.close(selfprof_v8::now());
    if threads::records(agent.key()) || !lock(&agent.notifier.streams).is_empty() {
        agent.deliver(cut);
        agent.end_streams(reason);
        // The sampler frees V8's profiles when it is dropped, so they must have been read.
        builder::wait();
    }
    threads::ended(agent.key());
}

/// Runs `work` on this thread's agent. Node may run a clean-up hook or an interrupt while the agent is at work, in
/// which case the later of the two finds no agent; both come again.
fn with<T>(work: impl FnOnce(&mut Agent) -> Result<T, AgentError>) -> Result<T, AgentError> {
    AGENT.with(|agent| {
        let mut agent = agent.try_borrow_mut().map_err(|_| AgentError::NoAgent)?;
        let agent = agent.as_mut().ok_or(AgentError::NoAgent)?;
        let result = work(agent);
        if let Some(deadline) = agent.group.next_deadline() {
            agent.notifier.look_at(deadline);
        }
        if agent.notifier.attention.load(Ordering::Acquire) {
            // Somebody asked for it while the agent was at work, and found it busy.
            agent.notifier.look_at(selfprof_v8::now());
        }
        result
    })
}

impl Agent {
    /// Its name in the process.
    pub fn key(&self) -> AgentKey {
        self.notifier.key
    }

    /// The time origin of the thread's `performance`.
    pub fn origin(&self) -> Instant {
        self.view.origin
    }

    /// Opens a session of a profiling of all threads, whose trace counts from `origin`.
    pub fn join_profiling(
        &mut self,
        wishes: &Wishes,
        origin: Instant,
    ) -> Result<(SessionId, Recorded), AgentError> {
        let (session, _, cell) = self.join(wishes, View { origin, ..self.view.clone() }, ROTATE_SESSION)?;
        let entries = wishes.entries.then(|| {
            let is_circular = wishes.policy == BufferPolicy::Circular;
            let limit = wishes.limit.unwrap_or(u64::MAX);
            let store = Arc::new(EntryStore::of_session(limit, is_circular, self.now()));
            entries::begin(Recorder::Session(session, Arc::clone(&store)));
            (self.on_entries_wanted)();
            store
        });
        Ok((session, Recorded { cell, entries }))
    }

    /// Now, on the clock of the thread's `performance`.
    fn now(&self) -> Micros {
        selfprof_v8::now().since(self.view.origin)
    }

    /// Stops such a session. Says whether it was not stopped before.
    pub fn leave_profiling(&mut self, session: SessionId) -> bool {
        let Ok(left) = self.group.leave(selfprof_v8::now(), session) else { return false };
        self.deliver(left.cut);
        self.bury_later();
        self.end_entries(session);
        true
    }

    /// No marks and measures are wanted for a session any more.
    fn end_entries(&self, session: SessionId) {
        if entries::end(session, self.now()) {
            (self.on_entries_wanted)();
        }
    }

    /// Stops a session and forgets what it recorded. Does nothing when it was stopped before.
    pub fn abandon(&mut self, session: SessionId) {
        let Ok(mut left) = self.group.leave(selfprof_v8::now(), session) else { return };
        if let Some(cut) = &mut left.cut {
            cut.deliveries.retain(|delivery| delivery.session != session);
        }
        self.notifier.forget(session);
        self.deliver(left.cut);
        self.bury_later();
        self.end_entries(session);
    }

    /// Frees what V8 holds of the last segment when the building thread is through with it, though this thread may have
    /// nothing to do any more.
    fn bury_later(&self) {
        self.notifier.look_at(selfprof_v8::now().after(BURY_AFTER));
    }

    fn join(
        &mut self,
        wishes: &Wishes,
        view: View,
        rotate_every: Micros,
    ) -> Result<(SessionId, Micros, Arc<RecordingCell>), AgentError> {
        let &Wishes { interval, limit, policy, .. } = wishes;
        let interval = quantise(interval, CpuSampler::BASE);
        let now = selfprof_v8::now();
        let View { admission, origin, resolution } = view;
        let recording = RecordingOptions { origin, interval, limit, policy, resolution };
        let cell = Arc::new(RecordingCell::new(recording, admission, now));
        let options = SessionOptions { interval, rotate_every, cell: Arc::clone(&cell) };
        let (session, cut) = self.group.join(now, options).map_err(AgentError::Sampler)?;
        self.deliver(cut);
        Ok((session, interval, cell))
    }

    fn sessions_of(&self, realm: Option<RealmId>) -> Vec<SessionId> {
        let of_realm = |cell: &RecordingCell| cell.admission.realm() == realm;
        self.group.sessions().filter(|(_, cell)| of_realm(cell)).map(|(session, _)| session).collect()
    }

    /// Has every streamed recording written out to its end.
    fn end_streams(&self, reason: &'static str) {
        for stream in lock(&self.notifier.streams).values().cloned() {
            builder::send(Job::End { stream, reason });
        }
    }

    fn deliver(&self, cut: Option<Cut<Profile>>) {
        if let Some(cut) = cut {
            builder::send(Job::Append { cut, notifier: Arc::clone(&self.notifier) });
        }
    }
}
