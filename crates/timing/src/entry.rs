//! The entries of a timeline.

use crate::HighResTime;

/// A name, interned by the user of the timeline. Small consecutive numbers keep its tables dense. A number may be
/// reused for another name when [`Timeline::clear`](crate::Timeline::clear) has reported it unused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(pub u32);

/// The position of an entry in the order in which the timeline's entries were made, from 0 on. Dropped entries count,
/// too.
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
    /// Both types.
    pub const ALL: [Self; 2] = [Self::Mark, Self::Measure];
}

/// A `PerformanceMark` or `PerformanceMeasure`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Its `entryType`.
    pub entry_type: EntryType,
    /// Its `name`.
    pub name: NameId,
    /// Its position in the order in which entries were made.
    pub sequence: Sequence,
    /// Its `startTime`.
    pub start: HighResTime,
    /// Its `duration`: 0 for a mark, negative for a measure that ends before it starts.
    pub duration: HighResTime,
}
