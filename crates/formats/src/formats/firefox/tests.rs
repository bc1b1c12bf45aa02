//! The columns, and their times compared with the summary.

use selfprof_trace::Frame;
use selfprof_trace::summary::Summary;
use serde_json::Value;

use super::*;
use crate::w3c;

const MARKERS: &str = include_str!("../../../fixtures/w3c/chromium-156-markers-isolated.json");

#[test]
fn times_equal_those_of_the_summary_and_markers_are_categories() {
    let (trace, _) = w3c::read(MARKERS.as_bytes()).unwrap();
    let mut out = Vec::new();
    write(&[Thread::main(trace.clone())], &mut out, WriteOptions::default()).unwrap();
    let json: Value = serde_json::from_slice(&out).unwrap();
    let thread = &json["threads"][0];
    let at = |table: &str, column: &str, index: &Value| {
        thread[table][column][index.as_u64().unwrap() as usize].clone()
    };
    let weights =
        thread["samples"]["weight"].as_array().unwrap().iter().map(|weight| weight.as_f64().unwrap());
    let samples: Vec<_> = thread["samples"]["stack"].as_array().unwrap().iter().zip(weights).collect();
    let functions_of = |stack: &Value| {
        let mut functions = Vec::new();
        let mut next = stack.clone();
        while !next.is_null() {
            functions.push(at("frameTable", "func", &at("stackTable", "frame", &next)).as_u64().unwrap());
            next = at("stackTable", "prefix", &next);
        }
        functions
    };
    let close = |sum: f64, time: Micros| assert!((sum - time.as_millis_f64()).abs() < 1e-6, "{sum} {time}");
    let summary = Summary::of(&trace);
    for row in &summary.functions {
        let (index, Frame { line, .. }) = (row.frame.index() as u64, trace.frames()[row.frame]);
        assert_eq!(thread["funcTable"]["lineNumber"][row.frame.index()], serde_json::json!(line));
        let sum = |holds: &dyn Fn(&[u64]) -> bool| {
            samples
                .iter()
                .filter(|(stack, _)| holds(&functions_of(stack)))
                .map(|(_, weight)| weight)
                .sum::<f64>()
        };
        close(sum(&|path| path.first() == Some(&index)), row.self_time);
        close(sum(&|path| path.contains(&index)), row.total_time);
    }
    for marker in Marker::ALL.into_iter().filter(|marker| *marker != Marker::Script) {
        let category = states::index(Some(marker)) as u64;
        let is_marked = |stack: &Value| {
            !stack.is_null() && at("frameTable", "category", &at("stackTable", "frame", stack)) == category
        };
        let sum: f64 = samples.iter().filter(|(stack, _)| is_marked(stack)).map(|(_, weight)| weight).sum();
        close(sum, summary.marker(marker).time);
    }
}

#[test]
fn cpu_time_is_that_since_the_sample_before() {
    let json = r#"{"frames":[{"name":"f"}],"resources":[],"stacks":[{"frameId":0}],
        "samples":[{"stackId":0,"timestamp":5},{"stackId":0,"timestamp":6},{"timestamp":7}],
        "thread":{"timeOrigin":1700000000000.5},"waitingTimes":{"timestamps":[5,6],"values":[0,0.75]}}"#;
    let (thread, _) =
        w3c::read_threads(json.as_bytes(), &crate::options::ReadOptions::default()).unwrap().remove(0);
    let mut out = Vec::new();
    write(&[thread], &mut out, WriteOptions::default()).unwrap();
    let json: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(json["meta"]["startTime"], 1_700_000_000_000.5);
    let samples = &json["threads"][0]["samples"];
    // It ran, then waited, then ran, then was idle.
    assert_eq!(samples["weight"], serde_json::json!([1, 0.75, 0.25, 1]));
    assert_eq!(samples["threadCPUDelta"], serde_json::json!([0, 1_000_000, 0, 250_000]));
    assert_eq!(json["threads"][0]["stringArray"][1], "(waiting)");
}

const CALLS: &str = r#"{"calls":{"end":10,"frameIds":[1,0,1,1,0,1],"start":1,"timestamps":[2,3,4,5,6,7],"truncated":true,"types":[1,0,0,2,1,3]},
    "frames":[{"column":2,"line":1,"name":"f","resourceId":0},{"name":""}],"resources":["a.js"],"samples":[],"stacks":[]}"#;

#[test]
fn calls_are_markers_with_a_start_and_an_end() {
    let (trace, _) = w3c::read(CALLS.as_bytes()).unwrap();
    let mut out = Vec::new();
    crate::write(crate::Format::Firefox, &[Thread::main(trace)], &mut out, WriteOptions::default()).unwrap();
    let json: Value = serde_json::from_slice(&out).unwrap();
    let thread = &json["threads"][0];
    let markers = &thread["markers"];
    let name = |index: &Value| thread["stringArray"][index.as_u64().unwrap() as usize].clone();
    assert!(markers["name"].as_array().unwrap().iter().all(|index| name(index) == "Call"));
    let rows: Vec<String> = (0..markers["length"].as_u64().unwrap() as usize)
        .map(|row| {
            let (data, phase) = (&markers["data"][row], &markers["phase"][row]);
            let [start, end] = ["startTime", "endTime"].map(|column| &markers[column][row]);
            format!("{phase} {start}-{end} {} {} {}", data["name"], data["begins"], data["ends"])
        })
        .collect();
    assert_eq!(
        rows,
        [
            r#"1 1-2 "(anonymous)" "was running already" "returned or threw""#,
            r#"1 3-6 "f" "called" "returned or threw""#,
            r#"1 4-5 "(anonymous)" "called" "suspended""#,
            r#"1 7-10 "(anonymous)" "resumed" "still running""#,
        ]
    );
    assert_eq!(thread["samples"]["weight"], serde_json::json!([0, 1, 1, 1, 1, 1, 1, 3]));
    // One has no script, because the page had no table of functions. It is JavaScript all the same.
    assert_eq!(thread["frameTable"]["category"], serde_json::json!([JAVASCRIPT, JAVASCRIPT]));
}
