//! Problems in a foreign trace, and their remedies.

use std::fmt;

/// The problems found in a trace: the first [`Problems::LISTED`] of them, and the number of each kind.
#[derive(Clone, Debug, Default)]
pub struct Problems {
    list: Vec<Problem>,
    counts: [u64; ProblemKind::ALL.len()],
}

impl Problems {
    /// The maximum number of listed problems. The rest are only counted, because every number of a hostile trace may be
    /// invalid.
    pub const LISTED: usize = 100;

    /// The first problems, in the order in which they were found.
    pub fn list(&self) -> &[Problem] {
        &self.list
    }

    /// The number of problems of this kind, listed or not.
    pub fn count(&self, kind: ProblemKind) -> u64 {
        self.counts[kind as usize]
    }

    /// The number of all problems, listed or not.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Whether the trace was valid.
    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }

    /// Adds the problems of another list.
    pub fn append(&mut self, other: Self) {
        let rest = Self::LISTED - self.list.len();
        self.list.extend(other.list.into_iter().take(rest));
        self.counts.iter_mut().zip(other.counts).for_each(|(count, more)| *count += more);
    }

    pub(super) fn push(&mut self, problem: Problem) {
        self.counts[problem.kind as usize] += 1;
        if self.list.len() < Self::LISTED {
            self.list.push(problem);
        }
    }
}

/// A problem. It is displayed as one sentence without a full stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Problem {
    /// Where it is.
    pub location: Location,
    /// The invalid value, if it is a number.
    pub value: Option<f64>,
    /// What is wrong.
    pub kind: ProblemKind,
    /// How it was repaired.
    pub remedy: Remedy,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.location.fmt(f)?;
        match self.value {
            Some(value) => write!(f, " is {value}, which {}", self.kind)?,
            None => write!(f, " {}", self.kind)?,
        }
        write!(f, ": {}", self.remedy)
    }
}

/// A location in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// A member of an element of a list, e.g. `stacks[17].parentId`.
    Element {
        /// The list, e.g. `stacks`.
        list: &'static str,
        /// The element's index.
        index: usize,
        /// The element's member; empty for the element itself.
        member: &'static str,
    },
    /// A member of the trace itself, e.g. `droppedEntriesCount`.
    Member(&'static str),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Element { list, index, member: "" } => write!(f, "{list}[{index}]"),
            Self::Element { list, index, member } => write!(f, "{list}[{index}].{member}"),
            Self::Member(member) => f.write_str(member),
        }
    }
}

/// What is wrong with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// An id that is not an integer, or not in its list.
    Dangling,
    /// A stack that is its own ancestor.
    Cycle,
    /// A line or column that is not an integer from 1 to 2³² - 1.
    Position,
    /// A line or column of a frame without a resource.
    NoResource,
    /// A timestamp that is negative, not a number, or too large for a double to count microseconds.
    Timestamp,
    /// A timestamp or start time that is earlier than the previous one.
    Order,
    /// An unknown marker.
    Marker,
    /// An entry that is neither a mark nor a measure.
    EntryType,
    /// The name of an entry that is not a string.
    EntryName,
    /// The start time or duration of an entry that is not a finite number.
    EntryTime,
    /// A mark with a duration.
    MarkDuration,
    /// A number of dropped entries that is not a non-negative integer.
    EntryCount,
    /// Something other than a list in place of the list of entries.
    EntryList,
    /// Something other than a list in place of the list of source maps.
    SourceMapList,
    /// Something other than a list in place of the list of evaluated scripts.
    EvaluatedList,
    /// One more evaluated script than there may be resources.
    EvaluatedLimit,
    /// Something other than an object in place of a source map.
    SourceMap,
    /// An id that an earlier element has.
    Duplicate,
    /// A child that already has another parent.
    SecondParent,
    /// Two parallel lists of different lengths.
    Length,
    /// Something other than a time for each sample, in the order of time, in place of the durations.
    Durations,
    /// Something other than a list in place of the list of threads.
    ThreadList,
    /// A thread that is not a trace.
    Thread,
    /// Something other than increasing times in place of the waiting times.
    WaitingTimes,
    /// Something other than a list of labels with text in place of the labels.
    Labels,
    /// Something other than lists of one length, a start and an end in place of the calls.
    Calls,
    /// A number that is not that of a type of event.
    CallEventType,
    /// The end of a function that has called others which have not ended.
    CalledOthers,
    /// The end of a function that is not running.
    NotRunning,
}

