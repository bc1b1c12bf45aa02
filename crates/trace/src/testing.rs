//! Random traces, and traces in comparable forms: for the tests of this crate and, with the feature `testing`, of other
//! crates.

use std::num::NonZeroU32;

use proptest::prelude::*;

use crate::entries::Entries;
use crate::entry::{Entry, EntryType};
use crate::frame::Frame;
use crate::id::{FrameId, StackId};
use crate::marker::Marker;
use crate::micros::Micros;
use crate::millis::Millis;
use crate::sample::Sample;
use crate::stack::Stack;
use crate::trace::Trace;
use crate::waiting::{WaitingPoint, WaitingTimes};

/// A random number that is later scaled to the size of a table.
type Pick = prop::sample::Index;

/// Waiting times through these points, of a time and what was waited until then, in microseconds.
pub fn waiting_times(points: &[(u64, u64)]) -> WaitingTimes {
    let mut times = WaitingTimes::default();
    for &(timestamp, waited) in points {
        times.push(WaitingPoint { timestamp: Micros(timestamp), waited: Micros(waited) });
    }
    times
}

/// A small random trace with sorted samples and possibly entries. Names and positions often coincide, and some names
/// need escapes.
///
/// Names are in the order of the frames and entries that use them, as in a recorded trace.
pub fn trace() -> impl Strategy<Value = Trace> {
    let location = ("[a-c]", 0..4_u32, 0..4_u32);
    let frames = prop::collection::vec((name(), prop::option::of(location)), 1..8);
    let stacks = prop::collection::vec((any::<Option<Pick>>(), any::<Pick>()), 0..20);
    let samples = prop::collection::vec((0..5_000_u64, any::<Option<Pick>>(), 0..9_usize), 0..40);
    let parts = (frames, stacks, samples, prop::option::of(entries()));
    parts.prop_map(|(frames, stacks, samples, entries)| {
        let mut trace = Trace::new();
        for (name, location) in frames {
            let name = trace.name(&name).unwrap();
            let resource = location.as_ref().map(|(url, ..)| trace.resource(url).unwrap());
            let line = location.as_ref().and_then(|&(_, line, _)| NonZeroU32::new(line));
            let column = location.as_ref().and_then(|&(.., column)| NonZeroU32::new(column));
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
        trace.set_entries(entries);
        trace
    })
}

/// A few random marks and measures in time order, with any times that a script may use.
pub fn entries() -> impl Strategy<Value = Entries> {
    let time = || prop_oneof![4 => 0.0..100.0_f64, 1 => prop::num::f64::ANY];
    let entry = (prop::sample::select(&EntryType::ALL[..]), name(), time(), time());
    (prop::collection::vec(entry, 0..20), 0..3_u64).prop_map(|(list, dropped)| {
        let mut list: Vec<_> = list
            .into_iter()
            .filter_map(|(entry_type, name, start_time, duration)| {
                let (start_time, duration) = (Millis::new(start_time)?, Millis::new(duration)?);
                match entry_type {
                    EntryType::Mark if start_time < Millis::ZERO => None,
                    EntryType::Mark => Some((entry_type, name, start_time, Millis::ZERO)),
                    EntryType::Measure => Some((entry_type, name, start_time, duration)),
                }
            })
            .collect();
        list.sort_by_key(|&(_, _, start_time, _)| start_time);
        let mut entries = Entries::new();
        for (entry_type, name, start_time, duration) in list {
            let name = entries.name(&name).unwrap();
            entries.push(Entry { entry_type, name, start_time, duration }).unwrap();
        }
        entries.count_dropped(dropped);
        entries
    })
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c]", ".{0,3}"]
}

fn nth_stack(trace: &Trace, pick: Pick) -> Option<StackId> {
    let length = trace.stacks().len();
    if length == 0 { None } else { StackId::from_index(pick.index(length)) }
}

/// The content of a trace, in a comparable form.
#[derive(Debug, PartialEq)]
pub struct Parts {
    /// The table of function names.
    pub names: Vec<String>,
    /// The table of URLs.
    pub resources: Vec<String>,
    /// The table of functions.
    pub frames: Vec<Frame>,
    /// The table of stacks.
    pub stacks: Vec<Stack>,
    /// The samples.
    pub samples: Vec<Sample>,
    /// The marks and measures: the names, the list, and the number of dropped entries.
    pub entries: Option<(Vec<String>, Vec<Entry>, u64)>,
}

/// The content of a trace, with its ids unchanged.
pub fn parts(trace: &Trace) -> Parts {
    let entries = |entries: &Entries| {
        let names = entries.names().iter().map(|(_, name)| name.to_owned()).collect();
        (names, entries.list().to_vec(), entries.dropped())
    };
    Parts {
        names: trace.names().iter().map(|(_, name)| name.to_owned()).collect(),
        resources: trace.resources().iter().map(|(_, url)| url.to_owned()).collect(),
        frames: trace.frames().iter().map(|(_, frame)| frame).collect(),
        stacks: trace.stacks().iter().map(|(_, stack)| stack).collect(),
        samples: trace.samples().to_vec(),
        entries: trace.entries().map(entries),
    }
}

/// The samples with their stacks spelled out, root first, so that traces with different ids can be compared.
pub fn spelled(trace: &Trace) -> Vec<(Micros, Option<Marker>, Vec<String>)> {
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
