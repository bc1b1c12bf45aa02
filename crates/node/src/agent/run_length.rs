//! How long runs of the sampler are.

use std::time::Duration;

use selfprof_trace::Micros;

/// V8 frees a profile in one piece, on the JS thread, in a time that grows with the number of different stacks in it.
const FREED_WITHIN: Duration = Duration::from_micros(300);
/// The cost of cutting a segment does not depend on its length, so segments should not be much shorter.
const SHORTEST: Micros = Micros(125_000);
/// The longest time that samples stay in V8, where each takes 32 bytes. They are lost when the process is killed.
pub const LONGEST_RUN: Micros = Micros(2_000_000);

/// The longest run whose profile is likely to be freed in [`FREED_WITHIN`]: what it took for earlier runs, in proportion.
#[derive(Debug)]
pub struct RunLength {
    longest: Micros,
}

impl Default for RunLength {
    fn default() -> Self {
        Self { longest: SHORTEST.saturating_mul(2) }
    }
}

impl RunLength {
    /// How long the next run may be.
    pub fn longest(&self) -> Micros {
        self.longest
    }

    /// Freeing the profile of a run of this length took this much CPU time.
    pub fn freed(&mut self, length: Micros, took: Duration) {
        if length < SHORTEST && took < FREED_WITHIN {
            // Most of its cost does not depend on its length.
            return;
        }
        let allowed = length.0 as f64 * FREED_WITHIN.as_secs_f64() / took.as_secs_f64().max(1e-9);
        // Doubled at most, since one quiet second says little about the next.
        let allowed = (allowed as u64).min(self.longest.0.saturating_mul(2));
        self.longest = Micros(allowed).clamp(SHORTEST, LONGEST_RUN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_as_long_as_their_profiles_are_freed_in_time() {
        let mut run_length = RunLength::default();
        let mut after = |length, micros| {
            run_length.freed(Micros(length), Duration::from_micros(micros));
            run_length.longest().0
        };
        assert_eq!(after(250_000, 20), 500_000, "doubles at most");
        assert_eq!(after(500_000, 20), 1_000_000);
        assert_eq!(after(1_000_000, 600), 500_000);
        assert_eq!(after(500_000, 300), 500_000);
        assert_eq!(after(500_000, 100_000), SHORTEST.0);
        for _ in 0..20 {
            after(5_000_000, 1);
        }
        assert_eq!(after(10_000_000, 0), LONGEST_RUN.0);
        assert_eq!(after(10_000, 40), LONGEST_RUN.0, "a run that was cut early");
        assert_eq!(after(10_000, 800), SHORTEST.0);
    }
}