impl ProblemKind {
    /// Every kind.
    pub const ALL: [Self; 29] = [
        Self::Dangling,
        Self::Cycle,
        Self::Position,
        Self::NoResource,
        Self::Timestamp,
        Self::Order,
        Self::Marker,
        Self::EntryType,
        Self::EntryName,
        Self::EntryTime,
        Self::MarkDuration,
        Self::EntryCount,
        Self::EntryList,
        Self::SourceMapList,
        Self::EvaluatedList,
        Self::EvaluatedLimit,
        Self::SourceMap,
        Self::Duplicate,
        Self::SecondParent,
        Self::Length,
        Self::Durations,
        Self::ThreadList,
        Self::Thread,
        Self::WaitingTimes,
        Self::Labels,
        Self::Calls,
        Self::CallEventType,
        Self::CalledOthers,
        Self::NotRunning,
    ];
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dangling => "is not the id of an entry",
            Self::Cycle => "makes the stack its own ancestor",
            Self::Position => "is not a 1-based line or column",
            Self::NoResource => "belongs to a frame without a resource",
            Self::Timestamp => "is not a valid timestamp",
            Self::Order => "is earlier than the previous one",
            Self::Marker => "is not a known marker",
            Self::EntryType => "is neither `mark` nor `measure`",
            Self::EntryName => "is not a string",
            Self::EntryTime => "is not a number of milliseconds",
            Self::MarkDuration => "is a duration, but marks have none",
            Self::EntryCount => "is not a number of entries",
            Self::EntryList => "is not a list of entries",
            Self::SourceMapList => "is not a list of source maps",
            Self::EvaluatedList => "is not a list of evaluated functions",
            Self::EvaluatedLimit => "is in one more evaluated script than are read",
            Self::SourceMap => "is not a source map",
            Self::Duplicate => "is already the id of another entry",
            Self::SecondParent => "already has another parent",
            Self::Length => "differs in length from the list that it belongs to",
            Self::Durations => "is not a time for each sample",
            Self::ThreadList => "is not a list of threads",
            Self::Thread => "is not a trace",
            Self::WaitingTimes => "is not two lists of increasing times",
            Self::Labels => "is not a list of objects whose members are strings",
            Self::Calls => "is not a start, an end and three lists of one length",
            Self::CallEventType => "is not a type of event",
            Self::CalledOthers => "ends before functions that it has called",
            Self::NotRunning => "ends without running",
        })
    }
}

/// How a problem was repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Remedy {
    /// The frame is kept without resource, line and column.
    NoResource,
    /// The frame is kept without the line or column.
    NoPosition,
    /// The stack is kept without a parent.
    Root,
    /// The stack is replaced by its parent, as the specification does for frames that may not be shown
    /// ([get a stack ID], step 5).
    ///
    /// [get a stack ID]: https://wicg.github.io/js-self-profiling/#dfn-get-a-stack-id
    Parent,
    /// The sample is kept without a stack.
    NoStack,
    /// The sample is kept without labels.
    NoLabels,
    /// The sample is dropped.
    NoSample,
    /// The list is sorted; the sort is stable.
    Sorted,
    /// The marker is replaced by `other`.
    OtherMarker,
    /// The entry is dropped.
    NoEntry,
    /// The mark is kept with a duration of zero.
    NoDuration,
    /// The member is ignored.
    NoMember,
    /// The source map is ignored.
    NoSourceMap,
    /// The longer list is cut.
    Shortened,
    /// The sample gets the time of the previous sample.
    SameTime,
    /// The thread is dropped.
    NoThread,
    /// The calls are ignored.
    NoCalls,
    /// The event is dropped.
    NoEvent,
    /// The time of the previous event is used.
    SameEventTime,
    /// The functions that it has called end with it.
    EndTogether,
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoResource => "the frame is kept without a location",
            Self::NoPosition => "the frame is kept without it",
            Self::Root => "the stack is kept without a parent",
            Self::Parent => "the stack is replaced by its parent",
            Self::NoStack => "the sample is kept without a stack",
            Self::NoLabels => "the sample is kept without labels",
            Self::NoSample => "the sample is dropped",
            Self::Sorted => "the list is sorted",
            Self::OtherMarker => "it is replaced by `other`",
            Self::NoEntry => "the entry is dropped",
            Self::NoDuration => "the mark is kept without it",
            Self::NoMember => "it is ignored",
            Self::NoSourceMap => "the source map is ignored",
            Self::Shortened => "the longer list is cut",
            Self::SameTime => "the time of the previous sample is used",
            Self::NoThread => "the thread is dropped",
            Self::NoCalls => "the calls are ignored",
            Self::NoEvent => "the event is dropped",
            Self::SameEventTime => "the time of the event before is used",
            Self::EndTogether => "they end with it",
        })
    }
}
