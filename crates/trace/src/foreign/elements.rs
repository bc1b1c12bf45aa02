//! The elements of a foreign trace, as they were read.

use crate::entry::{EntryType, UnknownEntryType};
use crate::id::{EntryNameId, NameId};
use crate::marker::{Marker, UnknownMarker};

/// A `ProfilerFrame` as it was read. Numbers may be any double.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForeignFrame<'text> {
    /// The function's name.
    pub name: &'text str,
    /// The index of the resource.
    pub resource_id: Option<f64>,
    /// The 1-based line of the definition.
    pub line: Option<f64>,
    /// The 1-based column of the definition.
    pub column: Option<f64>,
}

/// A `ProfilerStack` as it was read. Its parent may come later, not exist, or be the stack itself.
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
    /// The marker, parsed, so that a sample does not own a string.
    pub marker: Option<Result<Marker, UnknownMarker>>,
}

/// A mark or a measure as it was read. A member that was absent, or of another type, is `None`: entries are an
/// extension of selfprof, so other programs' traces may use the same member names for something else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForeignEntry<'text> {
    /// The entry type, parsed.
    pub entry_type: Option<Result<EntryType, UnknownEntryType>>,
    /// The name.
    pub name: Option<&'text str>,
    /// The start time in milliseconds.
    pub start_time: Option<f64>,
    /// The duration in milliseconds.
    pub duration: Option<f64>,
}

/// A [`ForeignEntry`] whose name is interned.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawEntry {
    pub(super) entry_type: Option<EntryType>,
    pub(super) name: Option<EntryNameId>,
    pub(super) start_time: Option<f64>,
    pub(super) duration: Option<f64>,
}

/// A [`ForeignFrame`] whose name is interned.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawFrame {
    pub(super) name: NameId,
    pub(super) resource_id: Option<f64>,
    pub(super) line: Option<f64>,
    pub(super) column: Option<f64>,
}

/// The number as an integer; `None` if it is negative, has a fraction, or is too large to be exact.
pub(super) fn whole(number: f64) -> Option<usize> {
    const LARGEST: f64 = (1_u64 << 53) as f64;
    let is_whole = (0.0..=LARGEST).contains(&number) && number.fract() == 0.0;
    if is_whole { usize::try_from(number as u64).ok() } else { None }
}
