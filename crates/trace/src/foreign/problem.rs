//! What was wrong with a foreign trace, and what became of it.

use std::fmt;

/// The problems that validation met: the first [`Problems::LISTED`] of them, and the number of each kind.
#[derive(Clone, Debug, Default)]
pub struct Problems {
    list: Vec<Problem>,
    counts: [u64; ProblemKind::ALL.len()],
}

impl Problems {
    /// How many problems are kept. The rest is only counted, as a hostile trace can have one in each number.
    pub const LISTED: usize = 100;

    /// The first problems, in the order they were met.
    pub fn list(&self) -> &[Problem] {
        &self.list
    }

    /// How many problems of this kind there are, listed or not.
    pub fn count(&self, kind: ProblemKind) -> u64 {
        self.counts[kind as usize]
    }

    /// How many problems there are, listed or not.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Whether the trace was valid as it came.
    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }

    pub(super) fn push(&mut self, problem: Problem) {
        self.counts[problem.kind as usize] += 1;
        if self.list.len() < Self::LISTED {
            self.list.push(problem);
        }
    }
}

/// One thing that was wrong. Shown as one sentence without a full stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Problem {
    /// Where it was.
    pub place: Place,
    /// The number that stood there, if it was one.
    pub value: Option<f64>,
    /// What was wrong with it.
    pub kind: ProblemKind,
    /// What was done about it.
    pub remedy: Remedy,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.fmt(f)?;
        match self.value {
            Some(value) => write!(f, " is {value}, which {}", self.kind)?,
            None => write!(f, " {}", self.kind)?,
        }
        write!(f, ": {}", self.remedy)
    }
}

/// Where in a trace something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
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

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Element { list, index, member: "" } => write!(f, "{list}[{index}]"),
            Self::Element { list, index, member } => write!(f, "{list}[{index}].{member}"),
            Self::Member(member) => f.write_str(member),
        }
    }
}

/// What can be wrong with an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// An id that is no whole number, or that its list does not reach.
    Dangling,
    /// A stack that is its own ancestor.
    Cycle,
    /// A line or column that is not a whole number from 1 to 2³² - 1.
    Position,
    /// A line or column of a frame without a resource.
    NoResource,
    /// A timestamp that is negative, not a number, or farther away than a double can count microseconds.
    Timestamp,
    /// A timestamp or a start time that is earlier than the one before it.
    Order,
    /// A marker that nobody has defined.
    Marker,
    /// An entry that is neither a mark nor a measure.
    EntryType,
    /// The name of an entry that is no string.
    EntryName,
    /// The start time or duration of an entry that is no finite number.
    EntryTime,
    /// A mark that takes time.
    MarkDuration,
    /// A number of entries that is no whole number.
    EntryCount,
    /// What should be the list of entries and is something else.
    EntryList,
    /// An id that an element before has, too.
    Duplicate,
    /// A child that has a parent already.
    SecondParent,
    /// A list that goes with another one, and has another length.
    Length,
}

impl ProblemKind {
    /// Every kind.
    pub const ALL: [Self; 16] = [
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
        Self::Duplicate,
        Self::SecondParent,
        Self::Length,
    ];
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dangling => "is not the id of an entry",
            Self::Cycle => "makes the stack its own ancestor",
            Self::Position => "is not a line or column, which count from 1",
            Self::NoResource => "stands in a frame without a resource",
            Self::Timestamp => "is not a time since the time origin",
            Self::Order => "is earlier than the one before",
            Self::Marker => "is not a known marker",
            Self::EntryType => "is neither `mark` nor `measure`",
            Self::EntryName => "is not a string",
            Self::EntryTime => "is not a number of milliseconds",
            Self::MarkDuration => "is not the duration of a mark, which has none",
            Self::EntryCount => "is not a number of entries",
            Self::EntryList => "is not a list of entries",
            Self::Duplicate => "is the id of an entry before it",
            Self::SecondParent => "has another parent already",
            Self::Length => "is not as long as the list that it goes with",
        })
    }
}

/// What was done about a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Remedy {
    /// The frame is kept without resource, line and column.
    NoResource,
    /// The frame is kept without the line or column.
    NoPosition,
    /// The stack is kept without what called it.
    Root,
    /// The stack is taken for its parent, as the specification does for frames it may not show
    /// ([get a stack ID], step 5).
    ///
    /// [get a stack ID]: https://wicg.github.io/js-self-profiling/#dfn-get-a-stack-id
    Parent,
    /// The sample is kept without a stack.
    NoStack,
    /// The sample is left out.
    NoSample,
    /// The list is put in order; elements of equal time stay as they were.
    Sorted,
    /// The marker is taken for `other`.
    OtherMarker,
    /// The entry is left out.
    NoEntry,
    /// The mark is kept with a duration of zero.
    NoDuration,
    /// The trace is read as if the member were not there.
    NoMember,
    /// What the longer list has more is left out.
    Shortened,
    /// The time is taken for that of the sample before.
    SameTime,
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoResource => "the frame is kept without its place in a script",
            Self::NoPosition => "the frame is kept without it",
            Self::Root => "the stack begins here",
            Self::Parent => "the stack is taken for its parent",
            Self::NoStack => "the sample is kept without a stack",
            Self::NoSample => "the sample is left out",
            Self::Sorted => "the list is sorted",
            Self::OtherMarker => "it is taken for `other`",
            Self::NoEntry => "the entry is left out",
            Self::NoDuration => "the mark is kept without it",
            Self::NoMember => "it is left out",
            Self::Shortened => "the longer one is cut",
            Self::SameTime => "the time is that of the sample before",
        })
    }
}
