//! Profiles of our own and hostile ones, read.

use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::resource::v1::Resource;
use selfprof_trace::foreign::Limits;
use selfprof_trace::summary::Summary;

use super::super::Function;
use super::super::*;
use super::*;
use crate::options::ReadOptions;
use crate::read::{Hint, read as read_any};
use crate::{Format, ReadError, w3c};

const MARKERS: &str = include_str!("../../../../fixtures/w3c/chromium-156-markers-isolated.json");

const SMALL: ReadOptions = ReadOptions {
    max_bytes: 1 << 20,
    limits: Limits { resources: 100, frames: 100, stacks: 100, samples: 100, entries: 0, text_bytes: 1_000 },
};

#[test]
fn what_was_written_is_read_with_the_same_samples() {
    let (trace, _) = w3c::read(MARKERS.as_bytes()).unwrap();
    let process = crate::Process { pid: 7, tid: 0, command: "node a.js".into() };
    let thread = Thread { process: Some(process), ..Thread::main(trace.clone()) };
    let mut bytes = Vec::new();
    write(&[thread, Thread::named("worker-1", trace.clone())], &mut bytes, WriteOptions::default()).unwrap();
    let profile = read_any(&bytes[..], Hint::default(), &ReadOptions::default()).unwrap();
    assert_eq!(profile.format, Format::Otlp);
    let labels: Vec<_> = profile.threads.iter().map(|(thread, _)| thread.label().into_owned()).collect();
    assert_eq!(labels, ["a 7", "worker-1"]);
    for (thread, problems) in &profile.threads {
        assert!(problems.is_empty(), "{:?}", problems.list());
        assert_eq!(thread.time_origin, None);
        let sample = |sample: &selfprof_trace::Sample| (sample.timestamp, sample.marker);
        let samples = |trace: &selfprof_trace::Trace| trace.samples().iter().map(sample).collect::<Vec<_>>();
        assert_eq!(samples(&thread.trace), samples(&trace));
        let rows = |trace: &selfprof_trace::Trace| {
            let summary = Summary::of(trace);
            let row = |row: &selfprof_trace::summary::FunctionRow| {
                let frame = trace.frames()[row.frame];
                (
                    trace.names()[frame.name].to_owned(),
                    frame.line,
                    frame.column,
                    row.self_time,
                    row.total_time,
                )
            };
            let mut rows: Vec<_> = summary.functions.iter().map(row).collect();
            rows.sort();
            rows
        };
        assert_eq!(rows(&thread.trace), rows(&trace));
    }
}

/// The time at which an exporter began, in nanoseconds.
const START: u64 = 1_800_000_000_000_000_000;

/// A function `f` in a file, in stack 1.
fn dictionary() -> ProfilesDictionary {
    let strings =
        ["", "wall", "nanoseconds", "cpu", "samples", "count", "f", "f.js", "alloc_space", "thread.name"];
    ProfilesDictionary {
        string_table: strings.map(str::to_owned).to_vec(),
        function_table: vec![
            Function::default(),
            Function { name_strindex: 6, filename_strindex: 7, start_line: 3, ..Function::default() },
        ],
        location_table: vec![
            Location::default(),
            Location { lines: vec![Line { function_index: 1, line: 5, column: 2 }], ..Location::default() },
            Location { address: 0x1f, ..Location::default() },
        ],
        stack_table: vec![
            Stack::default(),
            Stack { location_indices: vec![1] },
            Stack { location_indices: vec![2, 1] },
        ],
        ..ProfilesDictionary::default()
    }
}

fn profile(kind: [i32; 2], samples: Vec<Sample>) -> Profile {
    let [type_strindex, unit_strindex] = kind;
    Profile {
        sample_type: Some(ValueType { type_strindex, unit_strindex }),
        period_type: Some(ValueType { type_strindex: 3, unit_strindex: 2 }),
        period: 10_000_000,
        time_unix_nano: START,
        samples,
        profile_id: vec![0xab; 16],
        ..Profile::default()
    }
}

