//! Marks and measures, grouped by name.

use std::cmp::Reverse;

use crate::entries::Entries;
use crate::entry::{Entry, EntryType};
use crate::id::EntryNameId;
use crate::millis::Millis;
use crate::recommended_mark::RecommendedMark;

/// The measures of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasureRow {
    /// The name.
    pub name: EntryNameId,
    /// The number of entries.
    pub count: u64,
    /// The sum of their durations; overlapping measures count twice.
    pub total: Millis,
    /// The longest duration.
    pub longest: Millis,
}

/// The marks of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkRow {
    /// The name.
    pub name: EntryNameId,
    /// The recommended mark, if it has a recommended name.
    pub recommended: Option<RecommendedMark>,
    /// The number of entries.
    pub count: u64,
    /// The time of the earliest mark.
    pub first: Millis,
    /// The time of the latest mark.
    pub last: Millis,
}

/// The measures by name, most total time first, then longest, then by id.
pub(super) fn measures(entries: &Entries) -> Vec<MeasureRow> {
    let mut rows = by_name(
        entries,
        EntryType::Measure,
        |entry| MeasureRow { name: entry.name, count: 1, total: entry.duration, longest: entry.duration },
        |row, entry| {
            row.count += 1;
            row.total = row.total.saturating_add(entry.duration);
            row.longest = row.longest.max(entry.duration);
        },
    );
    rows.sort_unstable_by_key(|row| (Reverse(row.total), Reverse(row.longest), row.name));
    rows
}

/// The marks by name, in the order of the latest mark of each name, then by id.
pub(super) fn marks(entries: &Entries) -> Vec<MarkRow> {
    let mut rows = by_name(
        entries,
        EntryType::Mark,
        |entry| MarkRow {
            name: entry.name,
            recommended: RecommendedMark::from_name(&entries.names()[entry.name]),
            count: 1,
            first: entry.start_time,
            last: entry.start_time,
        },
        |row, entry| {
            row.count += 1;
            row.first = row.first.min(entry.start_time);
            row.last = row.last.max(entry.start_time);
        },
    );
    rows.sort_unstable_by_key(|row| (row.last, row.name));
    rows
}

/// One row for each name of entries of this type.
fn by_name<R>(
    entries: &Entries,
    entry_type: EntryType,
    begin: impl Fn(&Entry) -> R,
    add: impl Fn(&mut R, &Entry),
) -> Vec<R> {
    let mut rows: Vec<Option<R>> = Vec::new();
    rows.resize_with(entries.names().len(), || None);
    for entry in entries.list().iter().filter(|entry| entry.entry_type == entry_type) {
        match &mut rows[entry.name.index()] {
            Some(row) => add(row, entry),
            row => *row = Some(begin(entry)),
        }
    }
    rows.into_iter().flatten().collect()
}
