//! The agent of the thread that is running.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use selfprof_session::{GroupError, SamplerError};

use super::thread_agent::Agent;

thread_local! {
    // Not dropped with the thread: on the main thread that would be after V8's end. `take` removes it in time.
    static AGENT: ManuallyDrop<RefCell<Option<Agent>>> = const { ManuallyDrop::new(RefCell::new(None)) };
}

/// Why the agent did not do what it was asked to.
#[derive(Debug)]
pub enum AgentError {
    /// The thread has no agent: none was made, or its environment has ended.
    NoAgent,
    /// V8 refused.
    Sampler(SamplerError),
    /// The session was closed before.
    Group(GroupError),
}

impl std::fmt::Display for AgentError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoAgent => write!(f, "this thread is ending and cannot be profiled any more"),
            Self::Sampler(error) => error.fmt(f),
            Self::Group(error) => error.fmt(f),
        }
    }
}

impl From<SamplerError> for AgentError {
    fn from(error: SamplerError) -> Self {
        Self::Sampler(error)
    }
}

impl From<GroupError> for AgentError {
    fn from(error: GroupError) -> Self {
        Self::Group(error)
    }
}

/// Makes `make`'s agent the one of this thread, unless it has one. Returns whether it did.
pub fn set(make: impl FnOnce() -> Result<Agent, AgentError>) -> Result<bool, AgentError> {
    AGENT.with(|agent| {
        let mut agent = agent.try_borrow_mut().map_err(|_| AgentError::NoAgent)?;
        if agent.is_some() {
            return Ok(false);
        }
        *agent = Some(make()?);
        Ok(true)
    })
}

/// Removes this thread's agent.
pub fn take() -> Option<Agent> {
    AGENT.with(|agent| agent.try_borrow_mut().ok().and_then(|mut agent| agent.take()))
}

/// Runs `work` on this thread's agent. Node may run a clean-up hook or an interrupt while the agent is at work. That
/// call then finds no agent; both are repeated later.
pub fn with<T>(work: impl FnOnce(&mut Agent) -> Result<T, AgentError>) -> Result<T, AgentError> {
    AGENT.with(|agent| {
        let mut agent = agent.try_borrow_mut().map_err(|_| AgentError::NoAgent)?;
        let agent = agent.as_mut().ok_or(AgentError::NoAgent)?;
        let result = work(agent);
        if let Some(deadline) = agent.next_deadline() {
            agent.notifier().check_at(deadline);
        }
        if agent.notifier().has_requests() {
            // A request arrived while the agent was at work, and its interrupt found no agent.
            agent.notifier().check_at(selfprof_v8::now());
        }
        result
    })
}

/// As [`with`], for work that cannot fail. Does nothing when there is no agent.
pub fn if_any(work: impl FnOnce(&mut Agent)) {
    let _ = with(|agent| {
        work(agent);
        Ok(())
    });
}
