//! Measures what is written down in the documentation of `selfprof_significance`: how often each method names a
//! function although two releases are equal, and how often it finds a changed one.
//!
//! `cargo run --release -p selfprof-significance --example significance_methods -- rates|power|intervals|time`
#![forbid(unsafe_code)]

#[path = "../tests/significance/methods.rs"]
#[allow(dead_code)]
mod methods;
#[path = "../tests/significance/simulation.rs"]
#[allow(dead_code)]
mod simulation;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use selfprof_significance::{Comparison, Interval, Settings, Verdict, compare};
use simulation::{Application, Change, FREQUENT, RARE, Session, packed};
use std::time::Instant;

const FUNCTIONS: usize = 400;
const ERROR_RATE: f64 = 0.05;

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("rates") => rates(),
        Some("power") => power(),
        Some("intervals") => intervals(),
        Some("time") => time(),
        _ => eprintln!("hint: name what to measure: rates, power, intervals or time"),
    }
}

type Method = (&'static str, fn(&[Session], &[Session]) -> Vec<u32>);

const METHODS: &[Method] = &[
    ("samples as units, Holm", |base, new| methods::samples_as_units(base, new, FUNCTIONS, ERROR_RATE)),
    ("Welch's t, Holm", welch),
    ("bootstrap t, max-T", bootstrap),
    ("permutation, max-T, no limit", |base, new| ours(base, new, 0.0)),
    ("permutation, max-T", |base, new| ours(base, new, 0.01)),
];

fn anything() -> Settings {
    Settings { least_part_of_function: 0.0, least_part_of_session: 0.0, threads: 1, ..Settings::default() }
}

fn named(comparison: &Comparison) -> Vec<u32> {
    let is_named = |verdict| matches!(verdict, Verdict::Slower | Verdict::Faster);
    comparison.functions.iter().filter(|f| is_named(f.verdict)).map(|f| f.function.0).collect()
}

fn ours(base: &[Session], new: &[Session], limited_part: f64) -> Vec<u32> {
    named(&compare(&packed(base), &packed(new), &Settings { limited_part, ..anything() }))
}

struct Moments {
    count: f64,
    mean: Vec<f64>,
    /// Of the mean.
    variance: Vec<f64>,
}

fn moments<'a>(sessions: impl Iterator<Item = &'a Session>) -> Moments {
    let (mut sum, mut squares, mut count) = (vec![0.0; FUNCTIONS], vec![0.0; FUNCTIONS], 0.0);
    for session in sessions {
        count += 1.0;
        for &(function, time_us) in &session.times_us {
            let time = time_us as f64;
            sum[function as usize] += time;
            squares[function as usize] += time * time;
        }
    }
    let mean: Vec<f64> = sum.iter().map(|sum| sum / count).collect();
    let variance = squares
        .iter()
        .zip(&mean)
        .map(|(squares, mean)| ((squares / count - mean * mean).max(0.0)) / (count - 1.0))
        .collect();
    Moments { count, mean, variance }
}

fn welch(base: &[Session], new: &[Session]) -> Vec<u32> {
    let (a, b) = (moments(base.iter()), moments(new.iter()));
    let p: Vec<f64> = (0..FUNCTIONS)
        .map(|i| {
            let variance = a.variance[i] + b.variance[i];
            if variance == 0.0 {
                return 1.0;
            }
            let t = (b.mean[i] - a.mean[i]) / variance.sqrt();
            let freedom = variance * variance
                / (a.variance[i] * a.variance[i] / (a.count - 1.0)
                    + b.variance[i] * b.variance[i] / (b.count - 1.0));
            puruspe::betai(freedom / 2.0, 0.5, freedom / (freedom + t * t))
        })
        .collect();
    methods::holm(&p, ERROR_RATE)
}

