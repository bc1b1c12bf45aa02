//! Time in microseconds, as recorded.

use std::fmt;

/// Microseconds since the trace's time origin, or a duration.
///
/// JavaScript has times in milliseconds as doubles (`DOMHighResTimeStamp`). In selfprof, times of samples are integers,
/// so that sums are exact and times can be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Micros(pub u64);

impl Micros {
    /// The time origin, or no time.
    pub const ZERO: Self = Self(0);

    /// Converts a `DOMHighResTimeStamp` in milliseconds, rounded to the nearest microsecond.
    ///
    /// `None` if it is not finite, is negative, or exceeds 2⁵³ µs (285 years), beyond which doubles cannot count
    /// microseconds.
    pub fn from_millis_f64(millis: f64) -> Option<Self> {
        const LARGEST: f64 = (1_u64 << 53) as f64;
        let micros = (millis * 1000.0).round();
        // NaN fails the comparison.
        (millis >= 0.0 && micros <= LARGEST).then_some(Self(micros as u64))
    }

    /// As a `DOMHighResTimeStamp`, in milliseconds.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1000.0
    }

    /// The time rounded down to a multiple of the resolution ([coarsen time]). A resolution of zero does not change it.
    /// The order of times is preserved, although some become equal.
    ///
    /// [coarsen time]: https://w3c.github.io/hr-time/#dfn-coarsen-time
    #[must_use]
    pub fn coarsened(self, resolution: Self) -> Self {
        Self(self.0 - self.0.checked_rem(resolution.0).unwrap_or(0))
    }

    /// `self + other`, saturating at the largest time.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The time from `earlier` to `self`, or zero if `earlier` is later.
    #[must_use]
    pub fn saturating_sub(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// `self * factor`, saturating at the largest time.
    #[must_use]
    pub fn saturating_mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

/// Displays milliseconds with as many digits as needed, without the unit: `Micros(12_340)` is `12.34`.
///
/// JavaScript prints the number in the same way, so JSON writers use this, too.
impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 1000, self.0 % 1000);
        match (rest % 100, rest % 10) {
            _ if rest == 0 => write!(f, "{whole}"),
            (0, _) => write!(f, "{whole}.{}", rest / 100),
            (_, 0) => write!(f, "{whole}.{:02}", rest / 10),
            _ => write!(f, "{whole}.{rest:03}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_become_microseconds() {
        #[track_caller]
        fn check(millis: f64, expected: Option<u64>) {
            assert_eq!(Micros::from_millis_f64(millis), expected.map(Micros));
        }
        check(0.0, Some(0));
        check(-0.0, Some(0));
        check(1.5, Some(1500));
        check(1234.400000000023, Some(1_234_400));
        check(-0.001, None);
        check(f64::NAN, None);
        check(f64::INFINITY, None);
        check(1e300, None);
    }

    #[test]
    fn coarse_times_are_multiples_of_the_resolution() {
        #[track_caller]
        fn check(micros: u64, resolution: u64, expected: u64) {
            assert_eq!(Micros(micros).coarsened(Micros(resolution)), Micros(expected));
        }
        check(0, 5, 0);
        check(4, 5, 0);
        check(5, 5, 5);
        check(1_234_567, 5, 1_234_565);
        check(1_234_567, 100, 1_234_500);
        check(7, 1, 7);
        check(7, 0, 7);
        check(u64::MAX, 10, u64::MAX - 5);
    }

    #[test]
    fn milliseconds_are_displayed_without_trailing_zeros() {
        #[track_caller]
        fn check(micros: u64, expected: &str) {
            assert_eq!(Micros(micros).to_string(), expected);
        }
        check(0, "0");
        check(7, "0.007");
        check(70, "0.07");
        check(700, "0.7");
        check(107, "0.107");
        check(12_340, "12.34");
        check(5_000, "5");
    }
}
