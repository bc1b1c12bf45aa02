//! The traces embedded in a report. `ui/report/src/embedded.ts` reads them.
//!
//! Tables are columns of numbers rather than lists of objects, so that a browser parses 100,000 samples quickly. The
//! JSON is gzipped and base64-encoded, so nothing in a trace can be taken for markup.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::iter::repeat;

use data_encoding::BASE64;
use flate2::Compression;
use flate2::write::GzEncoder;
use selfprof_formats::Process;
use selfprof_trace::comparison::Comparison;
use selfprof_trace::summary::Summary;
use selfprof_trace::{
    Entries, EntryType, Frame, Marker, MergedThreads, Micros, Sample, Stack, TableId, Trace,
};
use serde::Serialize;

use super::report_trace::{ReportThread, ReportTrace};
use crate::source_maps::Snippet;

/// At most this many functions get a source snippet, to keep the file small.
const MAX_SNIPPETS: usize = 500;

/// The version of the embedded JSON. A report reads only its own version.
const VERSION: u32 = 5;

/// The traces as base64.
pub fn encode(traces: &[ReportTrace]) -> io::Result<String> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    let comparison = match traces {
        [base, new, ..] => Some(Comparison::of_merged(&base.compared(), &new.compared())),
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

/// Ids are indexes, and -1 stands for none, as does 0 for a line or column. Times are in milliseconds unless stated
/// otherwise.
#[derive(Serialize)]
struct EmbeddedTrace<'a> {
    name: &'a str,
    notes: &'a [String],
    names: Vec<&'a str>,
    resources: Vec<&'a str>,
    frames: Frames,
    /// Names for anonymous functions, by frame id.
    #[serde(rename = "inferredNames")]
    inferred_names: BTreeMap<usize, &'a str>,
    stacks: Stacks,
    /// By stack id: the stack in which functions of Node.js's own scripts are folded. Absent if there are none.
    #[serde(rename = "foldedStacks", skip_serializing_if = "Option::is_none")]
    folded_stacks: Option<Vec<i64>>,
    markers: Vec<&'static str>,
    /// The names and values of each set of labels.
    #[serde(rename = "labelSets")]
    label_sets: Vec<Vec<(&'a str, &'a str)>>,
    /// By frame id.
    snippets: BTreeMap<usize, EmbeddedSnippet<'a>>,
    threads: Vec<EmbeddedThread<'a>>,
}

/// A thread; its ids are those of the trace.
#[derive(Serialize)]
struct EmbeddedThread<'a> {
    name: &'a str,
    process: Option<EmbeddedProcess<'a>>,
    file: Option<&'a str>,
    interval: Option<f64>,
    #[serde(rename = "hasCalls")]
    has_calls: bool,
    samples: Samples,
    labels: LabelChanges,
    entries: EmbeddedEntries<'a>,
}

/// The samples from which on others have another set of labels, and these sets.
#[derive(Default, Serialize)]
struct LabelChanges {
    sample: Vec<usize>,
    set: Vec<i64>,
}

#[derive(Serialize)]
struct EmbeddedProcess<'a> {
    pid: u32,
    tid: u64,
    label: String,
    command: &'a str,
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

/// Times are in microseconds here, because short integers are parsed and compressed better.
#[derive(Default, Serialize)]
struct Samples {
    /// The time of the first sample.
    start: u64,
    /// The time since the previous sample; 0 for the first one.
    delta: Vec<u64>,
    stack: Vec<i64>,
    marker: Vec<i64>,
    /// The samples that do not stand for the time since the previous one, and the times that they stand for.
    #[serde(rename = "weightOf")]
    weight_of: Vec<usize>,
    weight: Vec<u64>,
    /// The first parts of samples that stand for two things, of which each is a sample here.
    split: Vec<usize>,
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
        let trace = &report_trace.merged.trace;
        Self {
            name: &report_trace.title,
            notes: &report_trace.notes,
            names: trace.names().iter().map(|(_, name)| name).collect(),
            resources: trace.resources().iter().map(|(_, url)| url).collect(),
            frames: Frames::of(trace),
            inferred_names: report_trace.inferred.iter().map(|(id, name)| (id.index(), &**name)).collect(),
            stacks: Stacks::of(trace),
            folded_stacks: report_trace
                .folded
                .as_ref()
                .map(|folded| folded.iter().map(|stack| index(*stack)).collect()),
            markers: Marker::ALL.map(Marker::as_str).to_vec(),
            label_sets: report_trace.merged.label_sets.sets().map(|set| set.iter().collect()).collect(),
            snippets: snippets(report_trace, summary),
            threads: report_trace
                .threads
                .iter()
                .map(|thread| EmbeddedThread::of(&report_trace.merged, thread))
                .collect(),
        }
    }
}

