//! A recording between two threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::{Outcome, Recording, RecordingOptions};
use crate::{BufferPolicy, FrameAdmission, Instant};

/// A recording shared between the agent's thread, whose group knows when to look at it, and the thread that builds
/// traces. It lives until both have let go of it.
#[derive(Debug)]
pub struct RecordingCell {
    /// The recording. The building thread holds the lock while it appends; the agent's thread never waits for it.
    pub recording: Mutex<Recording>,
    /// Which functions its trace may show.
    pub admission: Arc<dyn FrameAdmission>,
    full: AtomicBool,
    look_at: AtomicU64,
}

impl RecordingCell {
    /// Wraps a new recording, whose session starts at `now`.
    #[must_use]
    pub fn new(options: RecordingOptions, admission: Arc<dyn FrameAdmission>, now: Instant) -> Self {
        let look_at = match (options.policy, options.limit) {
            (BufferPolicy::Stop | BufferPolicy::Chunks { .. }, Some(limit)) => {
                now.after(options.interval.saturating_mul(limit))
            }
            _ => Instant::NEVER,
        };
        Self {
            recording: Mutex::new(Recording::new(options)),
            admission,
            full: AtomicBool::new(false),
            look_at: AtomicU64::new(look_at.0),
        }
    }

    /// Publishes what an append led to, so that the group sees it without waiting for the lock.
    pub fn publish(&self, outcome: Outcome) {
        if outcome.became_full {
            self.full.store(true, Ordering::Release);
        }
        self.look_at.store(outcome.earliest_full.unwrap_or(Instant::NEVER).0, Ordering::Release);
    }

    /// Publishes that a recording which was full goes on, and when the group is to look at it. The group resumes the
    /// session at its next tick.
    pub fn go_on(&self, look_at: Instant) {
        self.look_at.store(look_at.0, Ordering::Release);
        self.full.store(false, Ordering::Release);
    }

    /// Whether the buffer is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.full.load(Ordering::Acquire)
    }

    /// When the group should cut a segment to see whether the buffer is full.
    #[must_use]
    pub fn look_at(&self) -> Instant {
        Instant(self.look_at.load(Ordering::Acquire))
    }

    /// Notes that a segment was cut for a look, until [`publish`](Self::publish) says when the next is due.
    pub fn await_look(&self) {
        self.look_at.store(Instant::NEVER.0, Ordering::Release);
    }
}
