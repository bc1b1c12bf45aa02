//! Matching functions, and the significance of changes.

use std::num::NonZeroU32;

use proptest::prelude::*;

use super::*;
use crate::{Micros, Stack, WAITING, WaitingPoint, WaitingTimes};

/// A trace from runs `name:line*count`, with one sample per millisecond. Functions with a line are in the script
/// `a.js`.
fn trace_of(runs: &str) -> Trace {
    let mut trace = Trace::new();
    for run in runs.split_whitespace() {
        let (function, count) = run.split_once('*').unwrap();
        let (name, line) = function.split_once(':').unwrap_or((function, ""));
        let line = line.parse().ok().and_then(NonZeroU32::new);
        let resource = line.map(|_| trace.resource("a.js").unwrap());
        let name = trace.name(name).unwrap();
        let frame = trace.frame(Frame { name, resource, line, column: line }).unwrap();
        let stack = Some(trace.stack(Stack { parent: None, frame }).unwrap());
        for _ in 0..count.parse::<u64>().unwrap() {
            let timestamp = Micros(trace.samples().len() as u64 * 1000);
            trace.push_sample(Sample { timestamp, stack, marker: None });
        }
    }
    trace
}

#[test]
fn functions_are_matched() {
    /// `expected` has the lines of both sides of each pair, sorted.
    #[track_caller]
    fn check(base: &str, new: &str, expected: &[(Option<u32>, Option<u32>)]) {
        let (base, new) = (trace_of(base), trace_of(new));
        let line = |trace: &Trace, row: Option<FunctionRow>| {
            row.map(|row| trace.frames()[row.frame].line.map_or(0, u32::from))
        };
        let mut pairs: Vec<_> = Comparison::of(&base, &new)
            .functions
            .iter()
            .map(|change| (line(&base, change.base), line(&new, change.new)))
            .collect();
        pairs.sort_unstable();
        assert_eq!(pairs, expected);
    }
    check("", "", &[]);
    check("f:1*1 g*1", "f:1*1 g*1", &[(Some(0), Some(0)), (Some(1), Some(1))]);
    // The function has moved.
    check("f:1*1", "f:7*1", &[(Some(1), Some(7))]);
    // Ambiguous: either function may have moved to the new line.
    check(
        "f:1*1 f:2*1",
        "f:1*1 f:3*1 f:4*1",
        &[(None, Some(3)), (None, Some(4)), (Some(1), Some(1)), (Some(2), None)],
    );
    check("f:1*1", "g:1*1 f*1", &[(None, Some(0)), (None, Some(1)), (Some(1), None)]);
}

#[test]
fn paths_are_urls_of_files() {
    let of = |url: &str| {
        let mut trace = Trace::new();
        let (name, resource) = (trace.name("f").unwrap(), Some(trace.resource(url).unwrap()));
        let frame = trace.frame(Frame { name, resource, line: NonZeroU32::new(1), column: None }).unwrap();
        let stack = Some(trace.stack(Stack { parent: None, frame }).unwrap());
        trace.push_sample(Sample { timestamp: Micros(1000), stack, marker: None });
        trace
    };
    for (new, expected) in [("file:///app/a%20b.js", 1), ("/app/a b.js", 1), ("file://host/app/a b.js", 2)] {
        assert_eq!(Comparison::of(&of("/app/a b.js"), &of(new)).functions.len(), expected, "{new}");
    }
}

/// Formats without an order of samples have all samples of a stack together.
#[test]
fn sums_of_stacks_are_compared() {
    let sums = |first: u32| -> String {
        (1..=20).map(|n| format!("f{n}:{n}*{} ", if n == 1 { first } else { 50 })).collect()
    };
    let in_order: String = (0..50).flat_map(|_| (1..=20).map(|n| format!("f{n}:{n}*1 "))).collect();
    let comparison = Comparison::of(&trace_of(&in_order), &trace_of(&sums(150)));
    assert_eq!((comparison.base_has_order, comparison.new_has_order), (true, false));
    let changed: Vec<_> = comparison.functions.iter().filter(|change| change.is_significant()).collect();
    assert_eq!(changed.len(), 1);
    assert!(
        Comparison::of(&trace_of(&sums(50)), &trace_of(&in_order))
            .functions
            .iter()
            .all(|f| !f.is_significant())
    );
}

