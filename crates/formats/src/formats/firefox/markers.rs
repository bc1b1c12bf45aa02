//! Marks and measures, and calls, as markers.

use std::io::{self, Write};

use selfprof_trace::{CallEventType, CallSpan, Calls, Entries, Entry, EntryType, Millis, Trace};

use super::{JAVASCRIPT, OTHER};
use crate::functions;
use crate::json::{millis, string, write_list};
use crate::streams::output::Out;

/// The names of the markers: that of marks and measures, and that of calls.
pub(super) const NAMES: [&str; 2] = ["UserTiming", "Call"];

/// What the Firefox Profiler shows of them.
pub(super) const SCHEMA: &str = r#""markerSchema":[{"name":"UserTiming","display":["marker-chart","marker-table","timeline-overview"],"tooltipLabel":"{marker.data.name}","tableLabel":"{marker.data.name}","chartLabel":"{marker.data.name}","fields":[{"key":"name","label":"Name","format":"string"},{"key":"entryType","label":"Entry Type","format":"string"}]},{"name":"Call","display":["marker-chart","marker-table"],"tooltipLabel":"{marker.data.name}","tableLabel":"{marker.data.name}","chartLabel":"{marker.data.name}","fields":[{"key":"name","label":"Function","format":"string"},{"key":"url","label":"Script","format":"url"},{"key":"begins","label":"Begins with","format":"string"},{"key":"ends","label":"Ends with","format":"string"}]}],"#;

enum Marker<'trace> {
    Entry(&'trace Entry),
    Call(CallSpan),
}

impl Marker<'_> {
    /// The start, and the end of an interval.
    fn times(&self) -> (Time, Option<Time>) {
        match self {
            Self::Call(CallSpan { start, end, .. }) => (Time::Micros(*start), Some(Time::Micros(*end))),
            Self::Entry(entry) => {
                let end = entry.start_time.saturating_add(entry.duration);
                let is_interval = entry.entry_type == EntryType::Measure;
                (
                    Time::Millis(entry.start_time.min(end)),
                    is_interval.then(|| Time::Millis(entry.start_time.max(end))),
                )
            }
        }
    }
}

enum Time {
    Millis(Millis),
    Micros(selfprof_trace::Micros),
}

impl Time {
    fn write(&self, out: &mut Out<'_>) -> io::Result<()> {
        match self {
            Self::Millis(time) => write!(out, "{time}"),
            Self::Micros(time) => millis(out, *time),
        }
    }
}

/// Writes the markers, whose names have these numbers.
pub(super) fn write_markers(trace: &Trace, names: [usize; 2], out: &mut Out<'_>) -> io::Result<()> {
    let none = Entries::new();
    let entries = trace.entries().unwrap_or(&none);
    let spans = trace.calls().map(Calls::spans).unwrap_or_default();
    let markers: Vec<Marker<'_>> =
        entries.list().iter().map(Marker::Entry).chain(spans.into_iter().map(Marker::Call)).collect();
    let all = || markers.iter();
    write!(out, ",\"markers\":{{\"length\":{}", markers.len())?;
    write_list(out, ",\"category\":[", all(), |out, marker| {
        write!(out, "{}", if matches!(marker, Marker::Call(_)) { JAVASCRIPT } else { OTHER })
    })?;
    write_list(out, "],\"name\":[", all(), |out, marker| {
        write!(out, "{}", names[usize::from(matches!(marker, Marker::Call(_)))])
    })?;
    // Phase 0 is an instant, 1 an interval.
    write_list(out, "],\"phase\":[", all(), |out, marker| {
        write!(out, "{}", u8::from(marker.times().1.is_some()))
    })?;
    write_list(out, "],\"startTime\":[", all(), |out, marker| marker.times().0.write(out))?;
    write_list(out, "],\"endTime\":[", all(), |out, marker| match marker.times().1 {
        None => out.write_all(b"null"),
        Some(end) => end.write(out),
    })?;
    write_list(out, "],\"data\":[", all(), |out, marker| match marker {
        Marker::Entry(entry) => {
            write!(out, "{{\"type\":\"{}\",\"entryType\":\"{}\",\"name\":", NAMES[0], entry.entry_type)?;
            string(out, &entries.names()[entry.name])?;
            out.write_all(b"}")
        }
        Marker::Call(span) => write_call(trace, span, out),
    })?;
    out.write_all(b"]}")
}

fn write_call(trace: &Trace, span: &CallSpan, out: &mut Out<'_>) -> io::Result<()> {
    let frame = trace.frames()[span.frame];
    write!(out, "{{\"type\":\"{}\",\"name\":", NAMES[1])?;
    string(out, functions::name(trace, &frame))?;
    if let Some(resource) = frame.resource {
        out.write_all(b",\"url\":")?;
        string(out, &trace.resources()[resource])?;
    }
    let begins = match span.began {
        None => "was running already",
        Some(CallEventType::Resume) => "resumed",
        Some(_) => "called",
    };
    let ends = match span.ended {
        None => "still running",
        Some(CallEventType::Suspend) => "suspended",
        Some(_) => "returned or threw",
    };
    write!(out, ",\"begins\":\"{begins}\",\"ends\":\"{ends}\"}}")
}
