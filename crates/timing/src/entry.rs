//! What a timeline is made of.

use crate::HighResTime;

/// A name, interned by whoever uses the timeline. Small numbers, given in the order in which names come, keep its
/// tables dense; a number may be used for another name once [`Timeline::clear`](crate::Timeline::clear) has reported it
/// unused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(pub u32);

/// Which entry of its timeline: the first mark or measure that was made is 0, the next 1, and so on, whether or not its
/// buffer had room for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence(pub u64);

/// The `entryType` of an entry that User Timing makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum EntryType {
    /// `"mark"`
    Mark = 1,
    /// `"measure"`
    Measure = 2,
}

impl EntryType {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Mark, Self::Measure];
}

/// A `PerformanceMark` or `PerformanceMeasure`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Its `entryType`.
    pub entry_type: EntryType,
    /// Its `name`.
    pub name: NameId,
    /// Which one it is.
    pub sequence: Sequence,
    /// Its `startTime`.
    pub start: HighResTime,
    /// Its `duration`: 0 for a mark; below 0 for a measure that ends before it starts.
    pub duration: HighResTime,
}