/// The numbers of scripts differ from run to run.
#[test]
fn functions_of_evaluated_scripts_are_matched_by_name_place_and_time() {
    let trace = |counts: &[(u32, u64)]| {
        let mut trace = Trace::new();
        for &(script, count) in counts {
            let name = trace.name("compiled").unwrap();
            let resource = Some(trace.resource(&crate::evaluated_resource(script)).unwrap());
            let line = NonZeroU32::new(3);
            let frame = trace.frame(Frame { name, resource, line, column: line }).unwrap();
            let stack = Some(trace.stack(Stack { parent: None, frame }).unwrap());
            for _ in 0..count {
                let timestamp = Micros(trace.samples().len() as u64 * 1000);
                trace.push_sample(Sample { timestamp, stack, marker: None });
            }
        }
        trace
    };
    let (base, new) = (trace(&[(1, 20), (2, 50)]), trace(&[(11, 5), (12, 55), (13, 22)]));
    let samples = |row: Option<FunctionRow>| row.map(|row| row.self_samples);
    let mut pairs: Vec<_> = Comparison::of(&base, &new)
        .functions
        .iter()
        .map(|change| (samples(change.base), samples(change.new)))
        .collect();
    pairs.sort_unstable();
    assert_eq!(pairs, [(None, Some(5)), (Some(20), Some(22)), (Some(50), Some(55))]);
}

#[test]
fn significant_changes_are_distinguished_from_chance() {
    /// `expected` has the functions that changed significantly.
    #[track_caller]
    fn check(base: &str, new: &str, expected: &[&str]) {
        let (base, new) = (trace_of(base), trace_of(new));
        let comparison = Comparison::of(&base, &new);
        let name = |change: &FunctionChange| match (change.base, change.new) {
            (_, Some(row)) => new.names()[new.frames()[row.frame].name].to_owned(),
            (Some(row), None) => base.names()[base.frames()[row.frame].name].to_owned(),
            (None, None) => unreachable!(),
        };
        let mut changed: Vec<String> =
            comparison.functions.iter().filter(|change| change.is_significant()).map(name).collect();
        changed.sort();
        assert_eq!(changed, expected);
    }
    let alternating = |runs: &str| vec![runs; 200].join(" ");
    check("", "", &[]);
    check("a*9", "", &[]);
    check("a*9", "b*9", &[]);
    check("a*900", "b*900", &["a", "b"]);
    // A few samples more or less are not significant.
    check("a*50 b*50", "a*48 b*52", &[]);
    check(&alternating("a*1 b*3"), &alternating("a*3 b*1"), &["a", "b"]);
    // The same number of samples, but in two longer calls, or in one more call.
    check("a*300 b*300", "a*400 b*200", &[]);
    check("a*500", "a*480 b*20", &[]);
    check(&alternating("a*9"), &alternating("a*9 b*1"), &["a", "b"]);
}

#[test]
fn p_values_equal_those_of_r() {
    #[track_caller]
    fn check(base: (f64, f64), new: (f64, f64), expected: f64) {
        // Each sample is a run of its own, as far as that is possible.
        let share = |(sum, of): (f64, f64)| Share {
            hits: Hits { sum, squares: sum, changes: sum },
            of,
            has_order: true,
        };
        let probability = probability(share(base), share(new));
        assert!((probability - expected).abs() < 5e-4, "{probability} is not {expected}");
    }
    // R: prop.test(c(45, 60), c(200, 200)), which has the same continuity correction.
    check((45.0, 200.0), (60.0, 200.0), 0.1114);
    // R: prop.test(c(15, 25), c(50, 50))
    check((15.0, 50.0), (25.0, 50.0), 0.0660);
    check((0.0, 100.0), (0.0, 100.0), 1.0);
    check((100.0, 100.0), (100.0, 100.0), 1.0);
    check((50.0, 100.0), (0.0, 19.0), 1.0);
}

