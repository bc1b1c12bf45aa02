//! All threads of the process that have an agent, profiled as one.
//!
//! Only a thread itself can start and stop sampling itself. So a profiling is a list of what each thread is asked for, and
//! each thread is interrupted to look at it: to join, and later to leave. A thread that begins meanwhile finds the list, one
//! that ends hands over what it recorded, and one that does not look, because it is blocked in native code, is not waited
//! for longer than whoever asked wants.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use selfprof_session::{Instant, RecordingCell, SessionId};

use crate::agent::{Agent, AgentError, AgentKey, Notifier, Wishes};
use crate::builder::{self, Finished, Job};
use crate::locks::lock;

/// Names a profiling in the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProfilingId(pub u32);

/// How Node calls a thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// `threadId` of `node:worker_threads`.
    pub id: u32,
    /// Its name.
    pub name: String,
}

/// What one thread recorded.
pub struct Portion {
    /// The thread.
    pub thread: Thread,
    /// Its trace, `None` when it did not answer in time.
    pub finished: Option<Finished>,
}

/// Called when all threads have joined, on one of them.
type OnStarted = Box<dyn FnOnce() + Send>;
/// Called with what the threads recorded, on the building thread.
type OnStopped = Box<dyn FnOnce(Vec<Portion>) + Send>;

/// All threads with an agent, and what is asked of them. Any JS thread may lock it, for a few steps each time; no agent
/// samples and no callback runs meanwhile.
struct Registry {
    threads: BTreeMap<AgentKey, Registered>,
    profilings: BTreeMap<ProfilingId, Profiling>,
    next_id: u32,
}

static REGISTRY: Mutex<Registry> =
    Mutex::new(Registry { threads: BTreeMap::new(), profilings: BTreeMap::new(), next_id: 0 });

struct Registered {
    thread: Thread,
    notifier: Arc<Notifier>,
    /// Sessions of profilings that are over, which the thread has yet to end.
    leftovers: Vec<SessionId>,
}

struct Profiling {
    /// The agent whose thread asked for it. It ends with that.
    owner: AgentKey,
    wishes: Wishes,
    /// The time origin of the owner, from which all traces count.
    origin: Instant,
    /// In the order in which the threads began.
    members: Vec<Member>,
    phase: Phase,
}

enum Phase {
    /// Threads are asked to join; somebody may wait until they have.
    Starting(Option<OnStarted>),
    Going,
    /// Threads are asked to leave.
    Stopping(OnStopped),
}

struct Member {
    agent: AgentKey,
    thread: Thread,
    part: Part,
}

enum Part {
    /// It was asked to join.
    Asked,
    Joined(SessionId, Arc<RecordingCell>),
    /// All that it recorded was sent to the building thread.
    Left(Arc<RecordingCell>),
}

/// What a thread is to do next.
enum Task {
    Join(ProfilingId, Wishes, Instant),
    Leave(ProfilingId, SessionId),
    Abandon(SessionId),
}

/// What is to be called when the registry is no longer locked.
enum Call {
    Started(OnStarted),
    Stopped(OnStopped, Vec<Member>),
}

impl Call {
    fn make(self) {
        match self {
            Self::Started(started) => started(),
            Self::Stopped(stopped, members) => {
                let cell = |part| match part {
                    Part::Left(cell) => Some(cell),
                    Part::Asked | Part::Joined(..) => None,
                };
                let (threads, cells): (Vec<_>, Vec<_>) =
                    members.into_iter().map(|member| (member.thread, cell(member.part))).unzip();
                let done = move |all: Vec<Option<Finished>>| {
                    let portion = |(thread, finished)| Portion { thread, finished };
                    stopped(threads.into_iter().zip(all).map(portion).collect());
                };
                builder::send(Job::FinishAll { cells, done: Box::new(done) });
            }
        }
    }
}

impl Registry {
    /// Has a thread look here soon.
    fn call_attention(&self, agent: AgentKey) {
        if let Some(registered) = self.threads.get(&agent) {
            registered.notifier.call_attention();
        }
    }