fn sample(stack_index: i32, values: &[i64], times: &[u64]) -> Sample {
    let times = times.iter().map(|millis| START + millis * 1_000_000).collect();
    Sample { stack_index, values: values.to_vec(), timestamps_unix_nano: times, ..Sample::default() }
}

fn export(profiles: Vec<Profile>) -> Vec<u8> {
    let attribute = |key: &str, value: any_value::Value| KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue { value: Some(value) }),
        ..KeyValue::default()
    };
    let attributes = vec![
        attribute("service.name", any_value::Value::StringValue("shop".into())),
        attribute("process.pid", any_value::Value::IntValue(7)),
        attribute("list", any_value::Value::ArrayValue(Default::default())),
    ];
    let resource = Some(Resource { attributes, ..Resource::default() });
    let scope_profiles = vec![ScopeProfiles { profiles, ..ScopeProfiles::default() }];
    let resource_profiles =
        vec![ResourceProfiles { resource, scope_profiles, ..ResourceProfiles::default() }];
    ProfilesData { resource_profiles, dictionary: Some(dictionary()) }.encode_to_vec()
}

/// The times in milliseconds between the samples of each thread.
#[track_caller]
fn weights(profiles: Vec<Profile>) -> Vec<Vec<f64>> {
    let export = read_export(&export(profiles), &SMALL).unwrap();
    let weights = |thread: &ExportedThread| {
        thread.thread.trace.weights().iter().map(|weight| weight.as_millis_f64()).collect()
    };
    export.threads.iter().map(weights).collect()
}

const WALL: [i32; 2] = [1, 2];
const CPU: [i32; 2] = [3, 2];
const SAMPLES: [i32; 2] = [4, 5];
const MEMORY: [i32; 2] = [8, 5];

#[test]
fn values_are_times_and_timestamps_are_kept_if_they_explain_them() {
    const MS: i64 = 1_000_000;
    #[track_caller]
    fn check(kind: [i32; 2], samples: Vec<Sample>, expected: &[f64]) {
        assert_eq!(weights(vec![profile(kind, samples)]), [expected]);
    }
    check(
        WALL,
        vec![sample(1, &[10 * MS, 20 * MS], &[10, 30]), sample(0, &[10 * MS], &[40])],
        &[10.0, 20.0, 10.0],
    );
    // On a processor for 10 ms in each second.
    check(CPU, vec![sample(1, &[10 * MS, 10 * MS], &[1_000, 2_000])], &[10.0, 10.0]);
    check(CPU, vec![sample(1, &[30 * MS], &[])], &[10.0, 10.0, 10.0]);
    check(SAMPLES, vec![sample(1, &[2], &[]), sample(2, &[1], &[])], &[10.0, 10.0, 10.0]);
    // Timestamps without values are samples.
    check(SAMPLES, vec![sample(1, &[], &[10, 20, 500])], &[10.0, 10.0, 10.0]);
    check(WALL, vec![sample(1, &[-5], &[])], &[]);
}

#[test]
fn the_best_of_several_types_is_read() {
    let samples = || vec![sample(1, &[20_000_000], &[])];
    let read = |kinds: &[[i32; 2]]| {
        let profiles = kinds.iter().map(|&kind| profile(kind, samples())).collect();
        let export = read_export(&export(profiles), &SMALL).unwrap();
        (export.threads.len(), export.without_times)
    };
    assert_eq!(read(&[CPU, WALL, MEMORY]), (1, vec!["alloc_space".into()]));
    assert_eq!(read(&[CPU, CPU]), (2, vec![]));
    assert_eq!(read(&[MEMORY]), (0, vec!["alloc_space".into()]));
    let error = read_text(&export(vec![profile(MEMORY, vec![])]), &SMALL).unwrap_err();
    assert_eq!(error.to_string(), "this is an OTLP profile without times, of: alloc_space");
}

