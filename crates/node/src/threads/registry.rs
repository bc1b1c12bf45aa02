//! Which threads can be profiled, and what each of them must do for the profiles of all threads.
//!
//! Only a thread itself can start and stop sampling itself. So a profile is a list of tasks, one for each thread: to
//! join, and later to leave. Each thread is interrupted to do its task. A thread that starts in the meantime finds the
//! list. A thread that ends hands over what it recorded. A thread that does not respond, because it is blocked in
//! native code, is waited for only as long as the caller wants.
//!
//! This is a state machine without locks or threads: it returns the [`Completion`]s that a change leads to.

use std::collections::BTreeMap;

use selfprof_session::{Instant, SessionId};

use crate::agent_key::AgentKey;
use crate::output::finished::{Thread, ThreadRecording, ThreadTrace};
use crate::session_request::SessionRequest;

/// Names a profile of all threads in the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProfileId(pub u32);

/// Called when all threads have joined, on one of them.
type OnStarted = Box<dyn FnOnce() + Send>;
/// Called with what the threads recorded, on the building thread.
type OnStopped = Box<dyn FnOnce(Vec<ThreadTrace>) + Send>;
/// Has a thread ask for its [next task](Registry::next_task) soon. Any thread may call it.
type Wake = Box<dyn Fn() + Send>;

/// What must be called when the registry is no longer locked.
pub enum Completion {
    /// All threads have joined.
    Started(OnStarted),
    /// All threads have left; the recordings of those that did not respond are missing.
    Stopped(OnStopped, Vec<(Thread, Option<ThreadRecording>)>),
}

/// What a thread must do next.
pub enum Task {
    /// Open a session for a profile, whose timestamps count from the instant.
    Join(ProfileId, SessionRequest, Instant),
    /// Stop its session and keep what it recorded.
    Leave(ProfileId, SessionId),
    /// Stop its session and discard what it recorded.
    Abandon(SessionId),
}

/// The threads and the profiles of the process.
pub struct Registry {
    threads: BTreeMap<AgentKey, Registered>,
    profiles: BTreeMap<ProfileId, Profile>,
    next_id: u32,
}

struct Registered {
    thread: Thread,
    wake: Wake,
    /// Sessions of profiles that are over, which the thread has yet to end.
    leftovers: Vec<SessionId>,
}

struct Profile {
    /// The agent whose thread started it. The profile ends with it.
    owner: AgentKey,
    request: SessionRequest,
    /// The time origin of the owner, from which all traces count.
    origin: Instant,
    /// In the order in which the threads began.
    members: Vec<Member>,
    phase: Phase,
}

enum Phase {
    /// Threads are asked to join; a caller may wait until they have.
    Starting(Option<OnStarted>),
    Running,
    /// Threads are asked to leave.
    Stopping(OnStopped),
}

struct Member {
    agent: AgentKey,
    thread: Thread,
    state: MemberState,
}

enum MemberState {
    /// It was asked to join.
    Asked,
    Joined(SessionId, ThreadRecording),
    /// Everything that it recorded was given to the building thread.
    Left(ThreadRecording),
}

impl Registry {
    /// Without threads.
    pub const fn new() -> Self {
        Self { threads: BTreeMap::new(), profiles: BTreeMap::new(), next_id: 0 }
    }

    /// A thread has an agent from now on. Profiles in progress include it: its next task is to join them.
    pub fn add_thread(&mut self, agent: AgentKey, thread: Thread, wake: Wake) {
        for profile in self.profiles.values_mut() {
            if !matches!(profile.phase, Phase::Stopping(_)) {
                profile.members.push(Member { agent, thread: thread.clone(), state: MemberState::Asked });
            }
        }
        self.threads.insert(agent, Registered { thread, wake, leftovers: Vec::new() });
    }

    /// How many threads have an agent.
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// A thread has ended, and what it recorded was given to the building thread.
    pub fn remove_thread(&mut self, agent: AgentKey) -> Vec<Completion> {
        self.threads.remove(&agent);
        let ids: Vec<_> = self.profiles.keys().copied().collect();
        let mut completions = Vec::new();
        for id in ids {
            if self.profiles.get(&id).is_some_and(|profile| profile.owner == agent) {
                self.remove_profile(id);
                continue;
            }
            let Some(profile) = self.profiles.get_mut(&id) else { continue };
            // A thread that never joined has no recording.
            profile
                .members
                .retain(|member| member.agent != agent || !matches!(member.state, MemberState::Asked));
            for member in profile.members.iter_mut().filter(|member| member.agent == agent) {
                if let MemberState::Joined(_, recording) = &member.state {
                    member.state = MemberState::Left(recording.clone());
                }
            }
            completions.extend(self.advance(id, false));
        }
        completions
    }

    /// Whether a thread that ends has a recording that another thread wants.
    pub fn is_recording_for_others(&self, agent: AgentKey) -> bool {
        let of_others = self.profiles.values().filter(|profile| profile.owner != agent);
        let mut members = of_others.flat_map(|profile| &profile.members);
        members.any(|member| member.agent == agent && matches!(member.state, MemberState::Joined(..)))
    }

    /// What a thread must do next, until it reports that with [`joined`](Self::joined) or [`left`](Self::left).
    pub fn next_task(&mut self, agent: AgentKey) -> Option<Task> {
        if let Some(session) = self.threads.get_mut(&agent).and_then(|thread| thread.leftovers.pop()) {
            return Some(Task::Abandon(session));
        }
        self.profiles.iter().find_map(|(&id, profile)| {
            let member = profile.members.iter().find(|member| member.agent == agent)?;
            match (&profile.phase, &member.state) {
                (Phase::Starting(_) | Phase::Running, MemberState::Asked) => {
                    Some(Task::Join(id, profile.request, profile.origin))
                }
                (Phase::Stopping(_), &MemberState::Joined(session, _)) => Some(Task::Leave(id, session)),
                _ => None,
            }
        })
    }

