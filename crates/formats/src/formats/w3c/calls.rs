//! The member `calls`, selfprof's own.

use std::io::{self, Write};

use selfprof_trace::Trace;
use selfprof_trace::foreign::{
    ForeignCalls, ForeignTrace, LimitExceeded, Location, Problem, ProblemKind, Remedy,
};
use serde_json::value::RawValue;

use crate::json::{millis, number, write_list};

const MEMBER: &str = "calls";

/// Writes the member and a comma, if there are calls.
pub(super) fn write_calls(out: &mut impl Write, trace: &Trace) -> io::Result<()> {
    let Some(calls) = trace.calls() else { return Ok(()) };
    let events = || calls.events().iter();
    write!(out, "\"{MEMBER}\":{{\"end\":")?;
    millis(out, calls.end())?;
    write_list(out, ",\"frameIds\":[", events(), |out, event| number(out, event.frame.index()))?;
    out.write_all(b"],\"start\":")?;
    millis(out, calls.start())?;
    write_list(out, ",\"timestamps\":[", events(), |out, event| millis(out, event.timestamp))?;
    write!(out, "],\"truncated\":{}", calls.is_truncated())?;
    write_list(out, ",\"types\":[", events(), |out, event| number(out, event.event_type.index()))?;
    out.write_all(b"]},")
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Members {
    end: f64,
    frame_ids: Vec<f64>,
    start: f64,
    timestamps: Vec<f64>,
    #[serde(default)]
    truncated: bool,
    types: Vec<f64>,
}

/// Reads the member. Other programs' traces may have anything in its place.
pub(super) fn read_calls(json: &RawValue, trace: &mut ForeignTrace) -> Result<(), LimitExceeded> {
    let text = json.get();
    if text == "null" {
        return Ok(());
    }
    let members = serde_json::from_str(text).ok();
    let is_valid = |members: &Members| {
        [&members.frame_ids, &members.timestamps].iter().all(|list| list.len() == members.types.len())
    };
    let Some(Members { end, frame_ids, start, timestamps, truncated, types }) = members.filter(is_valid)
    else {
        let (location, kind) = (Location::Member(MEMBER), ProblemKind::Calls);
        trace.report(Problem { location, value: None, kind, remedy: Remedy::NoMember });
        return Ok(());
    };
    trace.set_calls(Some(ForeignCalls { start, end, is_truncated: truncated, types, frame_ids, timestamps }))
}
