//! Collecting the elements of a foreign trace.

use std::collections::HashMap;

use crate::entries::Entries;
use crate::evaluated::evaluated_resource;
use crate::id::ResourceId;
use crate::trace::Trace;

use super::calls::ForeignCalls;
use super::elements::{ForeignEntry, ForeignFrame, ForeignSample, ForeignStack, RawEntry, RawFrame, whole};
use super::limits::{LimitExceeded, Limits};
use super::problem::{Problem, ProblemKind, Problems};
use super::samples::RawSamples;
use super::vocabulary::Vocabulary;

/// The elements of a trace as they were read. Ids are indexes, as in the W3C format.
#[derive(Clone, Debug)]
pub struct ForeignTrace {
    pub(super) limits: Limits,
    pub(super) vocabulary: &'static Vocabulary,
    /// The size of all names and URLs so far, in bytes.
    pub(super) text_bytes: usize,
    /// Names and resources are interned immediately, so that repeated ones take no memory.
    pub(super) trace: Trace,
    pub(super) resources: Vec<ResourceId>,
    /// The resources that stand for evaluated scripts, by the numbers of the scripts.
    evaluated: HashMap<u32, usize>,
    pub(super) frames: Vec<RawFrame>,
    pub(super) stacks: Vec<ForeignStack>,
    pub(super) samples: RawSamples,
    pub(super) allows_unsorted_samples: bool,
    /// What each sample stands for, in milliseconds, if the trace says.
    pub(super) durations: Option<Vec<f64>>,
    /// `None` if the trace has no member for marks and measures.
    pub(super) entries: Option<RawEntries>,
    /// `None` if the trace has no member for calls.
    pub(super) calls: Option<ForeignCalls>,
    /// Problems reported by the reader.
    pub(super) problems: Problems,
}

/// Marks and measures as they were read.
#[derive(Clone, Debug, Default)]
pub(super) struct RawEntries {
    /// Names are interned immediately, like those of functions.
    pub(super) names: Entries,
    pub(super) list: Vec<RawEntry>,
    /// The number of dropped entries, as it was read.
    pub(super) dropped: Option<f64>,
    /// Whether there was something other than a list.
    pub(super) is_unreadable: bool,
}

impl ForeignTrace {
    /// An empty trace in the W3C format.
    pub fn new(limits: Limits) -> Self {
        Self::of(&Vocabulary::W3C, limits)
    }

