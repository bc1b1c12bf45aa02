//! Profiles of others and our own, read.

use std::collections::BTreeMap;

use selfprof_trace::foreign::Limits;
use selfprof_trace::summary::Summary;
use selfprof_trace::{Clock, MergedThreads, WaitingPoint, WaitingTimes};

use super::super::Function;
use super::super::*;
use super::*;
use crate::options::ReadOptions;
use crate::read::{Hint, read as read_any};
use crate::{Format, ReadError, Thread, w3c};

const DATADOG: &[u8] = include_bytes!("../../../../fixtures/pprof/datadog-5.20-node-24.pb.gz");
const GO: &[u8] = include_bytes!("../../../../fixtures/pprof/go-1.27-cpu.pb.gz");
const GO_HEAP: &[u8] = include_bytes!("../../../../fixtures/pprof/go-1.27-heap.pb.gz");
const MARKERS: &str = include_str!("../../../../fixtures/w3c/chromium-156-markers-isolated.json");

const SMALL: ReadOptions = ReadOptions {
    max_bytes: 1 << 20,
    limits: Limits { resources: 100, frames: 100, stacks: 100, samples: 100, entries: 0, text_bytes: 1_000 },
};

fn only_thread(bytes: &[u8]) -> Thread {
    let profile = read_any(bytes, Hint::default(), &ReadOptions::default()).unwrap();
    assert_eq!(profile.format, Format::Pprof);
    let [(thread, problems)] = &profile.threads[..] else { panic!("{} threads", profile.threads.len()) };
    assert!(problems.is_empty(), "{:?}", problems.list());
    thread.clone()
}

/// The busy milliseconds and samples, and the functions with the most time of their own.
fn shown(thread: &Thread) -> (f64, u64, Vec<String>) {
    let trace = &thread.trace;
    let summary = Summary::of(trace);
    let mut rows: Vec<_> = summary.functions.iter().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.self_time));
    let names = rows.iter().take(2).map(|row| {
        let frame = trace.frames()[row.frame];
        let file = frame.resource.map_or("", |resource| &trace.resources()[resource]);
        format!("{} {file}:{}", &trace.names()[frame.name], frame.line.map_or(0, |line| line.get()))
    });
    (summary.busy.time.as_millis_f64(), summary.busy.samples, names.collect())
}

#[test]
fn profiles_of_others_have_their_times() {
    let (time, samples, names) = shown(&only_thread(DATADOG));
    assert!(time > 750.0 && time < 850.0 && samples > 60, "{time} {samples}");
    assert_eq!(names[0], "fibonacci /srv/example/app.cjs:3");
    let go = only_thread(GO);
    let (time, samples, names) = shown(&go);
    assert_eq!((time, samples), (520.0, 52));
    assert_eq!(names[0], "main.fibonacci example/main.go:9");
    // In November 2026.
    assert!((1.795e12..1.796e12).contains(&go.time_origin.unwrap()));
}

#[test]
fn a_profile_without_times_is_an_error() {
    let error = read_any(GO_HEAP, Hint::default(), &ReadOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "this is a pprof profile without times, of: alloc_objects, alloc_space, inuse_objects, inuse_space"
    );
}

#[test]
fn what_was_written_is_read_with_the_same_times() {
    let (trace, _) = w3c::read(MARKERS.as_bytes()).unwrap();
    let thread = Thread::main(trace);
    let mut bytes = Vec::new();
    write(std::slice::from_ref(&thread), &mut bytes, WriteOptions::default()).unwrap();
    let back = only_thread(&bytes);
    let (before, after) = (Summary::of(&thread.trace), Summary::of(&back.trace));
    assert_eq!(before.busy.samples, after.busy.samples);
    let interval = before.interval.unwrap().0;
    assert!(before.busy.time.0.abs_diff(after.busy.time.0) <= interval);
    for marker in Marker::ALL {
        assert_eq!(before.marker(marker).samples, after.marker(marker).samples, "{marker:?}");
    }
    for row in &before.functions {
        let name = &thread.trace.names()[thread.trace.frames()[row.frame].name];
        let same = after
            .functions
            .iter()
            .filter(|other| &back.trace.names()[back.trace.frames()[other.frame].name] == name);
        let total: u64 = same.map(|other| other.self_samples).sum();
        assert!(total >= row.self_samples, "{name}: {total}, not {}", row.self_samples);
    }
}