proptest! {
    #[test]
    fn a_trace_compared_with_itself_has_no_change(trace in crate::testing::trace()) {
        let comparison = Comparison::of(&trace, &trace);
        prop_assert_eq!(comparison.functions.len(), comparison.base.functions.len());
        for change in comparison.functions {
            prop_assert_eq!((change.change(), change.probability), (0.0, 1.0));
            prop_assert_eq!(change.base.map(|row| row.frame), change.new.map(|row| row.frame));
        }
    }

    #[test]
    fn shares_and_p_values_are_between_0_and_1(base in crate::testing::trace(), new in crate::testing::trace()) {
        let comparison = Comparison::of(&base, &new);
        for change in &comparison.functions {
            prop_assert!((0.0..=1.0).contains(&change.base_share) && (0.0..=1.0).contains(&change.new_share));
            prop_assert!((0.0..=1.0).contains(&change.probability));
        }
        let rows = |side: fn(&FunctionChange) -> bool| comparison.functions.iter().filter(|change| side(change)).count();
        prop_assert_eq!(rows(|change| change.base.is_some()), comparison.base.functions.len());
        prop_assert_eq!(rows(|change| change.new.is_some()), comparison.new.functions.len());
    }
}

/// A trace of one millisecond per sample, alternating between two functions, with these waiting times at the ends of
/// the milliseconds.
fn waiting_trace(waited: impl Iterator<Item = u64>) -> MergedThreads {
    let mut trace = trace_of(&vec!["a*1 b*1"; 500].join(" "));
    let mut times = WaitingTimes::default();
    let mut total = 0;
    for (sample, waited) in trace.samples().iter().zip(waited) {
        total += waited;
        times.push(WaitingPoint { timestamp: sample.timestamp, waited: Micros(total) });
    }
    trace.set_waiting(Some(times));
    MergedThreads::of([&trace]).unwrap()
}

#[test]
fn waiting_is_compared_by_time_and_tested_by_samples() {
    /// `expected` has the change of the waiting time in percent, and the functions that changed significantly.
    #[track_caller]
    fn check(waited: impl Iterator<Item = u64>, expected: (f64, &[&str])) {
        let (base, new) = (waiting_trace(std::iter::repeat(0)), waiting_trace(waited));
        let comparison = Comparison::of_merged(&base, &new);
        assert_eq!((comparison.base_samples, comparison.new_samples), (1000, 1000));
        let trace = &new.trace;
        let name = |change: &&FunctionChange| &trace.names()[trace.frames()[change.new.unwrap().frame].name];
        let waiting = comparison.functions.iter().find(|change| name(change) == WAITING);
        let change = waiting.map_or(0.0, |waiting| (1000.0 * waiting.change()).round() / 10.0);
        let significant = comparison.functions.iter().filter(|change| change.is_significant());
        let mut significant: Vec<&str> = significant.map(|change| name(&change)).collect();
        significant.sort_unstable();
        assert_eq!((change, &*significant), expected);
        let sum: f64 = comparison.functions.iter().map(|change| change.new_share).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    }
    check(std::iter::repeat(0), (0.0, &[]));
    // A small part of each sample.
    check(std::iter::repeat(30), (3.0, &[WAITING]));
    check(std::iter::repeat(500), (50.0, &[WAITING, "a", "b"]));
    // Consecutive samples of one long wait are not independent.
    check((0..1000).map(|index| 990 * u64::from(index < 30)), (2.9, &[]));
    check((0..1000).map(|index| 500 * u64::from(index < 60)), (3.0, &[]));
}

/// For traces drawn from the same distribution, one comparison in twenty may report a change.
#[test]
fn noise_is_not_reported() {
    // The generator of Marsaglia, "Xorshift RNGs", with a fixed seed, so that every run is the same.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let mut draw = || {
        let runs: Vec<String> = (0..300).map(|_| format!("f{}*{}", random(20), 1 + random(8))).collect();
        trace_of(&runs.join(" "))
    };
    let wrong = (0..100)
        .filter(|_| Comparison::of(&draw(), &draw()).functions.iter().any(FunctionChange::is_significant))
        .count();
    assert!(wrong <= 5, "{wrong} of 100");
}

