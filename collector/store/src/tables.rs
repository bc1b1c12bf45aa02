//! The tables: Delta tables of Parquet files, divided by application and day.

mod changes;
mod checkpoints;
mod commit;
mod files;
mod listing;
mod location;
mod new_file;
mod parquet;
mod removed;
mod rows;
mod schema;
mod table;
mod version;
mod weighted;
mod written;

use std::collections::BTreeMap;

use deltalake::DeltaTableError;
use deltalake::arrow::array::RecordBatch;
use deltalake::arrow::error::ArrowError;
use deltalake::parquet::errors::ParquetError;

pub use changes::Change;
pub use commit::DataFile;
pub use location::{Location, NotALocation};
pub use new_file::NewFile;
pub use removed::RemovedFile;
pub use schema::{LABELS, PARTITIONS, TableName};
pub use table::Table;
pub(crate) use table::batch_of;

use crate::ids::{self, BatchId};
use crate::profile::{Damaged, Profile};
use rows::Rows;
use written::Written;

/// The tables cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The table format, or the disk or bucket below it.
    #[error("the tables cannot be used: {0}")]
    Delta(#[from] Box<DeltaTableError>),
    /// Rows that do not fit a table.
    #[error("rows do not fit the tables: {0}")]
    Rows(#[from] ArrowError),
    /// The Parquet writer.
    #[error("a file of a table cannot be written: {0}")]
    Parquet(#[from] ParquetError),
    /// A file.
    #[error("a file of a table cannot be written: {0}")]
    Io(#[from] std::io::Error),
    /// A file that a table names.
    #[error("the file {path} of the table {table} is missing: restore it from a back-up")]
    Missing {
        /// The table.
        table: &'static str,
        /// The file.
        path: String,
    },
    /// A table of a newer collector.
    #[error(
        "the table {table} has version {version}, and this collector knows versions up to {}: use the newer collector that wrote it",
        version::VERSION
    )]
    Newer {
        /// The table.
        table: &'static str,
        /// Its version.
        version: String,
    },
    /// A stored trace.
    #[error(transparent)]
    Damaged(#[from] Damaged),
}

impl From<DeltaTableError> for TableError {
    fn from(error: DeltaTableError) -> Self {
        Self::Delta(Box::new(error))
    }
}

/// All tables, and who writes to them.
pub struct Tables {
    tables: Vec<Table>,
    /// The name of this writer: in the tables' logs it stands beside the last segment that it wrote.
    writer: String,
    written: Written,
}

/// A folder of a table: the rows of an application and a day.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Partition {
    /// The application.
    pub app: String,
    /// The day in UTC, as `2026-11-23`.
    pub day: String,
}

impl Partition {
    fn of(profile: &Profile) -> Self {
        Self { app: profile.labels.app.clone(), day: day_of(profile.time) }
    }
}

/// The day of a time in microseconds since 1970, in UTC.
pub fn day_of(time: i64) -> String {
    let date = chrono::DateTime::from_timestamp_micros(time).unwrap_or_default();
    date.format("%Y-%m-%d").to_string()
}

/// Opens all tables to read them, and makes those that are not there.
pub async fn open(location: &Location) -> Result<Vec<Table>, TableError> {
    let mut tables = Vec::new();
    for name in TableName::ALL {
        tables.push(Table::open(location, name).await?);
    }
    Ok(tables)
}

impl Tables {
    /// Opens the tables, and makes those that are not there. An application may have this many new stacks in an hour;
    /// further ones are replaced by `(too many stacks)`.
    pub async fn open(location: &Location, writer: &str, stacks_per_hour: usize) -> Result<Self, TableError> {
        let mut tables = Vec::new();
        for name in TableName::WRITTEN {
            tables.push(Table::open(location, name).await?);
        }
        Ok(Self { tables, writer: writer.to_owned(), written: Written::new(stacks_per_hour) })
    }

    /// The number of the last segment of this writer that is in any table.
    pub async fn last_segment(&self) -> Result<Option<u64>, TableError> {
        let mut last = None;
        for table in &self.tables {
            last = last.max(table.last_segment(&self.writer).await?);
        }
        Ok(last)
    }

    /// Writes the profiles of a segment to all tables that do not have it yet. When it fails, the same call can be made
    /// again: each table has the segment once.
    ///
    /// Returns how many samples have a stack that was one too many.
    pub async fn write(&mut self, segment: u64, profiles: &[Profile]) -> Result<u64, TableError> {
        self.written.forget_if_large();
        let counts = self.written.counts();
        let written = self.write_once(segment, profiles).await;
        if written.is_err() {
            // The next attempt must replace the same stacks, because some tables may have the segment already.
            self.written.go_back(counts);
        }
        written
    }

    async fn write_once(&mut self, segment: u64, profiles: &[Profile]) -> Result<u64, TableError> {
        let batch: BatchId = ids::batch(&self.writer, segment);
        let mut left_out = 0;
        let mut partitions: BTreeMap<Partition, Rows> = BTreeMap::new();
        for profile in profiles {
            let partition = Partition::of(profile);
            let rows = partitions.entry(partition).or_insert_with(|| Rows::new(batch));
            left_out += rows.push(profile, &mut self.written)?;
        }
        let mut rows_of: [Vec<(Partition, RecordBatch)>; 5] = Default::default();
        for (partition, rows) in partitions {
            for (list, rows) in rows_of.iter_mut().zip(rows.finish()?) {
                list.push((partition.clone(), rows));
            }
        }
        for (table, rows) in self.tables.iter_mut().zip(rows_of) {
            table.append(&self.writer, segment, batch, rows).await?;
        }
        Ok(left_out)
    }
}