/// What `selfprof top` shows of functions, with `--by` this clock: names with self and total times in milliseconds.
fn rows(threads: &[Thread], clock: Clock) -> (Vec<(String, f64, f64)>, Option<f64>) {
    let merged = MergedThreads::by(clock, threads.iter().map(|thread| &thread.trace)).unwrap();
    let round = |time: Micros| (time.as_millis_f64() * 100.0).round() / 100.0;
    let mut rows: Vec<_> = Summary::of_merged(&merged)
        .functions
        .iter()
        .map(|row| {
            let name = &merged.trace.names()[merged.trace.frames()[row.frame].name];
            (name.to_owned(), round(row.self_time), round(row.total_time))
        })
        .collect();
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    (rows, merged.left_out.map(round))
}

#[test]
fn waiting_that_was_written_is_read() {
    let mut trace = Trace::new();
    let mut stack = None;
    let mut stacks = Vec::new();
    for name in ["main", "wait", "work"] {
        let name = trace.name(name).unwrap();
        let frame = trace.frame(Frame { name, resource: None, line: None, column: None }).unwrap();
        stack = trace.stack(selfprof_trace::Stack { parent: stack, frame }).ok();
        stacks.push(stack);
    }
    let mut waiting = WaitingTimes::default();
    let mut waited = Micros::ZERO;
    for index in 0..200_u64 {
        // Late samples are those of waiting. The gap is longer than a sample can stand for, so some of it is left out.
        let timestamp = Micros(index * 1_000 + index / 10 * 3_333 + if index > 150 { 400_000 } else { 0 });
        let stack = stacks[if index % 10 == 0 { 1 } else { 2 * (index as usize % 2) }];
        trace.push_sample(selfprof_trace::Sample { timestamp, stack, marker: None });
        waited = waited.saturating_add(Micros(if index % 10 == 0 { 3_000 } else { 100 }));
        waiting.push(WaitingPoint { timestamp, waited });
    }
    trace.set_waiting(Some(waiting));
    let before = [Thread::main(trace)];
    let mut written = Vec::new();
    write(&before, &mut written, Default::default()).unwrap();
    let after = [only_thread(&written)];
    for clock in [Clock::WaitingApart, Clock::Cpu, Clock::Wall] {
        let (expected, found) = (rows(&before, clock), rows(&after, clock));
        assert_eq!(expected.0.len(), found.0.len(), "{clock:?}: {found:?}");
        for (expected, found) in expected.0.iter().zip(&found.0) {
            // Parts of samples that are too short to be shown are added up, and then shown.
            let is_close = |a: f64, b: f64| (a - b).abs() < 0.5 + a / 50.0;
            let is_equal =
                expected.0 == found.0 && is_close(expected.1, found.1) && is_close(expected.2, found.2);
            assert!(is_equal, "{clock:?}: {expected:?}, {found:?}");
        }
        assert_eq!(expected.1.is_some(), found.1.is_some());
    }
    assert_eq!(rows(&before, Clock::Wall), rows(&after, Clock::Wall));
}

#[test]
fn threads_and_processes_are_told_apart() {
    let (trace, _) = w3c::read(MARKERS.as_bytes()).unwrap();
    let process = crate::Process { pid: 7, tid: 0, command: "node a.js".into() };
    let main = Thread { process: Some(process), ..Thread::main(trace.clone()) };
    let mut bytes = Vec::new();
    write(&[main, Thread::named("worker-1", trace)], &mut bytes, WriteOptions::default()).unwrap();
    let profile = read_any(&bytes[..], Hint::default(), &ReadOptions::default()).unwrap();
    let labels: Vec<_> = profile.threads.iter().map(|(thread, _)| thread.label().into_owned()).collect();
    assert_eq!(labels, ["a 7", "worker-1"]);
}

