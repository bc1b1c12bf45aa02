//! The same data give the same result.

use crate::simulation::{Application, Change, FREQUENT, Session, packed};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use selfprof_significance::{Comparison, FunctionIndex, SessionKey, Sessions, Settings, Verdict, compare};

fn releases(sessions: [usize; 2]) -> [Vec<Session>; 2] {
    let mut application = Application::new(80, 7);
    let changed = Change { function: FREQUENT, factor: 4.0 };
    [application.sessions(sessions[0], None), application.sessions(sessions[1], Some(changed))]
}

fn shuffled(sessions: &[Session], generator: &mut Pcg64Mcg) -> Vec<Session> {
    let mut sessions = sessions.to_vec();
    sessions.shuffle(generator);
    sessions.iter_mut().for_each(|session| session.times_us.shuffle(generator));
    sessions
}

#[track_caller]
fn check(sessions: [usize; 2]) {
    let [base, new] = releases(sessions);
    let expected = compare(&packed(&base), &packed(&new), &Settings::default());
    assert!(expected.tested > 10, "{expected:?}");
    let mut generator = Pcg64Mcg::seed_from_u64(1);
    for threads in [0, 1, 3, usize::MAX] {
        let (base, new) = (shuffled(&base, &mut generator), shuffled(&new, &mut generator));
        let settings = Settings { threads, ..Settings::default() };
        assert_eq!(compare(&packed(&base), &packed(&new), &settings), expected);
    }
}

#[test]
fn the_order_of_sessions_and_of_times_and_the_threads_do_not_matter() {
    check([60, 50]);
    check([40, 90]);
    check([700, 600]);
}

#[test]
fn the_order_of_functions_does_not_matter() {
    let [base, new] = releases([100, 100]);
    let expected = compare(&packed(&base), &packed(&new), &Settings::default());
    // 80 functions, backwards.
    let renamed = |sessions: &[Session]| {
        let mut sessions = sessions.to_vec();
        sessions
            .iter_mut()
            .flat_map(|session| &mut session.times_us)
            .for_each(|time| time.0 = 4_000_000_000 - time.0);
        packed(&sessions)
    };
    let Comparison { mut functions, .. } = compare(&renamed(&base), &renamed(&new), &Settings::default());
    functions.reverse();
    functions.iter_mut().for_each(|function| function.function.0 = 4_000_000_000 - function.function.0);
    assert_eq!(functions, expected.functions);
}

/// Data without logarithms and the like, whose last digit depends on the machine: the result is the same to the last
/// bit on each machine and with each version of the dependencies.
#[test]
fn the_result_is_known_to_the_last_bit() {
    let mut state = 1_u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut release = |count: u32, factor: i64| {
        let mut sessions = Sessions::new();
        for key in 0..count {
            let times_us: Vec<(FunctionIndex, i64)> = (0..12)
                .filter_map(|function| {
                    let time_us = 1000 * (random(8) * random(8) * random(8)) as i64;
                    (time_us > 0).then_some((
                        FunctionIndex(function),
                        time_us * if function == 4 { factor } else { 3 },
                    ))
                })
                .collect();
            sessions.push(SessionKey(key.into()), times_us.iter().map(|time| time.1).sum(), times_us);
        }
        sessions
    };
    let comparison = compare(&release(90, 3), &release(70, 12), &Settings::default());
    let function = &comparison.functions[4];
    let interval = function.difference_interval_us.map(|i| (i.low.to_bits(), i.high.to_bits()));
    let ratio = function.ratio_interval.map(|i| (i.low.to_bits(), i.high.to_bits()));
    let p: Vec<f64> = comparison.functions.iter().filter_map(|f| f.adjusted_p).collect();
    assert_eq!(
        (function.verdict, interval, ratio),
        (
            Verdict::Slower,
            Some((4686897129334186285, 4693003515608205630)),
            Some((4612823615533943909, 4618273608953543281))
        )
    );
    assert_eq!(p, [0.987, 0.504, 0.91, 0.987, 0.001, 0.987, 0.994, 0.988, 0.906, 0.987, 0.944, 0.994]);
}

/// Equal halves, whichever is the base.
#[test]
fn the_other_direction_is_the_other_verdict() {
    let [base, new] = releases([300, 300]);
    let [forth, back] =
        [(&base, &new), (&new, &base)].map(|(a, b)| compare(&packed(a), &packed(b), &Settings::default()));
    let function = FREQUENT as usize;
    assert_eq!(forth.functions[function].verdict, Verdict::Slower);
    assert_eq!(back.functions[function].verdict, Verdict::Faster);
    assert_eq!(forth.functions[function].difference_us, -back.functions[function].difference_us);
}
