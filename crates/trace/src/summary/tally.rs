//! Counts of samples with their times.

use crate::micros::Micros;

/// A number of samples and the sum of their weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of samples.
    pub samples: u64,
    /// The time that they stand for.
    pub time: Micros,
}

impl Tally {
    /// Adds one sample that stands for `weight`.
    pub fn add(&mut self, weight: Micros) {
        self.include(Self { samples: 1, time: weight });
    }

    /// Adds another tally.
    pub fn include(&mut self, other: Self) {
        self.samples += other.samples;
        self.time = self.time.saturating_add(other.time);
    }
}
