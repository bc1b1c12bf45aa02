//! Westfall and Young's step-down procedure with the greatest statistic, by permutation.

use super::comparison::Interval;
use super::draws::Draws;
use super::statistic::{Difference, Sums};
use super::units::Units;
use std::num::NonZeroUsize;
use std::thread;

/// A permutation is as extreme as the data if its difference is less by this part only: the same division of the units
/// may be summed in another order.
const TIE: f64 = 1.0 - 1e-9;

/// What the permutations say about one function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tested {
    /// The p-value, corrected for the number of functions.
    pub adjusted_p: f64,
    /// In half of `error_rate` of the permutations, Welch's statistic is above the upper end; in as many, below the
    /// lower one. It is positive if the mean of the greater group is greater.
    pub usual: Interval,
}

/// Tests each function of `units`: the sizes of the differences in the data, `observed`, against those of random
/// divisions.
///
/// The functions with smaller differences come first: for each division, a running maximum is, at each function, the
/// greatest size among the functions that are not clearer than it.
pub fn test(units: &Units, observed: &[f64], draws: &Draws, error_rate: f64, threads: usize) -> Vec<Tested> {
    let functions = observed.len();
    let mut order: Vec<usize> = (0..functions).collect();
    order.sort_by(|&a, &b| observed[a].total_cmp(&observed[b]).then(a.cmp(&b)));
    let thresholds: Vec<f64> = order.iter().map(|&function| observed[function] * TIE).collect();

    // One row of Welch's statistics for each division, and for each function how many running maxima reach its
    // threshold.
    let count = draws.len();
    let mut statistics = vec![0.0; count * functions];
    let threads = threads.clamp(1, available_threads());
    let rows_per_thread = count.div_ceil(threads).max(1);
    let groups: Vec<&[u32]> = draws.iter().collect();
    let mut reached = vec![0_usize; functions];
    thread::scope(|scope| {
        let parts =
            groups.chunks(rows_per_thread).zip(statistics.chunks_mut((rows_per_thread * functions).max(1)));
        let (order, thresholds) = (&order, &thresholds);
        let running: Vec<_> = parts
            .map(|(groups, rows)| scope.spawn(move || permute(units, groups, rows, order, thresholds)))
            .collect();
        for part in running {
            // A panic of the thread goes on in this one.
            let part = part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            reached.iter_mut().zip(part).for_each(|(sum, count)| *sum += count);
        }
    });

    let mut tested = vec![Tested { adjusted_p: 1.0, usual: UNBOUNDED }; functions];
    // The least p-value of functions with greater statistics bounds that of the next ones from below.
    let mut least = 0.0_f64;
    for (position, &function) in order.iter().enumerate().rev() {
        least = least.max((reached[position] + 1) as f64 / (count + 1) as f64);
        tested[function].adjusted_p = least;
    }
    let mut column = Vec::with_capacity(count);
    for (function, tested) in tested.iter_mut().enumerate() {
        column.clear();
        column.extend(statistics.iter().skip(function).step_by(functions));
        tested.usual = usual(&mut column, error_rate);
    }
    tested
}

fn available_threads() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

const UNBOUNDED: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };

/// The range without the extreme statistics, of which each side has half of `error_rate`. The data are a division too,
/// so what is beyond one end is counted as `more extreme + 1` of `divisions + 1`.
fn usual(statistics: &mut [f64], error_rate: f64) -> Interval {
    let extreme = (error_rate / 2.0 * (statistics.len() + 1) as f64 + 1e-9).floor();
    if extreme.is_nan() || extreme < 1.0 || statistics.is_empty() {
        return UNBOUNDED;
    }
    let last = statistics.len() - 1;
    let index = (extreme as usize - 1).min(last / 2);
    Interval {
        low: statistics.select_nth_unstable_by(index, f64::total_cmp).1.min(0.0),
        high: statistics.select_nth_unstable_by(last - index, f64::total_cmp).1.max(0.0),
    }
}

