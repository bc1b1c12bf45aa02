//! How much time each sample stands for.
//!
//! A sampler means to look at equal intervals and does not: it is late under load, it pauses, and tests force
//! extra samples. Counting samples would then count the lateness. So a sample stands for the time since the one
//! before it. Samples are late when the system does not let the thread look up from what it is doing, a slow
//! system call for one, and then it is the late sample that saw what took so long.
//!
//! Two kinds of samples have no such time, and stand for one typical interval instead:
//!
//! - the first sample, since nothing comes before it;
//! - a sample after a pause, which is a gap of more than [`PAUSE`] typical intervals: nobody looked, so
//!   nobody knows what ran in it.
//!
//! The typical interval is the [median](median_interval). The sum of all weights is thus the recorded time
//! without its pauses.

use crate::{Micros, Sample};

/// A gap longer than this many median intervals is a pause, not a late sample.
pub const PAUSE: u64 = 100;

/// The time that each sample stands for, in the order of the samples, which must be that of their timestamps.
///
/// A lone sample, and samples that all have one timestamp, weigh nothing: there is no interval to go by.
pub fn weigh(samples: &[Sample]) -> Vec<Micros> {
    weigh_by(median_interval(samples), samples)
}

/// Like [`weigh`], with the median interval at hand.
pub(crate) fn weigh_by(interval: Option<Micros>, samples: &[Sample]) -> Vec<Micros> {
    let typical = interval.unwrap_or(Micros::ZERO);
    let longest = typical.saturating_mul(PAUSE);
    let first = samples.first().map(|_| typical);
    let later = intervals(samples).map(|interval| if interval > longest { typical } else { interval });
    first.into_iter().chain(later).collect()
}

/// The median time between samples, which is the sampler's real interval.
///
/// Intervals of zero (forced samples, coarse clocks) are left out; among an even number of intervals, the
/// shorter of the two middle ones counts. `None` when no time passes between any two samples.
pub fn median_interval(samples: &[Sample]) -> Option<Micros> {
    let mut intervals: Vec<Micros> = intervals(samples).filter(|&interval| interval > Micros::ZERO).collect();
    let middle = intervals.len().checked_sub(1)? / 2;
    Some(*intervals.select_nth_unstable(middle).1)
}

/// The times between neighbours: one fewer than there are samples.
fn intervals(samples: &[Sample]) -> impl Iterator<Item = Micros> {
    samples.windows(2).map(|pair| pair[1].timestamp.saturating_sub(pair[0].timestamp))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(timestamps: &[u64]) -> Vec<Sample> {
        let sample = |&time| Sample { timestamp: Micros(time), stack: None, marker: None };
        timestamps.iter().map(sample).collect()
    }

    #[test]
    fn a_sample_stands_for_the_time_since_the_one_before() {
        #[track_caller]
        fn check(timestamps: &[u64], expected: &[u64]) {
            let weights: Vec<u64> = weigh(&samples(timestamps)).iter().map(|weight| weight.0).collect();
            assert_eq!(weights, expected);
        }
        check(&[], &[]);
        check(&[5], &[0]);
        check(&[5, 5], &[0, 0]);
        check(&[0, 10, 20], &[10, 10, 10]);
        // A late sample saw what made it late.
        check(&[0, 10, 30, 40], &[10, 10, 20, 10]);
        // A hundred intervals are late, more are a pause.
        check(&[0, 10, 20, 1020], &[10, 10, 10, 1000]);
        check(&[0, 10, 20, 1021], &[10, 10, 10, 10]);
        // Forced samples in between do not change what is typical.
        check(&[0, 0, 0, 0, 10, 20], &[10, 0, 0, 0, 10, 10]);
        // Out of order is the caller's mistake, and still no panic.
        check(&[10, 0, 10], &[10, 0, 10]);
    }

    #[test]
    fn the_typical_interval_is_the_median() {
        #[track_caller]
        fn check(timestamps: &[u64], expected: Option<u64>) {
            assert_eq!(median_interval(&samples(timestamps)), expected.map(Micros));
        }
        check(&[], None);
        check(&[7], None);
        check(&[7, 7], None);
        check(&[7, 9], Some(2));
        check(&[0, 2, 6], Some(2));
        check(&[0, 9, 10, 12], Some(2));
    }
}
