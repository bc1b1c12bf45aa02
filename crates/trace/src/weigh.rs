//! Sample weights: how much time each sample stands for, if the profile does not state it.
//!
//! A sampler aims at equal intervals but is late under load and pauses, and tests force extra samples. Counting samples
//! would therefore distort times. Instead, a sample stands for the time since the previous one. A sample is late when
//! the thread could not be interrupted, for example in a slow system call, and it is then the late sample that shows
//! what took so long.
//!
//! A gap may also be a pause of the sampler, and then it is unknown what ran. A sample therefore stands for at most
//! [a hundred typical intervals, or 100 ms if that is longer](longest_weight). [`gaps`] has the rest, which is no
//! function's time. The first sample stands for one typical interval, because there is none before it.
//!
//! The typical interval is the [median](median_interval). Formats that state durations need none of this: see
//! [`Trace::durations`](crate::Trace::durations).

use crate::micros::Micros;
use crate::sample::Sample;

/// A sample stands for at most this many typical intervals.
const MOST_INTERVALS: u64 = 100;

/// A sample may always stand for this long: the median may be that of samples in bursts.
const ALWAYS: Micros = Micros(100_000);

/// The longest time that a sample can stand for.
pub fn longest_weight(interval: Option<Micros>) -> Micros {
    interval.unwrap_or_default().saturating_mul(MOST_INTERVALS).max(ALWAYS)
}

/// The time that each sample stands for. The samples must be sorted by time.
///
/// The weights are zero if there is only one sample, or if all samples have the same timestamp, because the interval is
/// unknown.
pub fn weigh(samples: &[Sample]) -> Vec<Micros> {
    weigh_by(median_interval(samples), samples)
}

/// Like [`weigh`], with a known typical interval.
pub fn weigh_by(interval: Option<Micros>, samples: &[Sample]) -> Vec<Micros> {
    let longest = longest_weight(interval);
    let first = samples.first().map(|_| interval.unwrap_or_default());
    first.into_iter().chain(intervals(samples).map(|interval| interval.min(longest))).collect()
}

/// Gaps between samples that are longer than a sample can stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// Their number.
    pub count: u64,
    /// The sum of what no sample stands for.
    pub left_out: Micros,
}

impl Gaps {
    /// Adds the gaps of another thread.
    pub fn include(&mut self, other: Self) {
        self.count += other.count;
        self.left_out = self.left_out.saturating_add(other.left_out);
    }
}

/// What [`weigh_by`] leaves out.
pub fn gaps(interval: Option<Micros>, samples: &[Sample]) -> Gaps {
    let longest = longest_weight(interval);
    let mut gaps = Gaps::default();
    for gap in intervals(samples).filter(|&gap| gap > longest) {
        gaps.include(Gaps { count: 1, left_out: gap.saturating_sub(longest) });
    }
    gaps
}

/// The time since the sample before, for samples that show everything that ran: the first one stands for no time, and
/// there are no pauses.
pub fn weigh_exactly(samples: &[Sample]) -> Vec<Micros> {
    samples.first().map(|_| Micros::ZERO).into_iter().chain(intervals(samples)).collect()
}

/// The median time between samples, which is the effective sample interval.
///
/// Intervals of zero (forced samples, coarse clocks) are ignored. Of an even number of intervals, the shorter of the
/// two middle ones is the median. `None` if no time passes between any two samples.
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
        // A sample can be late by a hundred intervals. A little more counts a little less, not a hundredth.
        check(&[0, 5_000, 10_000, 510_000], &[5_000, 5_000, 5_000, 500_000]);
        check(&[0, 5_000, 10_000, 510_001], &[5_000, 5_000, 5_000, 500_000]);
        // Samples in bursts do not make the time between bursts a pause.
        check(&[0, 8, 16, 10_016, 10_024, 10_032], &[8, 8, 8, 10_000, 8, 8]);
        // Forced samples do not change the typical interval.
        check(&[0, 0, 0, 0, 10, 20], &[10, 0, 0, 0, 10, 10]);
        // Unsorted samples are a mistake of the caller, but do not panic.
        check(&[10, 0, 10], &[10, 0, 10]);
    }

    #[test]
    fn what_is_left_out_is_known() {
        #[track_caller]
        fn check(timestamps: &[u64], count: u64, left_out: u64) {
            let samples = samples(timestamps);
            let gaps = gaps(median_interval(&samples), &samples);
            assert_eq!(gaps, Gaps { count, left_out: Micros(left_out) });
            let weights = weigh(&samples).into_iter().skip(1).fold(Micros::ZERO, Micros::saturating_add);
            let span = timestamps.last().map_or(0, |last| last - timestamps[0]);
            assert_eq!(weights.0 + left_out, span);
        }
        check(&[], 0, 0);
        check(&[0, 1_000, 2_000, 102_000], 0, 0);
        check(&[0, 1_000, 2_000, 202_000], 1, 100_000);
        check(&[0, 1_000, 2_000, 3_000, 4_000, 9_004_000, 9_005_000, 9_205_000], 2, 9_000_000);
    }

    proptest::proptest! {
        /// A longer gap never counts for less, and a microsecond more never counts for more than that.
        #[test]
        fn there_is_no_cliff(interval in 1..100_000_u64, gap in 0..100_000_000_u64) {
            let weight = |gap| {
                let times = [0, interval, 2 * interval, 3 * interval, 3 * interval + gap];
                weigh_by(Some(Micros(interval)), &samples(&times))[4].0
            };
            proptest::prop_assert!(weight(gap + 1) - weight(gap) <= 1);
            proptest::prop_assert_eq!(weight(interval), interval);
        }
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
