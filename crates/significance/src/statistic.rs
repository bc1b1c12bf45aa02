//! The statistic that is compared: a difference of two means in units of its standard error.

/// Differences below this part of the sums that they are computed from are rounding errors.
const ROUNDING: f64 = 1e-12;

/// The values of one function in one group of units: how many, their sum, and the sum of their squares.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    pub count: f64,
    pub sum: f64,
    pub squares: f64,
}

impl Sums {
    pub fn mean(&self) -> f64 {
        self.sum / self.count
    }

    /// The sum of squared deviations from the mean; 0 if it is not more than rounding errors of `squares`.
    fn deviations(&self, squares: f64) -> f64 {
        let deviations = self.squares - self.sum * self.sum / self.count;
        if deviations > ROUNDING * squares { deviations } else { 0.0 }
    }
}

/// The difference of the means of two groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The mean of the second group minus that of the first.
    pub mean: f64,
    /// The variances of the two means.
    pub variances: [f64; 2],
    /// The variance of the difference, if the variance of the values is the same in both groups.
    pooled_variance: f64,
}

impl Difference {
    /// Each group must have at least two values.
    pub fn of(first: &Sums, second: &Sums) -> Self {
        let squares = first.squares + second.squares;
        let deviations = [first.deviations(squares), second.deviations(squares)];
        let common = (deviations[0] + deviations[1]) / (first.count + second.count - 2.0);
        let mean = second.mean() - first.mean();
        let is_rounding = mean.abs() <= ROUNDING * (first.mean() + second.mean());
        Self {
            mean: if is_rounding { 0.0 } else { mean },
            variances: [
                deviations[0] / ((first.count - 1.0) * first.count),
                deviations[1] / ((second.count - 1.0) * second.count),
            ],
            pooled_variance: common * (1.0 / first.count + 1.0 / second.count),
        }
    }

    /// Welch's standard error.
    pub fn error(&self) -> f64 {
        (self.variances[0] + self.variances[1]).sqrt()
    }

    /// Welch's statistic, which intervals are made of: infinite if there is a difference and no variance.
    pub fn welch(&self) -> f64 {
        self.in_errors_of(self.variances[0] + self.variances[1])
    }

    /// The size of the difference, which is tested: in units of the greater one of Welch's standard error and of the
    /// one with a common variance. For groups of one size they are equal. Otherwise, Welch's alone is far too small
    /// when a rare function happens to be absent from the smaller group, and the other one alone when the smaller group
    /// varies more.
    pub fn size(&self) -> f64 {
        self.in_errors_of((self.variances[0] + self.variances[1]).max(self.pooled_variance)).abs()
    }

    fn in_errors_of(&self, variance: f64) -> f64 {
        if self.mean == 0.0 { 0.0 } else { self.mean / variance.sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(values: &[f64]) -> Sums {
        values.iter().fold(Sums::default(), |sums, value| Sums {
            count: sums.count + 1.0,
            sum: sums.sum + value,
            squares: sums.squares + value * value,
        })
    }

    #[track_caller]
    fn check(first: &[f64], second: &[f64], expected: f64) {
        let (first, second) = (sums(first), sums(second));
        for statistic in [Difference::of(&first, &second).size(), Difference::of(&second, &first).size()] {
            let is_close = (statistic - expected).abs() <= 1e-12 * expected.abs();
            assert!(is_close || statistic == expected, "{statistic} is not {expected}");
        }
    }

    /// Expected values: `scipy.stats.ttest_ind(second, first, equal_var=...).statistic` of SciPy 1.17.1.
    #[test]
    fn t() {
        let first = [0.0, 0.0, 1200.0, 3400.0, 0.0, 560.0, 15000.0];
        let second = [0.0, 4100.0, 2200.0, 0.0, 9800.0];
        // The less of the one with equal_var=False, 0.12345990466538066, and the one with equal_var=True.
        check(&first, &second, 0.11704848678382397);
        // Both are equal for groups of one size.
        check(&[0.0, 0.0, 1200.0, 3400.0, 560.0], &second, 1.1387458920068134);
        let welch = Difference::of(&sums(&first), &sums(&second)).welch();
        assert!((welch - 0.12345990466538066).abs() < 1e-14, "{welch}");
    }

    /// Ten sessions of 1000 and none of 20 happen often when a function runs in 1% of all sessions. With Welch's error
    /// alone, they would seem clear.
    #[test]
    fn a_rare_function_that_is_absent_from_a_small_group_is_not_clear() {
        let mut many = [0.0; 1000];
        many[..10].fill(7.0);
        let difference = Difference::of(&sums(&many), &sums(&[0.0; 20]));
        assert!(difference.size() < 0.5 && difference.welch() < -3.0, "{difference:?}");
    }

    #[test]
    fn constants() {
        check(&[0.0; 5], &[0.0; 7], 0.0);
        check(&[0.1; 5], &[0.1; 7], 0.0);
        check(&[3.0; 5], &[4.0; 5], f64::INFINITY);
        check(&[i64::MAX as f64; 5], &[i64::MAX as f64; 9], 0.0);
        check(&[i64::MAX as f64; 5], &[0.0; 9], f64::INFINITY);
    }
}
