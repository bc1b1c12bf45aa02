//! A single profile as the page shows it: `ProfileData` in `ui/views/src/profile-data.ts`.

use std::collections::{BTreeMap, HashMap};

use selfprof_store::profile::{Span, SpanKind};
use selfprof_store::query::ReadableProfile;
use selfprof_trace::{Marker, TableId, Trace};
use serde::Serialize;

use super::profiles::ProfileAnswer;
use super::{VERSION, millis};

/// A profile with its trace.
#[derive(Debug, Serialize)]
pub struct TimelineAnswer {
    pub version: u32,
    pub profile: ProfileAnswer,
    pub trace: TraceColumns,
}

/// Ids are indexes, and -1 stands for none, as does 0 for a line or column.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TraceColumns {
    name: String,
    notes: Vec<String>,
    names: Vec<String>,
    resources: Vec<String>,
    frames: FrameColumns,
    inferred_names: BTreeMap<usize, String>,
    stacks: StackColumns,
    markers: Vec<&'static str>,
    snippets: BTreeMap<usize, String>,
    threads: [ThreadColumns; 1],
}

#[derive(Debug, Default, Serialize)]
struct FrameColumns {
    name: Vec<usize>,
    resource: Vec<i64>,
    line: Vec<u32>,
    column: Vec<u32>,
}

#[derive(Debug, Default, Serialize)]
struct StackColumns {
    frame: Vec<usize>,
    parent: Vec<i64>,
}

#[derive(Debug, Serialize)]
struct ThreadColumns {
    name: &'static str,
    process: Option<()>,
    file: Option<()>,
    interval: Option<f64>,
    samples: SampleColumns,
    entries: EntryColumns,
}

/// Times are in microseconds.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct SampleColumns {
    start: u64,
    delta: Vec<u64>,
    weight_of: Vec<usize>,
    weight: Vec<u64>,
    split: Vec<usize>,
    stack: Vec<i64>,
    marker: Vec<i64>,
}

/// Times are in milliseconds, since the first sample.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct EntryColumns {
    names: Vec<String>,
    name: Vec<usize>,
    is_measure: Vec<u8>,
    start: Vec<f64>,
    duration: Vec<f64>,
}

impl TimelineAnswer {
    /// This profile.
    pub fn of(profile: ReadableProfile) -> Self {
        let ReadableProfile { row, mut trace, spans } = profile;
        trace.add_gc_frames();
        let profile = ProfileAnswer::from(row);
        let known = [&profile.page, &profile.release, &profile.browser, &profile.device];
        let name: Vec<&str> =
            known.iter().map(|text| text.as_str()).filter(|text| !text.is_empty()).collect();
        let name = if name.is_empty() { profile.id.clone() } else { name.join(" · ") };
        Self { version: VERSION, trace: TraceColumns::of(name, &trace, &spans), profile }
    }
}

/// An index, or -1.
fn index(id: Option<impl TableId>) -> i64 {
    id.map_or(-1, |id| id.index() as i64)
}

impl TraceColumns {
    fn of(name: String, trace: &Trace, spans: &[Span]) -> Self {
        let mut frames = FrameColumns::default();
        for (_, frame) in trace.frames().iter() {
            frames.name.push(frame.name.index());
            frames.resource.push(index(frame.resource));
            frames.line.push(frame.line.map_or(0, Into::into));
            frames.column.push(frame.column.map_or(0, Into::into));
        }
        let mut stacks = StackColumns::default();
        for (_, stack) in trace.stacks().iter() {
            stacks.frame.push(stack.frame.index());
            stacks.parent.push(index(stack.parent));
        }
        Self {
            name,
            notes: Vec::new(),
            names: trace.names().iter().map(|(_, name)| name.to_owned()).collect(),
            resources: trace.resources().iter().map(|(_, url)| url.to_owned()).collect(),
            frames,
            inferred_names: BTreeMap::new(),
            stacks,
            markers: Marker::ALL.map(Marker::as_str).to_vec(),
            snippets: BTreeMap::new(),
            threads: [ThreadColumns {
                name: "main-thread",
                process: None,
                file: None,
                interval: trace.interval().map(|interval| interval.as_millis_f64()),
                samples: SampleColumns::of(trace),
                entries: EntryColumns::of(trace, spans),
            }],
        }
    }
}

impl SampleColumns {
    fn of(trace: &Trace) -> Self {
        let mut columns = Self::default();
        let Some(first) = trace.samples().first() else { return columns };
        let mut last = first.timestamp;
        for (number, (sample, weight)) in trace.samples().iter().zip(trace.weights()).enumerate() {
            let delta = sample.timestamp.saturating_sub(last);
            last = sample.timestamp;
            columns.delta.push(delta.0);
            columns.stack.push(index(sample.stack));
            columns.marker.push(sample.marker.map_or(-1, |marker| marker.index() as i64));
            if weight != delta {
                columns.weight_of.push(number);
                columns.weight.push(weight.0);
            }
        }
        columns
    }
}

impl EntryColumns {
    /// Marks, and the spans that filters know.
    fn of(trace: &Trace, spans: &[Span]) -> Self {
        let start = trace.samples().first().map_or(0, |first| i64::try_from(first.timestamp.0).unwrap_or(0));
        let mut columns = Self::default();
        let mut index_of = HashMap::new();
        for span in spans {
            let is_mark = span.kind == SpanKind::Mark;
            let Some(name) = span.label().or_else(|| is_mark.then(|| span.name.clone())) else { continue };
            let next = columns.names.len();
            let number = *index_of.entry(name.clone()).or_insert(next);
            if number == next {
                columns.names.push(name.trim_start().to_owned());
            }
            columns.name.push(number);
            columns.is_measure.push((!is_mark).into());
            columns.start.push(millis(span.start.saturating_sub(start)));
            columns.duration.push(millis(span.duration));
        }
        columns
    }
}
