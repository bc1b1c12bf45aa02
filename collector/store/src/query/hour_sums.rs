//! Sums of whole hours instead of single samples, where there are some.
//!
//! Each file of the table `hours` has the sums of one file of `samples`, which has the same name and never changes. So
//! a file of sums counts if that file of samples is one of the snapshot's, and then stands for its samples of whole
//! hours. What remains is read from the samples: files without sums, the first and last minutes of a period, and days
//! on which some profiles were written twice.

use std::collections::{BTreeSet, HashSet};

use url::Url;

use super::snapshot::Snapshot;
use super::visible::{Duplicate, not_twice, period};
use super::{QueryError, Selection};
use crate::filter::Column;
use crate::tables::{TableName, day_of};

/// An hour in microseconds.
pub const HOUR: i64 = 3_600_000_000;

/// A day in microseconds.
const DAY: i64 = 24 * HOUR;

/// A query for the samples of a selection, with the columns `time`, `stack`, `marker`, `weight` and `count`. Instead of
/// samples of a whole hour it may give their sums, whose time is the beginning of the hour.
pub(super) fn samples(
    snapshot: &Snapshot,
    selection: &Selection,
    duplicates: &[Duplicate],
) -> Result<String, QueryError> {
    // Each bound is rounded towards the middle of the period.
    let first = selection.from.saturating_add(HOUR - 1).div_euclid(HOUR).saturating_mul(HOUR);
    let last = selection.to.div_euclid(HOUR).saturating_mul(HOUR);
    let has_sums = first < last && !selection.filter.has(Column::Session);
    let doubled: BTreeSet<String> = duplicates.iter().map(|duplicate| day_of(duplicate.time)).collect();
    let samples = snapshot.files(TableName::Samples);
    let names: HashSet<&str> = samples.iter().map(name).collect();
    let counts = |file: &&Url| has_sums && names.contains(name(file)) && !doubled.contains(day(file));
    let hours: Vec<Url> = snapshot.files(TableName::Hours).iter().filter(counts).cloned().collect();
    let summed: HashSet<&str> = hours.iter().map(name).collect();
    let (first_day, last_day) = (day_of(selection.from), day_of(selection.to));
    // Whether the period begins or ends within the day of a file, or within an hour of that day.
    let is_cut = |file: &Url, unit: i64| {
        let is_within = |time: i64| time.rem_euclid(unit) != 0;
        (is_within(selection.from) && day(file) == first_day)
            || (is_within(selection.to) && day(file) == last_day)
    };
    let (with_sums, without): (Vec<Url>, Vec<Url>) =
        samples.iter().cloned().partition(|file| summed.contains(name(file)));
    let (ends, whole): (Vec<Url>, Vec<Url>) = without.into_iter().partition(|file| is_cut(file, DAY));
    let rest: Vec<Url> = with_sums.into_iter().filter(|file| is_cut(file, HOUR)).collect();
    let hours_between = period("hour", first, last);
    let filter = selection.filter.to_sql(&selection.app);
    let counted = not_twice(duplicates);
    let between = period("time", selection.from, selection.to);
    let parts = [
        ("sums", TableName::Hours, "hour", hours, format!("{hours_between} and {filter}")),
        ("samples_of_whole_days", TableName::Samples, "time", whole, format!("{filter}{counted}")),
        ("samples_of_ends", TableName::Samples, "time", ends, format!("{between} and {filter}{counted}")),
        (
            "samples_beside_sums",
            TableName::Samples,
            "time",
            rest,
            format!("{between} and not ({}) and {filter}{counted}", period("time", first, last)),
        ),
    ];
    let mut queries = Vec::new();
    for (table, kind, time, files, condition) in parts {
        if !files.is_empty() || (queries.is_empty() && table == "samples_beside_sums") {
            snapshot.register(table, kind, &files)?;
            queries.push(format!(
                "select {time} as time, stack, marker, weight, \"count\" from {table} where {condition}"
            ));
        }
    }
    Ok(queries.join(" union all "))
}

/// The name of a file within its table: `app=shop/day=2026-11-23/FILE`.
fn name(file: &Url) -> &str {
    let path = file.path();
    path.rfind("/app=").map_or(path, |start| &path[start..])
}

/// The day of a file.
fn day(file: &Url) -> &str {
    let mut folders = name(file).split('/');
    folders.find_map(|folder| folder.strip_prefix("day=")).unwrap_or_default()
}
