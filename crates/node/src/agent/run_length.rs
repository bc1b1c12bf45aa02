//! How long runs of the sampler are.

use std::time::Duration;

use selfprof_trace::Micros;

/// V8 frees a profile in one piece, on the JS thread, in a time that grows with the number of different stacks in it.
const FREED_WITHIN: Duration = Duration::from_micros(300);
/// The cost of cutting a segment does not depend on its length, so segments should not be much shorter.
const SHORTEST: Micros = Micros(125_000);
/// The longest time that samples stay in V8, where each takes 32 bytes. They are lost when the process is killed.
pub const LONGEST_RUN: Micros = Micros(2_000_000);
/// The length of the first run of a recording that is streamed. Each one after it is twice as long, because a program
/// that is killed soon leaves only what was written before.
const FIRST_STREAMED: Micros = Micros(50_000);

/// The longest run whose profile is likely to be freed in [`FREED_WITHIN`]: what it took for earlier runs, in
/// proportion.
#[derive(Debug)]
pub struct RunLength {
    longest: Micros,
    /// How long the first runs of a streamed recording may be at most.
    early: Micros,
}

impl Default for RunLength {
    fn default() -> Self {
        Self { longest: SHORTEST.saturating_mul(2), early: LONGEST_RUN }
    }
}

impl RunLength {
    /// How long the next run may be.
    pub fn longest(&self) -> Micros {
        self.longest.min(self.early)
    }

    /// A streamed recording begins.
    pub fn begin_stream(&mut self) {
        self.early = FIRST_STREAMED;
    }

    /// A run was cut.
    pub fn cut(&mut self) {
        self.early = self.early.saturating_mul(2).min(LONGEST_RUN);
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

    #[test]
    fn the_first_runs_of_a_stream_are_short() {
        let mut run_length = RunLength::default();
        run_length.begin_stream();
        let mut lengths = Vec::new();
        for _ in 0..8 {
            let length = run_length.longest();
            lengths.push(length.0 / 1000);
            run_length.cut();
            run_length.freed(length, Duration::from_micros(20));
        }
        assert_eq!(lengths, [50, 100, 200, 400, 800, 1600, 2000, 2000]);
    }
}
