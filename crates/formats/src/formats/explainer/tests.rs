//! The example in the explainer, and random profiles.

use std::collections::HashSet;

use proptest::prelude::*;
use selfprof_trace::testing::trace;
use selfprof_trace::{Entries, Entry, EntryType, Frame, Micros, Millis, Sample, Stack, StackId, Trace};
use serde_json::{Value, json};

use super::*;

const OPTIONS: Options = Options { interval: Micros(1000), max_buffer_size: 100 };

fn written(threads: &[Thread]) -> Value {
    let mut out = Vec::new();
    write(threads, OPTIONS, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

fn thread(name: &str, trace: Trace) -> Thread {
    Thread::new(name.to_owned(), trace)
}

/// Appends the stack of `functions`, root first, each `name`, or `name @ resource:line:column`.
fn stack(trace: &mut Trace, functions: &[&str]) -> Option<StackId> {
    let mut parent = None;
    for function in functions {
        let (name, location) = function.split_once(" @ ").unwrap_or((function, ""));
        let mut location = location.split(':');
        let resource = location.next().filter(|url| !url.is_empty()).map(|url| trace.resource(url).unwrap());
        let [line, column] =
            [location.next(), location.next()].map(|number| number.and_then(|text| text.parse().ok()));
        let name = trace.name(name).unwrap();
        let frame = trace.frame(Frame { name, resource, line, column }).unwrap();
        parent = Some(trace.stack(Stack { parent, frame }).unwrap());
    }
    parent
}

fn sample(trace: &mut Trace, micros: u64, functions: &[&str]) {
    let stack = stack(trace, functions);
    trace.push_sample(Sample { timestamp: Micros(micros), stack, marker: None });
}

/// https://github.com/WICG/js-self-profiling/blob/6510f55/README.md#possible-json-profile-format, with ids that count
/// from 1.
#[test]
fn the_example_in_the_explainer_is_written() {
    let mut trace = Trace::new();
    let (start, render) = ("start @ main.js:12:34", "render @ newsfeed.js:56:78");
    sample(&mut trace, 12_345_679, &[start, render, "getLikes @ stories.js:90:12"]);
    sample(&mut trace, 12_346_000, &[start, render, "getComments @ stories.js:11:22"]);
    let expected = json!({
        "version": 1,
        "options": { "interval": 1, "maxBufferSize": 100, "version": 1 },
        "effectiveInterval": 0.321,
        "profile": {
            "strings": [
                "start @ main.js:12:34",
                "render @ newsfeed.js:56:78",
                "getLikes @ stories.js:90:12",
                "getComments @ stories.js:11:22",
            ],
            "stackFrames": {
                "1": { "name": 0 },
                "2": { "name": 1, "parent": 1 },
                "3": { "name": 2, "parent": 2 },
                "4": { "name": 3, "parent": 2 },
            },
            "main-thread": [
                { "type": "stack", "timestamp": 12345.679, "stack": 3 },
                { "type": "stack", "timestamp": 12346, "stack": 4 },
            ],
        },
    });
    assert_eq!(written(&[thread("main-thread", trace)]), expected);
}

#[test]
fn functions_are_written_as_far_as_they_are_known() {
    #[track_caller]
    fn check(function: &str, expected: &str) {
        let mut trace = Trace::new();
        stack(&mut trace, &[function]);
        assert_eq!(written(&[thread("main-thread", trace)])["profile"]["strings"], json!([expected]));
    }
    check("appendChild", "appendChild");
    check("", "(anonymous)");
    check(" @ a.js:1:2", "(anonymous) @ a.js:1:2");
    check("f @ a.js", "f @ a.js");
    check("f @ a.js:7", "f @ a.js:7");
    check("f @ a.js:0:7", "f @ a.js");
    check("\"f\"\n @ a.js:1:1", "\"f\"\n @ a.js:1:1");
}

#[test]
fn marks_are_merged_with_the_stacks() {
    let mut trace = Trace::new();
    sample(&mut trace, 1000, &["f"]);
    sample(&mut trace, 2000, &[]);
    let mut entries = Entries::new();
    for (entry_type, name, start_time, duration) in [
        (EntryType::Measure, "early", -1.5, 7.25),
        (EntryType::Mark, "at \"one\"", 1.0, 0.0),
        (EntryType::Mark, "between", 1.23456789, 0.0),
        (EntryType::Measure, "back", 1e300, -2.0),
    ] {
        let name = entries.name(name).unwrap();
        let [start_time, duration] = [start_time, duration].map(|time| Millis::new(time).unwrap());
        entries.push(Entry { entry_type, name, start_time, duration }).unwrap();
    }
    trace.set_entries(Some(entries));
    let expected = json!([
        { "type": "measure", "timestamp": -1.5, "name": "early", "duration": 7.25 },
        { "type": "stack", "timestamp": 1, "stack": 1 },
        { "type": "mark", "timestamp": 1, "name": "at \"one\"" },
        { "type": "mark", "timestamp": 1.23456789, "name": "between" },
        { "type": "stack", "timestamp": 2 },
        { "type": "measure", "timestamp": 1e300, "name": "back", "duration": -2 },
    ]);
    assert_eq!(written(&[thread("main-thread", trace)])["profile"]["main-thread"], expected);
}

#[test]
fn threads_share_their_tables() {
    let (mut main, mut worker) = (Trace::new(), Trace::new());
    sample(&mut main, 1000, &["a", "b"]);
    sample(&mut worker, 1500, &["a"]);
    sample(&mut worker, 1600, &["a", "c"]);
    let written =
        written(&[thread("main-thread", main), thread("worker-7", worker), thread("worker-8", Trace::new())]);
    assert_eq!(written["effectiveInterval"], Value::Null);
    assert_eq!(
        written["profile"],
        json!({
            "strings": ["a", "b", "c"],
            "stackFrames": { "1": { "name": 0 }, "2": { "name": 1, "parent": 1 }, "3": { "name": 2, "parent": 1 } },
            "main-thread": [{ "type": "stack", "timestamp": 1, "stack": 2 }],
            "worker-7": [
                { "type": "stack", "timestamp": 1.5, "stack": 1 },
                { "type": "stack", "timestamp": 1.6, "stack": 3 },
            ],
            "worker-8": [],
        })
    );
}

#[test]
fn a_profile_may_have_no_threads() {
    let profile = json!({ "strings": [], "stackFrames": {} });
    assert_eq!(written(&[])["profile"], profile);
}

proptest! {
    #[test]
    fn every_sample_and_entry_is_written(first in trace(), second in trace()) {
        let threads = [thread("main-thread", first), thread("worker-1", second)];
        let written = written(&threads);
        let profile = &written["profile"];
        let (strings, frames) = (profile["strings"].as_array().unwrap(), profile["stackFrames"].as_object().unwrap());
        for Thread { name, trace, .. } in &threads {
            let list = profile[name].as_array().unwrap();
            let of_type = |wanted: &'static str| list.iter().filter(move |event| event["type"] == wanted);
            // Root first, as strings.
            let path = |id: &Value| {
                let node = |id: &Value| frames.get(&id.to_string());
                let mut path: Vec<&Value> = std::iter::successors(node(id), |frame| node(&frame["parent"]))
                    .map(|frame| &strings[frame["name"].as_u64().unwrap() as usize])
                    .collect();
                path.reverse();
                path.iter().map(|text| text.as_str().unwrap().split(" @ ").next().unwrap().to_owned()).collect::<Vec<_>>()
            };
            let expected: Vec<_> = trace
                .samples()
                .iter()
                .map(|sample| {
                    let name = |id| match &trace.names()[trace.frames()[id].name] {
                        "" => "(anonymous)".to_owned(),
                        name => name.to_owned(),
                    };
                    let mut path: Vec<String> = sample.stack.map_or(vec![], |stack| trace.path(stack).map(name).collect());
                    path.reverse();
                    (sample.timestamp.as_millis_f64(), path)
                })
                .collect();
            let samples: Vec<_> =
                of_type("stack").map(|event| (event["timestamp"].as_f64().unwrap(), path(&event["stack"]))).collect();
            prop_assert_eq!(samples, expected);

            let entries = trace.entries().map(Entries::list).unwrap_or_default();
            prop_assert_eq!(of_type("mark").count() + of_type("measure").count(), entries.len());
            let times: Vec<f64> = list.iter().map(|event| event["timestamp"].as_f64().unwrap()).collect();
            prop_assert!(times.is_sorted());
        }
        let names: HashSet<&str> = profile.as_object().unwrap().keys().map(|key| &**key).collect();
        prop_assert_eq!(names, HashSet::from(["strings", "stackFrames", "main-thread", "worker-1"]));
    }
}

#[test]
fn invalid_data_is_repaired() {
    #[track_caller]
    fn check(json: &str, expected: &[&str]) {
        let threads = read_text(json.as_bytes(), &crate::ReadOptions::default()).unwrap();
        let problems = threads.iter().flat_map(|(_, problems)| problems.list());
        assert_eq!(problems.map(ToString::to_string).collect::<Vec<_>>(), expected);
    }
    check(r#"{"profile":{"strings":[],"stackFrames":{}}}"#, &[]);
    check(
        r#"{"strings":["f"],"stackFrames":{"1":{"name":0,"parent":2},"2":{"name":5,"parent":9}},"main-thread":[
            {"type":"stack","timestamp":1,"stack":2},{"type":"stack","timestamp":2,"stack":7},{"type":"jank","timestamp":1}]}"#,
        &[
            "stackFrames[1].parent is 9, which is not the id of an entry: the stack is kept without a parent",
            "entries[1].stack is 7, which is not the id of an entry: the sample is kept without a stack",
            "stackFrames[1].name is 5, which is not the id of an entry: the stack is replaced by its parent",
            "entries[0].entryType is neither `mark` nor `measure`: the entry is dropped",
        ],
    );
    check(
        r#"{"strings":["f"],"stackFrames":{"1":{"name":0,"parent":1}},"main-thread":[{"type":"stack","timestamp":1,"stack":1}]}"#,
        &[
            "stackFrames[0].parent is 0, which makes the stack its own ancestor: the stack is kept without a parent",
        ],
    );
}

#[test]
fn errors_describe_the_cause() {
    #[track_caller]
    fn check(json: &str, expected: &str) {
        let error = read_text(json.as_bytes(), &crate::ReadOptions::default()).unwrap_err();
        let source = std::error::Error::source(&error).unwrap();
        assert_eq!(format!("{error}: {source}"), expected);
    }
    let not = "the JSON is not a profile in the explainer's format (version 1)";
    check("{}", &format!("{not}: missing field `strings` at line 1 column 2"));
    check(
        r#"{"strings":[],"stackFrames":[]}"#,
        &format!("{not}: invalid type: sequence, expected stacks by their ids at line 1 column 28"),
    );
    check(r#"{"a":[],"a":[]}"#, &format!("{not}: duplicate thread `a` at line 1 column 11"));
    check(
        r#"{"profile":{"strings":[7]}}"#,
        &format!("{not}: invalid type: integer `7`, expected a string at line 1 column 24"),
    );
}

/// Many threads that share long tables would take far more memory than the text.
#[test]
fn threads_times_tables_is_bounded() {
    let strings: Vec<String> = (0..20_000).map(|index| format!("\"f{index}\"")).collect();
    let stacks: Vec<String> = (0..20_000).map(|index| format!("\"{index}\":{{\"name\":{index}}}")).collect();
    let threads: Vec<String> = (0..1000).map(|index| format!("\"t{index}\":[]")).collect();
    let json = format!(
        "{{\"strings\":[{}],\"stackFrames\":{{{}}},{}}}",
        strings.join(","),
        stacks.join(","),
        threads.join(",")
    );
    let error = read_text(json.as_bytes(), &crate::ReadOptions::default()).unwrap_err();
    assert!(matches!(error, crate::ReadError::Limit(_)));
    let many: Vec<String> = (0..1025).map(|index| format!("\"t{index}\":[]")).collect();
    let json = format!("{{\"strings\":[],\"stackFrames\":{{}},{}}}", many.join(","));
    assert!(matches!(
        read_text(json.as_bytes(), &crate::ReadOptions::default()),
        Err(crate::ReadError::Limit(_))
    ));
}

/// A long name used by all threads is copied into the tables of each.
#[test]
fn threads_times_text_is_bounded() {
    let limits = crate::ReadOptions::default().limits;
    let options = crate::ReadOptions {
        limits: selfprof_trace::foreign::Limits { text_bytes: 10_000, ..limits },
        ..crate::ReadOptions::default()
    };
    let name = "f".repeat(1000);
    let profile = |count: usize| {
        let threads: Vec<String> = (0..count)
            .map(|index| format!(r#""t{index}":[{{"type":"stack","timestamp":1,"stack":1}}]"#))
            .collect();
        let tables = format!(r#""strings":["{name}"],"stackFrames":{{"1":{{"name":0}}}}"#);
        read_text(format!("{{{tables},{}}}", threads.join(",")).as_bytes(), &options)
    };
    assert_eq!(profile(10).unwrap().len(), 10);
    let error = profile(11).unwrap_err();
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(source.to_string(), "the trace has more than 10000 bytes of text in all threads");
}
