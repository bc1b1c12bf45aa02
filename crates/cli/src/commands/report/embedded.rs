//! The traces embedded in a report. `ui/report/src/embedded.ts` reads them.
//!
//! Tables are columns of numbers rather than lists of objects, so that a browser parses 100,000 samples quickly. The JSON
//! is gzipped and base64-encoded, so nothing in a trace can be taken for markup.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::iter::repeat;

use data_encoding::BASE64;
use flate2::Compression;
use flate2::write::GzEncoder;
use selfprof_trace::comparison::Comparison;
use selfprof_trace::summary::Summary;
use selfprof_trace::weigh::{median_interval, weigh};
use selfprof_trace::{EntryType, Frame, Marker, Micros, Stack, TableId, Trace};
use serde::Serialize;

use crate::inferred_names::InferredNames;
use crate::source_maps::{Snippet, Snippets};

/// At most this many functions get a source snippet, to keep the file small.
const MAX_SNIPPETS: usize = 500;

/// The version of the embedded JSON. A report reads only its own version.
const VERSION: u32 = 2;

/// A trace of a report.
#[derive(Debug)]
pub struct ReportTrace {
    /// The name of the file, and of the thread if the file has several.
    pub title: String,
    /// Remarks about the trace, e.g. the number of problems in its file.
    pub notes: Vec<String>,
    /// The trace, with source maps applied.
    pub trace: Trace,
    /// Names for its anonymous functions.
    pub inferred: InferredNames,
    /// Lines of the original sources.
    pub snippets: Snippets,
}

/// The traces as base64.
pub fn encode(traces: &[ReportTrace]) -> io::Result<String> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    let comparison = match traces {
        [base, new, ..] => Some(Comparison::of(&base.trace, &new.trace)),
        _ => None,
    };
    let compared = comparison.iter().flat_map(|comparison| [&comparison.base, &comparison.new]);
    let summaries = compared.map(Some).chain(repeat(None));
    let embedded = Embedded {
        version: VERSION,
        generator: concat!("selfprof ", env!("CARGO_PKG_VERSION")),
        traces: traces
            .iter()
            .zip(summaries)
            .map(|(trace, summary)| EmbeddedTrace::of(trace, summary))
            .collect(),
        comparison: comparison.as_ref().map(Changes::of),
    };
    serde_json::to_writer(&mut gzip, &embedded)?;
    Ok(BASE64.encode(&gzip.finish()?))
}

#[derive(Serialize)]
struct Embedded<'a> {
    version: u32,
    generator: &'static str,
    traces: Vec<EmbeddedTrace<'a>>,
    /// The first two traces compared.
    comparison: Option<Changes>,
}

/// Ids are indexes, and -1 stands for none, as does 0 for a line or column. Times are in milliseconds.
#[derive(Serialize)]
struct EmbeddedTrace<'a> {
    name: &'a str,
    interval: Option<f64>,
    notes: &'a [String],
    names: Vec<&'a str>,
    resources: Vec<&'a str>,
    frames: Frames,
    /// Names for anonymous functions, by frame id.
    #[serde(rename = "inferredNames")]
    inferred_names: BTreeMap<usize, &'a str>,
    stacks: Stacks,
    samples: Samples,
    markers: Vec<&'static str>,
    entries: EmbeddedEntries<'a>,
    /// By frame id.
    snippets: BTreeMap<usize, EmbeddedSnippet<'a>>,
}

#[derive(Default, Serialize)]
struct Frames {
    name: Vec<u32>,
    resource: Vec<i64>,
    line: Vec<u32>,
    column: Vec<u32>,
}

#[derive(Default, Serialize)]
struct Stacks {
    frame: Vec<u32>,
    parent: Vec<i64>,
}

#[derive(Default, Serialize)]
struct Samples {
    time: Vec<f64>,
    weight: Vec<f64>,
    stack: Vec<i64>,
    marker: Vec<i64>,
}

#[derive(Default, Serialize)]
struct EmbeddedEntries<'a> {
    names: Vec<&'a str>,
    name: Vec<u32>,
    #[serde(rename = "isMeasure")]
    is_measure: Vec<u8>,
    start: Vec<f64>,
    duration: Vec<f64>,
}

impl<'a> EmbeddedTrace<'a> {
    /// `summary` is that of the trace, if it was computed already.
    fn of(report_trace: &'a ReportTrace, summary: Option<&Summary>) -> Self {
        let trace = &report_trace.trace;
        Self {
            name: &report_trace.title,
            interval: median_interval(trace.samples()).map(Micros::as_millis_f64),
            notes: &report_trace.notes,
            names: trace.names().iter().map(|(_, name)| name).collect(),
            resources: trace.resources().iter().map(|(_, url)| url).collect(),
            frames: Frames::of(trace),
            inferred_names: report_trace.inferred.iter().map(|(id, name)| (id.index(), &**name)).collect(),
            stacks: Stacks::of(trace),
            samples: Samples::of(trace),
            markers: Marker::ALL.map(Marker::as_str).to_vec(),
            entries: EmbeddedEntries::of(trace),
            snippets: snippets(report_trace, summary),
        }
    }
}

#[derive(Serialize)]
struct EmbeddedSnippet<'a> {
    first: u32,
    lines: &'a [String],
}