    /// A thread has done [`Task::Join`]; `None` when V8 refused.
    pub fn joined(
        &mut self,
        id: ProfileId,
        agent: AgentKey,
        joined: Option<(SessionId, ThreadRecording)>,
    ) -> Vec<Completion> {
        let members = self.profiles.get_mut(&id).map(|profile| &mut profile.members);
        let member = members.and_then(|members| members.iter_mut().find(|member| member.agent == agent));
        match (member, joined) {
            (Some(member), Some((session, recording))) => {
                member.state = MemberState::Joined(session, recording);
            }
            // The profile ended before the thread had joined it.
            (None, Some((session, _))) => {
                if let Some(registered) = self.threads.get_mut(&agent) {
                    registered.leftovers.push(session);
                }
            }
            // V8 allows 100 runs at most, and all are in use: this thread cannot be profiled.
            (_, None) => {
                if let Some(profile) = self.profiles.get_mut(&id) {
                    profile.members.retain(|member| member.agent != agent);
                }
            }
        }
        self.advance(id, false).into_iter().collect()
    }

    /// A thread has done [`Task::Leave`]; not `stopped` when its session had ended before.
    pub fn left(&mut self, id: ProfileId, agent: AgentKey, stopped: bool) -> Vec<Completion> {
        if let Some(profile) = self.profiles.get_mut(&id)
            && let Some(member) = profile.members.iter_mut().find(|member| member.agent == agent)
            && stopped
            && let MemberState::Joined(_, recording) = &member.state
        {
            member.state = MemberState::Left(recording.clone());
        }
        self.advance(id, false).into_iter().collect()
    }

    /// Asks all threads to join a profile that belongs to `owner`, whose own thread takes its task next.
    pub fn start(&mut self, owner: AgentKey, origin: Instant, request: SessionRequest) -> ProfileId {
        let id = ProfileId(self.next_id);
        self.next_id += 1;
        let member = |(&agent, registered): (&AgentKey, &Registered)| Member {
            agent,
            thread: registered.thread.clone(),
            state: MemberState::Asked,
        };
        let members = self.threads.iter().map(member).collect();
        let profile = Profile { owner, request, origin, members, phase: Phase::Starting(None) };
        self.profiles.insert(id, profile);
        self.threads.iter().filter(|&(&agent, _)| agent != owner).for_each(|(_, thread)| (thread.wake)());
        id
    }

    /// Completes with `started` when all threads have joined.
    pub fn when_started(&mut self, id: ProfileId, started: OnStarted) -> Vec<Completion> {
        let Some(profile) = self.profiles.get_mut(&id) else { return vec![Completion::Started(started)] };
        profile.phase = Phase::Starting(Some(started));
        self.advance(id, false).into_iter().collect()
    }

    /// Asks all threads to leave, and completes with `stopped` when they have. The owner's thread takes its task next.
    pub fn stop(&mut self, id: ProfileId, stopped: OnStopped) -> Vec<Completion> {
        let Some(profile) = self.profiles.get_mut(&id) else {
            return vec![Completion::Stopped(stopped, Vec::new())];
        };
        profile.phase = Phase::Stopping(stopped);
        let owner = profile.owner;
        let joined = profile.members.iter().filter(|member| matches!(member.state, MemberState::Joined(..)));
        for agent in joined.map(|member| member.agent).filter(|&agent| agent != owner) {
            if let Some(registered) = self.threads.get(&agent) {
                (registered.wake)();
            }
        }
        self.advance(id, false).into_iter().collect()
    }

    /// No longer waits for threads in this phase of a profile.
    pub fn give_up_waiting(&mut self, id: ProfileId) -> Vec<Completion> {
        self.advance(id, true).into_iter().collect()
    }

    /// Ends a profile and discards what was recorded. The owner's thread takes its task next.
    pub fn cancel(&mut self, id: ProfileId) {
        self.remove_profile(id);
    }

    /// Enters the next phase when no thread is waited for any more, or when `give_up`.
    fn advance(&mut self, id: ProfileId, give_up: bool) -> Option<Completion> {
        let profile = self.profiles.get_mut(&id)?;
        let waits = profile.members.iter().any(|member| match profile.phase {
            Phase::Starting(_) => matches!(member.state, MemberState::Asked),
            Phase::Running => false,
            Phase::Stopping(_) => matches!(member.state, MemberState::Joined(..)),
        });
        if waits && !give_up {
            return None;
        }
        match &mut profile.phase {
            Phase::Starting(started) => {
                let started = started.take()?;
                profile.phase = Phase::Running;
                Some(Completion::Started(started))
            }
            Phase::Running => None,
            Phase::Stopping(_) => {
                let Profile { phase, members, .. } = self.remove_profile(id)?;
                let Phase::Stopping(stopped) = phase else { return None };
                let recording = |state| match state {
                    MemberState::Left(recording) => Some(recording),
                    MemberState::Asked | MemberState::Joined(..) => None,
                };
                let recordings = members.into_iter().map(|member| (member.thread, recording(member.state)));
                Some(Completion::Stopped(stopped, recordings.collect()))
            }
        }
    }

    /// Removes a profile, and has the threads that still record for it stop.
    fn remove_profile(&mut self, id: ProfileId) -> Option<Profile> {
        let profile = self.profiles.remove(&id)?;
        for member in &profile.members {
            if let MemberState::Joined(session, _) = member.state
                && let Some(registered) = self.threads.get_mut(&member.agent)
            {
                registered.leftovers.push(session);
                (registered.wake)();
            }
        }
        Some(profile)
    }
}
