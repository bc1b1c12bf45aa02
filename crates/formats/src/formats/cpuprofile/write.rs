//! Writing the profile.

use std::io::{self, Write};

use selfprof_trace::summary::CallTree;
use selfprof_trace::{Marker, Trace};

use super::devtools_time::{BASE, MAX_LENGTH, stable};
use super::extension;
use super::nodes::{Nodes, ROOT, ROOT_NAME, write_bare_call_frame, write_call_frame};
use crate::json::{number, write_list};
use crate::options::WriteOptions;
use crate::samples::spans::{self, Spans};
use crate::samples::states;
use crate::streams::output::{self, Out};

/// Writes a trace as a CPU profile, as one line of JSON.
pub fn write(trace: &Trace, out: impl Write, options: WriteOptions) -> io::Result<()> {
    output::write(out, options, |out| write_profile(trace, out))
}

fn write_profile(trace: &Trace, out: &mut Out<'_>) -> io::Result<()> {
    write_nodes(trace, out)?;
    let nodes = Nodes::of(trace);
    let spans = Spans::of(trace);
    let shift = spans::shift(spans.start().into_iter());
    let is_short = spans.end().is_none_or(|end| end.saturating_add(shift) <= MAX_LENGTH);
    let shift = if is_short { shift + BASE } else { shift };
    let first = spans.start().map(|start| start.saturating_add(shift));
    let ends = || spans.iter().map(|span| span.end().saturating_add(shift));
    let times = || first.into_iter().chain(ends());
    let [start, end] = [first, ends().last()].map(|time| time.map_or(0, stable));
    write!(out, ",\"startTime\":{start},\"endTime\":{end}")?;
    // An extra idle sample marks the end of the last span.
    let samples = spans.iter().map(|span| nodes.of_sample(span.sample));
    let samples = samples.chain(spans.end().map(|_| nodes.of_state(None)));
    write_list(out, ",\"samples\":[", samples, number)?;
    let mut before = start;
    let deltas = times().map(|time| {
        let time = stable(time);
        time - std::mem::replace(&mut before, time)
    });
    write_list(out, "],\"timeDeltas\":[", deltas, number)?;
    write!(out, "],\"selfprof\":{{\"version\":{},\"timeOrigin\":{shift}", extension::VERSION)?;
    write_list(out, ",\"moved\":[", times().map(|time| stable(time) - time), number)?;
    let pauses = spans.iter().enumerate().filter(|(_, span)| span.sample.is_none());
    write_list(out, "],\"pauses\":[", pauses, |out, (index, _)| number(out, index))?;
    out.write_all(b"]}}")
}

fn write_nodes(trace: &Trace, out: &mut Out<'_>) -> io::Result<()> {
    let (nodes, tree) = (Nodes::of(trace), CallTree::of(trace));
    let mut hits = [0_u64; states::COUNT];
    for sample in trace.samples().iter().filter(|sample| sample.stack.is_none()) {
        hits[states::index(sample.marker)] += 1;
    }
    // The idle state is always used: by pauses, and by the end of the last sample.
    let is_used = |marker: Option<Marker>| marker.is_none() || hits[states::index(marker)] > 0;

    write!(out, "{{\"nodes\":[{{\"id\":{ROOT},\"callFrame\":")?;
    write_bare_call_frame(out, ROOT_NAME)?;
    let roots = tree.roots().iter().map(|&stack| nodes.of_stack(stack));
    let states = states::all().filter(|&marker| is_used(marker)).map(|marker| nodes.of_state(marker));
    write_list(out, ",\"hitCount\":0,\"children\":[", roots.chain(states), |out, id| write!(out, "{id}"))?;
    out.write_all(b"]}")?;
    for (id, stack) in trace.stacks().iter() {
        write!(out, ",{{\"id\":{},\"callFrame\":", nodes.of_stack(id))?;
        write_call_frame(out, trace, stack.frame)?;
        write!(out, ",\"hitCount\":{}", tree.node(id).map_or(0, |node| node.own.samples))?;
        let children = tree.children(id);
        if !children.is_empty() {
            let ids = children.iter().map(|&child| nodes.of_stack(child));
            write_list(out, ",\"children\":[", ids, |out, id| write!(out, "{id}"))?;
            out.write_all(b"]")?;
        }
        out.write_all(b"}")?;
    }
    for marker in states::all().filter(|&marker| is_used(marker)) {
        write!(out, ",{{\"id\":{},\"callFrame\":", nodes.of_state(marker))?;
        write_bare_call_frame(out, states::name(marker))?;
        write!(out, ",\"hitCount\":{}}}", hits[states::index(marker)])?;
    }
    out.write_all(b"]")
}
