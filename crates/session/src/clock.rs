//! The sampler's clock.

use selfprof_trace::Micros;

/// A point on the agent's monotonic clock, in microseconds. The sampler defines the clock's zero; a trace counts from
/// its session's time origin instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(pub u64);

impl Instant {
    /// A point that is never reached: no deadline.
    pub const NEVER: Self = Self(u64::MAX);

    /// The point `duration` later; saturates at [`Instant::NEVER`].
    #[must_use]
    pub fn after(self, duration: Micros) -> Self {
        Self(self.0.saturating_add(duration.0))
    }

    /// How long after `earlier` this point lies; zero when it lies before.
    #[must_use]
    pub fn since(self, earlier: Self) -> Micros {
        Micros(self.0.saturating_sub(earlier.0))
    }
}

/// A time span in which a session was in the *started* state: from its start or resumption to its pause or stop, both
/// included. Without an end, the session is still started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// When the session was started or resumed.
    pub from: Instant,
    /// When it was paused or stopped, if it was.
    pub to: Option<Instant>,
}

impl Span {
    /// Whether a sample taken at `at` belongs to the session.
    #[must_use]
    pub fn contains(&self, at: Instant) -> bool {
        self.from <= at && self.to.is_none_or(|to| at <= to)
    }
}
