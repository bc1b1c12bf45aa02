//! Which rows count: those of the selection, without those of profiles that were written twice.

use std::sync::Arc;

use datafusion::prelude::SessionContext;

use super::columns::Columns;
use super::known::Known;
use super::snapshot::Snapshot;
use super::{QueryError, Reader, Selection};
use crate::filter::Filter;
use crate::tables::TableName;

/// A row of `profiles` that does not count, because the same profile is there a second time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Duplicate {
    profile: i64,
    batch: i64,
    /// In microseconds since 1970.
    pub time: i64,
}

/// The rows that do not count, by a hash of the names of the files of profiles in which they are.
pub(super) type KnownDuplicates = Known<[u8; 32], Arc<[Duplicate]>>;

/// The condition in SQL that rows of the selection meet.
pub(super) fn condition(selection: &Selection, duplicates: &[Duplicate]) -> String {
    let period = period("time", selection.from, selection.to);
    let filter = selection.filter.to_sql(&selection.app);
    format!("{period} and {filter}{}", not_twice(duplicates))
}

/// The condition that a time is in a period, which does not contain its end. Both are in microseconds since 1970.
pub(super) fn period(column: &str, from: i64, to: i64) -> String {
    format!("{column} >= to_timestamp_micros({from}) and {column} < to_timestamp_micros({to})")
}

/// The end of a condition that these rows do not meet.
pub(super) fn not_twice(duplicates: &[Duplicate]) -> String {
    if duplicates.is_empty() {
        return String::new();
    }
    let pairs = duplicates
        .iter()
        .map(|Duplicate { profile, batch, .. }| format!("(profile = {profile} and batch = {batch})"));
    format!(" and not ({})", pairs.collect::<Vec<_>>().join(" or "))
}

/// The condition in SQL for all tables with profiles: that they are of the selection, or have samples that are.
pub(super) fn profile_condition(selection: &Selection, duplicates: &[Duplicate]) -> String {
    if !selection.filter.is_of_samples() {
        return condition(selection, duplicates);
    }
    let all = Selection { filter: Filter::All, ..selection.clone() };
    let samples = condition(selection, duplicates);
    format!("{} and profile in (select profile from samples where {samples})", condition(&all, duplicates))
}

/// A query for the rows of a table of profiles that do not count: of a profile that is there several times, the row in
/// the batch with the smallest number counts.
pub(crate) fn repeated(table: &str) -> String {
    format!(
        "select distinct p.profile, p.batch, cast(p.time as bigint) as time from {table} p join \
         (select profile, min(batch) as kept from {table} group by profile having count(*) > 1) k \
         on p.profile = k.profile where p.batch <> k.kept"
    )
}

fn profile_files(snapshot: &Snapshot) -> [u8; 32] {
    let mut names = blake3::Hasher::new();
    for file in snapshot.files(TableName::Profiles) {
        names.update(file.as_str().as_bytes()).update(&[0]);
    }
    names.finalize().into()
}

impl Reader {
    /// The rows that do not count: two collectors may have written the same profile, or one collector may have written
    /// it again long afterwards. The one in the batch with the smallest number counts.
    pub(super) async fn duplicates(&self, snapshot: &Snapshot) -> Result<Arc<[Duplicate]>, QueryError> {
        if let Some(known) = self.known_duplicates(snapshot) {
            return Ok(known);
        }
        let found: Arc<[Duplicate]> = Self::find_duplicates(&snapshot.context).await?.into();
        let size = size_of_val(&found[..]);
        self.duplicates.lock().insert(profile_files(snapshot), Arc::clone(&found), size);
        Ok(found)
    }

    /// What was found in the same files before, which never change.
    pub(super) fn known_duplicates(&self, snapshot: &Snapshot) -> Option<Arc<[Duplicate]>> {
        self.duplicates.lock().get(&profile_files(snapshot), |duplicates| size_of_val(&duplicates[..]))
    }

    async fn find_duplicates(context: &SessionContext) -> Result<Vec<Duplicate>, QueryError> {
        let some =
            Self::rows(context, "select count(*) > count(distinct profile) as some from profiles").await?;
        if !some
            .iter()
            .any(|batch| batch.numbers("some").is_ok_and(|some| some.iter().any(|some| some == Some(1))))
        {
            return Ok(Vec::new());
        }
        let batches = Self::rows(context, &repeated("profiles")).await?;
        let mut duplicates = Vec::new();
        for rows in &batches {
            let (profiles, batches) = (rows.numbers("profile")?, rows.numbers("batch")?);
            let times = rows.numbers("time")?;
            duplicates.extend((0..rows.num_rows()).map(|row| Duplicate {
                profile: profiles.value(row),
                batch: batches.value(row),
                time: times.value(row),
            }));
        }
        Ok(duplicates)
    }
}
