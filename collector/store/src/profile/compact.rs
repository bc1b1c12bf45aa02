//! A trace in few bytes: for the log, and for the column from which single profiles are shown again.

use std::num::NonZeroU32;

use selfprof_trace::{
    Entries, Entry, EntryType, Frame, FrameId, Marker, Micros, Millis, NameId, ResourceId, Sample, Stack,
    StackId, Trace, WaitingPoint, WaitingTimes,
};
use serde::{Deserialize, Serialize};

use super::clean::{clean_text, clean_url};
use super::label::CompactLabels;
use super::span::{Span, SpanKind};

/// The tables and samples of a trace as columns of small numbers: times since the sample before, and ids plus 1 with 0
/// for none.
///
/// Its marks and measures are [spans](Span) of the profile. Equal traces have equal bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CompactTrace {
    names: Vec<String>,
    resources: Vec<String>,
    frames: Vec<CompactFrame>,
    /// The parent plus 1 and the frame of each stack.
    stacks: Vec<(u32, u32)>,
    times: Vec<u64>,
    sample_stacks: Vec<u32>,
    /// Empty if no sample has a marker.
    markers: Vec<u8>,
    /// The time since the point before, and what was waited since then.
    waiting: Vec<(u64, u64)>,
    /// Not there in traces of older versions.
    #[serde(default)]
    labels: CompactLabels,
    /// What each sample stands for, if the times since the sample before do not say it. Not there in traces of older
    /// versions, nor in those of the API.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    durations: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct CompactFrame {
    name: u32,
    resource: u32,
    line: u32,
    column: u32,
}

/// A stored trace that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("a stored trace is damaged: {0}")]
pub struct Damaged(String);

