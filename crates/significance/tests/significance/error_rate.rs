//! How often a comparison names a function although there is no difference.

use crate::methods::samples_as_units;
use crate::simulation::{Application, Change, FREQUENT, Session, packed};
use selfprof_significance::{Settings, Verdict, compare};

const FUNCTIONS: usize = 60;
const COMPARISONS: u64 = 200;

/// Of 200 comparisons, 10 are expected to name a function when the error rate is 5%, and more than 20 with a
/// probability of less than 0.1%.
const MOST: usize = 20;

fn sessions_as_units(base: &[Session], new: &[Session]) -> Vec<u32> {
    // Each change is worth telling, so that the rate is that of the test alone.
    let settings =
        Settings { least_part_of_function: 0.0, least_part_of_session: 0.0, ..Settings::default() };
    let comparison = compare(&packed(base), &packed(new), &settings);
    let is_named = |verdict| matches!(verdict, Verdict::Slower | Verdict::Faster);
    comparison.functions.iter().filter(|f| is_named(f.verdict)).map(|f| f.function.0).collect()
}

/// Divides the sessions of one release at random, one of them 100 times slower than the others.
#[track_caller]
fn check(sessions: [usize; 2], method: impl Fn(&[Session], &[Session]) -> Vec<u32>) {
    let wrong = (0..COMPARISONS).filter(|&seed| {
        let mut application = Application::new(FUNCTIONS, seed);
        let mut pool = application.sessions(sessions[0] + sessions[1], None);
        application.slow_down_one(&mut pool);
        let (base, new) = pool.split_at(sessions[0]);
        !method(base, new).is_empty()
    });
    let wrong = wrong.count();
    assert!(wrong <= MOST, "{wrong} of {COMPARISONS} comparisons of one release with itself name a function");
}

#[test]
fn few_sessions() {
    check([20, 20], sessions_as_units);
}

#[test]
fn more_sessions() {
    check([80, 80], sessions_as_units);
}

#[test]
fn releases_of_different_sizes() {
    check([200, 20], sessions_as_units);
}

/// The same check fails with a method that takes samples for independent.
#[test]
#[should_panic(expected = "200 of 200 comparisons of one release with itself name a function")]
fn samples_are_not_independent() {
    check([20, 20], |base, new| samples_as_units(base, new, FUNCTIONS, 0.05));
}

#[test]
fn a_function_that_is_twice_as_slow_is_found() {
    let mut found = 0;
    for seed in 0..10 {
        let mut application = Application::new(FUNCTIONS, seed);
        let base = application.sessions(1000, None);
        let new = application.sessions(1000, Some(Change { function: FREQUENT, factor: 2.0 }));
        let named = sessions_as_units(&base, &new);
        found += usize::from(named == [FREQUENT]);
    }
    assert!(found >= 8, "{found} of 10");
}
