//! Traces that somebody else wrote: taken in raw, checked, and repaired as far as partial data helps.
//!
//! A reader of a format pushes the elements as they stand in its input, then calls [`ForeignTrace::validate`],
//! which gives a valid [`Trace`] and a list of what it had to repair. Hostile input cannot make it panic, hang,
//! recurse, or take more memory than linear in what was pushed, and [`Limits`] bound that.
//!
//! ```
//! use selfprof_trace::foreign::{ForeignFrame, ForeignSample, ForeignStack, ForeignTrace, Limits};
//!
//! let mut foreign = ForeignTrace::new(Limits::default());
//! foreign.push_frame(&ForeignFrame { name: "main", resource_id: None, line: None, column: None })?;
//! foreign.push_stack(ForeignStack { parent_id: Some(7.0), frame_id: 0.0 })?;
//! foreign.push_sample(ForeignSample { timestamp: 1.5, stack_id: Some(0.0), marker: None })?;
//!
//! let (trace, problems) = foreign.validate();
//! assert_eq!(trace.samples().len(), 1);
//! assert_eq!(
//!     problems.list()[0].to_string(),
//!     "stacks[0].parentId is 7, which is not the id of an entry: the stack begins here",
//! );
//! # Ok::<(), selfprof_trace::foreign::LimitExceeded>(())
//! ```

mod limits;
mod problem;
mod samples;
mod validate;
mod vocabulary;

use crate::{
    Entries, EntryNameId, EntryType, Marker, NameId, ResourceId, Trace, UnknownEntryType, UnknownMarker,
};

pub use limits::{LimitExceeded, Limits};
pub use problem::{Place, Problem, ProblemKind, Problems, Remedy};
use samples::RawSamples;
pub use vocabulary::Vocabulary;

/// The raw elements of a trace, in the order of the W3C shape, where ids are indexes.
#[derive(Clone, Debug)]
pub struct ForeignTrace {
    limits: Limits,
    vocabulary: &'static Vocabulary,
    /// The bytes of all names and URLs that were pushed.
    text_bytes: usize,
    /// Holds the names and resources from the start, so that repeated ones take no memory.
    trace: Trace,
    resources: Vec<ResourceId>,
    frames: Vec<RawFrame>,
    stacks: Vec<ForeignStack>,
    samples: RawSamples,
    /// `None` as long as nothing was said of marks and measures.
    entries: Option<RawEntries>,
    /// What the reader has found itself.
    problems: Problems,
}

/// The marks and measures, as far as they have come.
#[derive(Clone, Debug, Default)]
struct RawEntries {
    /// Holds the names from the start, as with functions.
    names: Entries,
    list: Vec<RawEntry>,
    /// As it was read.
    dropped: Option<f64>,
    /// Whether there was something that is no list.
    is_unreadable: bool,
}

/// A `ProfilerFrame` as it was read. Numbers may be anything that a double can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForeignFrame<'text> {
    /// The function's name.
    pub name: &'text str,
    /// The index of its resource.
    pub resource_id: Option<f64>,
    /// The line of its definition, counted from 1.
    pub line: Option<f64>,
    /// The column of its definition, counted from 1.
    pub column: Option<f64>,
}

/// A `ProfilerStack` as it was read. Its parent may stand behind it, or be missing, or be itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForeignStack {
    /// The index of the calling stack.
    pub parent_id: Option<f64>,
    /// The index of the innermost frame.
    pub frame_id: f64,
}

/// A `ProfilerSample` as it was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForeignSample {
    /// The time in milliseconds.
    pub timestamp: f64,
    /// The index of the stack.
    pub stack_id: Option<f64>,
    /// The marker's string, parsed: a sample should not own a string.
    pub marker: Option<Result<Marker, UnknownMarker>>,
}

/// A mark or a measure as it was read. A member that was absent, or of another type, is `None`: the extension that
/// traces carry them by is ours, and others may mean something else by a member of that name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForeignEntry<'text> {
    /// The type's string, parsed.
    pub entry_type: Option<Result<EntryType, UnknownEntryType>>,
    /// What the program called it.
    pub name: Option<&'text str>,
    /// When it began, in milliseconds.
    pub start_time: Option<f64>,
    /// How long it took, in milliseconds.
    pub duration: Option<f64>,
}

/// A [`ForeignEntry`] whose name is interned.
#[derive(Clone, Copy, Debug)]
struct RawEntry {
    entry_type: Option<EntryType>,
    name: Option<EntryNameId>,
    start_time: Option<f64>,
    duration: Option<f64>,
}

