//! Sample intervals: those that an agent offers, and the one that serves several sessions.

use selfprof_trace::Micros;

/// The interval that a session gets for a requested one: the next multiple of `base`, at least `base`.
///
/// Chromium does the same with a base of 10 ms (16 becomes 20, 0 becomes 10). The specification's
/// [session](https://wicg.github.io/js-self-profiling/#profiling-sessions) may sample at another rate than the
/// requested one.
///
/// ```
/// # use selfprof_session::quantise; use selfprof_trace::Micros;
/// assert_eq!(quantise(Micros(16_600), Micros(1_000)), Micros(17_000));
/// assert_eq!(quantise(Micros(0), Micros(1_000)), Micros(1_000));
/// ```
#[must_use]
pub fn quantise(asked: Micros, base: Micros) -> Micros {
    let steps = asked.0.div_ceil(base.0).max(1);
    Micros(steps.saturating_mul(base.0))
}

/// The longest interval of which all `intervals` are multiples: one sampler that runs at it serves all sessions. `None`
/// when there are no intervals.
#[must_use]
pub fn greatest_common_interval(intervals: impl IntoIterator<Item = Micros>) -> Option<Micros> {
    intervals.into_iter().reduce(|a, b| Micros(greatest_common_divisor(a.0, b.0)))
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_quantised(asked: u64, base: u64, expected: u64) {
        assert_eq!(quantise(Micros(asked), Micros(base)), Micros(expected), "{asked} at base {base}");
    }

    #[test]
    fn requested_intervals_round_up_to_the_base() {
        // What Chromium answers at its base of 10 ms.
        for (asked, expected) in [(0, 10), (1, 10), (5, 10), (10, 10), (16, 20), (17, 20), (20, 20), (32, 40)]
        {
            check_quantised(asked * 1_000, 10_000, expected * 1_000);
        }
        check_quantised(1, 1_000, 1_000);
        check_quantised(1_001, 1_000, 2_000);
        check_quantised(u64::MAX, 1_000, u64::MAX);
    }

    #[test]
    fn one_rate_serves_all_sessions() {
        let common = |intervals: &[u64]| greatest_common_interval(intervals.iter().map(|&i| Micros(i)));
        assert_eq!(common(&[]), None);
        assert_eq!(common(&[10_000]), Some(Micros(10_000)));
        assert_eq!(common(&[10_000, 15_000]), Some(Micros(5_000)));
        assert_eq!(common(&[10_000, 7_000, 100_000]), Some(Micros(1_000)));
    }
}