#[test]
fn functions_and_attributes_are_read() {
    let samples = vec![sample(2, &[10_000_000], &[10]), sample(2, &[10_000_000], &[20])];
    let export = read_export(&export(vec![profile(WALL, samples)]), &SMALL).unwrap();
    let [thread] = &export.threads[..] else { panic!("{export:?}") };
    assert_eq!(
        thread.resource,
        [("service.name".to_owned(), "shop".to_owned()), ("process.pid".to_owned(), "7".to_owned())]
    );
    assert_eq!(thread.id.as_deref(), Some("abababababababababababababababab"));
    assert_eq!(thread.thread.time_origin, Some(START as f64 / 1e6));
    let trace = &thread.thread.trace;
    let path = trace.path(trace.samples()[0].stack.unwrap()).map(|frame| {
        let frame = trace.frames()[frame];
        let line = frame.line.map_or(0, |line| line.get());
        format!("{}:{line}", &trace.names()[frame.name])
    });
    assert_eq!(path.collect::<Vec<_>>(), ["0x1f:0", "f:3"]);
}

#[test]
fn hostile_messages_are_errors_or_repaired() {
    // Indexes of nothing.
    let mut bad = profile(WALL, vec![sample(99, &[10_000_000], &[]), sample(-1, &[10_000_000], &[])]);
    bad.samples[0].attribute_indices = vec![99, -1];
    bad.attribute_indices = vec![5];
    let export_of = |profile: Profile| read_export(&export(vec![profile]), &SMALL);
    let read = export_of(bad).unwrap();
    assert_eq!((read.threads[0].thread.trace.samples().len(), read.threads[0].problems.total()), (2, 2));
    // Times that no clock shows.
    let huge = Sample {
        timestamps_unix_nano: vec![u64::MAX, 0],
        values: vec![i64::MAX, i64::MAX],
        ..sample(1, &[], &[])
    };
    assert!(export_of(profile(WALL, vec![huge])).unwrap().threads[0].thread.trace.samples().len() <= 100);
    let many = vec![sample(1, &[], &(0..101).collect::<Vec<_>>())];
    assert!(matches!(export_of(profile(WALL, many)), Err(ReadError::Limit(_))));
    // A stack of many functions.
    let mut dictionary = dictionary();
    dictionary.stack_table.push(Stack { location_indices: vec![1; 1_000] });
    let data = ProfilesData { dictionary: Some(dictionary), ..ProfilesData::default() };
    assert!(matches!(read_export(&data.encode_to_vec(), &SMALL), Err(ReadError::Limit(_))));
    // Many empty messages, on the outermost level and deep inside.
    assert!(matches!(read_export(&[0x0a, 0].repeat(100_000), &SMALL), Err(ReadError::Limit(_))));
    let dictionary = [&[0x12, 0xc0, 0x9a, 0x0c][..], &[0x2a, 0].repeat(100_000)].concat();
    assert!(matches!(read_export(&dictionary, &SMALL), Err(ReadError::Limit(_))));
    assert!(matches!(read_export(&[0x0a, 9, 1], &SMALL), Err(ReadError::Protobuf(..))));
    assert!(read_export(&[], &SMALL).unwrap().threads.is_empty());
}

/// The labels of each sample as text.
fn labels_of(trace: &selfprof_trace::Trace) -> Vec<String> {
    let set = |sample| trace.labels().and_then(|labels| labels.get(labels.of_sample(sample)?));
    let shown = |sample| {
        let labels = set(sample).into_iter().flat_map(LabelSet::iter);
        labels.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    };
    trace.samples().iter().map(shown).collect()
}

