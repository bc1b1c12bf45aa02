//! The comparison, step by step.

use super::FunctionIndex;
use super::comparison::{Comparison, FunctionComparison, Interval, ReleaseSummary, Verdict};
use super::draws::Draws;
use super::functions::{self, Choice, Criteria, FunctionSums};
use super::interval;
use super::limit::Limit;
use super::sessions::{Sessions, SortedSessions};
use super::settings::Settings;
use super::statistic::Difference;
use super::step_down::{self, Tested};
use super::units::{self, Units};

/// Functions times divisions. Time and memory are bounded by it: with 999 divisions, 8,192 functions are tested, those
/// with the most time.
const MOST_STATISTICS: usize = 8_192_000;

/// Compares the times of functions in two releases: self times or total times.
pub fn compare(base: &Sessions, new: &Sessions, settings: &Settings) -> Comparison {
    let (base, new) = (base.sorted(), new.sorted());
    let releases = [&base, &new];
    let sessions = [base.len(), new.len()];
    let limit = Limit::of(releases, settings.limited_part);
    let per_unit = units::sessions_per_unit(sessions);
    let compared = sessions.map(|count| count / per_unit * per_unit);

    let functions = functions::all(releases);
    let sums = [0, 1].map(|i| FunctionSums::of(&functions, releases[i], limit, compared[i]));
    let criteria = Criteria {
        sessions: compared,
        least_difference_us: settings.least_part_of_session
            * mean_limited_whole_us(releases, compared, limit),
        least_sessions: settings.least_sessions,
        error_rate: settings.error_rate,
    };
    let enough_sessions = criteria.is_met_by_releases();
    let choices: Vec<Choice> = if enough_sessions {
        sums[0].iter().zip(&sums[1]).map(|(base, new)| criteria.choose(base, new)).collect()
    } else {
        vec![Choice::TooFewSessions; functions.len()]
    };
    let tested = most_time(&choices, &sums, MOST_STATISTICS / settings.divisions.saturating_add(1));
    let tested_functions: Vec<FunctionIndex> = tested.iter().map(|&position| functions[position]).collect();
    let results = test(releases, &tested_functions, limit, per_unit, settings);

    let mut compared_functions: Vec<FunctionComparison> = Vec::with_capacity(functions.len());
    for (position, &function) in functions.iter().enumerate() {
        let [base, new] = [0, 1].map(|i| sums[i][position].time(sessions[i], compared[i]));
        compared_functions.push(FunctionComparison {
            function,
            base,
            new,
            difference_us: new.limited_mean_us - base.limited_mean_us,
            difference_interval_us: None,
            ratio: (base.limited_mean_us > 0.0).then(|| new.limited_mean_us / base.limited_mean_us),
            ratio_interval: None,
            adjusted_p: None,
            verdict: match choices[position] {
                Choice::TooFewSessions => Verdict::TooFewSessions,
                Choice::Tested | Choice::TooLittleTime => Verdict::NoEvidence,
            },
        });
    }
    for (&position, result) in tested.iter().zip(&results) {
        let function = &mut compared_functions[position];
        function.difference_interval_us = result.difference_interval_us;
        function.ratio_interval = result.ratio_interval;
        function.adjusted_p = Some(result.adjusted_p);
        function.verdict = verdict(function, result.adjusted_p, &criteria, settings);
    }
    let summary = |i: usize| release_summary(releases[i], compared[i], limit);
    Comparison {
        base: summary(0),
        new: summary(1),
        limit_us: limit.whole_us(),
        sessions_per_unit: per_unit,
        tested: tested.len(),
        functions: compared_functions,
    }
}

/// The mean of both releases together: which session is of which release must not matter for what is tested.
fn mean_limited_whole_us(releases: [&SortedSessions; 2], compared: [usize; 2], limit: Limit) -> f64 {
    let wholes_us =
        releases.iter().zip(compared).flat_map(|(sessions, compared)| &sessions.wholes_us()[..compared]);
    let sum: f64 = wholes_us.map(|&whole_us| units::limited(whole_us, limit.factor(whole_us))).sum();
    sum / (compared[0] + compared[1]) as f64
}

