//! Journals as they are written, and as killed processes leave them.

use std::io::{self, Write};

use proptest::prelude::*;
use selfprof_trace::{Frame, Marker, Micros, Sample, Stack, Trace};

use super::*;
use crate::testing::{parts, trace};

fn header() -> Header {
    Header {
        pid: 7,
        thread_id: 0,
        interval: Micros(1000),
        mode: Mode::Eager,
        time_origin_ms: 1_700_000_000_000.5,
        node: "v20.1.2".to_owned(),
    }
}

const HEADER: &str = r#"{"selfprofJournal":1,"pid":7,"threadId":0,"interval":1000,"mode":"eager","timeOrigin":1700000000000.5,"node":"v20.1.2"}"#;

fn exit() -> End {
    End { reason: "exit".to_owned(), full: false }
}

#[test]
fn records_hold_what_is_new() {
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
        r#"{"names":["main"],"resources":[],"frames":[[0,-1,0,0]],"stacks":[[-1,0]],"samples":[[1000,0,0]],"lost":0}"#,
        r#"{"names":[],"resources":["file:///a.js"],"frames":[[0,0,3,4]],"stacks":[[0,1]],"samples":[[1500,1,1],[0,-1,2]],"lost":2}"#,
        r#"{"end":{"reason":"exit","full":false}}"#,
        "",
    ];
    assert_eq!(String::from_utf8(bytes).unwrap(), expected.join("\n"));
}

#[test]
fn tables_may_be_started_anew() {
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

#[test]
fn an_end_may_be_taken_back() {
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
fn killed_processes_leave_whole_lines() {
    let segment = r#"{"samples":[[1000,-1,1]]}"#;
    let end = r#"{"end":{"reason":"exit","full":true}}"#;
    /// `expected`: the number of samples, whether there is an end, whether the last line is torn.
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
fn what_is_no_journal_is_refused() {
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let error = read(text.as_bytes()).unwrap_err();
        let mut message = error.to_string();
        if let JournalError::Record { flaw, .. } = error {
            message = format!("{message}: {flaw}");
        }
        assert_eq!(message, expected);
    }
    check("", "the journal ends before its header does");
    check(&HEADER[..5], "the journal ends before its header does");
    check(&HEADER[..40], "the journal ends before its header does");
    check("hello\n", "the first line is not the header of a selfprof journal");
    check("hello", "the first line is not the header of a selfprof journal");
    check("{\"frames\":[]}\n", "the first line is not the header of a selfprof journal");
    check("{\"selfprofJournal\":2}\n", "the journal has version 2, and this selfprof reads version 1");
    check("{\"selfprofJournal\":1}\n", "line 1 of the journal is damaged");
    let damaged = |line: &str, flaw: &str| {
        check(&format!("{HEADER}\n{line}\n"), &format!("line 2 of the journal is damaged{flaw}"));
    };
    damaged("hello", "");
    damaged(r#"{"unheard":[]}"#, "");
    damaged(r#"{"frames":[[0,-1,0,0]]}"#, ": the trace has no name with id 0");
    damaged(r#"{"samples":[[0,0,0]]}"#, ": the trace has no stack with id 0");
    damaged(r#"{"samples":[[0,-2,0]]}"#, ": a number is not a possible id or marker");
    damaged(r#"{"samples":[[0,-1,8]]}"#, ": a number is not a possible id or marker");
    damaged(r#"{"names":["a","a"]}"#, ": a table entry stands there twice");
    check(
        &format!("{}\n", HEADER.replace("eager", "idle")),
        "line 1 of the journal is damaged: a profiling mode is `eager` or `lazy`",
    );
}

#[test]
fn a_failed_write_ends_the_journal() {
    /// Takes the header, then fails once.
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

proptest! {
    #[test]
    fn what_is_written_is_read_back(mut trace in trace(), cuts in prop::collection::vec(0..20_usize, 0..5)) {
        let expected = parts(&trace);
        let mut journal = JournalWriter::create(Vec::new(), &header()).unwrap();
        for &cut in &cuts {
            let samples = trace.drain_samples(cut);
            journal.append(&trace, &samples, 1).unwrap();
        }
        let samples = trace.drain_samples(usize::MAX);
        journal.append(&trace, &samples, 0).unwrap();
        let bytes = journal.finish(exit()).unwrap();
        let back = read(&bytes[..]).unwrap();
        prop_assert_eq!(parts(&back.trace), expected);
        prop_assert_eq!((back.lost, back.end, back.torn), (cuts.len() as u64, Some(exit()), false));
    }

    #[test]
    fn a_journal_cut_anywhere_is_a_beginning(trace in trace(), cut in any::<prop::sample::Index>()) {
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
