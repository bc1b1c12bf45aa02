//! Samples, and the time they stand for.

use crate::Micros;

/// A number of samples and the sum of their weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many samples.
    pub samples: u64,
    /// The time they stand for.
    pub time: Micros,
}

impl Tally {
    /// Counts one sample that stands for `weight`.
    pub(super) fn add(&mut self, weight: Micros) {
        self.include(Self { samples: 1, time: weight });
    }

    /// Counts the samples of another tally too.
    pub(super) fn include(&mut self, other: Self) {
        self.samples += other.samples;
        self.time = self.time.saturating_add(other.time);
    }
}