    fn next_task(&mut self, agent: AgentKey) -> Option<Task> {
        if let Some(session) = self.threads.get_mut(&agent).and_then(|thread| thread.leftovers.pop()) {
            return Some(Task::Abandon(session));
        }
        self.profilings.iter().find_map(|(&id, profiling)| {
            let member = profiling.members.iter().find(|member| member.agent == agent)?;
            match (&profiling.phase, &member.part) {
                (Phase::Starting(_) | Phase::Going, Part::Asked) => {
                    Some(Task::Join(id, profiling.wishes, profiling.origin))
                }
                (Phase::Stopping(_), &Part::Joined(session, _)) => Some(Task::Leave(id, session)),
                _ => None,
            }
        })
    }

    /// Goes on to the next phase when nobody is waited for any more, or nobody is to be.
    fn advance(&mut self, id: ProfilingId, give_up: bool) -> Option<Call> {
        let profiling = self.profilings.get_mut(&id)?;
        let waits = profiling.members.iter().any(|member| match profiling.phase {
            Phase::Starting(_) => matches!(member.part, Part::Asked),
            Phase::Going => false,
            Phase::Stopping(_) => matches!(member.part, Part::Joined(..)),
        });
        if waits && !give_up {
            return None;
        }
        match &mut profiling.phase {
            Phase::Starting(started) => {
                let started = started.take()?;
                profiling.phase = Phase::Going;
                Some(Call::Started(started))
            }
            Phase::Going => None,
            Phase::Stopping(_) => {
                let members = self.remove(id)?;
                let Phase::Stopping(stopped) = members.phase else { return None };
                Some(Call::Stopped(stopped, members.members))
            }
        }
    }

    /// Takes a profiling out, and has the threads that still record for it end that.
    fn remove(&mut self, id: ProfilingId) -> Option<Profiling> {
        let profiling = self.profilings.remove(&id)?;
        for member in &profiling.members {
            if let Part::Joined(session, _) = member.part
                && let Some(registered) = self.threads.get_mut(&member.agent)
            {
                registered.leftovers.push(session);
                registered.notifier.call_attention();
            }
        }
        Some(profiling)
    }
}

/// Locks the registry for `work`, and then makes the calls that it led to.
fn locked<T>(work: impl FnOnce(&mut Registry) -> (T, Vec<Call>)) -> T {
    let (result, calls) = work(&mut lock(&REGISTRY));
    calls.into_iter().for_each(Call::make);
    result
}

/// A thread has got its agent. It is to [`attend`] next.
pub fn began(agent: AgentKey, thread: Thread, notifier: Arc<Notifier>) {
    let mut registry = lock(&REGISTRY);
    for profiling in registry.profilings.values_mut() {
        if !matches!(profiling.phase, Phase::Stopping(_)) {
            profiling.members.push(Member { agent, thread: thread.clone(), part: Part::Asked });
        }
    }
    registry.threads.insert(agent, Registered { thread, notifier, leftovers: Vec::new() });
}

/// Does what this agent's thread is asked for.
pub fn attend(agent: &mut Agent) {
    let key = agent.key();
    loop {
        let Some(task) = lock(&REGISTRY).next_task(key) else { return };
        match task {
            Task::Join(id, wishes, origin) => {
                let joined = agent.join_profiling(&wishes, origin);
                locked(|registry| ((), note_joined(registry, id, key, joined)));
            }
            Task::Leave(id, session) => {
                let left = agent.leave_profiling(session);
                locked(|registry| ((), note_left(registry, id, key, left)));
            }
            Task::Abandon(session) => agent.abandon(session),
        }
    }
}

fn note_joined(
    registry: &mut Registry,
    id: ProfilingId,
    agent: AgentKey,
    joined: Result<(SessionId, Arc<RecordingCell>), AgentError>,
) -> Vec<Call> {
    let members = registry.profilings.get_mut(&id).map(|profiling| &mut profiling.members);
    let member = members.and_then(|members| members.iter_mut().find(|member| member.agent == agent));
    match (member, joined) {
        (Some(member), Ok((session, cell))) => member.part = Part::Joined(session, cell),
        // The profiling was over before the thread had joined it.
        (None, Ok((session, _))) => {
            if let Some(registered) = registry.threads.get_mut(&agent) {
                registered.leftovers.push(session);
            }
        }
        // V8 keeps a hundred runs at most, and others have them all: this thread cannot be profiled.
        (_, Err(_)) => {
            if let Some(profiling) = registry.profilings.get_mut(&id) {
                profiling.members.retain(|member| member.agent != agent);
            }
        }
    }
    registry.advance(id, false).into_iter().collect()
}

