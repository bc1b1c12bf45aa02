//! Complete journals, and those that killed processes leave behind.

use std::io::{self, Cursor, Write};

use proptest::prelude::*;
use selfprof_trace::testing::{Parts, parts, trace};
use selfprof_trace::{
    Entries, Entry, EntryType, Frame, LabelSet, Marker, Micros, Millis, Sample, Stack, Trace, WaitingPoint,
};

use super::*;

fn header() -> Header {
    Header {
        pid: 7,
        thread_id: 0,
        interval: Micros(1000),
        mode: Mode::Eager,
        time_origin_ms: 1_700_000_000_000.5,
        node: "v20.1.2".to_owned(),
        entries: false,
        origin: Micros(5_000_000),
        thread_name: "main-thread".to_owned(),
        command: "node a.js".to_owned(),
    }
}

const HEADER: &str = r#"{"selfprofJournal":6,"pid":7,"threadId":0,"interval":1000,"mode":"eager","timeOrigin":1700000000000.5,"node":"v20.1.2","entries":false,"origin":5000000,"threadName":"main-thread","command":"node a.js"}"#;

/// A header of version 1.
const OLD_HEADER: &str = r#"{"selfprofJournal":1,"pid":7,"threadId":0,"interval":1000,"mode":"eager","timeOrigin":1700000000000.5,"node":"v20.1.2"}"#;

fn exit() -> End {
    End { reason: "exit".to_owned(), full: false }
}

#[test]
fn segments_have_only_new_entries() {
    let mut trace = Trace::new();
    let name = trace.name("main").unwrap();
    let frame = trace.frame(Frame { name, resource: None, line: None, column: None }).unwrap();
    let outer = trace.stack(Stack { parent: None, frame }).unwrap();
    let mut journal = JournalWriter::create(Vec::new(), &header()).unwrap();
    let sample = |time, stack, marker| Sample { timestamp: Micros(time), stack, marker };
    journal.append(&trace, &[sample(1000, Some(outer), None)], 0).unwrap();

    let resource = Some(trace.resource("file:///a.js").unwrap());
    let (line, column) = ("3".parse().ok(), "4".parse().ok());
    let frame = trace.frame(Frame { name, resource, line, column }).unwrap();
    let inner = trace.stack(Stack { parent: Some(outer), frame }).unwrap();
    let late = [sample(2500, Some(inner), Some(Marker::Script)), sample(2400, None, Some(Marker::Gc))];
    journal.append(&trace, &late, 2).unwrap();
    let bytes = journal.finish(exit()).unwrap();

    let expected = [
        HEADER,
        &format!("{{\"failed\":\"{}\"}}", " ".repeat(128)),
        r#"{"names":["main"],"resources":[],"frames":[[0,-1,0,0]],"stacks":[[-1,0]],"samples":[[1000,0,0]],"lost":0}"#,
        r#"{"names":[],"resources":["file:///a.js"],"frames":[[0,0,3,4]],"stacks":[[0,1]],"samples":[[1500,1,1],[0,-1,2]],"lost":2}"#,
        r#"{"end":{"reason":"exit","full":false}}"#,
        "",
    ];
    assert_eq!(String::from_utf8(bytes).unwrap(), expected.join("\n"));
}

#[test]
fn runs_of_idle_samples_are_one_record() {
    #[track_caller]
    fn check(times: &[u64], written: &str, read_back: &[u64]) {
        let mut trace = Trace::new();
        let name = trace.name("main").unwrap();
        let frame = trace.frame(Frame { name, resource: None, line: None, column: None }).unwrap();
        let work = Some(trace.stack(Stack { parent: None, frame }).unwrap());
        let idle = times.iter().map(|&time| Sample { timestamp: Micros(time), stack: None, marker: None });
        let last = Sample { timestamp: Micros(9000), stack: work, marker: None };
        let samples: Vec<Sample> = idle.chain([last]).collect();
        let mut journal = JournalWriter::create(Vec::new(), &header()).unwrap();
        journal.append(&trace, &samples, 0).unwrap();
        let bytes = journal.finish(exit()).unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert!(text.contains(&format!("\"samples\":{written},\"lost\"")), "{text}");
        let back = read(&bytes[..]).unwrap().trace;
        let times: Vec<u64> = back.samples().iter().map(|sample| sample.timestamp.0).collect();
        assert_eq!(times, read_back);
    }
    check(&[1000], "[[1000,-1,0],[8000,0,0]]", &[1000, 9000]);
    check(&[1000, 2000], "[[1000,-1,0,2,1000],[7000,0,0]]", &[1000, 2000, 9000]);
    check(&[1000, 1900, 3001], "[[1000,-1,0,3,2001],[5999,0,0]]", &[1000, 2000, 3001, 9000]);
    // The clock went back.
    check(&[1000, 900, 800], "[[1000,-1,0,3,0],[8000,0,0]]", &[1000, 1000, 1000, 9000]);
}

