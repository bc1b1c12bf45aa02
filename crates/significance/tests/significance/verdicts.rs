//! Small releases whose comparison is known.

use Verdict::{Faster, NoEvidence, Slower, TooFewSessions};
use selfprof_significance::{
    Comparison, FunctionComparison, FunctionIndex, Interval, SessionKey, Sessions, Settings, Verdict, compare,
};

/// Each row is a session with the times of functions 0, 1, 2 and so on.
fn sessions<const N: usize>(rows: &[[i64; N]]) -> Sessions {
    let mut sessions = Sessions::new();
    for (key, row) in (0..).zip(rows) {
        let times_us = (0..).map(FunctionIndex).zip(row.iter().copied());
        sessions.push(SessionKey(key), row.iter().sum(), times_us);
    }
    sessions
}

/// Ten sessions in which the first function takes about `first` and the others a fixed time.
fn ten(first: i64, others: [i64; 2]) -> Sessions {
    let rows: Vec<[i64; 3]> = (0..10).map(|i| [first + first * (i % 5) / 50, others[0], others[1]]).collect();
    sessions(&rows)
}

fn verdicts(comparison: &Comparison) -> Vec<Verdict> {
    comparison.functions.iter().map(|function| function.verdict).collect()
}

#[track_caller]
fn check(base: &Sessions, new: &Sessions, settings: &Settings, expected: &[Verdict]) {
    assert_eq!(verdicts(&compare(base, new, settings)), expected);
}

#[test]
fn slower_and_faster() {
    let settings = Settings::default();
    check(&ten(1000, [500, 0]), &ten(2000, [500, 0]), &settings, &[Slower, NoEvidence]);
    check(&ten(2000, [500, 0]), &ten(1000, [500, 0]), &settings, &[Faster, NoEvidence]);
    check(&ten(1000, [500, 0]), &ten(1000, [500, 0]), &settings, &[NoEvidence, NoEvidence]);
    // A function that is new, and one that is gone, without any variance.
    check(&ten(1000, [500, 0]), &ten(1000, [0, 600]), &settings, &[NoEvidence, Faster, Slower]);
}

#[test]
fn changes_that_are_not_worth_telling() {
    let (base, new) = (ten(100_000, [1000, 5_000_000]), ten(100_000, [1040, 5_000_000]));
    let all = Settings { least_part_of_function: 0.0, least_part_of_session: 0.0, ..Settings::default() };
    check(&base, &new, &all, &[NoEvidence, Slower, NoEvidence]);
    // 4% of the function.
    let function = Settings { least_part_of_function: 0.05, ..all.clone() };
    check(&base, &new, &function, &[NoEvidence; 3]);
    // Less than a thousandth of the session, even if it were gone.
    let session = Settings { least_part_of_session: 0.001, ..all };
    let comparison = compare(&base, &new, &session);
    assert_eq!(verdicts(&comparison), [NoEvidence; 3]);
    assert_eq!(comparison.tested, 2);
    assert_eq!(comparison.functions[1].adjusted_p, None);
}

#[test]
fn too_few_sessions() {
    let five = |time_us: i64| sessions(&[[time_us], [time_us + 1], [time_us + 2], [time_us], [time_us]]);
    check(&five(100), &five(900), &Settings::default(), &[Slower]);
    // Of 20 divisions of 6 sessions into halves, 2 are as clear as the clearest: 10%.
    let three = |time_us: i64| sessions(&[[time_us], [time_us], [time_us]]);
    check(&three(100), &three(900), &Settings::default(), &[TooFewSessions]);
    check(
        &three(100),
        &three(900),
        &Settings { least_sessions: 0, ..Settings::default() },
        &[TooFewSessions],
    );
    check(
        &three(100),
        &three(900),
        &Settings { least_sessions: 0, error_rate: 0.2, ..Settings::default() },
        &[Slower],
    );
    // The second function ran in 5 sessions: they are all of one release in 2 of 33 divisions.
    let rare = |count: usize| {
        let rows: Vec<[i64; 2]> =
            (0..200).map(|i| [1000 + i % 7, if i < count as i64 { 900 } else { 0 }]).collect();
        sessions(&rows)
    };
    check(&rare(0), &rare(5), &Settings::default(), &[NoEvidence, TooFewSessions]);
    check(&rare(0), &rare(30), &Settings::default(), &[NoEvidence, Slower]);
}

