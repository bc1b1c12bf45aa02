//! Files of others and our own, read.

use selfprof_trace::summary::Summary;
use selfprof_trace::{Marker, MergedThreads};

use super::*;
use crate::{Hint, WriteOptions, w3c};

const MARKERS: &str = include_str!("../../../../fixtures/w3c/chromium-156-markers-isolated.json");

/// A file with three functions and these profiles. Members may have any order.
fn file(profiles: &str) -> String {
    format!(
        r#"{{"profiles":[{profiles}],"shared":{{"frames":[{{"name":"a","file":"a.js","line":3,"col":5}},{{"name":"b"}},
            {{"name":"(garbage collector)"}}]}},"$schema":"https://www.speedscope.app/file-format-schema.json"}}"#
    )
}

/// `name self total` of each function, in microseconds.
fn rows(thread: &Thread) -> Vec<String> {
    let merged = MergedThreads::of([&thread.trace]).unwrap();
    let trace = &merged.trace;
    let rows = Summary::of_merged(&merged).functions;
    rows.iter()
        .map(|row| {
            let name = &trace.names()[trace.frames()[row.frame].name];
            format!("{name} {} {}", row.self_time.0, row.total_time.0)
        })
        .collect()
}

#[track_caller]
fn check(profiles: &str, expected: &[&str]) {
    let read = crate::read(file(profiles).as_bytes(), Hint::default(), &ReadOptions::default()).unwrap();
    assert_eq!(read.format, Format::Speedscope);
    assert_eq!(read.threads[0].1.list(), []);
    assert_eq!(rows(&read.threads[0].0), expected);
}

#[test]
fn samples_last_as_long_as_their_weights() {
    let sampled = |unit: &str, start: &str| {
        format!(
            r#"{{"type":"sampled","name":"x","unit":"{unit}","startValue":{start},"endValue":9,"samples":[[0],[0,1],[],[0,2],[0]],
                "weights":[1,500,3000,2,1]}}"#
        )
    };
    let expected = ["b 500000 500000", "a 4000 504000"];
    check(&sampled("milliseconds", "0"), &expected);
    check(&sampled("milliseconds", "-20"), &expected);
    check(&sampled("microseconds", "1e9"), &["b 500 500", "a 4 504"]);
    let (thread, _) =
        &read(file(&sampled("milliseconds", "5")).as_bytes(), &ReadOptions::default()).unwrap()[0];
    let summary = Summary::of(&thread.trace);
    assert_eq!((summary.idle.time, summary.marker(Marker::Gc).time), (Micros(3_000_000), Micros(2_000)));
    assert_eq!(thread.trace.samples()[0].timestamp, Micros(6_000));
    assert_eq!(thread.name, "x");
}

#[test]
fn events_are_calls() {
    check(
        r#"{"type":"evented","name":"","unit":"microseconds","startValue":0,"endValue":40,"events":[
            {"type":"O","frame":0,"at":0},{"type":"O","frame":1,"at":10},{"type":"C","frame":1,"at":30},
            {"type":"C","frame":0,"at":40}]}"#,
        &["a 20 40", "b 20 20"],
    );
}

#[test]
fn what_is_wrong_is_an_error_or_reported() {
    let result = |profiles: &str| read(file(profiles).as_bytes(), &ReadOptions::default());
    let memory = r#"{"type":"sampled","unit":"bytes","samples":[[0]],"weights":[7]}"#;
    assert_eq!(
        result(memory).unwrap_err().to_string(),
        "this is a speedscope profile without times, of: bytes"
    );
    let threads = result(r#"{"unit":"seconds","samples":[[9,0],[1.5],[-1]],"weights":[1,1,null]}"#);
    assert!(matches!(threads, Err(ReadError::Json(..))));
    let threads =
        result(r#"{"unit":"seconds","samples":[[9,0],[1.5],[-1]],"weights":[1,-1,1e300]}"#).unwrap();
    assert_eq!(threads[0].1.total(), 3);
    let mut limits = ReadOptions::default();
    limits.limits.samples = 1;
    let two = file(r#"{"unit":"seconds","samples":[[0],[0]],"weights":[1,1]}"#);
    assert!(matches!(read(two.as_bytes(), &limits), Err(ReadError::Limit(_))));
}

#[test]
fn what_was_written_is_read_with_the_same_times() {
    let (trace, _) = w3c::read(MARKERS.as_bytes()).unwrap();
    let mut written = Vec::new();
    super::super::write(&[Thread::main(trace.clone())], &mut written, WriteOptions::default()).unwrap();
    let threads = read(&written[..], &ReadOptions::default()).unwrap();
    let (before, after) = (Summary::of(&trace), Summary::of(&threads[0].0.trace));
    assert_eq!((before.busy.time, before.idle.time), (after.busy.time, after.idle.time));
    assert_eq!(rows(&Thread::main(trace)).len(), rows(&threads[0].0).len());
}