/// The snippets of the functions with the most time, which people look at first.
fn snippets<'a>(
    ReportTrace { trace, snippets, .. }: &'a ReportTrace,
    summary: Option<&Summary>,
) -> BTreeMap<usize, EmbeddedSnippet<'a>> {
    if snippets.is_empty() {
        return BTreeMap::new();
    }
    let summary = summary.map_or_else(|| Cow::Owned(Summary::of(trace)), Cow::Borrowed);
    let mut rows: Vec<_> = summary.functions.iter().filter(|row| snippets.contains_key(&row.frame)).collect();
    rows.sort_by_key(|row| Reverse((row.self_time.max(Micros(row.total_time.0 / 4)), row.total_time)));
    rows.iter()
        .take(MAX_SNIPPETS)
        .filter_map(|row| {
            let Snippet { first, lines } = snippets.get(&row.frame)?;
            Some((row.frame.index(), EmbeddedSnippet { first: *first, lines }))
        })
        .collect()
}

/// The functions of two traces, most changed first; -1 if a trace does not have the function.
#[derive(Default, Serialize)]
struct Changes {
    base: Vec<i64>,
    new: Vec<i64>,
    #[serde(rename = "baseShare")]
    base_share: Vec<f64>,
    #[serde(rename = "newShare")]
    new_share: Vec<f64>,
    #[serde(rename = "isSignificant")]
    is_significant: Vec<u8>,
}

impl Changes {
    fn of(comparison: &Comparison) -> Self {
        let mut columns = Self::default();
        for change in &comparison.functions {
            columns.base.push(index(change.base.map(|row| row.frame)));
            columns.new.push(index(change.new.map(|row| row.frame)));
            columns.base_share.push(change.base_share);
            columns.new_share.push(change.new_share);
            columns.is_significant.push(change.is_significant().into());
        }
        columns
    }
}

/// An index, or -1.
fn index(id: Option<impl TableId>) -> i64 {
    id.map_or(-1, |id| id.index() as i64)
}

impl Frames {
    fn of(trace: &Trace) -> Self {
        let mut columns = Self::default();
        for (_, Frame { name, resource, line, column }) in trace.frames().iter() {
            columns.name.push(name.index() as u32);
            columns.resource.push(index(resource));
            columns.line.push(line.map_or(0, Into::into));
            columns.column.push(column.map_or(0, Into::into));
        }
        columns
    }
}

impl Stacks {
    fn of(trace: &Trace) -> Self {
        let mut columns = Self::default();
        for (_, Stack { parent, frame }) in trace.stacks().iter() {
            columns.frame.push(frame.index() as u32);
            columns.parent.push(index(parent));
        }
        columns
    }
}

impl Samples {
    fn of(trace: &Trace) -> Self {
        let mut columns = Self::default();
        for (sample, weight) in trace.samples().iter().zip(weigh(trace.samples())) {
            columns.time.push(sample.timestamp.as_millis_f64());
            columns.weight.push(weight.as_millis_f64());
            columns.stack.push(index(sample.stack));
            columns.marker.push(sample.marker.map_or(-1, |marker| marker.index() as i64));
        }
        columns
    }
}

impl<'a> EmbeddedEntries<'a> {
    fn of(trace: &'a Trace) -> Self {
        let mut columns = Self::default();
        let Some(entries) = trace.entries() else { return columns };
        columns.names = entries.names().iter().map(|(_, name)| name).collect();
        for entry in entries.list() {
            columns.name.push(entry.name.index() as u32);
            columns.is_measure.push((entry.entry_type == EntryType::Measure).into());
            columns.start.push(entry.start_time.get());
            columns.duration.push(entry.duration.get());
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;
    use selfprof_trace::Sample;

    use super::*;

    #[test]
    fn traces_are_encoded_without_markup() {
        let mut trace = Trace::new();
        let name = trace.name("</script><b>").unwrap();
        let resource = trace.resource("https://a.test/<i>.js").ok();
        let frame = trace.frame(Frame { name, resource, line: None, column: None }).unwrap();
        let outer = trace.stack(Stack { parent: None, frame }).unwrap();
        let inner = trace.stack(Stack { parent: Some(outer), frame }).unwrap();
        for (time, stack) in [(1000, None), (2000, Some(outer)), (4000, Some(inner))] {
            trace.push_sample(Sample { timestamp: Micros(time), stack, marker: None });
        }
        let inferred = InferredNames::from([(frame, "a.b".to_owned())]);
        let (notes, snippets) = (Vec::new(), Snippets::new());
        let report_trace = ReportTrace { title: "<a>".to_owned(), notes, trace, inferred, snippets };

        let text = encode(&[report_trace]).unwrap();

        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)));
        let mut json = String::new();
        GzDecoder::new(&*BASE64.decode(text.as_bytes()).unwrap()).read_to_string(&mut json).unwrap();
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        let written = &value["traces"][0];
        assert_eq!(written["names"][0], "</script><b>");
        assert_eq!(written["samples"]["time"], serde_json::json!([1.0, 2.0, 4.0]));
        assert_eq!(written["samples"]["weight"], serde_json::json!([1.0, 1.0, 2.0]));
        assert_eq!(written["samples"]["stack"], serde_json::json!([-1, 0, 1]));
        assert_eq!(written["stacks"]["parent"], serde_json::json!([-1, 0]));
        assert_eq!(written["frames"]["line"], serde_json::json!([0]));
    }
}
