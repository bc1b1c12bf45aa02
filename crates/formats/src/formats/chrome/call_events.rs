//! Calls as events with a beginning and an end.

use std::io::{self, Write};

use selfprof_trace::{CallEventType, Calls, FrameId};

use crate::functions;
use crate::json::string;
use crate::streams::output::Out;
use crate::thread::Thread;

/// The end of recording, if events were lost.
const TRUNCATED: &str = "The buffer was full: later calls were not recorded";

/// Writes two events for each time that a function runs, in time order: tools that build a tree of them need no luck
/// with equal times. They are in a track of their own, with a `tid` that no thread has: in DevTools, they would take
/// the time of the samples that stand for them.
///
/// Their arguments say what is special: `resumed` and `suspended`, and `alreadyRunning` and `stillRunning` at the ends
/// of the recording.
pub(super) fn write_calls(thread: &Thread, (tid, shift): (usize, i64), out: &mut Out<'_>) -> io::Result<()> {
    let trace = &thread.trace;
    let Some(calls) = trace.calls() else { return Ok(()) };
    out.write_all(b",{\"args\":{\"name\":")?;
    string(out, &format!("{}: calls", thread.label()))?;
    write!(
        out,
        "}},\"cat\":\"__metadata\",\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":{tid},\"ts\":0}}"
    )?;
    let micros =
        |time: selfprof_trace::Micros| i64::try_from(time.0).unwrap_or(i64::MAX).saturating_add(shift);
    let event = |out: &mut Out<'_>, phase: char, frame: FrameId, time, note: &str| {
        let frame = trace.frames()[frame];
        out.write_all(b",{\"cat\":\"selfprof.calls\",\"name\":")?;
        string(out, functions::name(trace, &frame))?;
        write!(out, ",\"ph\":\"{phase}\",\"pid\":1,\"tid\":{tid},\"ts\":{},\"args\":{{", micros(time))?;
        if !note.is_empty() {
            write!(out, "\"{note}\":true")?;
        }
        if let Some(resource) = frame.resource.filter(|_| phase == 'B') {
            out.write_all(if note.is_empty() { b"\"url\":" } else { b",\"url\":" })?;
            string(out, &trace.resources()[resource])?;
            if let (Some(line), Some(column)) = (frame.line, frame.column) {
                write!(out, ",\"lineNumber\":{line},\"columnNumber\":{column}")?;
            }
        }
        out.write_all(b"}}")
    };
    for frame in calls.running_at_start() {
        event(out, 'B', frame, calls.start(), "alreadyRunning")?;
    }
    for one in calls.events() {
        let (phase, note) = match one.event_type {
            CallEventType::Enter => ('B', ""),
            CallEventType::Resume => ('B', "resumed"),
            CallEventType::Exit => ('E', ""),
            CallEventType::Suspend => ('E', "suspended"),
        };
        event(out, phase, one.frame, one.timestamp, note)?;
    }
    for frame in calls.running_at_end().iter().rev() {
        event(out, 'E', *frame, calls.end(), "stillRunning")?;
    }
    write_truncation(calls, micros(calls.end()), tid, out)
}

fn write_truncation(calls: &Calls, time: i64, tid: usize, out: &mut Out<'_>) -> io::Result<()> {
    if !calls.is_truncated() {
        return Ok(());
    }
    write!(
        out,
        ",{{\"cat\":\"selfprof.calls\",\"name\":\"{TRUNCATED}\",\"ph\":\"I\",\"pid\":1,\"s\":\"t\","
    )?;
    write!(out, "\"tid\":{tid},\"ts\":{time},\"args\":{{}}}}")
}