impl<'a> EmbeddedThread<'a> {
    fn of(merged: &MergedThreads, thread: &'a ReportThread) -> Self {
        let MergedThreads { trace, split, weights, .. } = merged;
        let samples = &trace.samples()[thread.samples.clone()];
        let split = split.iter().filter(|index| thread.samples.contains(*index));
        let split = split.map(|index| index - thread.samples.start).collect();
        Self {
            name: &thread.name,
            process: thread.process.as_ref().map(EmbeddedProcess::of),
            file: thread.file.as_deref(),
            interval: thread.interval.map(Micros::as_millis_f64),
            has_calls: thread.has_calls,
            samples: Samples {
                split,
                ..Samples::of(samples, &weights[thread.samples.clone()], thread.start)
            },
            labels: LabelChanges::of(merged, thread),
            entries: EmbeddedEntries::of(thread.entries.as_ref(), thread.start),
        }
    }
}

impl LabelChanges {
    fn of(merged: &MergedThreads, thread: &ReportThread) -> Self {
        let mut changes = Self::default();
        let mut last = None;
        for (index_of_sample, index_in_merged) in thread.samples.clone().enumerate() {
            // Threads at the end may have no labels.
            let set = merged.labels.get(index_in_merged).copied().flatten();
            if set != last {
                changes.sample.push(index_of_sample);
                changes.set.push(index(set));
                last = set;
            }
        }
        changes
    }
}

impl<'a> EmbeddedProcess<'a> {
    fn of(process: &'a Process) -> Self {
        let Process { pid, tid, command } = process;
        Self { pid: *pid, tid: *tid, label: process.label(), command }
    }
}

#[derive(Serialize)]
struct EmbeddedSnippet<'a> {
    first: u32,
    lines: &'a [String],
}

/// The snippets of the functions with the most time, which people look at first.
fn snippets<'a>(
    ReportTrace { merged, snippets, .. }: &'a ReportTrace,
    summary: Option<&Summary>,
) -> BTreeMap<usize, EmbeddedSnippet<'a>> {
    if snippets.is_empty() {
        return BTreeMap::new();
    }
    let summary = summary.map_or_else(|| Cow::Owned(Summary::of_merged(merged)), Cow::Borrowed);
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
    fn of(samples: &[Sample], weights: &[Micros], start: Micros) -> Self {
        let Some(first) = samples.first() else { return Self::default() };
        let mut columns = Self { start: first.timestamp.saturating_sub(start).0, ..Self::default() };
        let mut previous = first.timestamp;
        for (index_of_sample, (sample, &weight)) in samples.iter().zip(weights).enumerate() {
            let delta = sample.timestamp.saturating_sub(previous);
            previous = sample.timestamp;
            columns.delta.push(delta.0);
            columns.stack.push(index(sample.stack));
            columns.marker.push(sample.marker.map_or(-1, |marker| marker.index() as i64));
            if weight != delta {
                columns.weight_of.push(index_of_sample);
                columns.weight.push(weight.0);
            }
        }
        columns
    }
}