#[test]
fn waiting_times_are_read_as_they_were_written() {
    let point = |timestamp, waited| WaitingPoint { timestamp: Micros(timestamp), waited: Micros(waited) };
    let points = [point(1000, 0), point(2000, 900), point(9000, 900)];
    let mut journal = JournalWriter::create(Vec::new(), &header()).unwrap();
    journal.append_waiting(&points[..2]).unwrap();
    journal.append_waiting(&points[2..]).unwrap();
    let bytes = journal.finish(exit()).unwrap();
    let lines: Vec<&str> = std::str::from_utf8(&bytes).unwrap().lines().collect();
    assert_eq!(lines[2..4], [r#"{"waiting":[[1000,0],[1000,900]]}"#, r#"{"waiting":[[7000,0]]}"#]);
    assert_eq!(read(&bytes[..]).unwrap().trace.waiting().unwrap().points(), points);
}

#[test]
fn labels_are_read_as_they_were_written() {
    let set = |route| LabelSet::new([("http.route", route), ("tenant", "\"a\"")]);
    let (cart, home) = (set("/cart"), set("/"));
    let mut journal = JournalWriter::create(Vec::new(), &header()).unwrap();
    let changes = |changes: &'static [u64], sets: [Option<LabelSet>; 2]| {
        changes.iter().map(|&time| Micros(time)).zip(sets).collect::<Vec<_>>()
    };
    for changes in
        [changes(&[1000, 2500], [Some(cart.clone()), None]), changes(&[3000, 4000], [Some(home), Some(cart)])]
    {
        journal.append_labels(changes.iter().map(|(time, set)| (*time, set.as_ref()))).unwrap();
    }
    let bytes = journal.finish(exit()).unwrap();
    let lines: Vec<&str> = std::str::from_utf8(&bytes).unwrap().lines().collect();
    let expected = r#"{"labelSets":[{"http.route":"/cart","tenant":"\"a\""}],"labels":[[1000,0],[2500,-1]]}"#;
    assert_eq!(lines[2], expected);
    let back = read(&bytes[..]).unwrap().trace;
    let back = back.labels().unwrap();
    let route = |time| {
        let sample = Sample { timestamp: Micros(time), stack: None, marker: Some(Marker::Gc) };
        back.of_sample(&sample).and_then(|id| back.get(id)?.get("http.route"))
    };
    assert_eq!(
        [999, 1000, 2500, 3000, 9000].map(route),
        [None, Some("/cart"), None, Some("/"), Some("/cart")]
    );
    assert_eq!(back.sets().len(), 2);

    let unknown = format!("{HEADER}\n{{\"labelSets\":[{{}}],\"labels\":[[1,1]]}}\n");
    let error = read(unknown.as_bytes()).unwrap_err();
    assert!(matches!(error, JournalError::Record { line: 2, flaw: Flaw::Number }), "{error:?}");
}

#[test]
fn impossible_waiting_times_are_made_possible() {
    #[track_caller]
    fn check(waiting: &str, expected: Option<usize>) {
        let journal = read(format!("{HEADER}\n{{\"waiting\":{waiting}}}\n").as_bytes()).unwrap();
        let points = journal.trace.waiting().map(|waiting| waiting.points());
        assert_eq!(points.map(<[_]>::len), expected);
        let is_possible = |pair: &[WaitingPoint]| {
            let [first, second] = [pair[0], pair[1]];
            let time = second.timestamp.saturating_sub(first.timestamp);
            first.timestamp <= second.timestamp && second.waited.saturating_sub(first.waited) <= time
        };
        assert!(points.unwrap_or_default().windows(2).all(is_possible));
    }
    check("[]", None);
    check("[[1,1],[5,9],[0,7]]", Some(3));
    check("[[18446744073709551615,1],[18446744073709551615,18446744073709551615],[1,1]]", Some(3));
}

#[test]
fn source_maps_are_read_as_they_were_written() {
    let maps =
        [("file:///a.ts", "data:application/json;base64,e30="), ("/b\"ü.ts", "b.js.map"), ("/b\"ü.ts", "")];
    let mut journal = JournalWriter::create(Vec::new(), &header()).unwrap();
    for (script, url) in maps {
        journal.append_source_map(script, url).unwrap();
        journal.append_left_out_source_maps(2).unwrap();
    }
    let bytes = journal.finish(exit()).unwrap();
    let lines: Vec<&str> = std::str::from_utf8(&bytes).unwrap().lines().collect();
    assert_eq!(lines[2], r#"{"sourceMaps":[["file:///a.ts","data:application/json;base64,e30="]]}"#);
    assert_eq!(lines[3], r#"{"leftOutSourceMaps":2}"#);

    let read = read(&bytes[..]).unwrap();
    let owned = maps.map(|(script, url)| (script.to_owned(), url.to_owned()));
    assert_eq!((&read.source_maps[..], read.left_out_source_maps), (&owned[..], 6));
    assert_eq!(read.end, Some(exit()));
}

#[test]
fn tables_can_be_cleared() {
    let recorded = |name: &str, at| {
        let mut trace = Trace::new();
        let name = trace.name(name).unwrap();
        let frame = trace.frame(Frame { name, resource: None, line: None, column: None }).unwrap();
        let stack = Some(trace.stack(Stack { parent: None, frame }).unwrap());
        trace.push_sample(Sample { timestamp: Micros(at), stack, marker: None });
        trace
    };
    let mut journal = JournalWriter::create(Vec::new(), &header()).unwrap();
    let mut expected = Trace::new();
    for (index, name) in ["main", "other", "main"].into_iter().enumerate() {
        let segment = recorded(name, 1000 * (index as u64 + 1));
        journal.append(&segment, segment.samples(), 0).unwrap();
        journal.renew();
        expected.merge(&segment).unwrap();
    }
    let bytes = journal.finish(exit()).unwrap();

    let read = read(&bytes[..]).unwrap();
    assert_eq!(parts(&read.trace), parts(&expected));
    assert_eq!(read.trace.names().len(), 2);
}

/// Marks and measures as `name@time` and `name@start+duration`.
fn entries(list: &str) -> Entries {
    let mut entries = Entries::new();
    for entry in list.split_whitespace() {
        let (name, times) = entry.split_once('@').unwrap();
        let (start, duration) = times.split_once('+').unwrap_or((times, "0"));
        let entry_type = if times.contains('+') { EntryType::Measure } else { EntryType::Mark };
        let [start_time, duration] =
            [start, duration].map(|text| Millis::new(text.parse().unwrap()).unwrap());
        let name = entries.name(name).unwrap();
        entries.push(Entry { entry_type, name, start_time, duration }).unwrap();
    }
    entries
}

#[test]
fn entries_are_between_the_segments() {
    let header = Header { entries: true, ..header() };
    let mut journal = JournalWriter::create(Vec::new(), &header).unwrap();
    journal.append_entries(&entries("a@12.5 \"b\"@1.23456789+1e-7")).unwrap();
    journal.append(&Trace::new(), &[], 0).unwrap();
    journal.renew();
    let mut late = entries("c@3 a@0");
    late.count_dropped(7);
    journal.append_entries(&late).unwrap();
    let bytes = journal.finish(exit()).unwrap();

    let text = String::from_utf8(bytes).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].contains(r#","entries":true,"#), "{text}");
    assert_eq!(
        lines[2],
        r#"{"entryNames":["a","\"b\""],"entries":[[0,0,12.5,0],[1,1,1.23456789,1e-7]],"droppedEntries":0}"#
    );
    assert_eq!(lines[4], r#"{"entryNames":["c","a"],"entries":[[0,0,3,0],[0,1,0,0]],"droppedEntries":7}"#);
    let read = read(text.as_bytes()).unwrap();
    let all = read.trace.entries().unwrap();
    let spelled: Vec<_> =
        all.list().iter().map(|entry| (&all.names()[entry.name], entry.start_time.get())).collect();
    assert_eq!(spelled, [("a", 0.0), ("\"b\"", 1.23456789), ("c", 3.0), ("a", 12.5)]);
    assert_eq!((all.names().len(), all.dropped()), (3, 7));
}

#[test]
fn the_header_says_whether_entries_are_recorded() {
    #[track_caller]
    fn check(text: &str, expected: Option<usize>) {
        let journal = read(text.as_bytes()).unwrap();
        assert_eq!(journal.trace.entries().map(|entries| entries.list().len()), expected);
    }
    check(HEADER, None);
    check(&HEADER.replace("false", "true"), Some(0));
    // Version 1 has no entries.
    check(OLD_HEADER, None);
}

#[test]
fn a_segment_after_the_end_revokes_it() {
    let end = |reason| format!(r#"{{"end":{{"reason":"{reason}","full":false}}}}"#);
    let check = |lines: &[&str], expected: (usize, Option<&str>)| {
        let journal = read(lines.join("\n").as_bytes()).unwrap();
        assert_eq!((journal.trace.samples().len(), journal.end.as_ref().map(|end| &*end.reason)), expected);
    };
    let segment = r#"{"samples":[[1000,-1,1]]}"#;
    check(&[HEADER, segment, &end("exit"), segment, ""], (2, None));
    check(&[HEADER, segment, &end("exit"), &end("signal"), ""], (1, Some("signal")));
    check(&[HEADER, &end("exit"), segment, &end("exit"), ""], (1, Some("exit")));
}

#[test]
fn incomplete_last_lines_are_ignored() {
    let segment = r#"{"samples":[[1000,-1,1]]}"#;
    let end = r#"{"end":{"reason":"exit","full":true}}"#;
    /// `expected` has the number of samples, whether there is an end, and whether the last line is torn.
    #[track_caller]
    fn check(text: &str, expected: (usize, bool, bool)) {
        let journal = read(text.as_bytes()).unwrap();
        assert_eq!(journal.header, header());
        assert_eq!((journal.trace.samples().len(), journal.end.is_some(), journal.torn), expected);
    }
    check(HEADER, (0, false, false));
    check(&format!("{HEADER}\n"), (0, false, false));
    check(&format!("{HEADER}\n{segment}\n{segment}\n{end}\n"), (2, true, false));
    check(&format!("{HEADER}\n{segment}\n"), (1, false, false));
    check(&format!("{HEADER}\n{segment}"), (1, false, false));
    check(&format!("{HEADER}\n{segment}\n{}", &segment[..9]), (1, false, true));
    check(&format!("{HEADER}\n{segment}\n{}", &end[..1]), (1, false, true));
}

#[test]
fn invalid_journals_are_errors() {
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let error = read(text.as_bytes()).unwrap_err();
        let mut message = error.to_string();
        if let JournalError::Record { flaw, .. } = error {
            message = format!("{message}: {flaw}");
        }
        assert_eq!(message, expected);
    }
    check("", "the journal ends within its header");
    check(&HEADER[..5], "the journal ends within its header");
    check(&HEADER[..40], "the journal ends within its header");
    check("hello\n", "the first line is not the header of a selfprof journal");
    check("hello", "the first line is not the header of a selfprof journal");
    check("{\"frames\":[]}\n", "the first line is not the header of a selfprof journal");
    check("{\"selfprofJournal\":7}\n", "the journal has version 7; this selfprof reads versions up to 6");
    check("{\"selfprofJournal\":0}\n", "the journal has version 0; this selfprof reads versions up to 6");
    check("{\"selfprofJournal\":1}\n", "line 1 of the journal is corrupt");
    let damaged = |line: &str, flaw: &str| {
        check(&format!("{HEADER}\n{line}\n"), &format!("line 2 of the journal is corrupt{flaw}"));
    };
    damaged("hello", "");
    damaged(r#"{"unheard":[]}"#, "");
    damaged(r#"{"frames":[[0,-1,0,0]]}"#, ": the trace has no name with id 0");
    damaged(r#"{"samples":[[0,0,0]]}"#, ": the trace has no stack with id 0");
    damaged(r#"{"samples":[[0,-2,0]]}"#, ": a number is not a valid id, marker or time");
    damaged(r#"{"samples":[[0,-1,8]]}"#, ": a number is not a valid id, marker or time");
    damaged(r#"{"names":["a","a"]}"#, ": a table entry is duplicated");
    let entries = |list: &str| format!(r#"{{"entryNames":["a"],"entries":[{list}]}}"#);
    damaged(&entries("[0,1,0,0]"), ": the trace has no entry name with id 1");
    damaged(&entries("[0,-1,0,0]"), "");
    damaged(&entries("[0,0,null,0]"), "");
    damaged(&entries("[0,0,1e999,0]"), "");
    damaged(&entries("[2,0,0,0]"), ": a number is not a valid id, marker or time");
    damaged(&entries("[0,0,-1,0]"), ": a number is not a valid id, marker or time");
    damaged(&entries("[0,0,0,1]"), ": a number is not a valid id, marker or time");
    damaged(r#"{"entryNames":["a","a"],"entries":[[0,0,0,0]]}"#, ": a table entry is duplicated");
    damaged(r#"{"droppedEntries":-1}"#, "");
    check(
        &format!("{}\n", HEADER.replace("eager", "idle")),
        "line 1 of the journal is corrupt: a profiling mode is `eager` or `lazy`",
    );
}

#[test]
fn a_failed_write_ends_the_journal() {
    /// Accepts the header, then fails once.
    struct FullDisk(usize);

    impl Write for FullDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += 1;
            if self.0 == 2 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(bytes.len()) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let mut journal = JournalWriter::create(FullDisk(0), &header()).unwrap();
    let error = journal.append(&Trace::new(), &[], 0).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    let error = journal.append(&Trace::new(), &[], 0).unwrap_err();
    assert_eq!(error.to_string(), "an earlier write to the journal failed");
    assert!(journal.finish(exit()).is_err());
}

#[test]
fn a_full_disk_still_holds_the_reason() {
    #[track_caller]
    fn check(reason: &str, expected: Option<&str>) {
        // A disk with room for the start of a segment.
        let mut bytes = [b'#'; 400];
        let mut journal = JournalWriter::create(Cursor::new(&mut bytes[..]), &header()).unwrap();
        let mut trace = Trace::new();
        trace.name(&"long".repeat(100)).unwrap();
        journal.append(&trace, &[], 0).unwrap_err();
        journal.fail(reason).unwrap();
        journal.append(&Trace::new(), &[], 0).unwrap_err();
        let read = read(&bytes[..]).unwrap();
        assert_eq!(read.failed.as_deref(), expected);
        assert!(read.torn && read.end.is_none());
    }
    check("", None);
    check("no storage space", Some("no storage space"));
    check("\"a\\\n\u{1b}é", Some("a"));
    check(&"a".repeat(1000), Some(&"a".repeat(128)));
}

/// The trace without the times of samples between two idle ones, which a journal does not hold.
fn without_times_in_idle_runs(trace: &Trace) -> Parts {
    let mut parts = parts(trace);
    let samples = trace.samples();
    for index in 1..samples.len().saturating_sub(1) {
        if samples[index - 1..=index + 1].iter().all(Sample::is_idle) {
            parts.samples[index].timestamp = Micros::ZERO;
        }
    }
    parts
}

proptest! {
    #[test]
    fn written_journals_are_read_back(mut trace in trace(), cuts in prop::collection::vec(0..20_usize, 0..5)) {
        let expected = without_times_in_idle_runs(&trace);
        let header = Header { entries: trace.entries().is_some(), ..header() };
        let mut journal = JournalWriter::create(Vec::new(), &header).unwrap();
        for &cut in &cuts {
            let samples = trace.drain_samples(cut);
            journal.append(&trace, &samples, 1).unwrap();
        }
        if let Some(entries) = trace.entries() {
            journal.append_entries(entries).unwrap();
        }
        let samples = trace.drain_samples(usize::MAX);
        journal.append(&trace, &samples, 0).unwrap();
        let bytes = journal.finish(exit()).unwrap();
        let back = read(&bytes[..]).unwrap();
        prop_assert_eq!(without_times_in_idle_runs(&back.trace), expected);
        prop_assert_eq!(back.header, header);
        prop_assert_eq!((back.lost, back.end, back.torn), (cuts.len() as u64, Some(exit()), false));
    }

    #[test]
    fn a_truncated_journal_reads_as_a_prefix(trace in trace(), cut in any::<prop::sample::Index>()) {
        let mut journal = JournalWriter::create(Vec::new(), &header()).unwrap();
        for sample in trace.samples() {
            journal.append(&trace, &[*sample], 0).unwrap();
        }
        let bytes = journal.finish(exit()).unwrap();
        let start = HEADER.len() + cut.index(bytes.len() - HEADER.len());
        let back = read(&bytes[..start]).unwrap();
        prop_assert!(trace.samples().starts_with(back.trace.samples()));
    }

    #[test]
    fn random_text_never_panics(text in "[\\[\\]{}\":,a-z0-9.\n-]{0,80}") {
        let _ = read(text.as_bytes());
        let _ = read(format!("{HEADER}\n{text}\n").as_bytes());
    }
}