/// The positions of the functions to test, in order.
fn most_time(choices: &[Choice], sums: &[Vec<FunctionSums>; 2], most: usize) -> Vec<usize> {
    let mut positions: Vec<usize> =
        (0..choices.len()).filter(|&position| choices[position] == Choice::Tested).collect();
    if positions.len() > most {
        let time_us = |position: usize| sums[0][position].limited_us() + sums[1][position].limited_us();
        positions.sort_by(|&a, &b| time_us(b).total_cmp(&time_us(a)).then(a.cmp(&b)));
        positions.truncate(most);
        positions.sort_unstable();
    }
    positions
}

/// The result of the test of one function.
struct TestResult {
    adjusted_p: f64,
    difference_interval_us: Option<Interval>,
    ratio_interval: Option<Interval>,
}

fn test(
    [base, new]: [&SortedSessions; 2],
    functions: &[FunctionIndex],
    limit: Limit,
    per_unit: usize,
    settings: &Settings,
) -> Vec<TestResult> {
    if functions.is_empty() {
        return Vec::new();
    }
    // Only the sums of the smaller release are computed for each division.
    let is_base_smaller = base.len() <= new.len();
    let ordered = if is_base_smaller { [base, new] } else { [new, base] };
    let units = Units::new(ordered, functions, limit, per_unit);
    let smaller = ordered[0].len() / per_unit;
    let mut divided = units.divided(smaller);
    if !is_base_smaller {
        divided.iter_mut().for_each(|sums| sums.swap(0, 1));
    }
    let differences: Vec<Difference> = divided.iter().map(|[base, new]| Difference::of(base, new)).collect();
    let observed: Vec<f64> = differences.iter().map(Difference::size).collect();
    let draws = Draws::new(settings.divisions, units.len(), smaller);
    let mut tested = step_down::test(&units, &observed, &draws, settings.error_rate, settings.threads);
    if !is_base_smaller {
        tested
            .iter_mut()
            .for_each(|Tested { usual, .. }| *usual = Interval { low: -usual.high, high: -usual.low });
    }

    let per_unit = per_unit as f64;
    let results = divided.iter().zip(&differences).zip(tested);
    results
        .map(|(([base, new], difference), Tested { adjusted_p, usual })| TestResult {
            adjusted_p,
            difference_interval_us: interval::of_difference(difference, usual)
                .map(|Interval { low, high }| Interval { low: low / per_unit, high: high / per_unit }),
            ratio_interval: interval::of_ratio(base.mean(), new.mean(), difference, usual),
        })
        .collect()
}

fn verdict(
    function: &FunctionComparison,
    adjusted_p: f64,
    criteria: &Criteria,
    settings: &Settings,
) -> Verdict {
    let size_us = function.difference_us.abs();
    let is_worth_telling = size_us >= criteria.least_difference_us
        && size_us >= settings.least_part_of_function * function.base.limited_mean_us;
    // A verdict must not contradict the interval, which may differ from the test a little.
    let excludes_zero =
        function.difference_interval_us.is_some_and(|interval| interval.low > 0.0 || interval.high < 0.0);
    let is_significant = adjusted_p <= settings.error_rate && excludes_zero;
    if !is_significant || !is_worth_telling {
        Verdict::NoEvidence
    } else if function.difference_us > 0.0 {
        Verdict::Slower
    } else {
        Verdict::Faster
    }
}

fn release_summary(sessions: &SortedSessions, compared: usize, limit: Limit) -> ReleaseSummary {
    let wholes_us = sessions.wholes_us();
    let sum: u128 = wholes_us.iter().map(|&us| u128::from(us.unsigned_abs())).sum();
    ReleaseSummary {
        sessions: sessions.len(),
        compared,
        limited: wholes_us.iter().filter(|&&us| limit.is_exceeded_by(us)).count(),
        mean_whole_us: if wholes_us.is_empty() { 0.0 } else { sum as f64 / wholes_us.len() as f64 },
    }
}
