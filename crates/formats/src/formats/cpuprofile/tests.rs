//! A real profile, invalid ones, and random ones.

use proptest::prelude::*;
use selfprof_trace::foreign::{Limits, Problem};
use selfprof_trace::summary::Summary;
use selfprof_trace::{Marker, Micros};

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
    assert_eq!(trace.samples().len(), json["samples"].as_array().unwrap().len());
    assert_eq!(
        trace.span().unwrap().0.0,
        json["startTime"].as_u64().unwrap() + json["timeDeltas"][0].as_u64().unwrap()
    );
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
        (1, false, None),
        (2, false, None),
        (3, false, Some(Marker::Gc)),
        (4, false, Some(Marker::Other)),
        (5, true, None),
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
    let samples: Vec<(u64, String)> =
        trace.samples().iter().map(|sample| (sample.timestamp.0, name(sample.stack.unwrap()))).collect();
    assert_eq!(
        samples,
        [(5, "a"), (9, "a"), (10, "b"), (12, "b")].map(|(time, name)| (time, name.to_owned()))
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
    assert_eq!(trace.path(trace.samples()[0].stack.unwrap()).count(), 200_000);
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