/// A [`ForeignFrame`] whose name is interned.
#[derive(Clone, Copy, Debug)]
struct RawFrame {
    name: NameId,
    resource_id: Option<f64>,
    line: Option<f64>,
    column: Option<f64>,
}

impl ForeignTrace {
    /// Ready to take elements of the W3C shape, as many as `limits` allow.
    pub fn new(limits: Limits) -> Self {
        Self::of(&Vocabulary::W3C, limits)
    }

    /// Ready to take elements of a format that calls them otherwise.
    pub fn of(vocabulary: &'static Vocabulary, limits: Limits) -> Self {
        Self {
            limits,
            vocabulary,
            text_bytes: 0,
            trace: Trace::new(),
            resources: Vec::new(),
            frames: Vec::new(),
            stacks: Vec::new(),
            samples: RawSamples::default(),
            entries: None,
            problems: Problems::default(),
        }
    }

    /// Takes a problem that the reader has found, and dealt with.
    pub fn report(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Takes the next element of `resources`.
    pub fn push_resource(&mut self, url: &str) -> Result<(), LimitExceeded> {
        let limit = self.limits.resources;
        LimitExceeded::check("resources", self.resources.len(), limit)?;
        self.count_text(url)?;
        let id = self.trace.resource(url).map_err(|_| LimitExceeded::new("resources", limit))?;
        self.resources.push(id);
        Ok(())
    }

    /// Takes the next element of `frames`.
    pub fn push_frame(&mut self, frame: &ForeignFrame<'_>) -> Result<(), LimitExceeded> {
        let limit = self.limits.frames;
        LimitExceeded::check("frames", self.frames.len(), limit)?;
        self.count_text(frame.name)?;
        let &ForeignFrame { name, resource_id, line, column } = frame;
        let name = self.trace.name(name).map_err(|_| LimitExceeded::new("frames", limit))?;
        self.frames.push(RawFrame { name, resource_id, line, column });
        Ok(())
    }

    /// Takes the next element of `stacks`.
    pub fn push_stack(&mut self, stack: ForeignStack) -> Result<(), LimitExceeded> {
        LimitExceeded::check("stacks", self.stacks.len(), self.limits.stacks)?;
        self.stacks.push(stack);
        Ok(())
    }

    /// Takes the next element of `samples`.
    pub fn push_sample(&mut self, sample: ForeignSample) -> Result<(), LimitExceeded> {
        LimitExceeded::check("samples", self.samples.len(), self.limits.samples)?;
        self.samples.push(sample);
        Ok(())
    }

    /// Says that marks and measures were recorded, even if none come.
    pub fn begin_entries(&mut self) {
        self.entries.get_or_insert_default();
    }

    /// Takes the next element of `entries`.
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

    /// Takes a member `entries` that is no list.
    pub fn set_entries_unreadable(&mut self) {
        self.entries.get_or_insert_default().is_unreadable = true;
    }

    /// Takes `droppedEntriesCount`; `None` when it is no number.
    pub fn set_dropped_entries(&mut self, count: Option<f64>) {
        self.entries.get_or_insert_default().dropped = Some(count.unwrap_or(f64::NAN));
    }

    /// Forgets all of `entries` and `droppedEntriesCount`: what they stood in has turned out not to be the trace.
    pub fn forget_entries(&mut self) {
        self.entries = None;
    }

    /// Checks and repairs the elements. What is repaired how is listed at [`Remedy`].
    ///
    /// Equal entries become one. When the input was valid, had no equal entries, and had parents before their
    /// children, then all ids stay as they were.
    pub fn validate(self) -> (Trace, Problems) {
        validate::validate(self)
    }

    fn count_text(&mut self, text: &str) -> Result<(), LimitExceeded> {
        let limit = self.limits.text_bytes;
        self.text_bytes = self.text_bytes.saturating_add(text.len());
        if self.text_bytes > limit { Err(LimitExceeded::new("bytes of text", limit)) } else { Ok(()) }
    }
}

/// The number as a whole one; `None` when it is negative, has a fraction, or is too large to be exact.
fn whole(number: f64) -> Option<usize> {
    const LARGEST: f64 = (1_u64 << 53) as f64;
    let is_whole = (0.0..=LARGEST).contains(&number) && number.fract() == 0.0;
    if is_whole { usize::try_from(number as u64).ok() } else { None }
}

#[cfg(test)]
mod tests;
