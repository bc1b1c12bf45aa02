//! One table.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use datafusion::prelude::SessionContext;
use deltalake::arrow::array::RecordBatch;
use deltalake::arrow::datatypes::{DataType, Field, Schema};
use deltalake::kernel::engine::arrow_conversion::TryIntoKernel;
use deltalake::kernel::transaction::{CommitBuilder, CommitProperties};
use deltalake::kernel::{Action, Add, StructType, Transaction};
use deltalake::logstore::object_store::ObjectStoreExt;
use deltalake::operations::create::CreateBuilder;
use deltalake::parquet::arrow::ArrowWriter;
use deltalake::parquet::basic::{Compression, ZstdLevel};
use deltalake::parquet::file::properties::WriterProperties;
use deltalake::protocol::{DeltaOperation, SaveMode};
use deltalake::{DeltaTable, DeltaTableBuilder, FilterLiteral, Path as ObjectPath};
use url::Url;

use super::location::Location;
use super::schema::{PARTITIONS, TableName};
use super::{Partition, TableError};
use crate::ids::BatchId;

/// A table that is open.
pub struct Table {
    name: TableName,
    delta: DeltaTable,
    folder: Option<PathBuf>,
}

/// The files of a table, or of parts of it, at one point in time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// Their URLs.
    pub urls: Vec<Url>,
}

impl Table {
    /// Opens a table, and makes it if it is not there.
    pub async fn open(location: &Location, name: TableName) -> Result<Self, TableError> {
        let folder = location.folder(name.as_str());
        if let Some(folder) = &folder {
            fs::create_dir_all(folder)?;
        }
        let builder = DeltaTableBuilder::from_url(location.table(name.as_str()))?
            .with_storage_options(location.options().clone());
        let partitions = PARTITIONS.map(|column| Field::new(column, DataType::Utf8, false));
        let columns = name
            .schema()
            .fields()
            .iter()
            .map(|field| field.as_ref().clone())
            .chain(partitions)
            .collect::<Vec<_>>();
        let schema: StructType = (&Schema::new(columns)).try_into_kernel()?;
        let delta = CreateBuilder::new()
            .with_log_store(builder.build_storage()?)
            .with_table_name(name.as_str())
            .with_columns(schema.fields().cloned())
            .with_partition_columns(PARTITIONS)
            .with_save_mode(SaveMode::Ignore)
            .await;
        let mut delta = match delta {
            Ok(delta) => delta,
            // Another collector made it at the same time.
            Err(_) => builder.load().await?,
        };
        delta.update_state().await?;
        Ok(Self { name, delta, folder })
    }

    /// Which table it is.
    pub fn name(&self) -> TableName {
        self.name
    }

    /// The last segment of a writer that is in the table.
    pub(super) async fn last_segment(&self, writer: &str) -> Result<Option<u64>, TableError> {
        let log = self.delta.log_store();
        let version = self.delta.snapshot()?.snapshot().transaction_version(log.as_ref(), writer).await?;
        Ok(version.and_then(|version| u64::try_from(version).ok()))
    }

    /// Appends the rows of a segment, unless they are there. The files are on the disk or in the bucket before the table names them.
    pub(super) async fn append(
        &mut self,
        writer: &str,
        segment: u64,
        batch: BatchId,
        rows: Vec<(Partition, RecordBatch)>,
    ) -> Result<(), TableError> {
        self.delta.update_state().await?;
        if self.last_segment(writer).await? >= Some(segment) {
            return Ok(());
        }
        let mut actions = Vec::new();
        let mut paths = Vec::new();
        for (partition, rows) in rows.into_iter().filter(|(_, rows)| rows.num_rows() > 0) {
            let Partition { app, day } = &partition;
            let path = format!("app={app}/day={day}/{:016x}.zstd.parquet", batch.0);
            let count = rows.num_rows();
            let bytes =
                tokio::task::spawn_blocking(move || parquet(&rows)).await.expect("it does not panic")?;
            let size = bytes.len() as i64;
            self.delta
                .object_store()
                .put(&ObjectPath::from(path.as_str()), bytes.into())
                .await
                .map_err(|error| TableError::from(deltalake::DeltaTableError::from(error)))?;
            actions.push(Action::Add(add(&partition, path.clone(), size, count)));
            paths.push(path);
        }
        self.sync(paths.iter().map(String::as_str)).await?;
        let transaction = Transaction::new(writer, i64::try_from(segment).unwrap_or(i64::MAX));
        let operation = DeltaOperation::Write {
            mode: SaveMode::Append,
            partition_by: Some(PARTITIONS.map(String::from).to_vec()),
            predicate: None,
        };
        let commit =
            CommitBuilder::from(CommitProperties::default().with_application_transaction(transaction))
                .with_actions(actions)
                .build(Some(self.delta.snapshot()?), self.delta.log_store(), operation)
                .await?;
        let version = format!("_delta_log/{:020}.json", commit.version());
        self.delta.update_state().await?;
        self.sync([version.as_str()]).await
    }

    /// Makes sure that files are on the disk, with their names. A bucket has them when it has answered.
    async fn sync(&self, paths: impl IntoIterator<Item = &str>) -> Result<(), TableError> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let files: Vec<PathBuf> = paths.into_iter().map(|path| folder.join(path)).collect();
        let root = folder.clone();
        tokio::task::spawn_blocking(move || sync_files(&root, &files)).await.expect("it does not panic")?;
        Ok(())
    }

    /// Lets queries of a session read its files.
    pub fn register_store(&self, context: &SessionContext) -> Result<(), TableError> {
        Ok(self.delta.update_datafusion_session(&context.state())?)
    }

    /// Its files for these days of an application, as of now.
    pub async fn files(&mut self, filters: &[FilterLiteral<'_>]) -> Result<Files, TableError> {
        self.delta.update_state().await?;
        let uris = self.delta.get_file_uris_by_partitions(filters).await?;
        let url = |uri: String| Url::parse(&uri).or_else(|_| Url::from_file_path(&uri)).ok();
        Ok(Files { urls: uris.into_iter().filter_map(url).collect() })
    }
}

/// The file of these rows. Numbers that are hashes do not compress, so their columns have no dictionaries.
fn parquet(rows: &RecordBatch) -> Result<Vec<u8>, TableError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_created_by("selfprof-collector".into())
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, rows.schema(), Some(properties))?;
    writer.write(rows)?;
    writer.close()?;
    Ok(bytes)
}

fn add(partition: &Partition, path: String, size: i64, rows: usize) -> Add {
    Add {
        path,
        partition_values: HashMap::from([
            ("app".to_owned(), Some(partition.app.clone())),
            ("day".to_owned(), Some(partition.day.clone())),
        ]),
        size,
        modification_time: chrono::Utc::now().timestamp_millis(),
        data_change: true,
        stats: Some(format!("{{\"numRecords\":{rows}}}")),
        ..Add::default()
    }
}

/// Syncs files, and the folders up to the table's.
fn sync_files(root: &Path, files: &[PathBuf]) -> std::io::Result<()> {
    let mut folders = Vec::new();
    for file in files {
        File::open(file)?.sync_all()?;
        folders.extend(file.ancestors().skip(1).take_while(|folder| folder.starts_with(root)));
    }
    folders.sort_unstable();
    folders.dedup();
    folders.into_iter().try_for_each(|folder| File::open(folder)?.sync_all())
}
