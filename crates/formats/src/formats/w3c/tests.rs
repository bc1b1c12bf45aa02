//! Real traces, invalid ones, and random ones.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use selfprof_trace::Trace;
use selfprof_trace::foreign::{Limits, Problem, Problems};
use selfprof_trace::testing::{parts, trace};
use selfprof_trace::{Entries, EntryType, Frame};
use serde_json::Value;

use super::*;
use crate::thread::Thread;

const SMALL: &str = include_str!("../../../fixtures/w3c/chromium-156-small.json");
const MARKERS: &str = include_str!("../../../fixtures/w3c/chromium-156-markers-isolated.json");

fn written(trace: &Trace, gzip: bool) -> Vec<u8> {
    let mut out = Vec::new();
    write(trace, &mut out, WriteOptions { gzip }).unwrap();
    out
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// A trace with these members; the required lists are empty unless given.
fn with(members: &str) -> String {
    let mut json = format!("{{{members}");
    for name in ["frames", "resources", "samples", "stacks"] {
        if !members.contains(&format!("\"{name}\":")) {
            json += &format!(",\"{name}\":[]");
        }
    }
    json.replace("{,", "{") + "}"
}

/// The main thread of a file, with what selfprof's own members say of it.
fn read_main(json: &str) -> (Thread, Problems) {
    read_threads(json.as_bytes(), &ReadOptions::default()).unwrap().swap_remove(0)
}

/// A trace whose samples have their stacks spelled out as lists of frame ids, leaf first.
///
/// Stack ids cannot be compared, because Chromium stores some stacks twice.
fn spelled(json: &str) -> Value {
    let mut trace: Value = serde_json::from_str(json).unwrap();
    let stacks = trace.as_object_mut().unwrap().remove("stacks").unwrap();
    for sample in trace["samples"].as_array_mut().unwrap() {
        let parent_of = |id: &Value| stacks[id.as_u64()? as usize].get("parentId").cloned();
        let path = std::iter::successors(sample.get("stackId").cloned(), parent_of)
            .map(|id| stacks[id.as_u64().unwrap() as usize]["frameId"].clone());
        sample["stackId"] = path.collect();
        // The doubles have noise below a microsecond.
        sample["timestamp"] = ((sample["timestamp"].as_f64().unwrap() * 1000.0).round() as u64).into();
    }
    trace
}

#[test]
fn chromium_traces_are_written_as_they_were_read() {
    #[track_caller]
    fn check(json: &str, [frames, stacks, samples]: [usize; 3]) {
        let (trace, problems) = read(json.as_bytes()).unwrap();
        assert_eq!(problems.list(), []);
        let lengths = [trace.frames().len(), trace.stacks().len(), trace.samples().len()];
        assert_eq!(lengths, [frames, stacks, samples]);
        let written = String::from_utf8(written(&trace, false)).unwrap();
        assert!(spelled(&written) == spelled(json), "{written}");
    }
    check(SMALL, [12, 19, 100]);
    check(MARKERS, [10, 28, 245]);
}

#[test]
fn absent_members_stay_absent() {
    let json = with(
        r#""frames":[{"name":"a\"b"}],"resources":["r"],"samples":[{"timestamp":1.25},{"stackId":0,"timestamp":2}],"stacks":[{"frameId":0}]"#,
    );
    let (trace, problems) = read(json.as_bytes()).unwrap();
    assert!(problems.is_empty());
    assert_eq!(String::from_utf8(written(&trace, false)).unwrap(), json);
}

#[test]
fn wrapped_and_gzipped_traces_are_read() {
    #[track_caller]
    fn check(input: &[u8]) {
        let (trace, problems) = read(input).unwrap();
        assert_eq!((trace.samples().len(), problems.total()), (100, 0));
    }
    let envelope = format!("{{\"page\":{{\"trace\":1}},\"trace\":{SMALL},\"tags\":[]}}");
    check(SMALL.as_bytes());
    check(envelope.as_bytes());
    check(&gzip(SMALL.as_bytes()));
    check(&gzip(envelope.as_bytes()));
    let (first, second) = SMALL.as_bytes().split_at(SMALL.len() / 2);
    check(&[gzip(first), gzip(second)].concat());
}

#[test]
fn invalid_data_is_repaired() {
    #[track_caller]
    fn check(members: &str, expected: &[&str]) {
        let (_, problems) = read(with(members).as_bytes()).unwrap();
        let problems: Vec<_> = problems.list().iter().map(Problem::to_string).collect();
        assert_eq!(problems, expected);
    }
    check("", &[]);
    check(r#""samples":[{"timestamp":0,"stackId":null,"marker":null,"extra":{"deep":[1]}}]"#, &[]);
    check(
        r#""samples":[{"timestamp":null}]"#,
        &["samples[0].timestamp is NaN, which is not a valid timestamp: the sample is dropped"],
    );
    check(
        r#""samples":[{"timestamp":0,"marker":"compiler"}]"#,
        &["samples[0].marker is not a known marker: it is replaced by `other`"],
    );
    check(
        r#""stacks":[{"parentId":0}]"#,
        &[
            "stacks[0].parentId is 0, which makes the stack its own ancestor: the stack is kept without a parent",
            "stacks[0].frameId is NaN, which is not the id of an entry: the stack is replaced by its parent",
        ],
    );
}

#[test]
fn entries_are_written_as_they_were_read() {
    #[track_caller]
    fn check(members: &str) {
        let json = with(members);
        let (trace, problems) = read(json.as_bytes()).unwrap();
        assert_eq!(problems.list(), []);
        assert!(trace.entries().is_some());
        assert_eq!(String::from_utf8(written(&trace, false)).unwrap(), json);
    }
    let empty = r#""frames":[],"resources":[],"samples":[],"stacks":[]"#;
    check(&format!(r#""entries":[],{empty}"#));
    check(&format!(r#""droppedEntriesCount":12,"entries":[],{empty}"#));
    check(&format!(
        r#""entries":[{{"duration":0.1,"entryType":"measure","name":"a\"\u0000ü","startTime":-1e-7}},{{"duration":0,"entryType":"mark","name":"","startTime":1.23456789}},{{"duration":-5,"entryType":"measure","name":"","startTime":1e+21}}],{empty}"#
    ));
}

/// A thread's name, its process (the ids and the command) and the number of its frames.
type Described<'a> = (&'a str, Option<(u32, u64, &'a str)>, usize);

#[test]
fn foreign_threads_are_read_as_far_as_they_are_valid() {
    #[track_caller]
    fn check(json: &str, expected: &[Described<'_>], problems: &[&str]) {
        let threads = read_threads(json.as_bytes(), &ReadOptions::default()).unwrap();
        let all: Vec<String> = threads
            .iter()
            .flat_map(|(_, problems)| problems.list().iter().map(ToString::to_string))
            .collect();
        assert_eq!(all, problems);
        let found: Vec<_> = threads
            .iter()
            .map(|(Thread { name, process, trace, .. }, _)| {
                let process = process.as_ref().map(|process| (process.pid, process.tid, &*process.command));
                (&**name, process, trace.frames().len())
            })
            .collect();
        assert_eq!(found, expected);
    }
    // A trace without data that has these members.
    let with = |members: &str| with("").replace('}', &format!(",{members}}}")).replace(",}", "}");
    let main = ("main-thread", None, 0);
    let lists = r#""frames":[{"name":""}],"resources":[],"samples":[],"stacks":[]"#;
    check(&with(""), &[main], &[]);
    check(&with(r#""thread":null,"threads":null"#), &[main], &[]);
    check(
        &with(r#""thread":{"pid":4294967295,"tid":9,"name":"\ud800","command":"c","x":[{}]}"#),
        &[("\u{FFFD}", Some((u32::MAX, 9, "c")), 0)],
        &[],
    );
    check(
        &with(r#""thread":{"pid":4294967296,"tid":-1,"name":[],"command":{"a":1}},"threads":[]"#),
        &[main],
        &[],
    );
    for something in ["7", "-7", "0.5", "true", "\"x\"", "{\"a\":[1]}"] {
        let json = with(&format!(r#""thread":{something},"threads":{something}"#));
        check(&json, &[main], &["threads is not a list of threads: it is ignored"]);
    }
    check(
        &with(&format!(
            r#""threads":[{{{lists},"thread":{{"pid":7}}}},7,null,[],{{"frames":[]}},{{{lists},"threads":[{{{lists}}}]}}]"#
        )),
        &[main, ("thread", Some((7, 0, "")), 1), ("thread", None, 1)],
        &[1, 2, 3, 4]
            .map(|index| format!("threads[{index}] is not a trace: the thread is dropped"))
            .each_ref()
            .map(|text| &**text),
    );
    // A thread has problems of its own.
    check(
        &with(r#""threads":[{"frames":[],"resources":[],"samples":[],"stacks":[{"frameId":0}]}]"#),
        &[main, ("thread", None, 0)],
        &["stacks[0].frameId is 0, which is not the id of an entry: the stack is replaced by its parent"],
    );
    // Beside a wrapped trace, members of these names may be anything.
    let trace = with(r#""thread":{"name":"inner"}"#);
    check(
        &format!(
            r#"{{"thread":{{"name":"outer"}},"threads":[1],"trace":{trace},"threads":[2],"thread":{{"name":"outer"}}}}"#
        ),
        &[("inner", None, 0)],
        &[],
    );
}

#[test]
fn limits_apply_to_each_thread() {
    let empty = r#""frames":[],"resources":[],"samples":[],"stacks":[]"#;
    let with = |members: &str| format!("{{{empty},{members}}}");
    let json = with(r#""threads":[{"samples":[{"timestamp":0},{"timestamp":1}]}]"#);
    let limits =
        |samples| ReadOptions { limits: Limits { samples, ..Limits::default() }, ..ReadOptions::default() };
    read_threads(json.as_bytes(), &limits(2)).unwrap();
    let error = read_threads(json.as_bytes(), &limits(1)).unwrap_err();
    assert_eq!(error.to_string(), "the trace is too large");
    // Reading the main thread alone skips the others.
    assert!(read_with(json.as_bytes(), &limits(1)).is_ok());
    let many = with(&format!(r#""threads":[{}0]"#, "0,".repeat(1 << 17)));
    assert_eq!(read_threads(many.as_bytes(), &limits(1)).unwrap_err().to_string(), "the trace is too large");
}

#[test]
fn foreign_entries_are_read_as_far_as_they_are_valid() {
    /// `expected` has the types, names and times of the valid entries.
    #[track_caller]
    fn check(json: &str, expected: Option<&[(EntryType, &str, f64)]>, problems: &[&str]) {
        let (trace, found) = read(json.as_bytes()).unwrap();
        let found: Vec<_> = found.list().iter().map(Problem::to_string).collect();
        assert_eq!(found, problems);
        let spell = |entries: &Entries| -> Vec<(EntryType, String, f64)> {
            let name = |entry: &selfprof_trace::Entry| entries.names()[entry.name].to_owned();
            entries
                .list()
                .iter()
                .map(|entry| (entry.entry_type, name(entry), entry.start_time.get()))
                .collect()
        };
        let expected =
            expected.map(|list| list.iter().map(|&(kind, name, time)| (kind, name.to_owned(), time)));
        assert_eq!(trace.entries().map(spell), expected.map(Iterator::collect));
    }
    let left_out = "neither `mark` nor `measure`: the entry is dropped";
    let mark = r#"{"name":"a","entryType":"mark","startTime":1,"duration":0,"detail":{"deep":[null]}}"#;
    check(&with(""), None, &[]);
    check(&with(r#""entries":null"#), None, &[]);
    check(&with(&format!(r#""entries":[{mark}]"#)), Some(&[(EntryType::Mark, "a", 1.0)]), &[]);
    check(
        &with(r#""entries":[{"entryType":"mark","name":"a\ud83db\ude00","startTime":1e0}]"#),
        Some(&[(EntryType::Mark, "a\u{FFFD}b\u{FFFD}", 1.0)]),
        &[],
    );
    check(
        &with(&format!(r#""entries":[7,null,[],"x",{{}},{{"entryType":"gc"}},{{"entryType":[1]}},{mark}]"#)),
        Some(&[(EntryType::Mark, "a", 1.0)]),
        &[0, 1, 2, 3, 4, 5, 6]
            .map(|index| format!("entries[{index}].entryType is {left_out}"))
            .each_ref()
            .map(|text| &**text),
    );
    check(
        &with(
            r#""entries":[{"entryType":"mark","name":7},{"entryType":"mark","name":"a","startTime":"1"},{"entryType":"mark","name":"a","startTime":1e999},{"entryType":"mark","name":"a","startTime":-1},{"entryType":"measure","name":"a","startTime":1,"duration":null}]"#,
        ),
        Some(&[]),
        &[
            "entries[0].name is not a string: the entry is dropped",
            "entries[1].startTime is not a number of milliseconds: the entry is dropped",
            "entries[2].startTime is not a number of milliseconds: the entry is dropped",
            "entries[3].startTime is -1, which is not a valid timestamp: the entry is dropped",
            "entries[4].duration is not a number of milliseconds: the entry is dropped",
        ],
    );
    for something in ["{\"mark\":[1]}", "7", "-7", "0.5", "true", "\"x\""] {
        let problem = "entries is not a list of entries: it is ignored";
        check(&with(&format!(r#""entries":{something}"#)), Some(&[]), &[problem]);
    }
    for (count, shown) in [("-1", "-1"), ("0.5", "0.5"), ("\"7\"", "NaN"), ("null", "NaN"), ("1e99", "1e99")]
    {
        let shown = shown.parse::<f64>().unwrap();
        let problem =
            format!("droppedEntriesCount is {shown}, which is not a number of entries: it is ignored");
        check(&with(&format!(r#""droppedEntriesCount":{count}"#)), Some(&[]), &[&problem]);
    }
    // Beside a wrapped trace, a member of this name may be anything, e.g. all performance entries of a page.
    let trace = with(&format!(r#""entries":[{mark}]"#));
    let envelope = format!(
        r#"{{"entries":[8],"droppedEntriesCount":"x","trace":{trace},"entries":[9],"droppedEntriesCount":[]}}"#
    );
    check(&envelope, Some(&[(EntryType::Mark, "a", 1.0)]), &[]);
}

#[test]
fn source_maps_are_written_as_they_were_read() {
    let json = r#"{"frames":[],"resources":["a.js","b.js"],"samples":[],"sourceMaps":[{"map":{"version":3,"x":[{}]},"resourceId":1},{"map":{},"resourceId":0}],"stacks":[]}"#;
    let (mut thread, problems) = read_main(json);
    assert_eq!(problems.list(), []);
    let mut written = Vec::new();
    write_threads(std::slice::from_ref(&thread), &mut written, WriteOptions::default()).unwrap();
    assert_eq!(String::from_utf8(written).unwrap(), json);
    // Maps of scripts that are not in the trace are left out.
    thread.source_maps.iter_mut().for_each(|map| map.resource += "x");
    let mut written = Vec::new();
    write_threads(std::slice::from_ref(&thread), &mut written, WriteOptions::default()).unwrap();
    assert!(read(&written[..]).unwrap().1.is_empty());
}

#[test]
fn foreign_source_maps_are_read_as_far_as_they_are_valid() {
    /// `expected` has the resources and maps.
    #[track_caller]
    fn check(json: &str, expected: &[(&str, &str)], problems: &[&str]) {
        let (thread, found) = read_main(json);
        let maps = thread.source_maps.iter().map(|map| (&*map.resource, &*map.json));
        assert_eq!(maps.collect::<Vec<_>>(), expected);
        assert_eq!(found.list().iter().map(Problem::to_string).collect::<Vec<_>>(), problems);
    }
    let maps = |maps: &str| with(&format!(r#""resources":["a","b","a"],"sourceMaps":{maps}"#));
    check(&maps("null"), &[], &[]);
    check(&maps("[]"), &[], &[]);
    // The list of resources may follow.
    check(
        &with(r#""sourceMaps":[{"resourceId":0,"map":{"a": 1}}],"resources":["a"]"#),
        &[("a", r#"{"a": 1}"#)],
        &[],
    );
    for something in ["7", "-1", "1.5", "true", "\"x\"", "{\"a\":{}}"] {
        check(&maps(something), &[], &["sourceMaps is not a list of source maps: it is ignored"]);
    }
    let dangling = |id: &str| {
        format!(
            "sourceMaps[0].resourceId is {id}, which is not the id of an entry: the source map is ignored"
        )
    };
    for (id, shown) in
        [("-1", "-1"), ("0.5", "0.5"), ("3", "3"), ("null", "NaN"), ("1e999", "inf"), ("\"0\"", "NaN")]
    {
        // Numbers that JSON cannot hold make the element unreadable.
        let shown = if id == "1e999" { "NaN" } else { shown };
        check(&maps(&format!(r#"[{{"resourceId":{id},"map":{{}}}}]"#)), &[], &[&dangling(shown)]);
    }
    for element in ["7", "[]", "null", "{}", r#"{"map":{}}"#] {
        check(&maps(&format!("[{element}]")), &[], &[&dangling("NaN")]);
    }
    for map in ["7", "[]", "null", "\"{}\""] {
        let problem = "sourceMaps[0].map is not a source map: the source map is ignored";
        check(&maps(&format!(r#"[{{"resourceId":0,"map":{map}}}]"#)), &[], &[problem]);
    }
    check(
        &maps(r#"[{"resourceId":2,"map":{}},{"resourceId":0,"map":{"version":3}}]"#),
        &[("a", "{}")],
        &[
            "sourceMaps[1].resourceId is 0, which is already the id of another entry: the source map is ignored",
        ],
    );
    // Beside a wrapped trace, a member of this name may be anything.
    let trace = maps(r#"[{"resourceId":1,"map":{}}]"#);
    check(&format!(r#"{{"sourceMaps":7,"trace":{trace},"sourceMaps":[8]}}"#), &[("b", "{}")], &[]);
}

#[test]
fn evaluated_functions_have_only_a_name_in_the_standard() {
    let json = r#"{"evaluated":[{"column":14,"frameId":0,"line":3,"scriptId":230},{"frameId":2,"scriptId":231}],"frames":[{"name":"a"},{"column":1,"line":1,"name":"a","resourceId":0},{"name":"a"},{"name":"a"}],"resources":["a.js"],"samples":[],"sourceMaps":[{"map":{},"resourceId":0}],"stacks":[]}"#;
    let (thread, problems) = read_main(json);
    assert_eq!(problems.list(), []);
    let trace = &thread.trace;
    let scripts: Vec<_> = trace.frames().iter().map(|(id, _)| trace.evaluated_script(id)).collect();
    assert_eq!(scripts, [Some(230), None, Some(231), None]);
    let position = trace.frames().iter().next().unwrap().1.position().unwrap();
    assert_eq!((position.line.get(), position.column.get()), (3, 14));
    let mut written = Vec::new();
    write_threads(std::slice::from_ref(&thread), &mut written, WriteOptions::default()).unwrap();
    assert_eq!(String::from_utf8(written).unwrap(), json);
}

#[test]
fn foreign_evaluated_functions_are_read_as_far_as_they_are_valid() {
    #[track_caller]
    fn check(evaluated: &str, expected: &[&str], problems: &[&str]) {
        let json = with(&format!(
            r#""evaluated":{evaluated},"frames":[{{"name":""}},{{"name":"","resourceId":0}}],"resources":["a.js"]"#
        ));
        let (trace, found) = read(json.as_bytes()).unwrap();
        let resource = |frame: Frame| frame.resource.map_or("", |id| &trace.resources()[id]).to_owned();
        assert_eq!(trace.frames().iter().map(|(_, frame)| resource(frame)).collect::<Vec<_>>(), expected);
        assert_eq!(found.list().iter().map(Problem::to_string).collect::<Vec<_>>(), problems);
    }
    check("null", &["", "a.js"], &[]);
    check("{}", &["", "a.js"], &["evaluated is not a list of evaluated functions: it is ignored"]);
    check(r#"[{"frameId":0,"scriptId":4294967295}]"#, &["(eval 4294967295)", "a.js"], &[]);
    check(
        r#"[{"frameId":0,"scriptId":7,"line":0,"column":2}]"#,
        &["(eval 7)", "a.js"],
        &["frames[0].line is 0, which is not a 1-based line or column: the frame is kept without it"],
    );
    for bad in ["0.5", "-1", "2"] {
        let problem =
            format!("evaluated[0].frameId is {bad}, which is not the id of an entry: it is ignored");
        check(&format!(r#"[{{"frameId":{bad},"scriptId":7}}]"#), &["", "a.js"], &[&problem]);
    }
    let problem = "evaluated[0].frameId is NaN, which is not the id of an entry: it is ignored";
    for bad in ["7", "[]", "{}", r#"{"frameId":"0","scriptId":1}"#] {
        check(&format!("[{bad}]"), &["", "a.js"], &[problem]);
    }
    for script in ["0", "-1", "0.5", "4294967296"] {
        let problem = "evaluated[0].frameId is 0, which is not the id of an entry: it is ignored";
        check(&format!(r#"[{{"frameId":0,"scriptId":{script}}}]"#), &["", "a.js"], &[problem]);
    }
    let problem = "evaluated[0].frameId is 1, which is already the id of another entry: it is ignored";
    check(r#"[{"frameId":1,"scriptId":7}]"#, &["", "a.js"], &[problem]);
}

#[test]
fn lone_surrogates_are_replaced() {
    #[track_caller]
    fn check(json: &str, expected: &str) {
        let json = with(&format!(r#""frames":[{{"name":"{json}"}}]"#));
        let (trace, _) = read(json.as_bytes()).unwrap();
        assert_eq!(trace.names().iter().next().unwrap().1, expected);
    }
    check("plain", "plain");
    check(r"\ud83d\ude00 ü", "😀 ü");
    check(r"a\ud83db", "a\u{FFFD}b");
    check(r"\ude00\ud83d", "\u{FFFD}\u{FFFD}");
}

#[test]
fn errors_describe_the_cause() {
    #[track_caller]
    fn check(input: &[u8], expected: &str) {
        let error = read(input).unwrap_err();
        let source = std::error::Error::source(&error).unwrap();
        let message = format!("{error}: {source}");
        assert_eq!(message.split(" at line ").next(), Some(expected));
    }
    check(b"", "the trace is not JSON: EOF while parsing a value");
    check(b"hello", "the trace is not JSON: expected value");
    check(b"[]", "the JSON is not a ProfilerTrace: invalid type: sequence, expected a ProfilerTrace");
    check(b"{}", "the JSON is not a ProfilerTrace: missing field `frames`");
    check(br#"{"trace":{"frames":[]}}"#, "the JSON is not a ProfilerTrace: missing field `resources`");
    check(br#"{"frames":[],"frames":[]}"#, "the JSON is not a ProfilerTrace: duplicate field `frames`");
    check(
        with(r#""frames":[{"name":7}]"#).as_bytes(),
        "the JSON is not a ProfilerTrace: invalid type: integer `7`, expected a string",
    );
    check((with("") + "x").as_bytes(), "the trace is not JSON: trailing characters");
    check(&gzip(SMALL.as_bytes())[..100], "cannot read the trace: incomplete deflate stream");
}

#[test]
fn size_is_bounded() {
    #[track_caller]
    fn check(input: &[u8], options: ReadOptions, expected: Option<&str>) {
        let error = read_with(input, &options).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), expected);
    }
    let bytes = |max_bytes| ReadOptions { max_bytes, ..ReadOptions::default() };
    let length = SMALL.len() as u64;
    check(SMALL.as_bytes(), bytes(length), None);
    check(SMALL.as_bytes(), bytes(length - 1), Some("the trace is too long"));
    check(&gzip(SMALL.as_bytes()), bytes(length), None);
    check(&gzip(SMALL.as_bytes()), bytes(length - 1), Some("the trace is too long"));
    let limits = |samples| ReadOptions { limits: Limits { samples, ..Limits::default() }, ..bytes(length) };
    check(SMALL.as_bytes(), limits(100), None);
    check(SMALL.as_bytes(), limits(99), Some("the trace is too large"));
    let limits = |entries| ReadOptions { limits: Limits { entries, ..Limits::default() }, ..bytes(length) };
    check(with(r#""entries":[1,2]"#).as_bytes(), limits(2), None);
    check(with(r#""entries":[1,2]"#).as_bytes(), limits(1), Some("the trace is too large"));
    let limits =
        |text_bytes| ReadOptions { limits: Limits { text_bytes, ..Limits::default() }, ..bytes(length) };
    check(with(r#""sourceMaps":["12345","67"]"#).as_bytes(), limits(11), None);
    check(with(r#""sourceMaps":["12345","67"]"#).as_bytes(), limits(10), Some("the trace is too large"));
}

#[test]
fn depth_is_bounded() {
    for member in ["frames", "entries", "droppedEntriesCount", "sourceMaps", "evaluated"] {
        let deep = with(&format!("\"{member}\":{}", "[".repeat(1_000_000)));
        assert!(matches!(read(deep.as_bytes()), Err(ReadError::Json(..))));
    }
}

proptest! {
    #[test]
    fn written_traces_are_read_back(trace in trace(), gzip in any::<bool>()) {
        let (back, problems) = read(&written(&trace, gzip)[..]).unwrap();
        prop_assert_eq!(problems.list(), []);
        // Both traces have their names in the order of the frames.
        prop_assert_eq!(parts(&back), parts(&trace));
    }

    #[test]
    fn damaged_text_never_panics(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut json = MARKERS.as_bytes().to_vec();
        let at = at.index(json.len());
        json[at] = byte;
        let _ = read(&json[..]);
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes[..]);
    }
}

#[test]
fn waiting_times_are_written_as_they_were_read() {
    let json = with(r#""waitingTimes":{"timestamps":[0.5,10,12.25],"values":[0,7.125,7.125]}"#);
    let (thread, problems) = read_main(&json);
    assert!(problems.is_empty());
    let points: Vec<(u64, u64)> = thread
        .trace
        .waiting()
        .unwrap()
        .points()
        .iter()
        .map(|point| (point.timestamp.0, point.waited.0))
        .collect();
    assert_eq!(points, [(500, 0), (10_000, 7125), (12_250, 7125)]);
    let text = String::from_utf8(written(&thread.trace, false)).unwrap();
    let list = r#","waitingTimes":{"timestamps":[0.5,10,12.25],"values":[0,7.125,7.125]}}"#;
    assert!(text.ends_with(list), "{text}");
}

#[test]
fn labels_are_written_as_they_were_read() {
    let members = r#""labels":[{"http.route":"/cart","tenant":"a"},{"http.route":"/"}],"resources":[],"samples":[{"marker":"gc","timestamp":1},{"labelsId":0,"marker":"gc","timestamp":2},{"labelsId":0,"marker":"gc","timestamp":3},{"labelsId":1,"marker":"gc","timestamp":4},{"marker":"gc","timestamp":5}]"#;
    let (thread, problems) = read_main(&with(members));
    assert!(problems.is_empty());
    let text = String::from_utf8(written(&thread.trace, false)).unwrap();
    assert!(text.contains(members), "{text}");
}

#[test]
fn foreign_labels_are_ignored_if_they_are_not_valid() {
    #[track_caller]
    fn check(labels: &str, labels_id: &str, expected: &str, problem: Option<&str>) {
        let samples = format!(
            r#"[{{"timestamp":1,"marker":"gc","labelsId":{labels_id}}},{{"timestamp":2,"marker":"gc","labelsId":0}}]"#
        );
        let (thread, problems) = read_main(&with(&format!(r#""labels":{labels},"samples":{samples}"#)));
        let problems: Vec<_> = problems.list().iter().map(Problem::to_string).collect();
        assert_eq!(problems, problem.into_iter().collect::<Vec<_>>());
        let text = |sample: &selfprof_trace::Sample| {
            let labels = thread.trace.labels()?;
            Some(labels.get(labels.of_sample(sample)?)?.iter().next()?.1.to_owned())
        };
        let found: Vec<_> =
            thread.trace.samples().iter().map(text).map(|text| text.unwrap_or_default()).collect();
        assert_eq!(found.join(" "), expected);
    }
    check(r#"[{"a":"x"},{"a":"y"}]"#, "1", "y x", None);
    check("null", "1", " ", None);
    let unreadable = "labels is not a list of objects whose members are strings: it is ignored";
    for labels in ["7", "{}", "[1]", r#"[{"a":1}]"#, r#"["x"]"#] {
        check(labels, "0", " ", Some(unreadable));
    }
    let dangling =
        |id| format!("labelsId is {id}, which is not the id of an entry: the sample is kept without labels");
    for id in ["1", "-1", "0.5", "1e300"] {
        check(r#"[{"a":"x"}]"#, id, " x", Some(&dangling(id.parse::<f64>().unwrap())));
    }
    for id in ["null", "\"0\"", "{}"] {
        check(r#"[{"a":"x"}]"#, id, " x", None);
    }
}

#[test]
fn foreign_waiting_times_are_ignored_if_they_are_not_valid() {
    #[track_caller]
    fn check(value: &str, is_valid: bool) {
        let (thread, problems) = read_main(&with(&format!(r#""waitingTimes":{value}"#)));
        let problems: Vec<_> = problems.list().iter().map(Problem::to_string).collect();
        let expected: &[&str] = match is_valid {
            true => &[],
            false => &["waitingTimes is not two lists of increasing times: it is ignored"],
        };
        assert_eq!(problems, expected);
        assert_eq!(thread.trace.waiting().is_some(), is_valid && value != "null");
    }
    check("null", true);
    check(r#"{"timestamps":[],"values":[]}"#, true);
    check(r#"{"timestamps":[5,5],"values":[2,2]}"#, true);
    for value in ["7", "[1,2]", "\"x\"", "true", "{}", r#"{"timestamps":[1]}"#] {
        check(value, false);
    }
    let lists =
        |timestamps: &str, values: &str| format!(r#"{{"timestamps":[{timestamps}],"values":[{values}]}}"#);
    check(&lists("1", "0,0"), false);
    check(&lists("null", "0"), false);
    check(&lists("\"1\"", "0"), false);
    check(&lists("-1", "0"), false);
    check(&lists("1e999", "0"), false);
    check(&lists("1e300", "0"), false);
    check(&lists("2,1", "0,0"), false);
    check(&lists("1,2", "1,0"), false);
    // It cannot wait longer than time passes.
    check(&lists("1,2", "0,1.5"), false);
}

#[test]
fn too_many_waiting_times_are_an_error() {
    let options =
        ReadOptions { limits: Limits { samples: 2, ..Limits::default() }, ..ReadOptions::default() };
    let read = |members: &str| read_with(with(members).as_bytes(), &options).map(|_| ());
    assert!(read(r#""waitingTimes":{"timestamps":[1,2],"values":[0,0]}"#).is_ok());
    let error = read(r#""waitingTimes":{"timestamps":[1,2,3],"values":[0,0,0]}"#).unwrap_err();
    assert!(matches!(error, ReadError::Limit(_)), "{error:?}");
}

#[test]
fn time_origins_are_read_as_they_were_written() {
    #[track_caller]
    fn check(value: &str, expected: Option<f64>) {
        let json = with("").replace('}', &format!(r#","thread":{{"name":"a","timeOrigin":{value}}}}}"#));
        let (thread, _) = read_main(&json);
        assert_eq!(thread.time_origin, expected);
        if expected.is_some() {
            let mut out = Vec::new();
            write_threads(&[thread], &mut out, WriteOptions::default()).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), json);
        }
    }
    check("1700000000000.5", Some(1_700_000_000_000.5));
    for value in ["null", "-1", "1e999", "1e300", "\"1\"", "[]"] {
        check(value, None);
    }
}

#[test]
fn calls_are_written_as_they_were_read() {
    let members = r#""calls":{"end":9,"frameIds":[1,0,0,0],"start":1.5,"timestamps":[2,2,3.25,4],"truncated":true,"types":[1,0,2,3]},"frames":[{"name":"f"},{"name":"g"}]"#;
    let (thread, problems) = read_main(&with(members));
    assert!(problems.is_empty());
    assert_eq!(thread.trace.calls().unwrap().events().len(), 4);
    let text = String::from_utf8(written(&thread.trace, false)).unwrap();
    assert!(text.starts_with(&format!("{{{members}")), "{text}");
    // In the trace inside of another object, as for other members of selfprof's own.
    let inner = with(members);
    let (thread, _) = read_main(&format!(r#"{{"calls":7,"trace":{inner},"calls":8}}"#));
    assert_eq!(thread.trace.calls().unwrap().events().len(), 4);
}

#[test]
fn foreign_calls_are_read_as_far_as_they_are_valid() {
    #[track_caller]
    fn check(calls: &str, events: Option<usize>, expected: &[&str]) {
        let (thread, problems) =
            read_main(&with(&format!(r#""calls":{calls},"frames":[{{"name":"f"}},{{"name":"g"}}]"#)));
        let problems: Vec<_> = problems.list().iter().map(Problem::to_string).collect();
        assert_eq!(problems, expected, "{calls}");
        assert_eq!(thread.trace.calls().map(|calls| calls.events().len()), events, "{calls}");
        let mut trace = thread.trace;
        trace.add_call_samples().unwrap();
        assert!(trace.samples().is_sorted_by_key(|sample| sample.timestamp));
    }
    const SHAPE: &str = "calls is not a start, an end and three lists of one length: it is ignored";
    for calls in
        ["7", "[]", "\"x\"", "{}", r#"{"start":1,"end":2,"types":[0],"frameIds":[],"timestamps":[1]}"#]
    {
        check(calls, None, &[SHAPE]);
    }
    check("null", None, &[]);
    let lists = |start: &str, end: &str, types: &str, ids: &str, times: &str| {
        format!(
            r#"{{"start":{start},"end":{end},"types":[{types}],"frameIds":[{ids}],"timestamps":[{times}]}}"#
        )
    };
    check(&lists("1", "2", "", "", ""), Some(0), &[]);
    check(
        &lists("-1", "2", "0", "0", "1"),
        None,
        &["calls.start is -1, which is not a valid timestamp: the calls are ignored"],
    );
    check(
        &lists("1", "0.5", "0", "0", "1"),
        Some(1),
        &["calls.end is 0.5, which is earlier than the previous one: the time of the event before is used"],
    );
    check(
        &lists("1", "9", "0,4,0.5,-1", "0,0,0,0", "1,2,3,4"),
        Some(1),
        &[
            "calls.types[1] is 4, which is not a type of event: the event is dropped",
            "calls.types[2] is 0.5, which is not a type of event: the event is dropped",
            "calls.types[3] is -1, which is not a type of event: the event is dropped",
        ],
    );
    check(
        &lists("1", "9", "0,0,0", "0,2,1e99", "1,2,3"),
        Some(1),
        &[
            "calls.frameIds[1] is 2, which is not the id of an entry: the event is dropped",
            "calls.frameIds[2] is 1000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000, \
             which is not the id of an entry: the event is dropped",
        ],
    );
    check(
        &lists("1", "9", "0,0,0", "0,0,0", "3,2,-1"),
        Some(2),
        &[
            "calls.timestamps[1] is 2, which is earlier than the previous one: the time of the event before is used",
            "calls.timestamps[2] is -1, which is not a valid timestamp: the event is dropped",
        ],
    );
    check(
        &lists("1", "9", "0,0,1,1", "0,1,0,1", "1,2,3,4"),
        Some(5),
        &["calls.frameIds[2] is 0, which ends before functions that it has called: they end with it"],
    );
    check(
        &lists("1", "9", "0,1,1", "0,1,0", "1,2,3"),
        Some(2),
        &["calls.frameIds[1] is 1, which ends without running: the event is dropped"],
    );
    // As many as there may be samples.
    let many = |count: usize| {
        let list = |value: &str| vec![value; count].join(",");
        with(&format!(
            r#""calls":{},"frames":[{{"name":"f"}}]"#,
            lists("1", "2", &list("0"), &list("0"), &list("1"))
        ))
    };
    let options =
        ReadOptions { limits: Limits { samples: 3, ..Limits::default() }, ..ReadOptions::default() };
    assert!(read_with(many(3).as_bytes(), &options).is_ok());
    let error = read_with(many(4).as_bytes(), &options).unwrap_err();
    let ReadError::Limit(limit) = error else { panic!("{error}") };
    assert_eq!(limit.to_string(), "the trace has more than 3 events of calls");
}
