//! Sample weights: how much time each sample stands for.
//!
//! A sampler aims at equal intervals but is late under load and pauses, and tests force extra samples. Counting samples would
//! therefore distort times. Instead, a sample stands for the time since the previous one. A sample is late when the thread could not
//! be interrupted, for example in a slow system call, and it is then the late sample that shows what took so long.
//!
//! Two kinds of samples stand for one typical interval instead:
//!
//! - the first sample, because there is none before it;
//! - a sample after a pause, a gap of more than [`PAUSE`] typical intervals, because it is unknown what ran during the pause.
//!
//! The typical interval is the [median](median_interval). The sum of all weights is the recorded time without pauses.

use crate::micros::Micros;
use crate::sample::Sample;

/// A gap longer than this many median intervals is a pause, not a late sample.
pub const PAUSE: u64 = 100;

/// The time that each sample stands for. The samples must be sorted by time.
///
/// The weights are zero if there is only one sample, or if all samples have the same timestamp, because the interval is unknown.
pub fn weigh(samples: &[Sample]) -> Vec<Micros> {
    weigh_by(median_interval(samples), samples)
}

/// Like [`weigh`], with a known typical interval.
pub fn weigh_by(interval: Option<Micros>, samples: &[Sample]) -> Vec<Micros> {
    let typical = interval.unwrap_or(Micros::ZERO);
    let longest = typical.saturating_mul(PAUSE);
    let first = samples.first().map(|_| typical);
    let later = intervals(samples).map(|interval| if interval > longest { typical } else { interval });
    first.into_iter().chain(later).collect()
}

/// The time since the sample before, for samples that show everything that ran: the first one stands for no time, and there are no pauses.
pub fn weigh_exactly(samples: &[Sample]) -> Vec<Micros> {
    samples.first().map(|_| Micros::ZERO).into_iter().chain(intervals(samples)).collect()
}

/// The median time between samples, which is the effective sample interval.
///
/// Intervals of zero (forced samples, coarse clocks) are ignored. Of an even number of intervals, the shorter of the two middle ones
/// is the median. `None` if no time passes between any two samples.
pub fn median_interval(samples: &[Sample]) -> Option<Micros> {
    let mut intervals: Vec<Micros> = intervals(samples).filter(|&interval| interval > Micros::ZERO).collect();
    let middle = intervals.len().checked_sub(1)? / 2;
    Some(*intervals.select_nth_unstable(middle).1)
}

/// The times between consecutive samples.
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
    fn a_sample_stands_for_the_time_since_the_previous_one() {
        #[track_caller]
        fn check(timestamps: &[u64], expected: &[u64]) {
            let weights: Vec<u64> = weigh(&samples(timestamps)).iter().map(|weight| weight.0).collect();
            assert_eq!(weights, expected);
        }
        check(&[], &[]);
        check(&[5], &[0]);
        check(&[5, 5], &[0, 0]);
        check(&[0, 10, 20], &[10, 10, 10]);
        // A late sample has a larger weight.
        check(&[0, 10, 30, 40], &[10, 10, 20, 10]);
        // A gap of up to a hundred intervals is a late sample, a longer one a pause.
        check(&[0, 10, 20, 1020], &[10, 10, 10, 1000]);
        check(&[0, 10, 20, 1021], &[10, 10, 10, 10]);
        // Forced samples do not change the typical interval.
        check(&[0, 0, 0, 0, 10, 20], &[10, 0, 0, 0, 10, 10]);
        // Unsorted samples are a mistake of the caller, but do not panic.
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