impl Damaged {
    pub(super) fn new(error: &dyn std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

impl CompactTrace {
    /// Takes a trace over, without what may be private in its URLs.
    pub fn of(trace: &Trace) -> Self {
        let frames = trace.frames().iter().map(|(_, frame)| CompactFrame {
            name: number(frame.name.index()),
            resource: frame.resource.map_or(0, |resource| number(resource.index()) + 1),
            line: frame.line.map_or(0, NonZeroU32::get),
            column: frame.column.map_or(0, NonZeroU32::get),
        });
        let stacks =
            trace.stacks().iter().map(|(_, stack)| (optional(stack.parent), number(stack.frame.index())));
        let mut last = Micros::ZERO;
        let times = trace.samples().iter().map(|sample| since(&mut last, sample.timestamp));
        let is_marked = trace.samples().iter().any(|sample| sample.marker.is_some());
        let marker = |sample: &Sample| sample.marker.map_or(0, |marker| marker.index() as u8 + 1);
        let (mut last_time, mut last_waited) = (Micros::ZERO, Micros::ZERO);
        let points = trace.waiting().map(WaitingTimes::points).unwrap_or_default().iter();
        Self {
            names: trace.names().iter().map(|(_, name)| clean_text(name)).collect(),
            resources: trace.resources().iter().map(|(_, url)| clean_url(url)).collect(),
            frames: frames.collect(),
            stacks: stacks.collect(),
            times: times.collect(),
            sample_stacks: trace.samples().iter().map(|sample| optional(sample.stack)).collect(),
            markers: if is_marked { trace.samples().iter().map(marker).collect() } else { Vec::new() },
            waiting: points
                .map(|point| (since(&mut last_time, point.timestamp), since(&mut last_waited, point.waited)))
                .collect(),
            labels: CompactLabels::of(trace.labels()),
            durations: trace
                .durations()
                .filter(|_| trace.needs_durations())
                .map_or_else(Vec::new, |durations| durations.iter().map(|duration| duration.0).collect()),
        }
    }

    /// How many samples it has.
    pub fn samples(&self) -> usize {
        self.times.len()
    }

    /// The bytes of the column `trace`.
    pub fn to_bytes(&self) -> Vec<u8> {
        rmp_serde::to_vec(self).expect("lists and numbers can always be written to memory")
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Damaged> {
        rmp_serde::from_slice(bytes).map_err(|error| Damaged::new(&error))
    }

    /// The trace, with the marks and measures among these spans.
    pub fn to_trace(&self, spans: &[Span]) -> Result<Trace, Damaged> {
        let mut trace = Trace::new();
        let names: Vec<NameId> = collect(&self.names, |name| trace.name(name))?;
        let resources: Vec<ResourceId> = collect(&self.resources, |url| trace.resource(url))?;
        let mut frames: Vec<FrameId> = Vec::with_capacity(self.frames.len());
        for frame in &self.frames {
            let frame = Frame {
                name: *at(&names, frame.name)?,
                resource: optional_at(&resources, frame.resource)?.copied(),
                line: NonZeroU32::new(frame.line),
                column: NonZeroU32::new(frame.column),
            };
            frames.push(trace.frame(frame).map_err(|error| Damaged::new(&error))?);
        }
        let mut stacks: Vec<StackId> = Vec::with_capacity(self.stacks.len());
        for &(parent, frame) in &self.stacks {
            let stack = Stack { parent: optional_at(&stacks, parent)?.copied(), frame: *at(&frames, frame)? };
            stacks.push(trace.stack(stack).map_err(|error| Damaged::new(&error))?);
        }
        let mut timestamp = Micros::ZERO;
        for (index, (&time, &stack)) in self.times.iter().zip(&self.sample_stacks).enumerate() {
            timestamp = timestamp.saturating_add(Micros(time));
            let marker = self.markers.get(index).and_then(|&marker| usize::from(marker).checked_sub(1));
            let stack = optional_at(&stacks, stack)?.copied();
            trace.push_sample(Sample { timestamp, stack, marker: marker.and_then(Marker::from_index) });
        }
        if !self.durations.is_empty() {
            trace.set_durations(Some(self.durations.iter().copied().map(Micros).collect()));
        }
        if !self.waiting.is_empty() {
            let mut times = WaitingTimes::default();
            let mut point = WaitingPoint::default();
            for &(time, waited) in &self.waiting {
                point.timestamp = point.timestamp.saturating_add(Micros(time));
                point.waited = point.waited.saturating_add(Micros(waited));
                times.push(point);
            }
            trace.set_waiting(Some(times));
        }
        trace.set_labels(self.labels.to_labels());
        trace.set_entries(entries(spans).map_err(|error| Damaged::new(&error))?);
        Ok(trace)
    }
}

/// The marks and measures among spans.
fn entries(spans: &[Span]) -> Result<Option<Entries>, selfprof_trace::InternError> {
    let millis = |micros: i64| Millis::new(micros as f64 / 1_000.0).unwrap_or(Millis::ZERO);
    let mut entries = Entries::new();
    for span in spans {
        let entry_type = match span.kind {
            SpanKind::Mark => EntryType::Mark,
            SpanKind::Measure => EntryType::Measure,
            _ => continue,
        };
        let name = entries.name(&span.name)?;
        let (start_time, duration) = (millis(span.start), millis(span.duration));
        entries.push(Entry { entry_type, name, start_time, duration })?;
    }
    Ok((!entries.is_empty()).then_some(entries))
}

fn since(last: &mut Micros, time: Micros) -> u64 {
    let since = time.saturating_sub(*last).0;
    *last = time.max(*last);
    since
}

/// An index into a table of a trace, which has less than 2³² entries.
fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn optional(id: Option<StackId>) -> u32 {
    id.map_or(0, |id| number(id.index()) + 1)
}

fn collect<I>(
    texts: &[String],
    intern: impl FnMut(&String) -> Result<I, selfprof_trace::TableFull>,
) -> Result<Vec<I>, Damaged> {
    texts.iter().map(intern).collect::<Result<_, _>>().map_err(|error| Damaged::new(&error))
}

fn at<T>(list: &[T], index: u32) -> Result<&T, Damaged> {
    list.get(index as usize).ok_or_else(|| Damaged(format!("there is no entry {index}")))
}

fn optional_at<T>(list: &[T], number: u32) -> Result<Option<&T>, Damaged> {
    number.checked_sub(1).map(|index| at(list, index)).transpose()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use selfprof_trace::testing;

    use super::*;

    #[test]
    fn a_damaged_trace_is_an_error() {
        assert!(CompactTrace::from_bytes(&[0xff; 40]).is_err());
        let bad = CompactTrace { stacks: vec![(7, 0)], ..CompactTrace::default() };
        assert!(bad.to_trace(&[]).is_err());
    }

    #[test]
    fn stated_durations_are_kept() {
        let mut trace = Trace::new();
        for (timestamp, duration) in [(1_000, 500), (9_000_000, 3), (9_000_001, 1)] {
            let sample = Sample { timestamp: Micros(timestamp), stack: None, marker: None };
            trace.push_lasting(sample, Micros(duration), None);
        }
        let compact = CompactTrace::from_bytes(&CompactTrace::of(&trace).to_bytes()).unwrap();
        assert_eq!(compact.to_trace(&[]).unwrap().weights(), [500, 3, 1].map(Micros));
    }

    proptest! {
        #[test]
        fn a_trace_is_as_it_was(trace in testing::trace()) {
            let compact = CompactTrace::of(&trace);
            let read = CompactTrace::from_bytes(&compact.to_bytes()).unwrap();
            prop_assert_eq!(&read, &compact);
            let again = read.to_trace(&[]).unwrap();
            prop_assert_eq!(again.samples().len(), trace.samples().len());
            prop_assert_eq!(CompactTrace::of(&again).samples(), compact.samples());
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(trace) = CompactTrace::from_bytes(&bytes) {
                let _ = trace.to_trace(&[]);
            }
        }
    }
}
