//! Random traces, and a form in which traces compare.

use std::num::NonZeroU32;

use proptest::prelude::*;

use crate::{Frame, Marker, Micros, Sample, Stack, StackId, Trace};

/// A small random trace with sorted samples, whose names and positions coincide often.
///
/// Every name is used by the first frames that come, as in a trace that a recorder or a reader filled.
pub(crate) fn trace() -> impl Strategy<Value = Trace> {
    let frames = prop::collection::vec((0..4_u8, prop::option::of((0..3_u8, 1..4_u32, 1..4_u32))), 1..8);
    let stacks =
        prop::collection::vec((any::<Option<prop::sample::Index>>(), any::<prop::sample::Index>()), 0..20);
    let samples =
        prop::collection::vec((0..5_000_u64, any::<Option<prop::sample::Index>>(), 0..9_usize), 0..40);
    (frames, stacks, samples).prop_map(|(frames, stacks, samples)| {
        let mut trace = Trace::new();
        for (name, place) in frames {
            let name = trace.name(&format!("f{name}")).unwrap();
            let resource = place.map(|(url, ..)| trace.resource(&format!("file:///{url}.js")).unwrap());
            let line = place.and_then(|(_, line, _)| NonZeroU32::new(line));
            let column = place.and_then(|(.., column)| NonZeroU32::new(column));
            trace.frame(Frame { name, resource, line, column }).unwrap();
        }
        let nth = |trace: &Trace, index: prop::sample::Index| match trace.stacks().len() {
            0 => None,
            length => StackId::from_index(index.index(length)),
        };
        for (parent, frame) in stacks {
            let parent = parent.and_then(|index| nth(&trace, index));
            let frame = crate::FrameId::from_index(frame.index(trace.frames().len())).unwrap();
            trace.stack(Stack { parent, frame }).unwrap();
        }
        let mut timestamp = Micros::ZERO;
        for (since, stack, marker) in samples {
            timestamp = timestamp.saturating_add(Micros(since));
            let stack = stack.and_then(|index| nth(&trace, index));
            trace.push_sample(Sample { timestamp, stack, marker: Marker::from_index(marker) });
        }
        trace
    })
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

/// The samples with their stacks spelled out, root first, so that traces with other ids compare.
pub(crate) fn spelled(trace: &Trace) -> Vec<(Micros, Option<Marker>, Vec<String>)> {
    let frame = |id| {
        let Frame { name, resource, line, column } = trace.frames()[id];
        let url = resource.map(|id| &trace.resources()[id]);
        format!("{} {url:?} {line:?} {column:?}", &trace.names()[name])
    };
    let path = |id| {
        let mut path: Vec<String> = trace.path(id).map(frame).collect();
        path.reverse();
        path
    };
    let spell =
        |sample: &Sample| (sample.timestamp, sample.marker, sample.stack.map(path).unwrap_or_default());
    trace.samples().iter().map(spell).collect()
}
