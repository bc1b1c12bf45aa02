//! The profiles of a selection, added up, as one trace.

use std::num::NonZeroU32;

use selfprof_formats::Thread;
use selfprof_trace::foreign::{Limits, Problems};
use selfprof_trace::{Frame, FrameId, InternError, Marker, Micros, Stack, StackId, StackTotal, Trace};
use serde::Deserialize;

use super::address::{Address, Selection};
use super::fetched::Fetched;
use super::request;
use crate::failure::Failure;

/// What this reads of `GET /api/v1/functions`. Times are in milliseconds.
#[derive(Deserialize)]
struct Summary {
    samples: u64,
    busy: Tally,
    idle: Tally,
}

#[derive(Deserialize)]
struct Tally {
    time: f64,
}

/// `GET /api/v1/flamegraph`
#[derive(Deserialize)]
struct FlameGraph {
    profiles: u64,
    sessions: u64,
    functions: Vec<Function>,
    /// Callers come first.
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    resource: Option<String>,
    line: Option<NonZeroU32>,
    column: Option<NonZeroU32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    function: usize,
    parent: Option<usize>,
    self_time: f64,
}

pub(super) fn fetch(address: &Address, selection: &Selection) -> Result<Fetched, Failure> {
    let summary = request::get(address, &selection.path("functions", &[("top", "1")]))?;
    let graph = request::get(address, &selection.path("flamegraph", &[]))?;
    let failure = || {
        let message = format!("cannot read the answer of {}", address.authority());
        Failure::job(message).hint("use the same version of selfprof and selfprof-collector")
    };
    let summary: Summary = serde_json::from_slice(&summary).map_err(|error| failure().because(&error))?;
    let graph: FlameGraph = serde_json::from_slice(&graph).map_err(|error| failure().because(&error))?;
    if graph.profiles == 0 {
        return Err(Failure::job(format!("the collector at {} has no such profiles", address.authority())).hint(
            "without `from`, the last seven days count; `selfprof-collector query profiles` lists the profiles",
        ));
    }
    let remark = format!(
        "a sum of {} profiles of {} sessions: it has times, but no time axis",
        graph.profiles, graph.sessions
    );
    let trace = trace(&summary, &graph).map_err(|error| failure().because(&error))?;
    let name = format!("sum of {} profiles", graph.profiles);
    let thread = Thread::named(name, trace);
    let name = match selection.filter.is_empty() {
        true => selection.app.clone(),
        false => format!("{}: {}", selection.app, selection.filter),
    };
    Ok(Fetched { name, threads: vec![(thread, Problems::default())], remark: Some(remark) })
}

fn trace(summary: &Summary, graph: &FlameGraph) -> Result<Trace, InternError> {
    let mut trace = Trace::new();
    let frames = graph.functions.iter().map(|function| {
        let name = trace.name(&function.name)?;
        let resource = function.resource.as_deref().map(|url| trace.resource(url)).transpose()?;
        let position = |number: Option<NonZeroU32>| number.filter(|_| resource.is_some());
        let (line, column) = (position(function.line), position(function.column));
        trace.frame(Frame { name, resource, line, column })
    });
    let frames: Vec<FrameId> = frames.collect::<Result<_, _>>()?;
    let mut stacks: Vec<Option<StackId>> = Vec::with_capacity(graph.nodes.len());
    let mut totals = Vec::with_capacity(graph.nodes.len() + 2);
    let mut total = |stack, marker, time: f64| {
        totals.push(StackTotal { stack, marker, labels: None, nanos: nanos(time), waited: None, samples: 0 });
    };
    for node in &graph.nodes {
        let parent = node.parent.and_then(|parent| stacks.get(parent).copied().flatten());
        let frame = frames.get(node.function);
        let stack = frame.map(|&frame| trace.stack(Stack { parent, frame })).transpose()?;
        stacks.push(stack);
        total(stack, Some(Marker::Script), node.self_time);
    }
    let named: f64 = graph.nodes.iter().map(|node| node.self_time).sum();
    total(None, Some(Marker::Other), (summary.busy.time - named).max(0.0));
    total(None, None, summary.idle.time);
    // As many samples as were recorded, as far as the times allow.
    let interval = (summary.busy.time + summary.idle.time) / summary.samples.max(1) as f64;
    trace.push_totals(&totals, Micros::from_millis_f64(interval), Limits::default().samples.min(MAX_SAMPLES));
    Ok(trace)
}

/// More would only make a report larger.
const MAX_SAMPLES: usize = 500_000;

fn nanos(millis: f64) -> u64 {
    (millis * 1e6).round() as u64
}

#[cfg(test)]
mod tests {
    use selfprof_trace::summary::Summary as TraceSummary;

    use super::*;

    #[test]
    fn times_are_those_of_the_collector() {
        let summary: Summary = serde_json::from_str(
            r#"{"version":1,"profiles":2,"sessions":2,"samples":12,"busy":{"time":100},"idle":{"time":20},"functions":[]}"#,
        )
        .unwrap();
        let graph: FlameGraph = serde_json::from_str(
            r#"{"version":1,"profiles":2,"sessions":2,
                "functions":[{"name":"main","resource":"a.js","line":1,"column":2},{"name":"","resource":null,"line":null,"column":null}],
                "nodes":[{"function":0,"parent":null,"selfTime":30,"totalTime":90},{"function":1,"parent":0,"selfTime":60,"totalTime":60}]}"#,
        )
        .unwrap();
        let trace = trace(&summary, &graph).unwrap();
        let summary = TraceSummary::of(&trace);
        assert_eq!((summary.busy.time, summary.idle.time), (Micros(100_000), Micros(20_000)));
        assert_eq!((summary.busy.samples, summary.idle.samples), (10, 2));
        let rows: Vec<_> = summary.functions.iter().map(|row| (row.self_time.0, row.total_time.0)).collect();
        assert_eq!(rows, [(60_000, 60_000), (30_000, 90_000)]);
    }
}