/// By hand: means of 1000 and 1500, standard error 100.
#[test]
fn numbers() {
    let base = sessions(&[[900], [1100], [1000], [1200], [800]]);
    let new = sessions(&[[1400], [1600], [1500], [1700], [1300]]);
    let unlimited = Settings { limited_part: 0.0, ..Settings::default() };
    let comparison = compare(&base, &new, &unlimited);
    let FunctionComparison { base, new, difference_us, ratio, adjusted_p, verdict, .. } =
        comparison.functions[0].clone();
    assert_eq!((base.sessions, base.mean_us, base.limited_mean_us), (5, 1000.0, 1000.0));
    assert_eq!((new.sessions, new.mean_us, new.limited_mean_us), (5, 1500.0, 1500.0));
    assert_eq!((difference_us, ratio, verdict), (500.0, Some(1.5), Slower));
    // 2 of 252 divisions are as clear.
    let p = adjusted_p.unwrap_or_default();
    assert!((0.002..0.016).contains(&p), "{p}");
    let Some(Interval { low, high }) = comparison.functions[0].difference_interval_us else {
        panic!("no interval");
    };
    // With Student's t for 8 degrees of freedom, 2.306: 269 to 731.
    assert!((250.0..320.0).contains(&low) && (680.0..750.0).contains(&high), "{low} to {high}");
    assert_eq!((comparison.limit_us, comparison.base.limited, comparison.sessions_per_unit), (None, 0, 1));
}

#[test]
fn the_longest_sessions_are_limited() {
    let rows: Vec<[i64; 2]> = (0..100).map(|i| [1000 + i, 500]).collect();
    let base = sessions(&rows);
    let mut slow = rows;
    slow[7] = [100_000, 50_000];
    slow[9] = [100_000, 25_000];
    let comparison = compare(&base, &sessions(&slow), &Settings::default());
    // 2 of 200 are limited to the next one.
    assert_eq!(comparison.limit_us, Some(1599));
    assert_eq!((comparison.base.limited, comparison.new.limited), (0, 2));
    let function = &comparison.functions[1];
    assert_eq!(function.new.mean_us, (98.0 * 500.0 + 75_000.0) / 100.0);
    // Two thirds of 1599 are for the first function, and four fifths.
    assert_eq!(function.new.limited_mean_us, (98.0 * 500.0 + 533.0 + 320.0) / 100.0);
    assert_eq!(verdicts(&comparison), [NoEvidence, NoEvidence]);
}

#[test]
fn many_sessions_are_compared_in_units() {
    let many = |count: i64, time_us: i64| {
        let rows: Vec<[i64; 1]> = (0..count).map(|i| [time_us + i * 37 % 101]).collect();
        sessions(&rows)
    };
    let comparison = compare(&many(2000, 1000), &many(1100, 1100), &Settings::default());
    assert_eq!(comparison.sessions_per_unit, 4);
    assert_eq!((comparison.base.compared, comparison.new.compared), (2000, 1100));
    assert_eq!(verdicts(&comparison), [Slower]);
    let comparison = compare(&many(1100, 1000), &many(1027, 1000), &Settings::default());
    assert_eq!((comparison.base.compared, comparison.new.compared), (1100, 1024));
    assert_eq!(verdicts(&comparison), [NoEvidence]);
}

/// Parts of one session are one session: five sessions remain five, however many profiles they have.
#[test]
fn profiles_of_one_session_are_added_up() {
    let (mut whole, mut parts) = (Sessions::new(), Sessions::new());
    for key in 0..5_u32 {
        let time_us = 1000 + 10 * i64::from(key);
        whole.push(SessionKey(key.into()), time_us, [(FunctionIndex(3), time_us)]);
        for part_us in [400, 0, time_us - 400] {
            parts.push(
                SessionKey(key.into()),
                part_us,
                [(FunctionIndex(3), part_us), (FunctionIndex(9), -5)],
            );
        }
    }
    let new = ten(1000, [0, 0]);
    assert_eq!(compare(&whole, &new, &Settings::default()), compare(&parts, &new, &Settings::default()),);
}