/// Sessions are drawn with replacement within each release; the greatest statistic of differences from the observed
/// difference is compared with.
fn bootstrap(base: &[Session], new: &[Session]) -> Vec<u32> {
    const DRAWS: usize = 199;
    let mut generator = Pcg64Mcg::seed_from_u64(1);
    let (a, b) = (moments(base.iter()), moments(new.iter()));
    let mut draw = |sessions: &[Session]| -> Moments {
        let drawn: Vec<&Session> =
            (0..sessions.len()).map(|_| &sessions[generator.random_range(0..sessions.len())]).collect();
        moments(drawn.into_iter())
    };
    let statistic = |difference: f64, variance: f64| {
        if difference.abs() < 1e-9 { 0.0 } else { difference.abs() / variance.sqrt() }
    };
    let mut greatest: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let (c, d) = (draw(base), draw(new));
            (0..FUNCTIONS)
                .map(|i| {
                    let shift = (d.mean[i] - c.mean[i]) - (b.mean[i] - a.mean[i]);
                    statistic(shift, c.variance[i] + d.variance[i])
                })
                .fold(0.0, f64::max)
        })
        .collect();
    greatest.sort_by(|a, b| b.total_cmp(a));
    let critical = greatest[(ERROR_RATE * (DRAWS + 1) as f64) as usize - 1];
    (0..FUNCTIONS)
        .filter(|&i| statistic(b.mean[i] - a.mean[i], a.variance[i] + b.variance[i]) > critical)
        .map(|i| i as u32)
        .collect()
}

/// Runs `count` numbered trials on two threads and adds up what they return.
fn trials<const N: usize>(count: usize, trial: impl Fn(u64) -> [usize; N] + Sync) -> [usize; N] {
    let mut sums = [0; N];
    std::thread::scope(|scope| {
        let trial = &trial;
        let half =
            |start: usize| move || (start..count).step_by(2).map(|i| trial(i as u64)).collect::<Vec<_>>();
        let threads = [scope.spawn(half(0)), scope.spawn(half(1))];
        for result in threads.into_iter().flat_map(|thread| thread.join().unwrap()) {
            sums.iter_mut().zip(result).for_each(|(sum, one)| *sum += one);
        }
    });
    sums
}

/// The bootstrap takes so long that it runs in one of so many trials.
const BOOTSTRAP_EVERY: usize = 10;

fn is_left_out(method: &str, trial: u64) -> bool {
    method.starts_with("bootstrap") && !trial.is_multiple_of(BOOTSTRAP_EVERY as u64)
}

/// How often any function is named, for two random parts of one release, in which one session is 100 times slower.
fn rates() {
    for (sessions, count) in [
        ([100, 100], 2000),
        ([1000, 50], 600),
        ([1000, 1000], 400),
        ([10_000, 200], 100),
        ([20, 20], 2000),
        ([20, 100], 1000),
        ([10_000, 10_000], 100),
    ] {
        let found = trials(count, |number| {
            let mut application = Application::new(FUNCTIONS, number);
            let mut pool = application.sessions(sessions[0] + sessions[1], None);
            application.slow_down_one(&mut pool);
            let (base, new) = pool.split_at(sessions[0]);
            METHODS
                .iter()
                .map(|(name, method)| {
                    usize::from(!is_left_out(name, number) && !method(base, new).is_empty())
                })
                .collect::<Vec<_>>()
                .try_into()
                .unwrap_or([0; METHODS.len()])
        });
        println!("{sessions:?} sessions, {count} comparisons");
        for (found, (name, _)) in found.iter().zip(METHODS) {
            let count = if is_left_out(name, 1) { count / BOOTSTRAP_EVERY } else { count };
            println!("    {:5.1}%  {name}", 100.0 * *found as f64 / count as f64);
        }
    }
}