/// The same for traces in which the thread waits during a part of each sample, in phases of different lengths.
#[test]
fn noise_of_waiting_is_not_reported() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    for longest_phase in [1, 8] {
        let mut draw = || {
            let mut waited = Vec::new();
            while waited.len() < 1000 {
                let (part, length) = (random(10) * 100, 1 + random(longest_phase));
                waited.extend((0..length).map(|_| part));
            }
            waiting_trace(waited.into_iter())
        };
        let wrong = (0..100)
            .filter(|_| {
                let comparison = Comparison::of_merged(&draw(), &draw());
                comparison.functions.iter().any(FunctionChange::is_significant)
            })
            .count();
        assert!(wrong <= 5, "{wrong} of 100");
    }
}

/// V8 takes three samples within microseconds at each deoptimization. How many there are says nothing about times.
#[test]
fn samples_in_bursts_do_not_outvote_others() {
    let trace = |deoptimizations: usize, other: usize| {
        let mut trace = Trace::new();
        let stacks = ["slow", "deopts", "other"].map(|name| {
            let name = trace.name(name).unwrap();
            let frame = trace.frame(Frame { name, resource: None, line: None, column: None }).unwrap();
            trace.stack(Stack { parent: None, frame }).ok()
        });
        let mut timestamp = Micros::ZERO;
        let mut push = |index: usize, length: u64| {
            timestamp = timestamp.saturating_add(Micros(length));
            trace.push_lasting(
                Sample { timestamp, stack: stacks[index], marker: None },
                Micros(length),
                None,
            );
        };
        for sample in 0..1_000 {
            push(if sample % 10 < other { 2 } else { 0 }, 1_000);
            (0..deoptimizations).for_each(|_| push(1, 1));
        }
        trace
    };
    let significant = |base: &Trace, new: &Trace| {
        let comparison = Comparison::of(base, new);
        let changed = comparison.functions.iter().filter(|function| function.is_significant());
        changed.map(|change| (change.change() * 100.0).round()).collect::<Vec<_>>()
    };
    assert_eq!(significant(&trace(0, 2), &trace(5, 2)), [] as [f64; 0]);
    assert_eq!(significant(&trace(5, 2), &trace(5, 6)), [-40.0, 40.0]);
}

/// A recording of `selfprof run` has Node's functions without their scripts, and folds what they call;
/// `node --cpu-prof` has all of them.
#[test]
fn what_only_one_tool_has_is_left_out() {
    let trace = |functions: &[(&str, &str, usize)], marker: Option<Marker>| {
        let mut trace = Trace::new();
        let mut time = 0;
        for &(name, url, samples) in functions {
            let name = trace.name(name).unwrap();
            let resource = (!url.is_empty()).then(|| trace.resource(url).unwrap());
            let frame = trace.frame(Frame { name, resource, line: None, column: None }).unwrap();
            let stack = trace.stack(Stack { parent: None, frame }).ok();
            for _ in 0..samples {
                time += 1_000;
                trace.push_sample(Sample { timestamp: Micros(time), stack, marker });
            }
        }
        (0..100).for_each(|_| {
            time += 1_000;
            let marker = marker.map(|_| Marker::Gc);
            trace.push_sample(Sample { timestamp: Micros(time), stack: None, marker });
        });
        trace.add_gc_frames();
        trace
    };
    let folded = trace(&[("work", "a.js", 500), ("readFileSync", "", 500)], Some(Marker::Script));
    let apart = trace(
        &[("work", "a.js", 500), ("readFileSync", "node:fs", 200), ("open", "node:internal/fs", 300)],
        None,
    );
    let comparison = Comparison::of(&folded, &apart);
    let names: Vec<_> = comparison
        .functions
        .iter()
        .map(|change| &apart.names()[apart.frames()[change.new.unwrap().frame].name])
        .collect();
    assert_eq!(names, ["work"]);
    let expected = [
        LeftOut { what: OneSided::NodeFunctions, is_base_without: true, rows: 3 },
        LeftOut { what: OneSided::Collector, is_base_without: false, rows: 1 },
    ];
    assert_eq!(comparison.left_out, expected);
    let turned = expected.map(|left_out| LeftOut { is_base_without: !left_out.is_base_without, ..left_out });
    assert_eq!(Comparison::of(&apart, &folded).left_out, turned);
    // Two recordings of one tool have the same rows.
    for trace in [&folded, &apart] {
        assert_eq!(Comparison::of(trace, trace).left_out, []);
    }
}
