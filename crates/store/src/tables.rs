//! The tables: Delta tables of Parquet files, divided by application and day.

mod location;
mod rows;
mod schema;
mod table;
mod weighted;

use std::collections::BTreeMap;

use deltalake::DeltaTableError;
use deltalake::arrow::error::ArrowError;
use deltalake::parquet::errors::ParquetError;

pub use location::{Location, NotALocation};
pub use schema::{LABELS, PARTITIONS, TableName};
pub use table::{Files, Table};

use crate::ids::{self, BatchId};
use crate::profile::{Damaged, Profile};
use rows::{Rows, Written};

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

/// The rows of one folder of the tables.
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

impl Tables {
    /// Opens the tables, and makes those that are not there.
    pub async fn open(location: &Location, writer: &str) -> Result<Self, TableError> {
        let mut tables = Vec::new();
        for name in TableName::ALL {
            tables.push(Table::open(location, name).await?);
        }
        Ok(Self { tables, writer: writer.to_owned(), written: Written::default() })
    }

    /// The tables, to read them.
    pub fn into_tables(self) -> Vec<Table> {
        self.tables
    }

    /// The number of the last segment of this writer that is in any table.
    pub async fn last_segment(&self) -> Result<Option<u64>, TableError> {
        let mut last = None;
        for table in &self.tables {
            last = last.max(table.last_segment(&self.writer).await?);
        }
        Ok(last)
    }

    /// Writes the profiles of a segment to all tables that do not have it yet. When it fails, the same call can be made again: each table
    /// has the segment once.
    pub async fn write(&mut self, segment: u64, profiles: &[Profile]) -> Result<(), TableError> {
        let written = self.write_once(segment, profiles).await;
        if written.is_err() {
            // What it holds may not be in the tables.
            self.written = Written::default();
        }
        written
    }

    async fn write_once(&mut self, segment: u64, profiles: &[Profile]) -> Result<(), TableError> {
        let batch: BatchId = ids::batch(&self.writer, segment);
        self.written.limit();
        let mut partitions: BTreeMap<Partition, Rows> = BTreeMap::new();
        for profile in profiles {
            let partition = Partition::of(profile);
            let rows = partitions.entry(partition).or_insert_with(|| Rows::new(batch));
            rows.push(profile, &mut self.written)?;
        }
        for table in &mut self.tables {
            let mut batches = Vec::new();
            for (partition, rows) in &mut partitions {
                batches.push((partition.clone(), rows.finish(table.name())?));
            }
            table.append(&self.writer, segment, batch, batches).await?;
        }
        Ok(())
    }
}