/// How often a changed function is named, if one session of both releases is 100 times slower.
fn power() {
    println!("                              Welch  no limit  all functions  defaults | others named");
    for sessions in [[20, 20], [100, 100], [1000, 1000], [10_000, 1000], [10_000, 10_000]] {
        let count = if sessions[0] >= 10_000 { 20 } else { 100 };
        for (function, name) in [(FREQUENT, "frequent"), (RARE, "rare")] {
            for factor in [1.2, 2.0, 10.0] {
                let found = trials(count, |number| {
                    let mut application = Application::new(FUNCTIONS, number);
                    let mut base = application.sessions(sessions[0], None);
                    let mut new = application.sessions(sessions[1], Some(Change { function, factor }));
                    application.slow_down_one(if number % 4 < 2 { &mut base } else { &mut new });
                    let settings = Settings { threads: 1, ..Settings::default() };
                    let defaults = named(&compare(&packed(&base), &packed(&new), &settings));
                    let methods =
                        [welch(&base, &new), ours(&base, &new, 0.0), ours(&base, &new, 0.01), defaults];
                    let others = methods[2].iter().any(|&other| other != function);
                    let [a, b, c, d] = methods.map(|named| usize::from(named.contains(&function)));
                    [a, b, c, d, usize::from(others)]
                });
                let percent = found.map(|found| format!("{:5.0}%", 100.0 * found as f64 / count as f64));
                println!("{sessions:?} {name} x {factor}: {}", percent.join(" "));
            }
        }
    }
}

/// How often the intervals contain the true ratio, and the true difference if no session is limited.
fn intervals() {
    println!("difference, ratio, ratio with a limit, ratio has an interval, with a limit");
    for sessions in [[1000, 50], [20, 20], [100, 100], [1000, 1000]] {
        for (function, name) in [(FREQUENT, "frequent"), (RARE, "rare")] {
            for factor in [1.0, 2.0] {
                const COUNT: usize = 500;
                let found = trials(COUNT, |number| {
                    let mut application = Application::new(40, number);
                    let base = packed(&application.sessions(sessions[0], None));
                    let new = packed(&application.sessions(sessions[1], Some(Change { function, factor })));
                    let true_us = application.mean_us(function) * (factor - 1.0);
                    let contains = |interval: Option<Interval>, value: f64| {
                        usize::from(
                            interval.is_some_and(|interval| interval.low <= value && value <= interval.high),
                        )
                    };
                    let [exact, limited] = [0.0, 0.01].map(|limited_part| {
                        let comparison = compare(&base, &new, &Settings { limited_part, ..anything() });
                        comparison.functions.into_iter().find(|f| f.function.0 == function)
                    });
                    let [difference, ratio] =
                        exact.map_or([None; 2], |f| [f.difference_interval_us, f.ratio_interval]);
                    let limited = limited.and_then(|f| f.ratio_interval);
                    [
                        contains(difference, true_us),
                        contains(ratio, factor),
                        contains(limited, factor),
                        usize::from(ratio.is_some()),
                        usize::from(limited.is_some()),
                    ]
                });
                let percent =
                    |found: usize, count: usize| format!("{:5.1}%", 100.0 * found as f64 / count as f64);
                println!(
                    "{sessions:?} {name} x {factor}: {} {} {} {} {}",
                    percent(found[0], COUNT),
                    percent(found[1], found[3]),
                    percent(found[2], found[4]),
                    percent(found[3], COUNT),
                    percent(found[4], COUNT),
                );
            }
        }
    }
}

/// How long a comparison takes.
fn time() {
    for (sessions, functions) in
        [([10_000, 10_000], 2000), ([100_000, 1000], 2000), ([100_000, 100_000], 2000)]
    {
        let mut application = Application::new(functions, 1);
        let [base, new] = sessions.map(|count| packed(&application.sessions(count, None)));
        for (settings, name) in
            [(Settings::default(), "default"), (Settings { threads: 2, ..anything() }, "all functions")]
        {
            let (start, start_cpu) = (Instant::now(), cpu_seconds());
            let comparison = compare(&base, &new, &settings);
            println!(
                "{sessions:?} {name}: {:.2?}, {:.2} s of CPU time, {} tested of {}",
                start.elapsed(),
                cpu_seconds() - start_cpu,
                comparison.tested,
                comparison.functions.len()
            );
        }
    }
}

/// The CPU time of all threads so far, in steps of 10 ms.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
