//! Profiles of all threads: what the threads request from one another.

use std::sync::Arc;

use parking_lot::Mutex;
use selfprof_session::quantise;
use selfprof_trace::Micros;
use selfprof_v8::CpuSampler;

use super::current::{self, AgentError};
use super::notifier::Notifier;
use super::thread_agent::Agent;
use crate::agent_key::AgentKey;
use crate::building_thread;
use crate::output::finished::{Thread, ThreadTrace};
use crate::session_request::SessionRequest;
use crate::threads::registry::{Completion, ProfileId, Registry, Task};

/// All threads of the process with an agent. Any JS thread may lock it, for a few steps each time; no agent samples and
/// no completion runs meanwhile.
static REGISTRY: Mutex<Registry> = Mutex::new(Registry::new());

/// Locks the registry for `work`, and then runs the completions that it led to.
fn update<T>(work: impl FnOnce(&mut Registry) -> (T, Vec<Completion>)) -> T {
    let (result, completions) = work(&mut REGISTRY.lock());
    completions.into_iter().for_each(complete);
    result
}

fn complete(completion: Completion) {
    match completion {
        Completion::Started(started) => started(),
        Completion::Stopped(stopped, recordings) => building_thread::run(move || {
            let finish = |(thread, recording)| ThreadTrace::finish(thread, recording);
            stopped(recordings.into_iter().map(finish).collect());
        }),
    }
}

/// The agent's thread can be profiled from now on. [`process_requests`] must follow, because a profile may have started
/// before.
pub fn add_thread(thread: Thread, notifier: Arc<Notifier>) {
    let key = notifier.key();
    REGISTRY.lock().add_thread(key, thread, Box::new(move || notifier.wake()));
}

/// The agent has ended; what it recorded was given to the building thread.
pub fn remove_thread(agent: AgentKey) {
    update(|registry| ((), registry.remove_thread(agent)));
}

/// How many threads have an agent.
pub fn thread_count() -> usize {
    REGISTRY.lock().thread_count()
}

/// Whether a profile that another thread started needs what this agent recorded.
pub fn is_recording_for_others(agent: AgentKey) -> bool {
    REGISTRY.lock().is_recording_for_others(agent)
}

/// Does what other threads request from this agent.
pub fn process_requests(agent: &mut Agent) {
    let key = agent.key();
    // The registry is not locked while the agent samples.
    let next_task = || REGISTRY.lock().next_task(key);
    while let Some(task) = next_task() {
        match task {
            Task::Join(id, request, origin) => {
                let joined = agent.join_profile(&request, origin).ok();
                update(|registry| ((), registry.joined(id, key, joined)));
            }
            Task::Leave(id, session) => {
                let left = agent.leave_profile(session);
                update(|registry| ((), registry.left(id, key, left)));
            }
            Task::Abandon(session) => agent.abandon(session),
        }
    }
}

/// Starts profiling all threads that have an agent, and those that get one later. Returns the actual interval, too.
pub fn start_profile(request: SessionRequest) -> Result<(ProfileId, Micros), AgentError> {
    current::with(|agent| {
        let id = REGISTRY.lock().start(agent.key(), agent.origin(), request);
        process_requests(agent);
        Ok((id, quantise(request.interval, CpuSampler::BASE)))
    })
}

/// Calls `started` when all threads have joined the profile, or [`give_up_waiting`] was called.
pub fn when_started(id: ProfileId, started: impl FnOnce() + Send + 'static) {
    update(|registry| ((), registry.when_started(id, Box::new(started))));
}

/// Stops a profile. `stopped` gets what the threads recorded, on the building thread, when all have responded or
/// [`give_up_waiting`] was called.
pub fn stop_profile(id: ProfileId, stopped: impl FnOnce(Vec<ThreadTrace>) + Send + 'static) {
    update(|registry| ((), registry.stop(id, Box::new(stopped))));
    current::if_any(process_requests);
}

/// No longer waits for threads that have not responded yet.
pub fn give_up_waiting(id: ProfileId) {
    update(|registry| ((), registry.give_up_waiting(id)));
}

/// Stops a profile and discards what was recorded.
pub fn cancel_profile(id: ProfileId) {
    REGISTRY.lock().cancel(id);
    current::if_any(process_requests);
}
