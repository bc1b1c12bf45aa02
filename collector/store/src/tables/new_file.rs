//! A file that is written piece by piece.

use deltalake::Path;
use deltalake::arrow::array::RecordBatch;
use deltalake::logstore::object_store::buffered::BufWriter;
use deltalake::parquet::arrow::AsyncArrowWriter;

use super::commit::DataFile;
use super::table::Table;
use super::{Partition, TableError, parquet};

/// A file that no table names yet. Its name is new, so a name always stands for the same content.
pub struct NewFile {
    path: String,
    partition: Partition,
    writer: AsyncArrowWriter<BufWriter>,
    rows: u64,
}

impl NewFile {
    /// Begins a file. Nothing is written before its first rows.
    pub fn create(table: &Table, partition: &Partition) -> Result<Self, TableError> {
        let Partition { app, day } = partition;
        let path = format!("app={app}/day={day}/{}.zstd.parquet", uuid::Uuid::new_v4().simple());
        Self::create_at(table, partition, &path)
    }

    /// Begins a file with this path, which is that of the only file whose content it is made of.
    pub fn create_at(table: &Table, partition: &Partition, path: &str) -> Result<Self, TableError> {
        let output = BufWriter::new(table.delta.object_store(), Path::from(path));
        let properties = parquet::merged(table.name())?;
        let writer = AsyncArrowWriter::try_new(output, table.name().schema(), Some(properties))?;
        Ok(Self { path: path.to_owned(), partition: partition.clone(), writer, rows: 0 })
    }

    /// Appends rows.
    pub async fn write(&mut self, rows: &RecordBatch) -> Result<(), TableError> {
        self.rows += rows.num_rows() as u64;
        Ok(self.writer.write(rows).await?)
    }

    /// How many rows it has.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Writes what is left; `None` if it has no rows, and so is not there.
    pub async fn finish(mut self) -> Result<Option<DataFile>, TableError> {
        if self.rows == 0 {
            return Ok(None);
        }
        self.writer.finish().await?;
        Ok(Some(DataFile {
            path: self.path,
            partition: self.partition,
            bytes: self.writer.bytes_written() as u64,
            rows: self.rows,
            written: chrono::Utc::now().timestamp_millis(),
        }))
    }
}
