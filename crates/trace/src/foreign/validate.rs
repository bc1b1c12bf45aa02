//! The checks, list by list.

use std::num::NonZeroU32;

use super::{
    ForeignSample, ForeignStack, ForeignTrace, Place, Problem, ProblemKind, Problems, RawFrame, Remedy,
};
use crate::{Frame, FrameId, Marker, Micros, ResourceId, Sample, Stack, StackId, Trace};

pub(super) fn validate(foreign: ForeignTrace) -> (Trace, Problems) {
    let ForeignTrace { mut trace, resources, frames, stacks, samples, .. } = foreign;
    let mut problems = Problems::default();
    let frames = validate_frames(&mut trace, &resources, frames, &mut problems);
    let stacks = validate_stacks(&mut trace, &frames, stacks, &mut problems);
    validate_samples(&mut trace, &stacks, samples, &mut problems);
    (trace, problems)
}

/// The frames in the trace, indexed by their foreign ids.
fn validate_frames(
    trace: &mut Trace,
    resources: &[ResourceId],
    frames: Vec<RawFrame>,
    problems: &mut Problems,
) -> Vec<Option<FrameId>> {
    let mut ids = Vec::with_capacity(frames.len());
    for (index, raw) in frames.into_iter().enumerate() {
        let mut report = |member, value, kind, remedy| {
            problems.push(Problem { place: Place { list: "frames", index, member }, value, kind, remedy });
        };
        let resource = raw.resource_id.and_then(|id| {
            let resource = entry(resources, id).copied();
            if resource.is_none() {
                report("resourceId", Some(id), ProblemKind::Dangling, Remedy::NoResource);
            }
            resource
        });
        let mut position = |member, value: Option<f64>| {
            let value = value?;
            // Of a frame whose resource was bad, the position went with it, and that has been said.
            if raw.resource_id.is_none() {
                report(member, Some(value), ProblemKind::NoResource, Remedy::NoPosition);
            }
            resource?;
            let position = whole(value).and_then(|number| NonZeroU32::new(number.try_into().ok()?));
            if position.is_none() {
                report(member, Some(value), ProblemKind::Position, Remedy::NoPosition);
            }
            position
        };
        let (line, column) = (position("line", raw.line), position("column", raw.column));
        // Fails only when the table is full, and no limit on it is high enough for that.
        ids.push(trace.frame(Frame { name: raw.name, resource, line, column }).ok());
    }
    ids
}

/// What is known of a foreign stack while the stacks are put in order.
#[derive(Clone, Copy)]
enum Progress {
    /// Nothing yet.
    Unseen,
    /// It waits for its parent; meeting it again means a cycle.
    Waiting,
    /// Its place in the trace; `None` when neither it nor any of its ancestors has a frame.
    Done(Option<StackId>),
}

/// The stacks in the trace, indexed by their foreign ids.
fn validate_stacks(
    trace: &mut Trace,
    frames: &[Option<FrameId>],
    stacks: Vec<ForeignStack>,
    problems: &mut Problems,
) -> Vec<Option<StackId>> {
    let mut progress = vec![Progress::Unseen; stacks.len()];
    // The stacks from the present one up to the nearest ancestor that is done; a list instead of recursion,
    // since a chain may be as long as the table. Each stack is put on it once, so the time is linear.
    let mut waiting = Vec::new();
    for start in 0..stacks.len() {
        let mut next = Some(start);
        let mut above = None;
        while let Some(index) = next {
            match progress[index] {
                Progress::Unseen => {
                    progress[index] = Progress::Waiting;
                    waiting.push(index);
                    next = parent_of(&stacks, index, problems);
                }
                Progress::Waiting => {
                    let last = waiting.last().copied().unwrap_or(index);
                    let place = Place { list: "stacks", index: last, member: "parentId" };
                    let (value, kind, remedy) = (stacks[last].parent_id, ProblemKind::Cycle, Remedy::Root);
                    problems.push(Problem { place, value, kind, remedy });
                    next = None;
                }
                Progress::Done(id) => {
                    above = id;
                    next = None;
                }
            }
        }
        while let Some(index) = waiting.pop() {
            let frame_id = stacks[index].frame_id;
            match entry(frames, frame_id) {
                // Fails only when the table is full, as with frames.
                Some(&frame) => {
                    above =
                        frame.and_then(|frame| trace.stack(Stack { parent: above, frame }).ok()).or(above);
                }
                None => {
                    let place = Place { list: "stacks", index, member: "frameId" };
                    let (kind, remedy) = (ProblemKind::Dangling, Remedy::Parent);
                    problems.push(Problem { place, value: Some(frame_id), kind, remedy });
                }
            }
            progress[index] = Progress::Done(above);
        }
    }
    let id = |progress| if let Progress::Done(id) = progress { id } else { None };
    progress.into_iter().map(id).collect()
}

/// The foreign id of a stack's parent.
fn parent_of(stacks: &[ForeignStack], index: usize, problems: &mut Problems) -> Option<usize> {
    let value = stacks[index].parent_id?;
    let parent = whole(value).filter(|&parent| parent < stacks.len());
    if parent.is_none() {
        let place = Place { list: "stacks", index, member: "parentId" };
        let (kind, remedy) = (ProblemKind::Dangling, Remedy::Root);
        problems.push(Problem { place, value: Some(value), kind, remedy });
    }
    parent
}

fn validate_samples(
    trace: &mut Trace,
    stacks: &[Option<StackId>],
    samples: Vec<ForeignSample>,
    problems: &mut Problems,
) {
    let mut valid: Vec<Sample> = Vec::with_capacity(samples.len());
    let mut is_sorted = true;
    for (index, raw) in samples.into_iter().enumerate() {
        let mut report = |member, value, kind, remedy| {
            problems.push(Problem { place: Place { list: "samples", index, member }, value, kind, remedy });
        };
        let Some(timestamp) = Micros::from_millis_f64(raw.timestamp) else {
            report("timestamp", Some(raw.timestamp), ProblemKind::Timestamp, Remedy::NoSample);
            continue;
        };
        if valid.last().is_some_and(|before| timestamp < before.timestamp) {
            report("timestamp", Some(raw.timestamp), ProblemKind::Order, Remedy::Sorted);
            is_sorted = false;
        }
        let stack = raw.stack_id.and_then(|id| {
            let stack = entry(stacks, id);
            if stack.is_none() {
                report("stackId", Some(id), ProblemKind::Dangling, Remedy::NoStack);
            }
            *stack?
        });
        let marker = raw.marker.map(|marker| {
            // The engine did something there, so the sample must not pass for an idle one.
            marker.unwrap_or_else(|_| {
                report("marker", None, ProblemKind::Marker, Remedy::OtherMarker);
                Marker::Other
            })
        });
        valid.push(Sample { timestamp, stack, marker });
    }
    if !is_sorted {
        valid.sort_by_key(|sample| sample.timestamp);
    }
    valid.into_iter().for_each(|sample| trace.push_sample(sample));
}

/// The entry that a foreign id means.
fn entry<T>(list: &[T], id: f64) -> Option<&T> {
    list.get(whole(id)?)
}

/// The number as a whole one; `None` when it is negative, has a fraction, or is too large to be exact.
fn whole(number: f64) -> Option<usize> {
    const LARGEST: f64 = (1_u64 << 53) as f64;
    let is_whole = (0.0..=LARGEST).contains(&number) && number.fract() == 0.0;
    if is_whole { usize::try_from(number as u64).ok() } else { None }
}
