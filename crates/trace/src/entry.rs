//! Marks and measures.

use std::fmt;
use std::str::FromStr;

use crate::id::EntryNameId;
use crate::millis::Millis;

/// A mark or a measure of [User Timing], as in `PerformanceEntry.toJSON()` but without `detail`.
///
/// [User Timing]: https://w3c.github.io/user-timing/
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Whether it is a mark or a measure.
    pub entry_type: EntryType,
    /// The name.
    pub name: EntryNameId,
    /// The start time since the trace's time origin. A measure may start before the time origin.
    pub start_time: Millis,
    /// The duration; zero for a mark, possibly negative for a measure.
    pub duration: Millis,
}

impl Entry {
    /// Whether User Timing could have created it: a mark has no duration and is not before the time origin.
    pub fn is_possible(&self) -> bool {
        match self.entry_type {
            EntryType::Mark => self.start_time >= Millis::ZERO && self.duration == Millis::ZERO,
            EntryType::Measure => true,
        }
    }
}

/// The types of entries that a trace holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum EntryType {
    /// A point in time: `performance.mark()`.
    Mark,
    /// A time span: `performance.measure()`.
    Measure,
}

impl EntryType {
    /// Both types, in the order of their indexes.
    pub const ALL: [Self; 2] = [Self::Mark, Self::Measure];

    /// The type's string, as in `PerformanceEntry.entryType`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mark => "mark",
            Self::Measure => "measure",
        }
    }

    /// The 0-based index of the type in [`EntryType::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// The type with this index, if there is one.
    pub fn from_index(index: usize) -> Option<Self> {
        Self::ALL.get(index).copied()
    }
}

impl fmt::Display for EntryType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for EntryType {
    type Err = UnknownEntryType;

    fn from_str(text: &str) -> Result<Self, UnknownEntryType> {
        Self::ALL.into_iter().find(|entry_type| entry_type.as_str() == text).ok_or(UnknownEntryType)
    }
}

/// The string is not the name of an [`EntryType`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownEntryType;

impl fmt::Display for UnknownEntryType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not the type of a mark or measure")
    }
}

impl std::error::Error for UnknownEntryType {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_round_trip() {
        for (index, entry_type) in EntryType::ALL.into_iter().enumerate() {
            assert_eq!(entry_type.as_str().parse(), Ok(entry_type));
            assert_eq!((entry_type.index(), EntryType::from_index(index)), (index, Some(entry_type)));
        }
        assert_eq!("resource".parse::<EntryType>(), Err(UnknownEntryType));
        assert_eq!(EntryType::from_index(2), None);
    }
}