#[test]
fn hostile_messages_are_errors_or_repaired() {
    #[track_caller]
    fn check(profile: &Profile, samples: usize) {
        let threads = read_text(&profile.encode_to_vec(), &SMALL).unwrap();
        assert_eq!(threads[0].0.trace.samples().len(), samples);
    }
    let strings = ["", "wall", "nanoseconds", "f"].map(str::to_owned).to_vec();
    let wall = ValueType { r#type: 1, unit: 2 };
    let sample =
        |location_id: Vec<u64>, value: i64| Sample { location_id, value: vec![value], label: vec![] };
    let function = Function { id: 1, name: 3, system_name: 0, filename: -5, start_line: i64::MIN };
    let location = |id: u64, function_id: u64| Location {
        id,
        address: 0x1f,
        line: vec![Line { function_id, line: -1, column: i64::MAX }],
    };
    let profile = |samples: Vec<Sample>| Profile {
        sample_type: vec![wall],
        string_table: strings.clone(),
        function: vec![function],
        location: vec![location(1, 1), location(2, 99), location(2, 1)],
        sample: samples,
        ..Profile::default()
    };
    check(&profile(vec![]), 0);
    check(&profile(vec![sample(vec![1], i64::MIN), sample(vec![1], -1)]), 0);
    check(&profile(vec![sample(vec![0, 99, 1], 5_000_000), sample(vec![], 5_000_000)]), 2);
    check(&profile(vec![sample(vec![1], i64::MAX), sample(vec![2], i64::MAX)]), 2);
    // Values and labels that are missing.
    let label = Label { key: 99, str: -1, num: 5, num_unit: 99 };
    check(&profile(vec![Sample { location_id: vec![1], value: vec![], label: vec![label] }]), 0);
    let deep = profile(vec![sample(vec![1; 100_000], 5_000_000)]);
    assert!(matches!(read_text(&deep.encode_to_vec(), &SMALL), Err(ReadError::Limit(_))));
    // Many empty messages.
    let empty = [0x12, 0].repeat(1_000_000);
    assert!(matches!(read_text(&empty, &SMALL), Err(ReadError::Limit(_))));
    assert!(matches!(read_text(&[0x0a, 9, 1], &SMALL), Err(ReadError::Protobuf(..))));
}

/// The number of samples with each set of labels, shown as text.
fn labels_of(trace: &Trace) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for sample in trace.samples() {
        let set = trace.labels().and_then(|labels| labels.get(labels.of_sample(sample)?));
        let shown = set.into_iter().flat_map(LabelSet::iter).map(|(name, value)| format!("{name}={value}"));
        *counts.entry(shown.collect::<Vec<_>>().join(" ")).or_default() += 1;
    }
    counts
}

#[test]
fn labels_that_were_written_are_read() {
    let json = r#"{"frames":[{"name":"f"},{"name":"g"}],"labels":[{"http.route":"/cart","tenant":""},{"http.route":"/"}],
        "resources":[],"stacks":[{"frameId":0},{"frameId":1}],"samples":[{"stackId":0,"timestamp":1},
        {"labelsId":0,"stackId":0,"timestamp":2},{"labelsId":1,"marker":"gc","timestamp":3},
        {"labelsId":0,"stackId":1,"timestamp":4},{"labelsId":0,"stackId":0,"timestamp":5},{"stackId":1,"timestamp":6}]}"#;
    let (trace, _) = w3c::read(json.as_bytes()).unwrap();
    let without = Trace::new();
    let mut bytes = Vec::new();
    let threads = [
        Thread::main(trace.clone()),
        Thread::named("worker-1", trace.clone()),
        Thread::named("empty", without),
    ];
    write(&threads, &mut bytes, WriteOptions::default()).unwrap();
    let profile = read_any(&bytes[..], Hint::default(), &ReadOptions::default()).unwrap();
    assert_eq!(profile.threads.len(), 2);
    for (thread, _) in &profile.threads {
        assert_eq!(labels_of(&thread.trace), labels_of(&trace));
    }
    let other = only_thread(DATADOG);
    assert!(other.trace.labels().is_none());
}

