//! How the rows of tables are written as Parquet.

use deltalake::arrow::array::RecordBatch;
use deltalake::parquet::arrow::ArrowWriter;
use deltalake::parquet::basic::{Compression, Encoding, ZstdLevel};
use deltalake::parquet::errors::ParquetError;
use deltalake::parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use deltalake::parquet::schema::types::ColumnPath;

use super::TableError;
use super::schema::TableName;

/// The compression of what is written once for each segment.
const FAST: i32 = 3;

/// The compression of merged files, which are written a few times and kept for long: 9% smaller for traces.
const SMALL: i32 = 9;

/// The rows of a group, which a reader can leave out as a whole.
const GROUP_ROWS: usize = 256 << 10;

/// The bytes of a group, all of which are in memory while it is written.
const GROUP_BYTES: usize = 32 << 20;

/// The file of the rows of one segment.
pub fn file(table: TableName, rows: &RecordBatch) -> Result<Vec<u8>, TableError> {
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, rows.schema(), Some(properties(table, FAST)?))?;
    writer.write(rows)?;
    writer.close()?;
    Ok(bytes)
}

/// The properties of a file into which several are merged.
pub fn merged(table: TableName) -> Result<WriterProperties, ParquetError> {
    properties(table, SMALL)
}

fn properties(table: TableName, level: i32) -> Result<WriterProperties, ParquetError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(level)?))
        .set_created_by("selfprof-collector".into())
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_max_row_group_bytes(Some(GROUP_BYTES));
    Ok(columns(table, properties).build())
}

/// Dictionaries and differences where they make columns smaller: measured with the profiles of `fixtures/shop`.
fn columns(table: TableName, properties: WriterPropertiesBuilder) -> WriterPropertiesBuilder {
    let column = |name: &str| ColumnPath::from(name);
    match table {
        // No two are equal.
        TableName::Profiles => ["spans", "trace"].into_iter().fold(properties, |properties, name| {
            properties.set_column_dictionary_enabled(column(name), false)
        }),
        // They increase within a profile: 25% smaller.
        TableName::Spans => properties
            .set_column_dictionary_enabled(column("start"), false)
            .set_column_encoding(column("start"), Encoding::DELTA_BINARY_PACKED),
        TableName::Samples | TableName::Hours | TableName::Stacks | TableName::Frames => properties,
    }
}
