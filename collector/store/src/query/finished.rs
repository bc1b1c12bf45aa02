//! Which parts of collectors' logs are in the tables completely.

use std::collections::HashSet;

use deltalake::arrow::array::RecordBatch;

use super::QueryError;
use super::columns::Columns;
use crate::ids::BatchId;
use crate::tables::batch_of;

/// The parts of logs whose profiles are there. Profiles are written last: the samples and spans of other parts do not
/// count (yet).
pub(crate) struct Finished(HashSet<BatchId>);

impl Finished {
    /// What the files of profiles say by their names.
    pub fn of<'a>(profiles: impl IntoIterator<Item = &'a str>) -> Self {
        Self(profiles.into_iter().filter_map(batch_of).collect())
    }

    /// Whether the rows of a file count. Only what counts is merged.
    pub fn has(&self, file: &str) -> bool {
        batch_of(file).is_none_or(|batch| self.0.contains(&batch))
    }

    /// A query for those of the other parts of these files whose profiles are in a table, merged with others; `None` if
    /// there are no other parts.
    pub fn query<'a>(&self, files: impl IntoIterator<Item = &'a str>, profiles: &str) -> Option<String> {
        let others = files.into_iter().filter_map(batch_of).filter(|batch| !self.0.contains(batch));
        let others: HashSet<i64> = others.map(|batch| batch.0).collect();
        let list = others.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        (!list.is_empty()).then(|| format!("select distinct batch from {profiles} where batch in ({list})"))
    }

    /// Adds the answer.
    pub fn add(&mut self, rows: &[RecordBatch]) -> Result<(), QueryError> {
        for rows in rows {
            self.0.extend(rows.numbers("batch")?.values().iter().map(|&batch| BatchId(batch)));
        }
        Ok(())
    }
}