#[test]
fn labels_of_others_are_read_and_bounded() {
    let limits = Limits { text_bytes: 4_000, ..SMALL.limits };
    let long = "ä".repeat(300);
    let texts = [
        "",
        "wall",
        "nanoseconds",
        "f",
        "tenant",
        "a",
        "size",
        "bytes",
        "thread name",
        "end_timestamp_ns",
        "marker",
        "gc",
        &long,
    ];
    let number = |text: &str| texts.iter().position(|&other| other == text).map_or(-1, |index| index as i64);
    let label =
        |key, str, num, unit| Label { key: number(key), str: number(str), num, num_unit: number(unit) };
    let many: Vec<String> = (0..40).map(|name| format!("name{name:02}")).collect();
    let strings: Vec<String> = texts.iter().map(|&text| text.to_owned()).chain(many).collect();
    let read = |label: Vec<Label>, limits: Limits| {
        let profile = Profile {
            sample_type: vec![ValueType { r#type: 1, unit: 2 }],
            string_table: strings.clone(),
            function: vec![Function { id: 1, name: 3, system_name: 0, filename: 0, start_line: 0 }],
            location: vec![Location {
                id: 1,
                address: 0,
                line: vec![Line { function_id: 1, line: 0, column: 0 }],
            }],
            sample: vec![Sample { location_id: vec![1], value: vec![5_000_000], label }],
            ..Profile::default()
        };
        let threads = read_text(&profile.encode_to_vec(), &ReadOptions { limits, ..SMALL })?;
        Ok::<_, ReadError>(labels_of(&threads[0].0.trace).into_keys().collect::<Vec<_>>().join("|"))
    };
    let check = |label: Vec<Label>, expected: &str| assert_eq!(read(label, limits).unwrap(), expected);
    check(
        vec![
            label("tenant", "a", 0, ""),
            label("size", "", 512, "bytes"),
            label("marker", "gc", 0, ""),
            label("thread name", "a", 0, ""),
            label("end_timestamp_ns", "", 7, ""),
        ],
        "size=512 bytes tenant=a",
    );
    check(vec![label("size", "", 0, "bytes"), label("tenant", "", -3, "")], "size=0 bytes tenant=-3");
    // The last one counts; those without a name do not.
    check(
        vec![label("tenant", "f", 0, ""), label("tenant", "a", 0, ""), label("none", "a", 0, "")],
        "tenant=a",
    );
    check(vec![label(&long, &long, 0, "")], &format!("{0}={0}", "ä".repeat(256)));
    let key =
        |index: usize| Label { key: (texts.len() + index) as i64, str: number("a"), num: 0, num_unit: 0 };
    assert_eq!(read((0..40).map(key).collect(), limits).unwrap().split(' ').count(), 32);
    let small = Limits { text_bytes: 20, ..limits };
    assert!(matches!(read((0..4).map(key).collect(), small), Err(ReadError::Limit(_))));
    let thread = Thread { trace: Trace::new(), ..read_text(&named(&long), &SMALL).unwrap().remove(0).0 };
    assert_eq!(thread.name, "ä".repeat(256));
}

/// A profile of a thread with this name.
fn named(thread: &str) -> Vec<u8> {
    let mut trace = Trace::new();
    trace.push_sample(selfprof_trace::Sample { timestamp: Micros(1), stack: None, marker: Some(Marker::Gc) });
    let mut bytes = Vec::new();
    let options = WriteOptions::default();
    write(&[Thread::named(thread, trace.clone()), Thread::main(trace)], &mut bytes, options).unwrap();
    input::text(&bytes[..], 1 << 20).unwrap()
}

#[test]
fn names_that_datadog_gives_are_those_of_v8() {
    let strings = ["", "wall", "nanoseconds", "(anonymous:L#96:C#38)", "/app/a.js", "Garbage Collection"];
    let function = |id, name, filename| Function { id, name, filename, ..Default::default() };
    let location =
        |id| Location { id, line: vec![Line { function_id: id, line: 99, column: 0 }], ..Default::default() };
    let sample = |location_id| Sample { location_id, value: vec![5_000_000], label: Vec::new() };
    let profile = Profile {
        sample_type: vec![ValueType { r#type: 1, unit: 2 }],
        sample: vec![sample(vec![1]), sample(vec![2, 1])],
        location: vec![location(1), location(2)],
        function: vec![function(1, 3, 4), function(2, 5, 0)],
        string_table: strings.map(str::to_owned).into(),
        ..Default::default()
    };
    let trace = only_thread(&profile.encode_to_vec()).trace;
    let frame = trace.frames().iter().find(|(_, frame)| frame.resource.is_some()).unwrap().1;
    let position = frame.position().unwrap();
    assert_eq!((&trace.names()[frame.name], position.line.get(), position.column.get()), ("", 96, 38));
    let summary = Summary::of(&trace);
    assert_eq!(summary.marker(Marker::Gc).time, Micros(5_000));
    assert!(trace.frames().iter().any(|(frame, _)| trace.is_gc(frame)));
}