impl<'a> EmbeddedEntries<'a> {
    fn of(entries: Option<&'a Entries>, start: Micros) -> Self {
        let mut columns = Self::default();
        let Some(entries) = entries else { return columns };
        columns.names = entries.names().iter().map(|(_, name)| name).collect();
        for entry in entries.list() {
            columns.name.push(entry.name.index() as u32);
            columns.is_measure.push((entry.entry_type == EntryType::Measure).into());
            columns.start.push(entry.start_time.get() - start.as_millis_f64());
            columns.duration.push(entry.duration.get());
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;
    use selfprof_formats::{ReadOptions, Thread, w3c};
    use selfprof_trace::LabelSet;

    use super::super::report_trace::FileThreads;
    use super::*;
    use crate::inferred_names::InferredNames;
    use crate::source_maps::{ReadableThread, Snippets};

    #[test]
    fn samples_of_calls_have_their_times() {
        let calls =
            r#"{"start":0,"end":10,"truncated":false,"types":[0,1],"frameIds":[0,0],"timestamps":[2,7]}"#;
        let json = format!(
            r#"{{"calls":{calls},"frames":[{{"name":"f"}}],"resources":[],"samples":[],"stacks":[]}}"#
        );
        let mut threads = w3c::read_threads(json.as_bytes(), &ReadOptions::default()).unwrap();
        let (mut thread, _) = threads.remove(0);
        thread.trace.add_call_samples().unwrap();
        let readable = ReadableThread { thread, inferred: InferredNames::new(), snippets: Snippets::new() };
        let file = FileThreads { name: "a".to_owned(), threads: vec![readable], problems: 0, remark: None };
        let report_trace = ReportTrace::of(file).unwrap();
        let thread = &report_trace.threads[0];
        let samples = EmbeddedThread::of(&report_trace.merged, thread).samples;
        let running = samples.stack.iter().position(|&stack| stack >= 0).unwrap();
        // It is the time since the sample before.
        assert_eq!(samples.delta[running], 5_000);
        assert!(!samples.weight_of.contains(&running), "{:?}", samples.weight);
    }

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
        let process = Some(Process { pid: 7, tid: 0, command: "node <b>".to_owned() });
        let thread = Thread { process, ..Thread::main(trace) };
        let readable = ReadableThread { thread, inferred, snippets: Snippets::new() };
        let file = FileThreads { name: "<a>".to_owned(), threads: vec![readable], problems: 0, remark: None };
        let report_trace = ReportTrace::of(file).unwrap();

        let text = encode(&[report_trace]).unwrap();

        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)));
        let mut json = String::new();
        GzDecoder::new(&*BASE64.decode(text.as_bytes()).unwrap()).read_to_string(&mut json).unwrap();
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        let written = &value["traces"][0];
        assert_eq!(written["names"][0], "</script><b>");
        let thread = &written["threads"][0];
        assert_eq!(thread["process"]["label"], "<b> 7");
        assert_eq!(thread["samples"]["start"], 1000);
        assert_eq!(thread["samples"]["delta"], serde_json::json!([0, 1000, 2000]));
        // The first sample stands for a typical interval.
        assert_eq!(thread["samples"]["weightOf"], serde_json::json!([0]));
        assert_eq!(thread["samples"]["weight"], serde_json::json!([1000]));
        assert_eq!(thread["samples"]["stack"], serde_json::json!([-1, 0, 1]));
        assert_eq!(written["stacks"]["parent"], serde_json::json!([-1, 0]));
        assert_eq!(written["frames"]["line"], serde_json::json!([0]));
    }

    #[test]
    fn labels_are_those_of_each_thread() {
        let mut traces = Vec::new();
        for sets in [&[None, Some("/cart"), Some("/cart"), None, Some("/")][..], &[], &[Some("/"), None]] {
            let mut trace = Trace::new();
            let name = trace.name("f").unwrap();
            let frame = trace.frame(Frame { name, resource: None, line: None, column: None }).unwrap();
            let stack = trace.stack(Stack { parent: None, frame }).ok();
            for (index, set) in (1..).zip(sets) {
                let labels = set.and_then(|route| trace.label_set(LabelSet::new([("route", route)])).ok());
                trace.push_labelled(Sample { timestamp: Micros(index * 1000), stack, marker: None }, labels);
            }
            traces.push(ReadableThread {
                thread: Thread::main(trace),
                inferred: InferredNames::new(),
                snippets: Snippets::new(),
            });
        }
        let file = FileThreads { name: "a".to_owned(), threads: traces, problems: 0, remark: None };
        let report_trace = ReportTrace::of(file).unwrap();
        let embedded = EmbeddedTrace::of(&report_trace, None);
        assert_eq!(embedded.label_sets, [[("route", "/cart")], [("route", "/")]]);
        let changes =
            embedded.threads.iter().map(|thread| (&thread.labels.sample[..], &thread.labels.set[..]));
        let expected: [(&[usize], &[i64]); 3] = [(&[1, 3, 4], &[0, -1, 1]), (&[], &[]), (&[0, 1], &[1, -1])];
        assert_eq!(changes.collect::<Vec<_>>(), expected);
    }
}
