//! Data that no honest page sends.

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use selfprof_significance::{
    Comparison, FunctionIndex, Interval, SessionKey, Sessions, Settings, Verdict, compare,
};

/// No number may be NaN, and what is tested must be in order.
#[track_caller]
fn check_numbers(comparison: &Comparison) {
    let in_order = |interval: Option<Interval>| {
        interval.is_none_or(|i| i.low.is_finite() && i.high.is_finite() && i.low <= i.high)
    };
    for release in [&comparison.base, &comparison.new] {
        assert!(release.mean_whole_us.is_finite() && release.compared <= release.sessions, "{release:?}");
    }
    for function in &comparison.functions {
        let numbers = [
            function.base.mean_us,
            function.base.limited_mean_us,
            function.new.mean_us,
            function.new.limited_mean_us,
            function.difference_us,
            function.ratio.unwrap_or_default(),
        ];
        assert!(numbers.iter().all(|number| number.is_finite()), "{function:?}");
        assert!(function.adjusted_p.is_none_or(|p| (0.001..=1.0).contains(&p)), "{function:?}");
        assert!(
            in_order(function.difference_interval_us) && in_order(function.ratio_interval),
            "{function:?}"
        );
    }
}

#[test]
fn random_extremes() {
    const TIMES: &[i64] =
        &[i64::MIN, -1, 0, 0, 0, 1, 2, 1000, 1001, 1 << 53, i64::MAX - 1, i64::MAX, i64::MAX / 2];
    const PARTS: &[f64] =
        &[f64::NAN, f64::NEG_INFINITY, -1.0, 0.0, 1e-300, 0.01, 0.05, 0.5, 1.0, 2.0, 1e300, f64::INFINITY];
    let mut generator = Pcg64Mcg::seed_from_u64(1);
    for round in 0..400 {
        let mut sessions = || {
            let mut sessions = Sessions::new();
            for _ in 0..generator.random_range(0..30) {
                let key = *[0, 1, u128::MAX, generator.random(), generator.random()]
                    .choose(&mut generator)
                    .unwrap();
                let whole_us = *TIMES.choose(&mut generator).unwrap();
                let times_us: Vec<(FunctionIndex, i64)> = (0..generator.random_range(0..6))
                    .map(|_| {
                        let function = *[0, 1, 2, u32::MAX].choose(&mut generator).unwrap();
                        (FunctionIndex(function), *TIMES.choose(&mut generator).unwrap())
                    })
                    .collect();
                sessions.push(SessionKey(key), whole_us, times_us);
            }
            sessions
        };
        let (base, new) = (sessions(), sessions());
        let mut part =
            |usual: f64| if round % 2 == 0 { usual } else { *PARTS.choose(&mut generator).unwrap() };
        let settings = Settings {
            error_rate: part(0.05),
            least_part_of_function: part(0.0),
            least_part_of_session: part(0.0),
            limited_part: part(0.01),
            least_sessions: [0, 1, 5, usize::MAX][round % 4],
            divisions: [0, 1, 999, 100][round % 4],
            threads: round % 3,
        };
        check_numbers(&compare(&base, &new, &settings));
    }
}

fn equal(count: u128, function: u32, time_us: i64) -> Sessions {
    let mut sessions = Sessions::new();
    for key in 0..count {
        sessions.push(SessionKey(key), time_us, [(FunctionIndex(function), time_us)]);
    }
    sessions
}

#[test]
fn little_data() {
    #[track_caller]
    fn check(base: &Sessions, new: &Sessions, expected: &[Verdict]) {
        let comparison = compare(base, new, &Settings::default());
        check_numbers(&comparison);
        let verdicts: Vec<Verdict> = comparison.functions.iter().map(|f| f.verdict).collect();
        assert_eq!(verdicts, expected);
    }
    let none = Sessions::new();
    check(&none, &none, &[]);
    check(&none, &equal(10, 1, 5), &[Verdict::TooFewSessions]);
    check(&equal(10, 1, 5), &none, &[Verdict::TooFewSessions]);
    check(&equal(1, 1, 5), &equal(1, 1, 5), &[Verdict::TooFewSessions]);
    check(&equal(1, 1, 5), &equal(1000, 1, 500), &[Verdict::TooFewSessions]);
    check(&equal(10, 1, 0), &equal(10, 1, 0), &[]);
    check(&equal(10, 1, i64::MAX), &equal(10, 1, i64::MAX), &[Verdict::NoEvidence]);
    check(&equal(10, 1, i64::MIN), &equal(10, 1, i64::MAX), &[Verdict::Slower]);
}

/// NaN as a setting names nothing.
#[test]
fn settings_without_sense() {
    for settings in [
        Settings { error_rate: f64::NAN, ..Settings::default() },
        Settings { least_part_of_function: f64::NAN, ..Settings::default() },
        Settings { least_part_of_session: f64::NAN, ..Settings::default() },
        Settings { error_rate: -1.0, ..Settings::default() },
    ] {
        let comparison = compare(&equal(20, 1, 100), &equal(20, 1, 900), &settings);
        assert!(
            comparison.functions.iter().all(|f| !matches!(f.verdict, Verdict::Slower | Verdict::Faster)),
            "{settings:?}"
        );
    }
}

/// Whole times that are too small make all functions worth a test. Only those with the most time are tested.
#[test]
fn many_functions() {
    const FUNCTIONS: u32 = 20_000;
    let sessions = |time_us: i64| {
        let mut sessions = Sessions::new();
        for key in 0..5 {
            let times_us = (0..FUNCTIONS).map(|f| (FunctionIndex(f), time_us + i64::from(f)));
            sessions.push(SessionKey(key), 1, times_us);
        }
        sessions
    };
    let comparison = compare(&sessions(1000), &sessions(100_000), &Settings::default());
    check_numbers(&comparison);
    assert_eq!((comparison.functions.len(), comparison.tested), (20_000, 8192));
    let tested: Vec<u32> =
        comparison.functions.iter().filter(|f| f.adjusted_p.is_some()).map(|f| f.function.0).collect();
    assert_eq!(tested, (FUNCTIONS - 8192..FUNCTIONS).collect::<Vec<_>>());
}
