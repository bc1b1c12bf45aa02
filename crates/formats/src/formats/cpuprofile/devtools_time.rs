//! Times that DevTools's arithmetic preserves.
//!
//! DevTools converts microseconds to milliseconds and back, which rounds. If a call then seems to start before the
//! previous one has ended, DevTools [nests][forEachEvent] it in that one and subtracts its time from that one's self
//! time. [`stable`] picks times whose rounding errors are small enough that adjacent calls stay adjacent. The nearest
//! one is at most a microsecond away.
//!
//! [forEachEvent]: https://source.chromium.org/chromium/chromium/src/+/main:third_party/devtools-frontend/src/front_end/models/trace/helpers/Trace.ts

/// The time that a profile starts at. Doubles between this and twice as much are evenly spaced, so that differences are
/// exact.
pub(super) const BASE: i64 = 1 << 40;

/// The maximum length of a profile that starts at [`BASE`], in microseconds (six days).
pub(super) const MAX_LENGTH: i64 = 1 << 39;

/// The nearest time, in microseconds, that the conversion preserves well enough.
pub(super) fn stable(time: i64) -> i64 {
    // Multiples of 125 µs are exact in milliseconds, so the search ends within this distance.
    let mut nearest =
        (0..125).flat_map(|distance| [-distance, distance]).map(|distance| time.saturating_add(distance));
    nearest.find(|&time| u64::try_from(time).is_ok_and(is_stable)).unwrap_or(time)
}

/// Whether the double of the milliseconds is off by at most a quarter of the last digit of the double of the
/// microseconds: both the start and the end of a call may be off by that much.
fn is_stable(micros: u64) -> bool {
    if micros == 0 {
        return true;
    }
    if micros >= 1 << f64::MANTISSA_DIGITS {
        return false;
    }
    let digits = i64::from(f64::MANTISSA_DIGITS) - 1;
    let bits = (micros as f64 / 1000.0).to_bits();
    // The milliseconds are `mantissa` * 2^`exponent`; the exponent is negative here.
    let mantissa = (bits & ((1 << digits) - 1)) | (1 << digits);
    let exponent = (bits >> digits) as i64 - (1023 + digits);
    let error = i128::from(mantissa) * 1000 - (i128::from(micros) << -exponent);
    let quarter = i64::from(micros.ilog2()) - digits - 2 - exponent;
    error.abs() <= 1 << quarter
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Whether DevTools's arithmetic keeps the end of a call at or after the end computed from its duration.
    fn meet(begin: i64, end: i64) -> bool {
        let [begin, end] = [begin, end].map(|micros| micros as f64 / 1000.0);
        begin * 1000.0 + (end - begin) * 1000.0 <= end * 1000.0
    }

    #[test]
    fn some_times_are_not_stable() {
        let lengths = (BASE..BASE + 1000).map(|time| (time, time + 1007));
        let (begin, end) = lengths.into_iter().find(|&(begin, end)| !meet(begin, end)).unwrap();
        assert!(meet(stable(begin), stable(end)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn stable_times_meet(begin in 0..MAX_LENGTH, length in 0..MAX_LENGTH, bits in 0_u32..40) {
            let end = MAX_LENGTH.min(begin + (length & ((1_i64 << bits) - 1)));
            let [begin, end] = [begin, end].map(|time| time + BASE);
            prop_assert!(meet(stable(begin), stable(end)));
            prop_assert!(stable(begin).abs_diff(begin) <= 1);
            prop_assert!(stable(begin) <= stable(end));
        }

        #[test]
        fn every_time_has_a_stable_one_nearby(time in any::<i64>()) {
            prop_assert!(stable(time).abs_diff(time) < 125);
        }
    }
}