/// Fills a row of Welch's statistics for each of `groups`, and counts for each position in `order` how many running
/// maxima reach its threshold.
fn permute(
    units: &Units,
    groups: &[&[u32]],
    rows: &mut [f64],
    order: &[usize],
    thresholds: &[f64],
) -> Vec<usize> {
    let totals = units.totals();
    let mut reached = vec![0; order.len()];
    // The sum and the sum of squares, side by side.
    let mut sums = vec![[0.0_f64; 2]; order.len()];
    let mut sizes = vec![0.0_f64; order.len()];
    for (group, row) in groups.iter().zip(rows.chunks_exact_mut(order.len().max(1))) {
        sums.fill([0.0; 2]);
        for &unit in *group {
            for &(function, value) in units.unit(unit) {
                let sums = &mut sums[function as usize];
                sums[0] += value;
                sums[1] += value * value;
            }
        }
        let count = group.len() as f64;
        for (((welch, size), sums), total) in row.iter_mut().zip(&mut sizes).zip(&sums).zip(totals) {
            let first = Sums { count, sum: sums[0], squares: sums[1] };
            let second = Sums {
                count: total.count - count,
                sum: (total.sum - sums[0]).max(0.0),
                squares: (total.squares - sums[1]).max(0.0),
            };
            let difference = Difference::of(&first, &second);
            *welch = difference.welch();
            *size = difference.size();
        }
        let mut greatest = 0.0_f64;
        for ((&function, &threshold), reached) in order.iter().zip(thresholds).zip(&mut reached) {
            greatest = greatest.max(sizes[function]);
            *reached += usize::from(greatest >= threshold);
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FunctionIndex;
    use crate::limit::Limit;
    use crate::sessions::{SessionKey, Sessions};

    /// Each row is a session with the times of three functions.
    fn sessions(rows: &[[i64; 3]]) -> Sessions {
        let mut sessions = Sessions::new();
        for (key, row) in (0..).zip(rows) {
            let times_us = (0..).map(FunctionIndex).zip(row.iter().copied());
            sessions.push(SessionKey(key), row.iter().sum(), times_us);
        }
        sessions
    }

    /// The groups of 5 of 10 units, except the first five.
    fn all_divisions() -> Draws {
        let groups = (0_u32..1 << 10).filter(|group| group.count_ones() == 5 && *group != 0b11111);
        Draws::of(5, groups.flat_map(|group| (0..10).filter(move |unit| group >> unit & 1 == 1)).collect())
    }

    /// All 252 divisions. The expected values are from a few lines of NumPy that follow Westfall and Young; the
    /// p-values before the correction are 6, 252 and 194 of 252 by `scipy.stats.permutation_test`.
    #[test]
    fn exact() {
        let base = sessions(&[[10, 0, 3], [12, 1, 0], [9, 0, 8], [11, 2, 1], [13, 0, 5]]).sorted();
        let new = sessions(&[[15, 0, 4], [14, 3, 9], [18, 1, 0], [12, 0, 2], [16, 0, 6]]).sorted();
        let functions = [0, 1, 2].map(FunctionIndex);
        let releases = [&base, &new];
        let units = Units::new(releases, &functions, Limit::of(releases, 0.0), 1);
        let observed: Vec<f64> = units.divided(5).iter().map(|[a, b]| Difference::of(a, b).size()).collect();
        for threads in [1, 2, 100] {
            let tested = test(&units, &observed, &all_divisions(), 0.05, threads);
            let expected = [(10.0, 2.147699376685), (252.0, 2.745625891935), (236.0, 2.490291225459)];
            for (tested, (count, high)) in tested.iter().zip(expected) {
                assert!((tested.adjusted_p - count / 252.0).abs() < 1e-12, "{tested:?}");
                assert!((tested.usual.high - high).abs() < 1e-8, "{tested:?}");
            }
        }
    }

    #[test]
    fn usual_statistics() {
        #[track_caller]
        fn check(statistics: &[f64], error_rate: f64, low: f64, high: f64) {
            assert_eq!(usual(&mut statistics.to_vec(), error_rate), Interval { low, high });
        }
        let infinite = f64::INFINITY;
        let hundred: Vec<f64> = (-49..=49).map(f64::from).collect();
        // A statistic of more than 48 has at most 1 of 99 above or equal, and is itself the second one.
        check(&hundred, 0.04, -48.0, 48.0);
        check(&hundred, 0.02, -49.0, 49.0);
        check(&hundred, 0.019, -infinite, infinite);
        check(&hundred, 1.0, 0.0, 0.0);
        check(&hundred, 7.0, 0.0, 0.0);
        check(&hundred, 0.0, -infinite, infinite);
        check(&hundred, -1.0, -infinite, infinite);
        check(&hundred, f64::NAN, -infinite, infinite);
        check(&[], 0.05, -infinite, infinite);
        check(&[3.0, 4.0], 1.0, 0.0, 4.0);
    }
}
