//! Events of others and our own, read.

use selfprof_trace::summary::Summary;
use selfprof_trace::{Marker, MergedThreads};

use super::*;
use crate::{Hint, WriteOptions, w3c};

const MARKERS: &str = include_str!("../../../../fixtures/w3c/chromium-156-markers-isolated.json");

/// The threads, each as its name and `name self total` of each function, in microseconds.
#[track_caller]
fn rows(json: &str) -> Vec<String> {
    let profile = crate::read(json.as_bytes(), Hint::default(), &ReadOptions::default()).unwrap();
    assert_eq!(profile.format, Format::Chrome);
    let mut rows = Vec::new();
    for (thread, problems) in &profile.threads {
        assert_eq!(problems.list(), []);
        rows.push(thread.label().into_owned());
        let merged = MergedThreads::of([&thread.trace]).unwrap();
        let trace = &merged.trace;
        rows.extend(Summary::of_merged(&merged).functions.iter().map(|row| {
            let name = &trace.names()[trace.frames()[row.frame].name];
            format!("{name} {} {}", row.self_time.0, row.total_time.0)
        }));
    }
    rows
}

#[test]
fn a_list_of_events_is_read() {
    let events =
        r#"[{"pid":1,"tid":1,"ph":"B","name":"f","ts":0},{"pid":1,"tid":1,"ph":"E","name":"f","ts":10}"#;
    let expected = ["thread 1", "f 10 10"];
    assert_eq!(rows(&format!("{events}]")), expected);
    // The end may be missing.
    assert_eq!(rows(events), expected);
    assert_eq!(rows(&format!("{events},")), expected);
    assert_eq!(rows(&format!(r#"{{"otherData":{{"traceEvents":7}},"traceEvents":{events}]}}"#)), expected);
    let error = read(format!("{events}}}").as_bytes(), &ReadOptions::default()).unwrap_err();
    assert!(matches!(error, ReadError::Json(Format::Chrome, _)));
}

#[test]
fn slices_are_calls() {
    // As bundlers and compilers write them: with text for ids, in any order, and some without an end.
    assert_eq!(
        rows(
            r#"[{"ph":"M","name":"thread_name","pid":"a","tid":"7","args":{"name":"worker"}},
                {"ph":"X","name":"inner","ts":20,"dur":5,"pid":"a","tid":"7","cat":"x"},
                {"ph":"X","name":"outer","ts":10,"dur":90,"pid":"a","tid":"7","args":{"deep":[[[{}]]]}},
                {"ph":"X","name":"too long","ts":95,"dur":50,"pid":"a","tid":"7"},
                {"ph":"B","name":"open","ts":200,"pid":"a","tid":"7"},
                {"ph":"E","name":"never began","ts":-5,"pid":"a","tid":"8"},
                {"ph":"C","name":"counter","ts":1,"pid":"a","tid":"9"},
                {"ph":"i","name":"instant","ts":230,"pid":"a","tid":"7"},
                {"ph":"X","name":"last","ts":210,"dur":"?","pid":"a","tid":"7"}]"#
        ),
        ["worker", "outer 80 90", "open 10 10", "inner 5 5", "too long 5 5"]
    );
}

#[test]
fn cpu_profiles_in_chunks_are_read() {
    let json = r#"{"traceEvents":[
        {"ph":"M","name":"thread_name","pid":5,"tid":1,"args":{"name":"CrRendererMain"}},
        {"ph":"X","name":"RunTask","ts":0,"dur":9000,"pid":5,"tid":1},
        {"ph":"P","name":"Profile","id":"0x1","pid":5,"tid":1,"ts":1000,"args":{"data":{"startTime":1000}}},
        {"ph":"P","name":"ProfileChunk","id":"0x1","pid":5,"tid":9,"ts":1,"args":{"data":{"cpuProfile":{"nodes":[
            {"id":1,"callFrame":{"functionName":"(root)","scriptId":0}},
            {"id":2,"parent":1,"callFrame":{"functionName":"f","scriptId":4,"url":"http://x/a.js","lineNumber":0,"columnNumber":9}},
            {"id":3,"parent":1,"callFrame":{"functionName":"(program)","scriptId":0}}],
            "samples":[2,2]},"timeDeltas":[0,100],"lines":[1,1]}}},
        {"ph":"P","name":"ProfileChunk","id":"0x1","pid":5,"tid":9,"ts":2,"args":{"data":{"cpuProfile":{"nodes":[
            {"id":4,"parent":2,"callFrame":{"functionName":"g","scriptId":4,"url":"http://x/a.js"}}],
            "samples":[4,3]},"timeDeltas":[100,3000]}}},
        {"ph":"P","name":"ProfileChunk","id":"0x1","pid":5,"tid":9,"ts":3,"args":{"data":{"endTime":4700}}}]}"#;
    assert_eq!(rows(json), ["main-thread", "g 3000 3000", "f 200 3200"]);
    let threads = read(json.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(Summary::of(&threads[0].0.trace).marker(Marker::Other).time, Micros(500));
    let broken = json.replace("\"samples\":[4,3]", "\"samples\":7");
    assert!(matches!(
        read(broken.as_bytes(), &ReadOptions::default()),
        Err(ReadError::Json(Format::Chrome, _))
    ));
}

#[test]
fn size_is_bounded() {
    let json = |event: &str| format!("[{}]", [event; 3].join(","));
    let mut options = ReadOptions::default();
    options.limits.samples = 2;
    let begin = json(r#"{"ph":"B","name":"f","ts":1}"#);
    assert!(matches!(read(begin.as_bytes(), &options), Err(ReadError::Limit(_))));
    options.limits.samples = 100;
    options.limits.text_bytes = 3;
    let long = json(r#"{"ph":"B","name":"long","ts":1}"#);
    assert!(matches!(read(long.as_bytes(), &options), Err(ReadError::Limit(_))));
    options.limits.samples = 10;
    let chunk =
        json(r#"{"ph":"P","name":"ProfileChunk","args":{"data":{"cpuProfile":{"samples":[1,1,1,1,1]}}}}"#);
    assert!(matches!(read(chunk.as_bytes(), &options), Err(ReadError::Limit(_))));
}

#[test]
fn what_was_written_is_read_with_the_same_times() {
    let (trace, _) = w3c::read(MARKERS.as_bytes()).unwrap();
    let mut written = Vec::new();
    super::super::write(&[Thread::main(trace.clone())], &mut written, WriteOptions::default()).unwrap();
    let threads = read(&written[..], &ReadOptions::default()).unwrap();
    let (before, after) = (Summary::of(&trace), Summary::of(&threads[0].0.trace));
    assert_eq!((before.busy.time, before.idle.time), (after.busy.time, after.idle.time));
    assert_eq!(threads[0].0.name, Thread::MAIN);
}
