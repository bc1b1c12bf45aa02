//! Durations of spans, and what runs in them.

use selfprof_store::query::flame_graph::FlameGraph;
use selfprof_store::query::functions::Functions;
use selfprof_store::query::slow_spans::{SlowSpans, SpanGroup};
use selfprof_store::query::spans::{SpanTimes, limits};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::{FunctionName, NodeAnswer, VERSION, millis};

/// The spans of a selection. Durations are in milliseconds; each counts 1 / rate times.
#[derive(Debug, Serialize, Deserialize)]
pub struct SpansAnswer {
    pub version: u32,
    /// Where the parts of distributions end.
    pub limits: Vec<f64>,
    pub spans: Vec<SpanAnswer>,
}

/// The spans of one name.
#[derive(Debug, Serialize, Deserialize)]
pub struct SpanAnswer {
    /// As in a condition on `span`.
    pub name: String,
    /// How many were recorded.
    pub spans: u64,
    /// How many there were in all visits.
    pub times: f64,
    pub profiles: u64,
    pub sessions: u64,
    pub p50: f64,
    pub p75: f64,
    pub p90: f64,
    pub p95: f64,
    pub p99: f64,
    pub longest: f64,
    /// How many are below the first limit, from it to the second, and so on.
    pub distribution: Vec<f64>,
}

impl From<Vec<SpanTimes>> for SpansAnswer {
    fn from(spans: Vec<SpanTimes>) -> Self {
        let answer = |span: SpanTimes| {
            let [p50, p75, p90, p95, p99] = span.percentiles.map(millis);
            SpanAnswer {
                name: span.name,
                spans: span.spans,
                times: span.times,
                profiles: span.profiles,
                sessions: span.sessions,
                p50,
                p75,
                p90,
                p95,
                p99,
                longest: millis(span.longest),
                distribution: span.distribution,
            }
        };
        Self {
            version: VERSION,
            limits: limits().map(millis).collect(),
            spans: spans.into_iter().map(answer).collect(),
        }
    }
}

/// What runs in the slowest tenth of the spans of one name, and in the others. Times are in milliseconds.
#[derive(Debug, Serialize, Deserialize)]
pub struct SlowSpansAnswer {
    pub version: u32,
    pub span: String,
    /// A span is slow from this duration on: the 90th percentile of all.
    pub limit: f64,
    /// The profiles with such spans.
    pub profiles: u64,
    /// Those of them whose traces were read: all, or a choice at random.
    pub read: u64,
    /// The spans that the recording has only a part of. They are left out.
    pub cut: u64,
    pub slow: SpanGroupAnswer,
    pub rest: SpanGroupAnswer,
    /// First those that take more of a slow span than of another one.
    pub functions: Vec<SpanFunctionAnswer>,
}

/// Some spans. Times are means of one span.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpanGroupAnswer {
    pub spans: u64,
    pub times: f64,
    pub profiles: u64,
    pub sessions: u64,
    pub duration: f64,
    /// In which something ran, by the samples.
    pub busy_time: f64,
    /// What the nodes are, by index.
    pub functions: Vec<FunctionName>,
    /// The tree of calls; a caller comes before what it calls.
    pub nodes: Vec<NodeAnswer>,
}

/// A function in both. Times are means of one span.
#[derive(Debug, Serialize, Deserialize)]
pub struct SpanFunctionAnswer {
    #[serde(flatten)]
    pub function: FunctionName,
    pub slow: SpanFunctionTime,
    pub rest: SpanFunctionTime,
}

/// The time of a function in a span.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpanFunctionTime {
    pub self_time: f64,
    pub total_time: f64,
}

/// The mean of one span, in milliseconds.
fn mean(group: &SpanGroup, micros: f64) -> f64 {
    if group.times > 0.0 { micros / group.times / 1_000.0 } else { 0.0 }
}

impl SpanGroupAnswer {
    fn of(group: &SpanGroup, functions: &Functions) -> Self {
        let graph = FlameGraph::of(&group.sums);
        let nodes = graph.nodes.iter().map(|node| NodeAnswer {
            function: node.function,
            parent: node.parent,
            self_time: mean(group, node.self_time as f64),
            total_time: mean(group, node.total_time as f64),
        });
        Self {
            spans: group.spans,
            times: group.times,
            profiles: group.sums.profiles,
            sessions: group.sums.sessions,
            duration: mean(group, group.duration),
            busy_time: mean(group, functions.busy as f64),
            functions: graph.functions.iter().map(FunctionName::from).collect(),
            nodes: nodes.collect(),
        }
    }
}

impl SlowSpansAnswer {
    /// The first `top` functions.
    pub fn of(span: String, both: &SlowSpans, top: usize) -> Self {
        let groups = [&both.slow, &both.rest];
        let functions = groups.map(|group| Functions::of(&group.sums));
        let mut rows: BTreeMap<_, [SpanFunctionTime; 2]> = BTreeMap::new();
        for (side, (group, functions)) in groups.into_iter().zip(&functions).enumerate() {
            for row in &functions.rows {
                rows.entry(&row.function).or_default()[side] = SpanFunctionTime {
                    self_time: mean(group, row.self_time as f64),
                    total_time: mean(group, row.total_time as f64),
                };
            }
        }
        let mut rows: Vec<SpanFunctionAnswer> = rows
            .into_iter()
            .map(|(function, [slow, rest])| SpanFunctionAnswer { function: function.into(), slow, rest })
            .collect();
        let more = |row: &SpanFunctionAnswer| row.slow.self_time - row.rest.self_time;
        rows.sort_by(|a, b| more(b).total_cmp(&more(a)));
        rows.truncate(top);
        let [slow, rest] = [0, 1].map(|side| SpanGroupAnswer::of(groups[side], &functions[side]));
        Self {
            version: VERSION,
            span,
            limit: millis(both.limit),
            profiles: both.profiles,
            read: both.read,
            cut: both.cut,
            slow,
            rest,
            functions: rows,
        }
    }
}
