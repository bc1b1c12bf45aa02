//! A real profile, invalid ones, and random ones.

use proptest::prelude::*;
use selfprof_trace::foreign::{Limits, Problem};
use selfprof_trace::summary::{FunctionRow, Summary};
use selfprof_trace::{Marker, Micros, Trace};

use super::*;
use crate::{ReadError, ReadOptions, WriteOptions, w3c};

const SMALL: &str = include_str!("../../../fixtures/cpuprofile/node-20-small.cpuprofile");
const MARKERS: &str = include_str!("../../../fixtures/w3c/chromium-156-markers-isolated.json");

/// A profile with these nodes (id, name, further members), samples and deltas.
fn profile(nodes: &[(&str, &str, &str)], samples: &str, deltas: &str) -> String {
    let node = |(id, name, members): &(&str, &str, &str)| {
        format!(
            r#"{{"id":{id},"callFrame":{{"functionName":"{name}","url":"","lineNumber":-1,"columnNumber":-1}}{members}}}"#
        )
    };
    let nodes: Vec<String> = nodes.iter().map(node).collect();
    format!(
        r#"{{"nodes":[{}],"startTime":0,"endTime":9,"samples":[{samples}],"timeDeltas":[{deltas}]}}"#,
        nodes.join(",")
    )
}

