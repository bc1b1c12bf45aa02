//! Confidence intervals.

use super::comparison::Interval;
use super::statistic::Difference;

/// The interval of a difference: what is left when a usual statistic is taken from it. `None` if it has no end.
pub fn of_difference(difference: &Difference, usual: Interval) -> Option<Interval> {
    let error = difference.error();
    let times_error = |statistic: f64| if error == 0.0 { 0.0 } else { statistic * error };
    let interval = Interval {
        low: difference.mean - times_error(usual.high),
        high: difference.mean - times_error(usual.low),
    };
    finite(interval)
}

/// Fieller's interval of a ratio: the ratios `r` for which `new - r * base`, in standard errors, is usual. `None` if it
/// has no end, because the base is not far enough from 0.
pub fn of_ratio(base: f64, new: f64, difference: &Difference, usual: Interval) -> Option<Interval> {
    let ends = |statistic: f64| -> Option<[f64; 2]> {
        let error = |variance: f64| if variance == 0.0 { 0.0 } else { statistic * statistic * variance };
        let [base_error, new_error] = difference.variances.map(error);
        let denominator = base * base - base_error;
        if denominator.is_nan() || denominator <= 0.0 || !new_error.is_finite() {
            return None;
        }
        let product = base * new;
        let root = (product * product - denominator * (new * new - new_error)).max(0.0).sqrt();
        Some([product - root, product + root].map(|end| (end / denominator).max(0.0)))
    };
    finite(Interval { low: ends(usual.high)?[0], high: ends(usual.low)?[1] })
}

fn finite(interval: Interval) -> Option<Interval> {
    (interval.low.is_finite() && interval.high.is_finite()).then_some(interval)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistic::Sums;

    /// The sums of values around a mean, with the given variance of the mean of two values.
    fn sums(mean: f64, variance: f64) -> Sums {
        Sums { count: 2.0, sum: 2.0 * mean, squares: 2.0 * (mean * mean + variance) }
    }

    fn difference(base: (f64, f64), new: (f64, f64)) -> Difference {
        Difference::of(&sums(base.0, base.1), &sums(new.0, new.1))
    }

    fn both_sides(statistic: f64) -> Interval {
        Interval { low: -statistic, high: statistic }
    }

    fn close(interval: Option<Interval>, low: f64, high: f64) -> bool {
        interval.is_some_and(|interval| {
            (interval.low - low).abs() < 1e-9 * low.abs() && (interval.high - high).abs() < 1e-9 * high.abs()
        })
    }

    /// The sessions 900, 1100, 1000, 1300, 700 and 1500, 1900, 1600, 2400, 1700. The ratios are those for which
    /// `abs(new - r * base)` is 2.5 standard errors, found by `scipy.optimize.brentq` of SciPy 1.17.1.
    #[test]
    fn differences_and_ratios() {
        let measured = difference((1000.0, 10_000.0), (1820.0, 25_400.0));
        let difference = of_difference(&measured, both_sides(2.5));
        assert!(close(difference, 820.0 - 470.3721930556695, 820.0 + 470.3721930556695), "{difference:?}");
        let ratio = of_ratio(1000.0, 1820.0, &measured, both_sides(2.5));
        assert!(close(ratio, 1.3050301211948305, 2.577636545471837), "{ratio:?}");
        // A change that is unusual below is one that is underestimated: the interval is longer above.
        let skewed = Interval { low: -2.5, high: 0.0 };
        assert!(close(of_difference(&measured, skewed), 820.0, 820.0 + 470.3721930556695));
        assert!(close(of_ratio(1000.0, 1820.0, &measured, skewed), 1.82, 2.577636545471837));
    }

    #[test]
    fn ratios_without_an_end() {
        #[track_caller]
        fn check(base: f64, variances: [f64; 2], critical: f64) {
            let difference = difference((base, variances[0]), (1.0, variances[1]));
            assert_eq!(of_ratio(base, 1.0, &difference, both_sides(critical)), None);
        }
        check(0.0, [0.0, 1.0], 2.0);
        check(0.0, [0.0, 0.0], 2.0);
        check(1.0, [0.25, 1.0], 2.0);
        check(1.0, [0.1, 1.0], f64::INFINITY);
        check(1.0, [0.1, 1.0], f64::NAN);
    }

    #[test]
    fn constants_have_exact_ratios() {
        let difference = difference((2.0, 0.0), (4.0, 0.0));
        let exact = |value| Some(Interval { low: value, high: value });
        assert_eq!(of_ratio(2.0, 4.0, &difference, both_sides(f64::INFINITY)), exact(2.0));
        assert_eq!(of_difference(&difference, both_sides(f64::INFINITY)), exact(2.0));
    }

    #[test]
    fn one_is_in_the_ratios_when_zero_is_in_the_differences() {
        let difference = difference((100.0, 125.0), (140.0, 100.0));
        // 40 is 2.67 standard errors of 15.
        for (critical, expected) in [(2.6, false), (2.7, true)] {
            let ratio =
                of_ratio(100.0, 140.0, &difference, both_sides(critical)).map(|ratio| ratio.low <= 1.0);
            assert_eq!(ratio, Some(expected));
            assert_eq!(
                of_difference(&difference, both_sides(critical)).map(|d| d.low <= 0.0),
                Some(expected)
            );
        }
    }
}