fn note_left(
    registry: &mut Registry,
    id: ProfilingId,
    agent: AgentKey,
    left: Option<Arc<RecordingCell>>,
) -> Vec<Call> {
    if let Some(profiling) = registry.profilings.get_mut(&id)
        && let Some(member) = profiling.members.iter_mut().find(|member| member.agent == agent)
        && let Some(cell) = left
    {
        member.part = Part::Left(cell);
    }
    registry.advance(id, false).into_iter().collect()
}

/// Whether a thread that ends has something to hand over to another.
pub fn records(agent: AgentKey) -> bool {
    let registry = lock(&REGISTRY);
    let of_others = registry.profilings.values().filter(|profiling| profiling.owner != agent);
    let mut members = of_others.flat_map(|profiling| &profiling.members);
    members.any(|member| member.agent == agent && matches!(member.part, Part::Joined(..)))
}

/// A thread has ended, and what it recorded was sent to the building thread.
pub fn ended(agent: AgentKey) {
    locked(|registry| {
        registry.threads.remove(&agent);
        let ids: Vec<_> = registry.profilings.keys().copied().collect();
        let mut calls = Vec::new();
        for id in ids {
            if registry.profilings.get(&id).is_some_and(|profiling| profiling.owner == agent) {
                registry.remove(id);
                continue;
            }
            let Some(profiling) = registry.profilings.get_mut(&id) else { continue };
            // One that never joined has nothing to show.
            profiling.members.retain(|member| member.agent != agent || !matches!(member.part, Part::Asked));
            for member in profiling.members.iter_mut().filter(|member| member.agent == agent) {
                if let Part::Joined(_, cell) = &member.part {
                    member.part = Part::Left(Arc::clone(cell));
                }
            }
            calls.extend(registry.advance(id, false));
        }
        ((), calls)
    });
}

/// Asks all threads to join a profiling that belongs to this agent, whose own thread is to [`attend`] next.
pub fn start(owner: &Agent, wishes: Wishes) -> ProfilingId {
    let mut registry = lock(&REGISTRY);
    let id = ProfilingId(registry.next_id);
    registry.next_id += 1;
    let member = |(&agent, registered): (&AgentKey, &Registered)| Member {
        agent,
        thread: registered.thread.clone(),
        part: Part::Asked,
    };
    let members = registry.threads.iter().map(member).collect();
    let profiling = Profiling {
        owner: owner.key(),
        wishes,
        origin: owner.origin(),
        members,
        phase: Phase::Starting(None),
    };
    registry.profilings.insert(id, profiling);
    let others: Vec<_> = registry.threads.keys().copied().filter(|&agent| agent != owner.key()).collect();
    others.into_iter().for_each(|agent| registry.call_attention(agent));
    id
}

/// Calls `started` when all threads have joined.
pub fn when_started(id: ProfilingId, started: OnStarted) {
    locked(|registry| {
        let Some(profiling) = registry.profilings.get_mut(&id) else {
            return ((), vec![Call::Started(started)]);
        };
        profiling.phase = Phase::Starting(Some(started));
        ((), registry.advance(id, false).into_iter().collect())
    });
}

/// Asks all threads to leave, and calls `stopped` when they have. The owner's thread is to [`attend`] next.
pub fn stop(id: ProfilingId, stopped: OnStopped) {
    locked(|registry| {
        let Some(profiling) = registry.profilings.get_mut(&id) else {
            return ((), vec![Call::Stopped(stopped, Vec::new())]);
        };
        profiling.phase = Phase::Stopping(stopped);
        let owner = profiling.owner;
        let joined = profiling.members.iter().filter(|member| matches!(member.part, Part::Joined(..)));
        let others: Vec<_> = joined.map(|member| member.agent).filter(|&agent| agent != owner).collect();
        others.into_iter().for_each(|agent| registry.call_attention(agent));
        ((), registry.advance(id, false).into_iter().collect())
    });
}

/// Waits for nobody any more in this phase of a profiling.
pub fn give_up(id: ProfilingId) {
    locked(|registry| ((), registry.advance(id, true).into_iter().collect()));
}

/// Ends a profiling and forgets what was recorded. The owner's thread is to [`attend`] next.
pub fn cancel(id: ProfilingId) {
    lock(&REGISTRY).remove(id);
}