    /// An empty trace in a format with other names.
    pub fn of(vocabulary: &'static Vocabulary, limits: Limits) -> Self {
        Self {
            limits,
            vocabulary,
            text_bytes: 0,
            trace: Trace::new(),
            resources: Vec::new(),
            evaluated: HashMap::new(),
            frames: Vec::new(),
            stacks: Vec::new(),
            samples: RawSamples::default(),
            allows_unsorted_samples: false,
            durations: None,
            entries: None,
            calls: None,
            problems: Problems::default(),
        }
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Adds a problem that the reader has found and repaired.
    pub fn report(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Adds the next element of `resources`.
    pub fn push_resource(&mut self, url: &str) -> Result<(), LimitExceeded> {
        let limit = self.limits.resources;
        LimitExceeded::check("resources", self.resources.len(), limit)?;
        self.count_text(url)?;
        let id = self.trace.resource(url).map_err(|_| LimitExceeded::new("resources", limit))?;
        self.resources.push(id);
        Ok(())
    }

    /// The element of `resources` with this id.
    pub fn resource(&self, id: f64) -> Option<&str> {
        let id = *self.resources.get(whole(id)?)?;
        self.trace.resources().get(id)
    }

    /// Notes that `eval` or `new Function` made the script of a frame, an element of `frames`. Line and column are
    /// those in that script.
    ///
    /// Returns the problem with it, if there is one: no such frame or no such number, or the frame has a resource. If
    /// there are too many such scripts, the frame keeps only its name.
    pub fn set_evaluated(
        &mut self,
        frame_id: f64,
        script_id: f64,
        [line, column]: [Option<f64>; 2],
    ) -> Option<ProblemKind> {
        let script = whole(script_id).and_then(|id| u32::try_from(id).ok()).filter(|&id| id > 0);
        let index = whole(frame_id).filter(|&index| index < self.frames.len());
        let (Some(index), Some(script)) = (index, script) else { return Some(ProblemKind::Dangling) };
        if self.frames[index].resource_id.is_some() {
            return Some(ProblemKind::Duplicate);
        }
        let resource = match self.evaluated.get(&script) {
            Some(&resource) => resource,
            None => {
                if self.push_resource(&evaluated_resource(script)).is_err() {
                    return Some(ProblemKind::EvaluatedLimit);
                }
                self.evaluated.insert(script, self.resources.len() - 1);
                self.resources.len() - 1
            }
        };
        let resource_id = resource as f64;
        self.frames[index] =
            RawFrame { name: self.frames[index].name, resource_id: Some(resource_id), line, column };
        None
    }

    /// Counts text that the reader keeps itself.
    pub fn count_text(&mut self, text: &str) -> Result<(), LimitExceeded> {
        let limit = self.limits.text_bytes;
        self.text_bytes = self.text_bytes.saturating_add(text.len());
        if self.text_bytes > limit { Err(LimitExceeded::new("bytes of text", limit)) } else { Ok(()) }
    }

    /// Adds the next element of `frames`.
    pub fn push_frame(&mut self, frame: &ForeignFrame<'_>) -> Result<(), LimitExceeded> {
        let limit = self.limits.frames;
        LimitExceeded::check("frames", self.frames.len(), limit)?;
        self.count_text(frame.name)?;
        let &ForeignFrame { name, resource_id, line, column } = frame;
        let name = self.trace.name(name).map_err(|_| LimitExceeded::new("frames", limit))?;
        self.frames.push(RawFrame { name, resource_id, line, column });
        Ok(())
    }

    /// Adds the next element of `stacks`.
    pub fn push_stack(&mut self, stack: ForeignStack) -> Result<(), LimitExceeded> {
        LimitExceeded::check("stacks", self.stacks.len(), self.limits.stacks)?;
        self.stacks.push(stack);
        Ok(())
    }

    /// Adds the next element of `samples`.
    pub fn push_sample(&mut self, sample: ForeignSample) -> Result<(), LimitExceeded> {
        LimitExceeded::check("samples", self.samples.len(), self.limits.samples)?;
        self.samples.push(sample);
        Ok(())
    }

    /// Notes that the format allows samples in any order. They are sorted, and that is no problem to report.
    pub fn allow_unsorted_samples(&mut self) {
        self.allows_unsorted_samples = true;
    }

    /// Notes that the trace has a list of entries, even if it is empty.
    pub fn begin_entries(&mut self) {
        self.entries.get_or_insert_default();
    }

    /// Adds the next element of `entries`.
    pub fn push_entry(&mut self, entry: &ForeignEntry<'_>) -> Result<(), LimitExceeded> {
        let limit = self.limits.entries;
        self.count_text(entry.name.unwrap_or_default())?;
        let entries = self.entries.get_or_insert_default();
        LimitExceeded::check("entries", entries.list.len(), limit)?;
        let &ForeignEntry { entry_type, name, start_time, duration } = entry;
        let name = name.map(|name| entries.names.name(name)).transpose();
        let name = name.map_err(|_| LimitExceeded::new("entries", limit))?;
        let entry_type = entry_type.and_then(Result::ok);
        entries.list.push(RawEntry { entry_type, name, start_time, duration });
        Ok(())
    }

    /// Notes that the member `entries` is not a list.
    pub fn set_entries_unreadable(&mut self) {
        self.entries.get_or_insert_default().is_unreadable = true;
    }

    /// Sets `droppedEntriesCount`; `None` if it is not a number.
    pub fn set_dropped_entries(&mut self, count: Option<f64>) {
        self.entries.get_or_insert_default().dropped = Some(count.unwrap_or(f64::NAN));
    }

    /// Sets the time that each sample stands for, in milliseconds.
    pub fn set_durations(&mut self, durations: Option<Vec<f64>>) {
        self.durations = durations;
    }

    /// Sets the calls.
    pub fn set_calls(&mut self, calls: Option<ForeignCalls>) -> Result<(), LimitExceeded> {
        let (events, limit) = (calls.as_ref().map_or(0, |calls| calls.types.len()), self.limits.samples);
        if events > limit {
            return Err(LimitExceeded::new("events of calls", limit));
        }
        self.calls = calls;
        Ok(())
    }

    /// Removes the calls, as [`forget_entries`](Self::forget_entries).
    pub fn forget_calls(&mut self) {
        self.calls = None;
    }

    /// Removes the entries and their count: the object that they were read from is not the trace.
    pub fn forget_entries(&mut self) {
        self.entries = None;
    }
}
