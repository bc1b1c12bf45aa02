//! The checks, list by list.

use std::num::NonZeroU32;

use super::{
    ForeignStack, ForeignTrace, Place, Problem, ProblemKind, Problems, RawEntries, RawEntry, RawFrame,
    RawSamples, Remedy, Vocabulary, whole,
};
use crate::{
    Entries, Entry, EntryType, Frame, FrameId, Marker, Micros, Millis, ResourceId, Sample, Stack, StackId,
    Trace,
};

pub(super) fn validate(foreign: ForeignTrace) -> (Trace, Problems) {
    let ForeignTrace {
        vocabulary, mut trace, resources, frames, stacks, samples, entries, mut problems, ..
    } = foreign;
    let frames = validate_frames(&mut trace, &resources, frames, vocabulary, &mut problems);
    let stacks = validate_stacks(&mut trace, &frames, stacks, vocabulary, &mut problems);
    validate_samples(&mut trace, &stacks, samples, vocabulary, &mut problems);
    trace.set_entries(entries.map(|entries| validate_entries(entries, &mut problems)));
    (trace, problems)
}

/// The frames in the trace, indexed by their foreign ids.
fn validate_frames(
    trace: &mut Trace,
    resources: &[ResourceId],
    frames: Vec<RawFrame>,
    words: &Vocabulary,
    problems: &mut Problems,
) -> Vec<Option<FrameId>> {
    let mut ids = Vec::with_capacity(frames.len());
    for (index, raw) in frames.into_iter().enumerate() {
        let mut report = |member, value, kind, remedy| {
            let place = Place::Element { list: words.frames, index, member };
            problems.push(Problem { place, value, kind, remedy });
        };
        let resource = raw.resource_id.and_then(|id| {
            let resource = entry(resources, id).copied();
            if resource.is_none() {
                report(words.resource, Some(id), ProblemKind::Dangling, Remedy::NoResource);
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
        let (line, column) = (position(words.line, raw.line), position(words.column, raw.column));
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
    words: &Vocabulary,
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
                    next = parent_of(&stacks, index, words, problems);
                }
                Progress::Waiting => {
                    let last = waiting.last().copied().unwrap_or(index);
                    let place = Place::Element { list: words.stacks, index: last, member: words.parent };
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
                    let place = Place::Element { list: words.stacks, index, member: words.frame };
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
fn parent_of(
    stacks: &[ForeignStack],
    index: usize,
    words: &Vocabulary,
    problems: &mut Problems,
) -> Option<usize> {
    let value = stacks[index].parent_id?;
    let parent = whole(value).filter(|&parent| parent < stacks.len());
    if parent.is_none() {
        let place = Place::Element { list: words.stacks, index, member: words.parent };
        let (kind, remedy) = (ProblemKind::Dangling, Remedy::Root);
        problems.push(Problem { place, value: Some(value), kind, remedy });
    }
    parent
}

fn validate_samples(
    trace: &mut Trace,
    stacks: &[Option<StackId>],
    samples: RawSamples,
    words: &Vocabulary,
    problems: &mut Problems,
) {
    let mut last: Option<Micros> = None;
    let mut is_sorted = true;
    let valid = samples.into_iter().enumerate().filter_map(|(index, raw)| {
        let mut report = |member, value, kind, remedy| {
            let place = Place::Element { list: words.samples, index, member };
            problems.push(Problem { place, value, kind, remedy });
        };
        let Some(timestamp) = Micros::from_millis_f64(raw.timestamp) else {
            report(words.timestamp, Some(raw.timestamp), ProblemKind::Timestamp, Remedy::NoSample);
            return None;
        };
        if last.replace(timestamp).is_some_and(|before| timestamp < before) {
            report(words.timestamp, Some(raw.timestamp), ProblemKind::Order, Remedy::Sorted);
            is_sorted = false;
        }
        let stack = raw.stack_id.and_then(|id| {
            let stack = entry(stacks, id);
            if stack.is_none() {
                report(words.stack, Some(id), ProblemKind::Dangling, Remedy::NoStack);
            }
            *stack?
        });
        let marker = raw.marker.map(|marker| {
            // The engine did something there, so the sample must not pass for an idle one.
            marker.unwrap_or_else(|_| {
                report(words.marker, None, ProblemKind::Marker, Remedy::OtherMarker);
                Marker::Other
            })
        });
        Some(Sample { timestamp, stack, marker })
    });
    // In the memory of the raw ones.
    let mut valid: Vec<Sample> = valid.collect();
    if !is_sorted {
        valid.sort_by_key(|sample| sample.timestamp);
    }
    trace.set_samples(valid);
}

fn validate_entries(raw: RawEntries, problems: &mut Problems) -> Entries {
    let RawEntries { names: mut entries, list, dropped, is_unreadable } = raw;
    if is_unreadable {
        let (kind, remedy) = (ProblemKind::EntryList, Remedy::NoMember);
        problems.push(Problem { place: Place::Member("entries"), value: None, kind, remedy });
    }
    let mut last = None;
    let mut is_sorted = true;
    for (index, raw) in list.into_iter().enumerate() {
        let mut report = |member, value, kind, remedy| {
            let place = Place::Element { list: "entries", index, member };
            problems.push(Problem { place, value, kind, remedy });
        };
        let Some(entry) = validate_entry(&raw, &mut report) else { continue };
        if last.replace(entry.start_time).is_some_and(|before| entry.start_time < before) {
            report("startTime", raw.start_time, ProblemKind::Order, Remedy::Sorted);
            is_sorted = false;
        }
        // Never fails, since the name was taken from this table.
        let _ = entries.push(entry);
    }
    if !is_sorted {
        entries.sort();
    }
    if let Some(count) = dropped {
        match whole(count) {
            Some(count) => entries.count_dropped(count as u64),
            None => {
                let (place, value) = (Place::Member("droppedEntriesCount"), Some(count));
                let (kind, remedy) = (ProblemKind::EntryCount, Remedy::NoMember);
                problems.push(Problem { place, value, kind, remedy });
            }
        }
    }
    entries
}

/// What [User Timing] could have made; `None` when the entry is to be left out, which has been reported then.
///
/// [User Timing]: https://w3c.github.io/user-timing/
fn validate_entry(
    raw: &RawEntry,
    report: &mut impl FnMut(&'static str, Option<f64>, ProblemKind, Remedy),
) -> Option<Entry> {
    let Some(entry_type) = raw.entry_type else {
        report("entryType", None, ProblemKind::EntryType, Remedy::NoEntry);
        return None;
    };
    let Some(name) = raw.name else {
        report("name", None, ProblemKind::EntryName, Remedy::NoEntry);
        return None;
    };
    let mut time = |member, value: Option<f64>| {
        let time = value.and_then(Millis::new);
        if time.is_none() {
            report(member, value, ProblemKind::EntryTime, Remedy::NoEntry);
        }
        time
    };
    let start_time = time("startTime", raw.start_time)?;
    let duration = match entry_type {
        EntryType::Measure => time("duration", raw.duration)?,
        EntryType::Mark if start_time < Millis::ZERO => {
            report("startTime", raw.start_time, ProblemKind::Timestamp, Remedy::NoEntry);
            return None;
        }
        EntryType::Mark => {
            if raw.duration.is_some_and(|duration| duration != 0.0) {
                report("duration", raw.duration, ProblemKind::MarkDuration, Remedy::NoDuration);
            }
            Millis::ZERO
        }
    };
    Some(Entry { entry_type, name, start_time, duration })
}

/// The entry that a foreign id means.
fn entry<T>(list: &[T], id: f64) -> Option<&T> {
    list.get(whole(id)?)
}
