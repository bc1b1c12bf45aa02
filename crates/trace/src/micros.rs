//! Time, in the unit that every sampler here can keep.

use std::fmt;

/// Microseconds since the trace's time origin, or a span of them.
///
/// JavaScript speaks of time in milliseconds as doubles (`DOMHighResTimeStamp`); inside selfprof time is an
/// integer, so that sums are exact and samples compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Micros(pub u64);

impl Micros {
    /// No time at all, and the time origin itself.
    pub const ZERO: Self = Self(0);

    /// Converts a `DOMHighResTimeStamp` in milliseconds, rounded to the nearest microsecond.
    ///
    /// `None` when it is not finite, is negative, or exceeds 2⁵³ µs (285 years), from where doubles cannot
    /// count microseconds.
    pub fn from_millis_f64(millis: f64) -> Option<Self> {
        const LARGEST: f64 = (1_u64 << 53) as f64;
        let micros = (millis * 1000.0).round();
        // A NaN fails this test too.
        (millis >= 0.0 && micros <= LARGEST).then_some(Self(micros as u64))
    }

    /// As a `DOMHighResTimeStamp`, in milliseconds.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1000.0
    }

    /// Rounded down to the grid of a clock with this resolution, as [coarsen time] asks; a resolution of zero
    /// leaves it as it is. Times that rise still rise, or are equal.
    ///
    /// [coarsen time]: https://w3c.github.io/hr-time/#dfn-coarsen-time
    #[must_use]
    pub fn coarsened(self, resolution: Self) -> Self {
        Self(self.0 - self.0.checked_rem(resolution.0).unwrap_or(0))
    }

    /// `self + other`, or the largest time when that is too far away.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The time from `earlier` to `self`, or zero when `earlier` is the later one.
    #[must_use]
    pub fn saturating_sub(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// `self * factor`, or the largest time when that is too far away.
    #[must_use]
    pub fn saturating_mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

/// Shows milliseconds with as many digits as needed, without the unit: `Micros(12_340)` is `12.34`.
///
/// This is also how JavaScript prints the same number, so the JSON writer uses it.
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
    fn coarse_times_lie_on_the_grid() {
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
    fn shows_milliseconds_without_trailing_zeros() {
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
