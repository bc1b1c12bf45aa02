//! Random samples with stacks, collections and idle times, cut into segments that overlap.

use std::collections::BTreeSet;

use proptest::prelude::*;
use selfprof_trace::Trace;

/// What a sampler saw, each segment as text.
pub fn segments() -> impl Strategy<Value = Vec<String>> {
    let frame = prop::sample::select(vec!["a", "b", "c", "d", "[h]", "{x}"]);
    let stack = prop::collection::vec(frame, 1..5).prop_map(|frames| frames.join(";"));
    let what = prop_oneof![
        5 => stack,
        3 => Just("gc".to_owned()),
        1 => Just(String::new()),
    ];
    let samples = prop::collection::vec((1_u64..4, what), 0..120);
    let cuts = prop::collection::vec((any::<prop::sample::Index>(), 0_usize..4), 0..8);
    (samples, cuts).prop_map(|(samples, cuts)| {
        let mut now = 0;
        let samples: Vec<String> = samples
            .into_iter()
            .map(|(step, what)| {
                now += step;
                format!("{now} {what}").trim_end().to_owned()
            })
            .collect();
        let mut ends: Vec<(usize, usize)> =
            cuts.iter().map(|(cut, overlap)| (cut.index(samples.len() + 1), *overlap)).collect();
        ends.push((samples.len(), 0));
        ends.sort_unstable();
        let mut begin = 0;
        ends.into_iter()
            .map(|(end, overlap)| {
                let end_here = (end + overlap).min(samples.len());
                let segment = samples[begin.min(end_here)..end_here].join(", ");
                begin = end;
                segment
            })
            .collect()
    })
}

/// Fails when a table has an entry that no sample uses.
pub fn assert_no_more_than_used(trace: &Trace) {
    let mut stacks = BTreeSet::new();
    for sample in trace.samples() {
        let mut cursor = sample.stack;
        while let Some(stack) = cursor.filter(|stack| stacks.insert(*stack)) {
            cursor = trace.stacks()[stack].parent;
        }
    }
    let frames: BTreeSet<_> = stacks.iter().map(|&stack| trace.stacks()[stack].frame).collect();
    let names: BTreeSet<_> = frames.iter().map(|&frame| trace.frames()[frame].name).collect();
    let resources: BTreeSet<_> = frames.iter().filter_map(|&frame| trace.frames()[frame].resource).collect();
    let used = [stacks.len(), frames.len(), names.len(), resources.len()];
    let held = [trace.stacks().len(), trace.frames().len(), trace.names().len(), trace.resources().len()];
    assert_eq!(used, held, "stacks, frames, names and resources");
}