#[test]
fn labels_that_were_written_are_read() {
    let (mut trace, _) = w3c::read(MARKERS.as_bytes()).unwrap();
    let plain = trace.clone();
    let mut labels = selfprof_trace::Labels::default();
    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    let sets = [("/cart", "a", "00f067aa0ba902b7"), ("/", "b", "no span")].map(|(route, tenant, span)| {
        let names = ["http.route", "tenant", "trace_id", "span_id"];
        labels.set(LabelSet::new(names.into_iter().zip([route, tenant, TRACE, span]))).ok()
    });
    for (index, sample) in trace.samples().iter().enumerate().skip(2).step_by(3) {
        labels.change(sample.timestamp, if index % 4 == 0 { None } else { sets[index % 2] });
    }
    trace.set_labels(Some(labels));
    let threads = [Thread::named("worker-1", plain), Thread::main(trace.clone())];
    let mut bytes = Vec::new();
    write(&threads, &mut bytes, WriteOptions::default()).unwrap();
    let profile = read_any(&bytes[..], Hint::default(), &ReadOptions::default()).unwrap();
    let [(first, _), (second, _)] = &profile.threads[..] else { panic!("{} threads", profile.threads.len()) };
    assert!(first.trace.labels().is_none());
    assert_eq!(labels_of(&second.trace), labels_of(&trace));
    let expected = format!("http.route=/cart span_id=00f067aa0ba902b7 tenant=a trace_id={TRACE}");
    assert!(labels_of(&trace).contains(&expected));
    let data = ProfilesData::decode(&bytes[..]).unwrap();
    let samples = &data.resource_profiles[0].scope_profiles[0].profiles[1].samples;
    assert_eq!(data.dictionary.unwrap().link_table.len(), 2);
    assert!(samples.iter().any(|sample| sample.link_index == 1));
    assert!(samples.iter().any(|sample| sample.link_index == 0));
}

#[test]
fn attributes_of_samples_are_labels() {
    let long = "ä".repeat(300);
    let value = |value: any_value::Value| Some(AnyValue { value: Some(value) });
    let text = |text: &str| value(any_value::Value::StringValue(text.to_owned()));
    let mut tables = dictionary();
    let mut string = |text: &str| push(&mut tables.string_table, text.to_owned());
    let mut attribute = |key: &str, value: Option<AnyValue>, unit: &str| KeyValueAndUnit {
        key_strindex: string(key),
        value,
        unit_strindex: string(unit),
    };
    tables.attribute_table = vec![
        KeyValueAndUnit::default(),
        attribute("tenant", text("a"), ""),
        attribute("size", value(any_value::Value::IntValue(512)), "By"),
        attribute("thread.name", text(&long), ""),
        attribute("selfprof.marker", text("gc"), ""),
        attribute("list", value(any_value::Value::ArrayValue(Default::default())), ""),
        attribute(&long, text(&long), ""),
        attribute("of.profile", text("b"), ""),
    ];
    let first_of_many = tables.attribute_table.len() as i32;
    for name in 0..40 {
        let attribute = attribute(&format!("name{name:02}"), text("a"), "");
        tables.attribute_table.push(attribute);
    }
    let read = |samples: &[Vec<i32>], limits: Limits| {
        let with = |(number, indices): (usize, &Vec<i32>)| Sample {
            attribute_indices: indices.clone(),
            ..sample(1, &[10_000_000], &[10 + 10 * number as u64])
        };
        let samples = samples.iter().enumerate().map(with).collect();
        let profile = Profile { attribute_indices: vec![7], ..profile(WALL, samples) };
        let mut data = ProfilesData::decode(&export(vec![profile])[..]).unwrap();
        data.dictionary = Some(tables.clone());
        let bytes = data.encode_to_vec();
        let export = read_export(&bytes, &ReadOptions { limits, ..SMALL })?;
        Ok::<_, ReadError>(export.threads.into_iter().map(|thread| thread.thread).collect::<Vec<_>>())
    };
    let limits = Limits { text_bytes: 4_000, ..SMALL.limits };
    let threads = read(&[vec![1, 2, 4, 5, 99, -1], vec![], vec![2, 1], vec![6]], limits).unwrap();
    let cut = format!("{0}={0}", "ä".repeat(256));
    assert_eq!(labels_of(&threads[0].trace), ["size=512 By tenant=a", "", "size=512 By tenant=a", &cut]);
    assert_eq!(threads[0].trace.labels().unwrap().sets().len(), 2);
    assert_eq!(read(&[vec![3, 1]], limits).unwrap()[0].name, "ä".repeat(256));
    let many: Vec<i32> = (first_of_many..first_of_many + 40).collect();
    let threads = read(std::slice::from_ref(&many), limits).unwrap();
    assert_eq!(labels_of(&threads[0].trace)[0].split(' ').count(), 32);
    assert!(matches!(read(&[many], Limits { text_bytes: 100, ..limits }), Err(ReadError::Limit(_))));
}
