//! The number by which process-wide services identify an agent.

use std::sync::atomic::{AtomicU64, Ordering};

/// Names an agent for the lifetime of the process. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentKey(u64);

impl AgentKey {
    /// A key that no other agent has.
    pub fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}
