use super::*;
use crate::calls::{CallCounts, CallEvent, CallEventType, Calls, Misfit};
use crate::frame::Frame;
use crate::micros::Micros;
use crate::summary::Summary;

/// A trace whose functions are the letters of `text`: `f` begins, `F` ends, `f~` is suspended and `~f` resumed. Each
/// letter takes its time from the number before it.
fn trace(text: &str) -> (Trace, Vec<Misfit>) {
    let mut trace = Trace::new();
    let mut calls = Calls::new(Micros(100));
    let mut misfits = Vec::new();
    for word in text.split_whitespace() {
        let digits = word.find(|c: char| !c.is_ascii_digit()).expect("a letter");
        let timestamp = Micros(100 + word[..digits].parse::<u64>().unwrap());
        let event = &word[digits..];
        let letter = event.trim_matches('~').to_lowercase();
        let name = trace.name(&letter).unwrap();
        let frame = trace.frame(Frame { name, resource: None, line: None, column: None }).unwrap();
        let event_type = match event {
            _ if event.starts_with('~') => CallEventType::Resume,
            _ if event.ends_with('~') => CallEventType::Suspend,
            _ if letter == event => CallEventType::Enter,
            _ => CallEventType::Exit,
        };
        misfits.extend(calls.push(CallEvent { event_type, frame, timestamp }).err());
    }
    assert!(calls.finish(Micros(200), false));
    trace.set_calls(Some(calls));
    (trace, misfits)
}

/// Each function's calls, resumptions, self time and total time.
#[track_caller]
fn check(text: &str, expected: &[(&str, u64, u64, u64, u64)]) {
    let (mut trace, misfits) = trace(text);
    assert_eq!(misfits, []);
    check_trace(&mut trace, expected);
}

fn check_trace(trace: &mut Trace, expected: &[(&str, u64, u64, u64, u64)]) {
    trace.add_call_samples().unwrap();
    let samples = trace.samples().len();
    trace.add_call_samples().unwrap();
    assert_eq!(trace.samples().len(), samples);
    let summary = Summary::of(trace);
    let counts = trace.calls().unwrap().counts(trace.frames().len());
    let rows: Vec<_> = trace
        .frames()
        .iter()
        .map(|(id, frame)| {
            let row = summary.functions.iter().find(|row| row.frame == id);
            let times = row.map_or((0, 0), |row| (row.self_time.0, row.total_time.0));
            let CallCounts { calls, resumptions } = counts[id.index()];
            (&trace.names()[frame.name], calls, resumptions, times.0, times.1)
        })
        .collect();
    assert_eq!(rows, expected);
    assert_eq!(summary.busy.time.saturating_add(summary.idle.time), Micros(100));
}

#[test]
fn calls_have_exact_counts_and_times() {
    check("", &[]);
    check("10f 20g 25G 30g 36G 40F", &[("f", 1, 0, 19, 30), ("g", 2, 0, 11, 11)]);
    check("10f 20f 30F 40F", &[("f", 2, 0, 30, 30)]);
    // No time that the clock shows.
    check("10f 10g 10G 10F 10f 10F", &[("f", 2, 0, 0, 0), ("g", 1, 0, 0, 0)]);
    // A long gap between short ones is no pause.
    check("1f 2F 3f 4F 5f 99F", &[("f", 3, 0, 96, 96)]);
    check("10f 20f~ 30~f 35F", &[("f", 1, 1, 15, 15)]);
    // Two that alternate.
    check("0f 1f~ 1g 3g~ 4~f 8F 8~g 9G", &[("f", 1, 1, 5, 5), ("g", 1, 1, 3, 3)]);
    // Running at the start, at the end, and both.
    check("10G 30F", &[("g", 0, 0, 10, 10), ("f", 0, 0, 20, 30)]);
    check("10h 15H 20G 90f", &[("h", 1, 0, 5, 5), ("g", 0, 0, 15, 20), ("f", 1, 0, 10, 10)]);
    check("10~f 20F", &[("f", 0, 1, 10, 10)]);
    check("10f~ 20F", &[("f", 0, 0, 20, 20)]);
}

#[test]
fn what_does_not_fit_is_fixed() {
    #[track_caller]
    fn check(text: &str, misfits: &[Misfit], expected: &[(&str, u64, u64, u64, u64)]) {
        let (mut trace, found) = trace(text);
        assert_eq!(found, misfits);
        check_trace(&mut trace, expected);
    }
    check("10f 5g 20G 30F", &[Misfit::Earlier], &[("f", 1, 0, 10, 20), ("g", 1, 0, 10, 10)]);
    check(
        "10f 20g 30h 40F",
        &[Misfit::CalledOthers],
        &[("f", 1, 0, 10, 30), ("g", 1, 0, 10, 20), ("h", 1, 0, 10, 10)],
    );
    check("10f 20G 30F", &[Misfit::NotRunning], &[("f", 1, 0, 20, 20), ("g", 0, 0, 0, 0)]);
    check("10f 20g~ 30F", &[Misfit::NotRunning], &[("f", 1, 0, 20, 20), ("g", 0, 0, 0, 0)]);
    let mut calls = Calls::new(Micros(5));
    assert!(!calls.finish(Micros(4), true));
    assert_eq!((calls.start(), calls.end(), calls.is_truncated()), (Micros(5), Micros(5), true));
}

#[test]
fn calls_follow_their_functions() {
    let (first, _) = trace("10f 20g 25G 30F");
    let (second, _) = trace("0g 1G 2f 3F 4f 90F");
    let mut merged = first.clone();
    merged.merge(&second).unwrap();
    let counts = merged.calls().unwrap().counts(2);
    assert_eq!(counts.iter().map(|count| count.calls).collect::<Vec<_>>(), [3, 2]);
    // Without `g`, its time is its caller's.
    let g = first.frames().iter().nth(1).unwrap().0;
    let calls = first.calls().unwrap().with_frames(|frame| (frame != g).then_some(frame));
    let mut without = first.clone();
    without.set_calls(Some(calls));
    check_trace(&mut without, &[("f", 1, 0, 20, 20), ("g", 0, 0, 0, 0)]);
    let mut narrow = first.clone();
    narrow.add_call_samples().unwrap();
    check_trace(&mut narrow.narrowed(), &[("f", 1, 0, 15, 20), ("g", 1, 0, 5, 5)]);
    let mut shifted = first;
    shifted.shift(Micros(1000));
    assert_eq!(shifted.calls().unwrap().start(), Micros(1100));
    check_trace(&mut shifted, &[("f", 1, 0, 15, 20), ("g", 1, 0, 5, 5)]);
}

#[test]
fn spans_say_how_they_begin_and_end() {
    let (trace, _) = trace("10g 15G 20F 30h 40h~ 50~h 60f");
    let spans = trace.calls().unwrap().spans();
    let shown: Vec<_> = spans
        .iter()
        .map(|span| {
            (
                &trace.names()[trace.frames()[span.frame].name],
                span.start.0,
                span.end.0,
                span.began,
                span.ended,
            )
        })
        .collect();
    use CallEventType::*;
    assert_eq!(
        shown,
        [
            ("f", 100, 120, None, Some(Exit)),
            ("g", 110, 115, Some(Enter), Some(Exit)),
            ("h", 130, 140, Some(Enter), Some(Suspend)),
            ("h", 150, 200, Some(Resume), None),
            ("f", 160, 200, Some(Enter), None),
        ]
    );
}
