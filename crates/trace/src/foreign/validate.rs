//! Validating and repairing the elements of a foreign trace, list by list.

use std::num::NonZeroU32;

use super::elements::{ForeignStack, RawEntry, RawFrame, whole};
use super::foreign_trace::{ForeignTrace, RawEntries};
use super::problem::{Location, Problem, ProblemKind, Problems, Remedy};
use super::samples::RawSamples;
use super::vocabulary::Vocabulary;
use crate::entries::Entries;
use crate::entry::{Entry, EntryType};
use crate::frame::Frame;
use crate::id::{FrameId, ResourceId, StackId};
use crate::marker::Marker;
use crate::micros::Micros;
use crate::millis::Millis;
use crate::sample::Sample;
use crate::stack::Stack;
use crate::trace::Trace;

impl ForeignTrace {
    /// Validates and repairs the elements; [`Remedy`] lists the possible repairs.
    ///
    /// Equal entries of a table are merged. If the input is valid, has no equal entries, and has parents before their
    /// children, all ids are preserved.
    pub fn validate(self) -> (Trace, Problems) {
        let ForeignTrace {
            vocabulary,
            mut trace,
            resources,
            frames,
            stacks,
            samples,
            allows_unsorted_samples,
            durations,
            entries,
            calls,
            mut problems,
            ..
        } = self;
        let frames = validate_frames(&mut trace, &resources, frames, vocabulary, &mut problems);
        let stacks = validate_stacks(&mut trace, &frames, stacks, vocabulary, &mut problems);
        let samples = (samples, allows_unsorted_samples, durations);
        validate_samples(&mut trace, &stacks, samples, vocabulary, &mut problems);
        trace.set_calls(calls.and_then(|calls| calls.validate(&frames, &mut problems)));
        trace.set_entries(entries.map(|entries| validate_entries(entries, &mut problems)));
        (trace, problems)
    }
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
            let location = Location::Element { list: words.frames, index, member };
            problems.push(Problem { location, value, kind, remedy });
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
            // If the resource is invalid, the position is dropped with it, without another problem.
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
        // Fails only if the table is full, which the limits rule out.
        ids.push(trace.frame(Frame { name: raw.name, resource, line, column }).ok());
    }
    ids
}

/// The progress of adding a foreign stack to the trace.
#[derive(Clone, Copy)]
enum Progress {
    /// Not visited.
    Unseen,
    /// Waiting for its parent. Visiting it again means a cycle.
    Waiting,
    /// Its id in the trace; `None` if neither it nor any of its ancestors has a frame.
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
    // The stacks from the current one up to its nearest ancestor that is done. A list instead of recursion, because a
    // chain may be as long as the table. Each stack is added once, so the time is linear.
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
                    let location =
                        Location::Element { list: words.stacks, index: last, member: words.parent };
                    let (value, kind, remedy) = (stacks[last].parent_id, ProblemKind::Cycle, Remedy::Root);
                    problems.push(Problem { location, value, kind, remedy });
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
                // Fails only if the table is full, as with frames.
                Some(&frame) => {
                    above =
                        frame.and_then(|frame| trace.stack(Stack { parent: above, frame }).ok()).or(above);
                }
                None => {
                    let location = Location::Element { list: words.stacks, index, member: words.frame };
                    let (kind, remedy) = (ProblemKind::Dangling, Remedy::Parent);
                    problems.push(Problem { location, value: Some(frame_id), kind, remedy });
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
        let location = Location::Element { list: words.stacks, index, member: words.parent };
        let (kind, remedy) = (ProblemKind::Dangling, Remedy::Root);
        problems.push(Problem { location, value: Some(value), kind, remedy });
    }
    parent
}

fn validate_samples(
    trace: &mut Trace,
    stacks: &[Option<StackId>],
    (samples, allows_unsorted, durations): (RawSamples, bool, Option<Vec<f64>>),
    words: &Vocabulary,
    problems: &mut Problems,
) {
    let mut last: Option<Micros> = None;
    let mut is_sorted = true;
    let durations = durations.map(|durations| {
        let has_length = durations.len() == samples.len();
        let durations: Option<Vec<Micros>> = durations.into_iter().map(Micros::from_millis_f64).collect();
        durations.filter(|_| has_length)
    });
    let mut kept: Vec<Micros> = Vec::new();
    let valid = samples.into_iter().enumerate().filter_map(|(index, raw)| {
        let mut report = |member, value, kind, remedy| {
            let location = Location::Element { list: words.samples, index, member };
            problems.push(Problem { location, value, kind, remedy });
        };
        let Some(timestamp) = Micros::from_millis_f64(raw.timestamp) else {
            report(words.timestamp, Some(raw.timestamp), ProblemKind::Timestamp, Remedy::NoSample);
            return None;
        };
        if last.replace(timestamp).is_some_and(|before| timestamp < before) {
            if !allows_unsorted {
                report(words.timestamp, Some(raw.timestamp), ProblemKind::Order, Remedy::Sorted);
            }
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
            // The sample must not become idle: the engine was doing something.
            marker.unwrap_or_else(|_| {
                report(words.marker, None, ProblemKind::Marker, Remedy::OtherMarker);
                Marker::Other
            })
        });
        if let Some(Some(durations)) = &durations {
            kept.push(durations[index]);
        }
        Some(Sample { timestamp, stack, marker })
    });
    // Collecting reuses the memory of the raw samples.
    let mut valid: Vec<Sample> = valid.collect();
    if !is_sorted {
        valid.sort_by_key(|sample| sample.timestamp);
    }
    trace.set_samples(valid);
    match durations {
        None => {}
        Some(Some(_)) if is_sorted => trace.set_durations(Some(kept)),
        Some(_) => {
            let location = Location::Member("durations");
            let (kind, remedy) = (ProblemKind::Durations, Remedy::NoMember);
            problems.push(Problem { location, value: None, kind, remedy });
        }
    }
}

fn validate_entries(raw: RawEntries, problems: &mut Problems) -> Entries {
    let RawEntries { names: mut entries, list, dropped, is_unreadable } = raw;
    if is_unreadable {
        let (kind, remedy) = (ProblemKind::EntryList, Remedy::NoMember);
        problems.push(Problem { location: Location::Member("entries"), value: None, kind, remedy });
    }
    let mut last = None;
    let mut is_sorted = true;
    for (index, raw) in list.into_iter().enumerate() {
        let mut report = |member, value, kind, remedy| {
            let location = Location::Element { list: "entries", index, member };
            problems.push(Problem { location, value, kind, remedy });
        };
        let Some(entry) = validate_entry(&raw, &mut report) else { continue };
        if last.replace(entry.start_time).is_some_and(|before| entry.start_time < before) {
            report("startTime", raw.start_time, ProblemKind::Order, Remedy::Sorted);
            is_sorted = false;
        }
        // Never fails, because the name is from this table.
        let _ = entries.push(entry);
    }
    if !is_sorted {
        entries.sort();
    }
    if let Some(count) = dropped {
        match whole(count) {
            Some(count) => entries.count_dropped(count as u64),
            None => {
                let (location, value) = (Location::Member("droppedEntriesCount"), Some(count));
                let (kind, remedy) = (ProblemKind::EntryCount, Remedy::NoMember);
                problems.push(Problem { location, value, kind, remedy });
            }
        }
    }
    entries
}

/// The entry, if [User Timing] could have created it; otherwise reports a problem and returns `None`.
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

/// The element with a foreign id.
fn entry<T>(list: &[T], id: f64) -> Option<&T> {
    list.get(whole(id)?)
}
