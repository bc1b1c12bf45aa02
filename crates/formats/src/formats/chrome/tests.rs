//! The events of marks, measures, samples and tasks.

use selfprof_trace::{Marker, Micros, Sample};
use serde_json::{Value, json};

use super::*;

fn events(trace: Trace) -> Vec<Value> {
    let mut out = Vec::new();
    write(&[Thread::main(trace)], &mut out, WriteOptions::default()).unwrap();
    let json: Value = serde_json::from_slice(&out).unwrap();
    json["traceEvents"].as_array().unwrap().clone()
}

fn named(events: &[Value], name: &str) -> Vec<Value> {
    events.iter().filter(|event| event["name"] == name).cloned().collect()
}

#[test]
fn marks_and_measures_are_user_timing() {
    let mut entries = Entries::new();
    for (entry_type, name, start, duration) in [
        (EntryType::Mark, "mark \"a\"", 3.5, 0.0),
        (EntryType::Measure, "long", -1.0, 4.25),
        (EntryType::Measure, "back", 9.0, -2.0),
    ] {
        let name = entries.name(name).unwrap();
        let [start_time, duration] = [start, duration].map(|time| Millis::new(time).unwrap());
        entries.push(Entry { entry_type, name, start_time, duration }).unwrap();
    }
    let mut trace = Trace::new();
    trace.set_entries(Some(entries));
    let events = events(trace);
    #[track_caller]
    fn check(events: &[Value], name: &str, expected: &[(&str, i64)]) {
        let found: Vec<_> = named(events, name)
            .iter()
            .map(|event| (event["ph"].as_str().unwrap().to_owned(), event["ts"].as_i64().unwrap()))
            .collect();
        assert_eq!(found, expected.iter().map(|&(phase, time)| (phase.to_owned(), time)).collect::<Vec<_>>());
    }
    // All times are shifted by a millisecond, so that none is negative.
    check(&events, "mark \"a\"", &[("I", 4500)]);
    check(&events, "long", &[("b", 0), ("e", 4250)]);
    check(&events, "back", &[("b", 8000), ("e", 10000)]);
    assert_eq!(named(&events, "mark \"a\"")[0]["args"]["data"]["startTime"], json!(3.5));
}

#[test]
fn samples_come_in_chunks() {
    let mut trace = Trace::new();
    for index in 0..CHUNK as u64 {
        trace.push_sample(Sample {
            timestamp: Micros(index * 1000 + 1000),
            stack: None,
            marker: Some(Marker::Gc),
        });
    }
    let events = events(trace);
    let chunks = named(&events, "ProfileChunk");
    let lengths: Vec<usize> =
        chunks.iter().map(|chunk| chunk["args"]["data"]["timeDeltas"].as_array().unwrap().len()).collect();
    assert_eq!(lengths, [CHUNK, 1]);
    let ends: Vec<&Value> = chunks.iter().map(|chunk| &chunk["args"]["data"]["endTime"]).collect();
    // All times are shifted by a microsecond, because the task starts early.
    assert_eq!(ends, [&Value::Null, &json!(CHUNK * 1000 + 1)]);
}

#[test]
fn tasks_start_before_their_functions_and_end_with_them() {
    #[track_caller]
    fn check(samples: &[(u64, Option<Marker>)], expected: &[(u64, u64)]) {
        let mut trace = Trace::new();
        for &(time, marker) in samples {
            trace.push_sample(Sample { timestamp: Micros(time), stack: None, marker });
        }
        let events = events(trace);
        let start = named(&events, "Profile")[0]["args"]["data"]["startTime"].as_u64().unwrap();
        let tasks: Vec<_> = named(&events, "RunTask")
            .iter()
            .map(|task| (task["ts"].as_u64().unwrap(), task["dur"].as_u64().unwrap()))
            .map(|(time, length)| (time + 1 - start, length))
            .collect();
        assert_eq!(tasks, expected);
    }
    let gc = Some(Marker::Gc);
    check(&[(0, gc), (1000, gc)], &[(0, 2001)]);
    check(&[(1000, gc), (2000, gc)], &[(0, 2001)]);
    check(&[(9000, gc), (10000, None), (11000, gc)], &[(0, 1001), (2000, 1001)]);
    // An idle sample with a weight of zero does not end a task.
    check(&[(9000, gc), (9000, None), (10000, gc)], &[(0, 2001)]);
}

const CALLS: &str = r#"{"calls":{"end":10,"frameIds":[1,0,1,1,0,1],"start":1,"timestamps":[2,3,4,5,6,7],"truncated":true,"types":[1,0,0,2,1,3]},
    "frames":[{"column":2,"line":1,"name":"f","resourceId":0},{"name":""}],"resources":["a.js"],"samples":[],"stacks":[]}"#;

#[test]
fn calls_are_events_with_a_beginning_and_an_end() {
    let (trace, _) = crate::w3c::read(CALLS.as_bytes()).unwrap();
    let mut out = Vec::new();
    crate::write(crate::Format::Chrome, &[Thread::main(trace)], &mut out, WriteOptions::default()).unwrap();
    let json: Value = serde_json::from_slice(&out).unwrap();
    let all = json["traceEvents"].as_array().unwrap();
    let calls: Vec<String> = all
        .iter()
        .filter(|event| event["cat"] == "selfprof.calls")
        .map(|event| {
            format!(
                "{} {} {} {}",
                event["ph"].as_str().unwrap(),
                event["name"].as_str().unwrap(),
                event["ts"],
                event["args"]
            )
        })
        .collect();
    assert_eq!(
        calls,
        [
            r#"B (anonymous) 1000 {"alreadyRunning":true}"#,
            "E (anonymous) 2000 {}",
            r#"B f 3000 {"columnNumber":2,"lineNumber":1,"url":"a.js"}"#,
            "B (anonymous) 4000 {}",
            r#"E (anonymous) 5000 {"suspended":true}"#,
            "E f 6000 {}",
            r#"B (anonymous) 7000 {"resumed":true}"#,
            r#"E (anonymous) 10000 {"stillRunning":true}"#,
            "I The buffer was full: later calls were not recorded 10000 {}",
        ]
    );
    let threads: Vec<_> = named(all, "thread_name")
        .iter()
        .map(|event| (event["tid"].clone(), event["args"]["name"].clone()))
        .collect();
    assert_eq!(threads, [(json!(1), json!("CrRendererMain")), (json!(2), json!("main-thread: calls"))]);
    assert!(all.iter().all(|event| event["cat"] != "selfprof.calls" || event["tid"] == 2));
    // DevTools shows the samples that stand for the times between them.
    let chunk = &named(all, "ProfileChunk")[0]["args"]["data"];
    assert_eq!(chunk["timeDeltas"], json!([0, 0, 1000, 1000, 1000, 1000, 1000, 1000, 3000]));
}
