//! Time in milliseconds, as given by scripts.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A [`DOMHighResTimeStamp`]: milliseconds since the time origin, or a duration, as passed to or from a script.
///
/// The recorder measures samples in whole [`Micros`](crate::Micros). The times of marks and measures come from scripts,
/// may be any finite double, and must be preserved exactly. A `Millis` is always finite and never negative zero, so it
/// has a total order.
///
/// [`DOMHighResTimeStamp`]: https://w3c.github.io/hr-time/#sec-domhighrestimestamp
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Millis(f64);

impl Millis {
    /// The time origin, or no time.
    pub const ZERO: Self = Self(0.0);

    /// `None` if the number is not finite.
    pub fn new(millis: f64) -> Option<Self> {
        // Adding zero turns negative zero into zero.
        millis.is_finite().then_some(Self(millis + 0.0))
    }

    /// In milliseconds.
    pub fn get(self) -> f64 {
        self.0
    }

    /// `self + other`, saturating at the largest finite number.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        Self((self.0 + other.0).clamp(f64::MIN, f64::MAX))
    }
}

impl Eq for Millis {}

impl PartialOrd for Millis {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Millis {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Hash for Millis {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// Displays the number as JavaScript does ([Number::toString]), which is also valid JSON.
///
/// [Number::toString]: https://tc39.es/ecma262/#sec-numeric-types-number-tostring
impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.abs();
        if magnitude == 0.0 || (1e-6..1e21).contains(&magnitude) {
            write!(f, "{}", self.0)
        } else if magnitude < 1.0 {
            write!(f, "{:e}", self.0)
        } else {
            f.write_str(&format!("{:e}", self.0).replace('e', "e+"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_finite_numbers_are_times() {
        #[track_caller]
        fn check(number: f64, expected: Option<f64>) {
            assert_eq!(Millis::new(number).map(|time| time.get().to_bits()), expected.map(f64::to_bits));
        }
        check(1.23456789, Some(1.23456789));
        check(-5.5, Some(-5.5));
        check(-0.0, Some(0.0));
        check(f64::MAX, Some(f64::MAX));
        check(f64::NAN, None);
        check(f64::INFINITY, None);
        check(f64::NEG_INFINITY, None);
    }

    #[test]
    fn numbers_are_displayed_as_in_javascript() {
        #[track_caller]
        fn check(number: f64, expected: &str) {
            assert_eq!(Millis(number).to_string(), expected);
        }
        check(0.0, "0");
        check(12.0, "12");
        check(-0.5, "-0.5");
        check(1.0 / 3.0, "0.3333333333333333");
        check(123456789012345680000.0, "123456789012345680000");
        check(1e21, "1e+21");
        check(-1.5e300, "-1.5e+300");
        check(0.000001, "0.000001");
        check(1.5e-7, "1.5e-7");
        check(5e-324, "5e-324");
    }

    #[test]
    fn sums_stay_finite() {
        let most = Millis(f64::MAX);
        assert_eq!(most.saturating_add(most), most);
        assert_eq!(Millis(1.5).saturating_add(Millis(-2.0)), Millis(-0.5));
    }
}
