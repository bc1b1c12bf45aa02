//! When to try again.

use std::time::{Duration, Instant};

/// The first delay is between zero and this.
const FIRST: Duration = Duration::from_secs(1);

/// No delay that the exporter chooses is longer.
const LONGEST: Duration = Duration::from_secs(5 * 60);

/// No delay that a server asks for is longer.
const LONGEST_ASKED: Duration = Duration::from_secs(15 * 60);

/// Exponential back-off with full jitter.
#[derive(Debug, Default)]
pub struct Backoff {
    failures: u32,
    until: Option<Instant>,
}

impl Backoff {
    /// Counts a failure. `random` is in 0..1, and `asked` is what the server wants.
    pub fn fail(&mut self, now: Instant, random: f64, asked: Option<Duration>) {
        let ceiling = FIRST.saturating_mul(1 << self.failures.min(20)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        let delay = match asked {
            // Not all at once after the time that it told all of them.
            Some(asked) => asked.min(LONGEST_ASKED) + FIRST.mul_f64(random),
            None => ceiling.mul_f64(random),
        };
        self.until = Some(now + delay);
    }

    /// Forgets the failures.
    pub fn succeed(&mut self) {
        *self = Self::default();
    }

    /// Whether the last attempt failed.
    pub fn has_failed(&self) -> bool {
        self.failures > 0
    }

    /// How long to wait until the next attempt; zero if it may be now.
    pub fn wait(&self, now: Instant) -> Duration {
        self.until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
    }

    /// Shortens the delay: there is little time left.
    pub fn hurry(&mut self, now: Instant, longest: Duration) {
        self.until = self.until.map(|until| until.min(now + longest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_five_minutes() {
        let now = Instant::now();
        let mut backoff = Backoff::default();
        let mut delays = Vec::new();
        for _ in 0..11 {
            backoff.fail(now, 1.0, None);
            delays.push(backoff.wait(now).as_secs());
        }
        assert_eq!(delays, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
        backoff.fail(now, 0.0, None);
        assert_eq!(backoff.wait(now), Duration::ZERO);
        backoff.fail(now, 0.0, Some(Duration::from_secs(7)));
        assert_eq!(backoff.wait(now).as_secs(), 7);
        backoff.hurry(now, Duration::from_secs(2));
        assert_eq!(backoff.wait(now).as_secs(), 2);
        backoff.fail(now, 0.0, Some(Duration::MAX));
        assert_eq!(backoff.wait(now).as_secs(), 900);
        backoff.succeed();
        assert!(!backoff.has_failed() && backoff.wait(now).is_zero());
    }
}
