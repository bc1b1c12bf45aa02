//! Times that DevTools shows as they are.
//!
//! DevTools turns microseconds into milliseconds and back, with what that costs a double, and takes a call that seems to begin
//! before the one before it has ended for a part of it: the tables [take][forEachEvent] its time off the other one's own. Where
//! the way there and back costs little, a call and the next one still meet. Such a time is a microsecond away at most.
//!
//! [forEachEvent]: https://source.chromium.org/chromium/chromium/src/+/main:third_party/devtools-frontend/src/front_end/models/trace/helpers/Trace.ts

/// Where times begin: doubles from here to nearly twice as much are equally far apart, so that lengths cost nothing.
pub(super) const BEGIN: i64 = 1 << 40;

/// The furthest after [`BEGIN`], in microseconds, which is six days.
pub(super) const LONGEST: i64 = 1 << 39;

/// The nearest time, in microseconds, that DevTools does not take for a later one.
pub(super) fn settled(time: i64) -> i64 {
    // Multiples of 125 µs cost nothing, so there is one within this distance.
    let mut nearest =
        (0..125).flat_map(|distance| [-distance, distance]).map(|distance| time.saturating_add(distance));
    nearest.find(|&time| u64::try_from(time).is_ok_and(is_cheap)).unwrap_or(time)
}

/// Whether the double of the milliseconds is within a quarter of the last digit that the double of the microseconds has: of a
/// call's beginning and its end, each may be wrong by as much.
fn is_cheap(micros: u64) -> bool {
    if micros == 0 {
        return true;
    }
    if micros >= 1 << f64::MANTISSA_DIGITS {
        return false;
    }
    let digits = i64::from(f64::MANTISSA_DIGITS) - 1;
    let bits = (micros as f64 / 1000.0).to_bits();
    // The milliseconds are `mantissa` times two to the power of `exponent`, which is below zero here.
    let mantissa = (bits & ((1 << digits) - 1)) | (1 << digits);
    let exponent = (bits >> digits) as i64 - (1023 + digits);
    let cost = i128::from(mantissa) * 1000 - (i128::from(micros) << -exponent);
    let quarter = i64::from(micros.ilog2()) - digits - 2 - exponent;
    cost.abs() <= 1 << quarter
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As DevTools does it.
    fn meet(begin: i64, end: i64) -> bool {
        let [begin, end] = [begin, end].map(|micros| micros as f64 / 1000.0);
        begin * 1000.0 + (end - begin) * 1000.0 <= end * 1000.0
    }

    #[test]
    fn some_times_do_not_meet_as_they_are() {
        let lengths = (BEGIN..BEGIN + 1000).map(|time| (time, time + 1007));
        let (begin, end) = lengths.into_iter().find(|&(begin, end)| !meet(begin, end)).unwrap();
        assert!(meet(settled(begin), settled(end)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn settled_times_meet(begin in 0..LONGEST, length in 0..LONGEST, bits in 0_u32..40) {
            let end = LONGEST.min(begin + (length & ((1_i64 << bits) - 1)));
            let [begin, end] = [begin, end].map(|time| time + BEGIN);
            prop_assert!(meet(settled(begin), settled(end)));
            prop_assert!(settled(begin).abs_diff(begin) <= 1);
            prop_assert!(settled(begin) <= settled(end));
        }

        #[test]
        fn any_time_will_do(time in any::<i64>()) {
            prop_assert!(settled(time).abs_diff(time) < 125);
        }
    }
}
