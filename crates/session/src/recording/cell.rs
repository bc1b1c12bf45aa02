//! A recording that two threads share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::{Outcome, Recording, RecordingOptions};
use crate::{BufferPolicy, FrameAdmission, Instant};

/// A recording that is shared by the agent's thread, whose group checks whether it is full, and the thread that builds
/// traces. It lives until both have dropped it.
#[derive(Debug)]
pub struct RecordingCell {
    /// The recording. The building thread holds the lock while it appends; the agent's thread never waits for the lock.
    pub recording: Mutex<Recording>,
    /// Which functions its trace may show.
    pub admission: Arc<dyn FrameAdmission>,
    full: AtomicBool,
    check_at: AtomicU64,
}

impl RecordingCell {
    /// Wraps a new recording, whose session starts at `now`.
    #[must_use]
    pub fn new(options: RecordingOptions, admission: Arc<dyn FrameAdmission>, now: Instant) -> Self {
        let check_at = match (options.policy, options.limit) {
            (BufferPolicy::Stop | BufferPolicy::Chunks { .. }, Some(limit)) => {
                now.after(options.interval.saturating_mul(limit))
            }
            _ => Instant::NEVER,
        };
        Self {
            recording: Mutex::new(Recording::new(options)),
            admission,
            full: AtomicBool::new(false),
            check_at: AtomicU64::new(check_at.0),
        }
    }

    /// Publishes the outcome of an append, so that the group sees it without waiting for the lock.
    pub fn publish(&self, outcome: Outcome) {
        if outcome.became_full {
            self.full.store(true, Ordering::Release);
        }
        self.check_at.store(outcome.earliest_full.unwrap_or(Instant::NEVER).0, Ordering::Release);
    }

    /// Publishes that a full recording continues, and when the group must check it. The group resumes the session at
    /// its next tick.
    pub fn resume_recording(&self, check_at: Instant) {
        self.check_at.store(check_at.0, Ordering::Release);
        self.full.store(false, Ordering::Release);
    }

    /// Whether the buffer is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.full.load(Ordering::Acquire)
    }

    /// When the group should cut a segment to see whether the buffer is full.
    #[must_use]
    pub fn check_at(&self) -> Instant {
        Instant(self.check_at.load(Ordering::Acquire))
    }

    /// A segment was cut for a check. [`publish`](Self::publish) sets the time of the next one.
    pub fn clear_check(&self) {
        self.check_at.store(Instant::NEVER.0, Ordering::Release);
    }
}