#[test]
fn profiles_of_v8_are_read() {
    let (trace, problems) = read(SMALL.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(problems.list(), []);
    let json: serde_json::Value = serde_json::from_str(SMALL).unwrap();
    // One more for the time before the first sample. A sample's time is when the next one was taken.
    assert_eq!(trace.samples().len(), json["samples"].as_array().unwrap().len() + 1);
    let time = |name: &str| json[name].as_u64().unwrap();
    assert_eq!(
        trace.span().unwrap().0.0,
        json["startTime"].as_u64().unwrap() + json["timeDeltas"][0].as_u64().unwrap()
    );
    assert_eq!(trace.span().unwrap().1.0, time("endTime"));
    assert_eq!(sum(&trace), time("endTime") - time("startTime"));
    let summary = Summary::of(&trace);
    let render = summary
        .functions
        .iter()
        .find(|row| &trace.names()[trace.frames()[row.frame].name] == "render")
        .unwrap();
    let frame = trace.frames()[render.frame];
    assert_eq!(&trace.resources()[frame.resource.unwrap()], "file:///app/small.js");
    // V8 counts lines and columns from 0. The column is that of the parenthesis after `render`.
    assert_eq!((frame.line.unwrap().get(), frame.column.unwrap().get()), (3, 16));
    assert!(render.total_samples > render.self_samples);
    assert!(trace.names().iter().all(|(_, name)| name != "(root)" && name != "(program)"));
}

#[test]
fn states_become_markers() {
    let nodes = [
        ("1", "(root)", r#","children":[2,3,4,5]"#),
        ("2", "(idle)", ""),
        ("3", "(garbage collector)", ""),
        ("4", "(program)", ""),
        ("5", "f", ""),
    ];
    let (trace, problems) =
        read(profile(&nodes, "1,2,3,4,5", "1,1,1,1,1").as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(problems.list(), []);
    let samples: Vec<_> = trace
        .samples()
        .iter()
        .map(|sample| (sample.timestamp, sample.stack.is_some(), sample.marker))
        .collect();
    let expected = [
        // The time before the first sample.
        (1, false, None),
        (2, false, None),
        (3, false, None),
        (4, false, Some(Marker::Gc)),
        (5, false, Some(Marker::Other)),
        (9, true, None),
    ];
    assert_eq!(samples, expected.map(|(time, stack, marker)| (Micros(time), stack, marker)));
    assert_eq!(trace.frames().len(), 1);
}

#[test]
fn invalid_data_is_repaired() {
    #[track_caller]
    fn check(json: &str, expected: &[&str]) {
        let (_, problems) = read(json.as_bytes(), &ReadOptions::default()).unwrap();
        let problems: Vec<_> = problems.list().iter().map(Problem::to_string).collect();
        assert_eq!(problems, expected);
    }
    check(&profile(&[("1", "a", r#","children":[2]"#), ("2", "b", "")], "2", "1"), &[]);
    check(
        &profile(&[("1", "a", r#","children":[9,null]"#)], "7", "1"),
        &[
            "nodes[0].children is 9, which is not the id of an entry: it is ignored",
            "nodes[0].children is NaN, which is not the id of an entry: it is ignored",
            "samples[0] is 7, which is not the id of an entry: the sample is kept without a stack",
        ],
    );
    check(
        &profile(&[("1", "a", ""), ("1", "b", ""), ("null", "c", r#","parent":5"#)], "1", "1"),
        &[
            "nodes[1].id is 1, which is already the id of another entry: it is ignored",
            "nodes[2].id is NaN, which is not the id of an entry: it is ignored",
            "nodes[2].parent is 5, which is not the id of an entry: the stack is kept without a parent",
        ],
    );
    check(
        &profile(
            &[
                ("1", "a", r#","children":[2]"#),
                ("2", "b", r#","children":[1,3]"#),
                ("3", "c", r#","children":[2]"#),
            ],
            "3",
            "1",
        ),
        &[
            "nodes[2].children is 2, which already has another parent: it is ignored",
            "nodes[1].parent is 0, which makes the stack its own ancestor: the stack is kept without a parent",
        ],
    );
    check(
        &profile(&[("1", "a", "")], "1,1,1", "5,-2"),
        &["timeDeltas differs in length from the list that it belongs to: the longer list is cut"],
    );
    check(
        &profile(&[("1", "a", "")], "1,1", "5,-9"),
        &["timeDeltas[1] is not a valid timestamp: the sample is dropped"],
    );
    check(
        &profile(&[("1", "a", "")], "1,1", "5,null"),
        &["timeDeltas[1] is NaN, which is not a valid timestamp: the time of the previous sample is used"],
    );
}

/// Profiles written by V8 contain negative deltas.
#[test]
fn samples_are_sorted_by_time() {
    let json = profile(&[("1", "a", ""), ("2", "b", "")], "1,2,1,2", "5,7,-3,1");
    let (trace, problems) = read(json.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(problems.list(), []);
    let name = |stack| trace.path(stack).map(|frame| &trace.names()[trace.frames()[frame].name]).collect();
    let samples = trace.samples().iter().skip(1);
    let samples: Vec<(u64, String)> =
        samples.map(|sample| (sample.timestamp.0, name(sample.stack.unwrap()))).collect();
    // They were taken at 5, 9, 10 and 12, and the end is before the last one, which is taken to last as long as most.
    assert_eq!(
        samples,
        [(9, "a"), (10, "a"), (12, "b"), (14, "b")].map(|(time, name)| (time, name.to_owned()))
    );
}

#[test]
fn names_that_node_did_not_escape_are_read() {
    let name = r#"RegExp: ^(?:'((?:\\[^]|[^'\\])*?)'|"(\d+)")"#;
    let json = format!(
        r#"{{"nodes":[{{"id":1,"hitCount":0,"callFrame":{{"functionName":"(root)","lineNumber":-1,"columnNumber":-1,"scriptId":0,"url":""}},"children":[2]}},{{"id":2,"hitCount":2,"callFrame":{{"functionName":"{name}","lineNumber":-1,"columnNumber":-1,"scriptId":0,"url":""}}}}],"startTime":0,"endTime":30,"samples":[2,2],"timeDeltas":[10,10]}}"#
    );
    let (trace, _) = read(json.as_bytes(), &ReadOptions::default()).unwrap();
    let names: Vec<&str> = trace.frames().iter().map(|(_, frame)| &trace.names()[frame.name]).collect();
    assert_eq!(names, [name]);
    // The position is that in the file.
    let cut = read(&json.as_bytes()[..json.len() - 1], &ReadOptions::default()).unwrap_err();
    assert_eq!(
        std::error::Error::source(&cut).map(ToString::to_string),
        Some("expected `,` or `}` at line 1 column 228".to_owned())
    );
}

#[test]
fn errors_describe_the_cause() {
    #[track_caller]
    fn check(json: &str, expected: &str) {
        let error = read(json.as_bytes(), &ReadOptions::default()).unwrap_err();
        let source = std::error::Error::source(&error).unwrap();
        assert_eq!(format!("{error}: {source}"), expected);
    }
    check("{\"nodes\":[", "the trace is not JSON: EOF while parsing a list at line 1 column 10");
    check("{\"nodes\":[]}", "the JSON is not a V8 CPU profile: missing field `samples` at line 1 column 12");
    check(
        "{\"nodes\":[{}]}",
        "the JSON is not a V8 CPU profile: missing field `callFrame` at line 1 column 12",
    );
    check(
        "{\"nodes\":7}",
        "the JSON is not a V8 CPU profile: invalid type: integer `7`, expected a list of nodes at line 1 column 10",
    );
    check(
        &profile(&[("1", "a", r#","children":[[]]"#)], "", ""),
        "the JSON is not a V8 CPU profile: invalid type: sequence, expected f64 at line 1 column 106",
    );
}

#[test]
fn size_is_bounded() {
    #[track_caller]
    fn check(json: &str, limits: Limits) {
        let options = ReadOptions { limits, ..ReadOptions::default() };
        assert!(matches!(read(json.as_bytes(), &options), Err(ReadError::Limit(_))));
    }
    let json = profile(&[("1", "a", r#","children":[2,3]"#), ("2", "b", "")], "1,1,1", "1,1,1");
    check(&json, Limits { stacks: 1, ..Limits::default() });
    check(&json, Limits { frames: 1, ..Limits::default() });
    check(&json, Limits { samples: 2, ..Limits::default() });
    check(&json, Limits { text_bytes: 1, ..Limits::default() });
}

#[test]
fn deep_stacks_are_read() {
    let nodes: Vec<String> = (1..200_000)
        .map(|id| format!(r#"{{"id":{id},"callFrame":{{"functionName":"f"}},"children":[{}]}}"#, id + 1))
        .collect();
    let json = format!(
        r#"{{"nodes":[{},{{"id":200000,"callFrame":{{"functionName":"f"}}}}],"startTime":0,"samples":[200000],"timeDeltas":[1]}}"#,
        nodes.join(",")
    );
    let (trace, problems) = read(json.as_bytes(), &ReadOptions::default()).unwrap();
    assert!(problems.is_empty());
    assert_eq!(trace.path(trace.samples()[1].stack.unwrap()).count(), 200_000);
}

/// The time of all samples in microseconds.
fn sum(trace: &Trace) -> u64 {
    trace.weights().iter().map(|weight| weight.0).sum()
}

/// The functions with their self times in microseconds, most first, then the idle time, if there is any.
#[track_caller]
fn times(json: &str) -> Vec<(String, u64)> {
    let (trace, problems) = read(json.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(problems.list(), []);
    let summary = Summary::of(&trace);
    let name = |row: &FunctionRow| trace.names()[trace.frames()[row.frame].name].to_owned();
    let functions = summary.functions.iter().map(|row| (name(row), row.self_time.0));
    let idle = Some(("idle".to_owned(), summary.idle.time.0)).filter(|(_, time)| *time > 0);
    functions.filter(|(_, time)| *time > 0).chain(idle).collect()
}

#[track_caller]
fn check_times(json: &str, expected: &[(&str, u64)]) {
    let expected: Vec<(String, u64)> =
        expected.iter().map(|(name, time)| ((*name).to_owned(), *time)).collect();
    assert_eq!(times(json), expected);
}

/// V8 takes samples at each deoptimization, a few microseconds apart, besides those of the timer. In a real profile of
/// svgo these are most samples.
#[test]
fn samples_in_bursts_do_not_make_others_pauses() {
    let nodes = [("1", "(root)", r#","children":[2,3]"#), ("2", "slow", ""), ("3", "deopts", "")];
    let samples = vec!["2,3,3,3"; 200].join(",");
    let deltas =
        vec!["1000,1000,8,8"; 1].into_iter().chain(vec!["8,1000,8,8"; 199]).collect::<Vec<_>>().join(",");
    let json = profile(&nodes, &samples, &deltas).replace("\"endTime\":9", "\"endTime\":205800");
    check_times(&json, &[("slow", 200_000), ("deopts", 4_800), ("idle", 1_000)]);
}

#[test]
fn a_long_sample_is_a_long_sample() {
    let nodes = [("1", "(root)", r#","children":[2,3]"#), ("2", "work", ""), ("3", "inner", "")];
    let samples = [vec!["2"; 50], vec!["3"], vec!["2"; 50]].concat().join(",");
    let deltas = [vec!["0"], vec!["1000"; 50], vec!["300000"], vec!["1000"; 49]].concat().join(",");
    let json = profile(&nodes, &samples, &deltas).replace("\"endTime\":9", "\"endTime\":400000");
    check_times(&json, &[("inner", 300_000), ("work", 100_000)]);
}

#[test]
fn profiles_without_times_of_samples_are_read() {
    let nodes = [
        ("1", "(root)", r#","children":[2,3]"#),
        ("2", "a", r#","hitCount":3"#),
        ("3", "b", r#","hitCount":1"#),
    ];
    let json = profile(&nodes, "2,2,3,2", "").replace("\"endTime\":9", "\"endTime\":4000");
    let expected = [("a", 3_000), ("b", 1_000)];
    check_times(&json.replace(r#","timeDeltas":[]"#, ""), &expected);
    check_times(&json.replace(r#","samples":[2,2,3,2],"timeDeltas":[]"#, ""), &expected);
}

#[test]
fn profiles_with_a_tree_are_read() {
    let json = r#"{"typeId":"CPU","uid":"1","title":"t","head":{"functionName":"(root)","url":"","lineNumber":0,"id":1,"hitCount":0,
        "children":[
            {"functionName":"f","url":"/a.js","lineNumber":2,"columnNumber":3,"id":2,"scriptId":5,"hitCount":2,
             "children":[{"functionName":"g","url":"/a.js","lineNumber":9,"id":3,"hitCount":1,"children":[]}]},
            {"functionName":"(program)","url":"","lineNumber":0,"id":4,"hitCount":1,"children":[]}]},
        "startTime":1,"endTime":2,"samples":[2,3,4,2],"timestamps":[1000,2000,4000,4500]}"#;
    // Nobody says when the last sample ends, so it lasts as long as most.
    check_times(json, &[("f", 2_000), ("g", 2_000)]);
    let (trace, _) = read(json.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(Summary::of(&trace).marker(Marker::Other).time, Micros(500));
    let frame = trace.frames().iter().find(|(_, frame)| &trace.names()[frame.name] == "f").unwrap().1;
    assert_eq!((frame.line.map(Into::into), frame.column.map(Into::into)), (Some(2_u32), Some(3_u32)));
    // The start and the end are in seconds.
    let spread = json.replace(r#","timestamps":[1000,2000,4000,4500]"#, "");
    check_times(&spread, &[("f", 500_000), ("g", 250_000)]);
    let deep = |depth: usize| {
        let start = r#"{"functionName":"f","url":"","id":1,"children":["#.repeat(depth);
        format!(r#"{{"samples":[],"timestamps":[],"head":{start}{}}}"#, "]}".repeat(depth))
    };
    assert!(read(deep(400).as_bytes(), &ReadOptions::default()).is_ok());
    for depth in [600, 1_000_000] {
        assert!(matches!(read(deep(depth).as_bytes(), &ReadOptions::default()), Err(ReadError::Limit(_))));
    }
}

/// DevTools computes a sample's time as the difference to the next sample.
#[test]
fn devtools_computes_the_times_of_the_summary() {
    let (trace, _) = w3c::read(MARKERS.as_bytes()).unwrap();
    let mut out = Vec::new();
    write(&trace, &mut out, WriteOptions::default()).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let numbers =
        |name: &str| json[name].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect::<Vec<_>>();
    let (samples, deltas) = (numbers("samples"), numbers("timeDeltas"));
    let nodes = json["nodes"].as_array().unwrap();
    let summary = Summary::of(&trace);
    for row in &summary.functions {
        let frame = trace.frames()[row.frame];
        let is_it = |node: &serde_json::Value| {
            node["callFrame"]["functionName"] == trace.names()[frame.name]
                && node["callFrame"]["lineNumber"].as_i64().unwrap()
                    == frame.line.map_or(-1, |line| i64::from(line.get()) - 1)
                && node["callFrame"]["columnNumber"].as_i64().unwrap()
                    == frame.column.map_or(-1, |column| i64::from(column.get()) - 1)
        };
        let ids: Vec<u64> =
            nodes.iter().filter(|node| is_it(node)).map(|node| node["id"].as_u64().unwrap()).collect();
        let time: u64 = samples
            .iter()
            .zip(deltas.iter().skip(1))
            .filter(|(id, _)| ids.contains(id))
            .map(|(_, delta)| delta)
            .sum();
        // Each time may be off by a microsecond.
        assert!(time.abs_diff(row.self_time.0) <= 20, "{time}, not {}", row.self_time);
    }
}

proptest! {
    #[test]
    fn damaged_text_never_panics(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut json = SMALL.as_bytes().to_vec();
        let at = at.index(json.len());
        json[at] = byte;
        let _ = read(&json[..], &ReadOptions::default());
    }
}
