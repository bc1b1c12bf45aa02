//! Random traces, and a form in which traces compare.

use std::num::NonZeroU32;

use proptest::prelude::*;
use selfprof_trace::{Frame, FrameId, Marker, Micros, Sample, Stack, StackId, Trace};

/// A random number that is made to fit a table later.
type Pick = prop::sample::Index;

/// A small random trace with sorted samples and names that need escapes.
pub(crate) fn trace() -> impl Strategy<Value = Trace> {
    let frames = prop::collection::vec((".{0,3}", prop::option::of(("[a-c]", 0..4_u32, 0..4_u32))), 1..8);
    let stacks = prop::collection::vec((any::<Option<Pick>>(), any::<Pick>()), 0..20);
    let samples = prop::collection::vec((0..5_000_u64, any::<Option<Pick>>(), 0..9_usize), 0..40);
    (frames, stacks, samples).prop_map(|(frames, stacks, samples)| {
        let mut trace = Trace::new();
        for (name, place) in frames {
            let name = trace.name(&name).unwrap();
            let resource = place.as_ref().map(|(url, ..)| trace.resource(url).unwrap());
            let line = place.as_ref().and_then(|&(_, line, _)| NonZeroU32::new(line));
            let column = place.as_ref().and_then(|&(.., column)| NonZeroU32::new(column));
            trace.frame(Frame { name, resource, line, column }).unwrap();
        }
        for (parent, frame) in stacks {
            let parent = parent.and_then(|pick| nth_stack(&trace, pick));
            let frame = FrameId::from_index(frame.index(trace.frames().len())).unwrap();
            trace.stack(Stack { parent, frame }).unwrap();
        }
        let mut timestamp = Micros::ZERO;
        for (since, stack, marker) in samples {
            timestamp = timestamp.saturating_add(Micros(since));
            let stack = stack.and_then(|pick| nth_stack(&trace, pick));
            trace.push_sample(Sample { timestamp, stack, marker: Marker::from_index(marker) });
        }
        trace
    })
}

fn nth_stack(trace: &Trace, pick: Pick) -> Option<StackId> {
    let length = trace.stacks().len();
    if length == 0 { None } else { StackId::from_index(pick.index(length)) }
}

/// All of a trace that can be compared: names, resources, frames, stacks, samples.
pub(crate) type Parts = (Vec<String>, Vec<String>, Vec<Frame>, Vec<Stack>, Vec<Sample>);

/// Takes a trace apart, with its ids as they are.
pub(crate) fn parts(trace: &Trace) -> Parts {
    (
        trace.names().iter().map(|(_, name)| name.to_owned()).collect(),
        trace.resources().iter().map(|(_, url)| url.to_owned()).collect(),
        trace.frames().iter().map(|(_, frame)| frame).collect(),
        trace.stacks().iter().map(|(_, stack)| stack).collect(),
        trace.samples().to_vec(),
    )
}
