//! Time, with the resolution that a script may see.

use std::cmp::Ordering;

/// A [`DOMHighResTimeStamp`](https://w3c.github.io/hr-time/#dom-domhighrestimestamp): milliseconds since the time
/// origin, or a span of them.
///
/// A double, because scripts pass times of their own and get them back unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct HighResTime(pub f64);

impl HighResTime {
    /// The time origin, or an empty span.
    pub const ZERO: Self = Self(0.0);

    /// Compares by time. Zero and minus zero are the same time; a NaN, which no conversion of WebIDL lets through,
    /// comes after every time.
    #[must_use]
    pub fn chronological(self, other: Self) -> Ordering {
        // Adding zero makes a minus zero a zero.
        (self.0 + 0.0).total_cmp(&(other.0 + 0.0))
    }
}

/// A reading of a monotonic clock, in nanoseconds since the clock's zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nanos(pub u64);

impl Nanos {
    /// Converts milliseconds on the same clock, rounded to the microsecond, so that the time origins of profiles, which
    /// are stored in microseconds, and of timelines are equal. `None` for an invalid time.
    #[must_use]
    pub fn from_millis_f64(millis: f64) -> Option<Self> {
        const LARGEST: f64 = (1_u64 << 53) as f64;
        let micros = (millis * 1e3).round();
        (0.0..=LARGEST).contains(&micros).then(|| Self(micros as u64 * 1_000))
    }
}

/// The resolution of a script's clock. [Coarsen time](https://w3c.github.io/hr-time/#dfn-coarsen-time), steps 1 and 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resolution {
    /// 5 µs, for cross-origin isolated environments.
    Isolated,
    /// 100 µs.
    #[default]
    Shared,
}

impl Resolution {
    /// The distance between two neighbouring times.
    #[must_use]
    pub const fn micros(self) -> u64 {
        match self {
            Self::Isolated => 5,
            Self::Shared => 100,
        }
    }
}

/// Turns readings of a monotonic clock into times since an origin.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: Nanos,
    resolution: Resolution,
}

impl Clock {
    /// A clock whose time 0 is the reading `origin`.
    #[must_use]
    pub fn new(origin: Nanos, resolution: Resolution) -> Self {
        Self { origin, resolution }
    }

    /// The time of a reading, [coarsened](https://w3c.github.io/hr-time/#dfn-coarsen-time): rounded down to a multiple
    /// of the resolution, as the closest double. Times before the origin become the origin.
    ///
    /// Later readings never give earlier times.
    #[inline]
    #[must_use]
    pub fn at(&self, reading: Nanos) -> HighResTime {
        let nanos = reading.0.saturating_sub(self.origin.0);
        // Each arm divides by a constant, which compiles to a multiplication.
        let micros = match self.resolution {
            Resolution::Isolated => nanos / 5_000 * 5,
            Resolution::Shared => nanos / 100_000 * 100,
        };
        // Both are whole numbers that a double holds, so that the quotient is the closest double there is.
        HighResTime(micros as f64 / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn readings_are_coarsened() {
        #[track_caller]
        fn check(resolution: Resolution, nanos: u64, expected: f64) {
            let clock = Clock::new(Nanos(7_001), resolution);
            assert_eq!(clock.at(Nanos(7_001 + nanos)), HighResTime(expected));
        }
        check(Resolution::Isolated, 0, 0.0);
        check(Resolution::Isolated, 4_999, 0.0);
        check(Resolution::Isolated, 5_000, 0.005);
        check(Resolution::Isolated, 1_234_567_890, 1234.565);
        check(Resolution::Shared, 99_999, 0.0);
        check(Resolution::Shared, 100_000, 0.1);
        check(Resolution::Shared, 300_000, 0.3);
        check(Resolution::Shared, 1_234_567_890, 1234.5);
        // A year.
        check(Resolution::Isolated, 31_536_000_000_000_000 + 5_000, 31_536_000_000.005);
    }

    #[test]
    fn what_lies_before_the_origin_is_at_the_origin() {
        assert_eq!(Clock::new(Nanos(10), Resolution::Isolated).at(Nanos(3)), HighResTime::ZERO);
    }

    #[test]
    fn an_origin_is_a_whole_microsecond() {
        #[track_caller]
        fn check(millis: f64, expected: Option<u64>) {
            assert_eq!(Nanos::from_millis_f64(millis), expected.map(Nanos));
        }
        check(0.0, Some(0));
        check(1.0004, Some(1_000_000));
        check(1.0006, Some(1_001_000));
        check(-0.1, None);
        check(f64::NAN, None);
        check(f64::INFINITY, None);
        check(1e300, None);
    }

    #[test]
    fn times_compare_as_numbers() {
        #[track_caller]
        fn check(a: f64, b: f64, expected: Ordering) {
            assert_eq!(HighResTime(a).chronological(HighResTime(b)), expected, "{a} {b}");
        }
        check(-1.0, 1.0, Ordering::Less);
        check(0.0, -0.0, Ordering::Equal);
        check(f64::NAN, f64::INFINITY, Ordering::Greater);
    }

    proptest! {
        #[test]
        fn time_never_goes_back(a in 0_u64..1 << 62, b in 0_u64..1 << 62, origin in 0_u64..1 << 40) {
            for resolution in [Resolution::Isolated, Resolution::Shared] {
                let clock = Clock::new(Nanos(origin), resolution);
                let (early, late) = (clock.at(Nanos(a.min(b))), clock.at(Nanos(a.max(b))));
                prop_assert!(early <= late);
            }
        }

        /// What `JSON` shows of a time is a multiple of the resolution, with no digits behind it.
        #[test]
        fn times_print_short(nanos in 0_u64..1 << 53) {
            let clock = Clock::new(Nanos(0), Resolution::Isolated);
            let micros = nanos / 5_000 * 5;
            let shown: f64 = format!("{}.{:03}", micros / 1_000, micros % 1_000).parse().unwrap();
            prop_assert_eq!(clock.at(Nanos(nanos)), HighResTime(shown));
        }
    }
}
