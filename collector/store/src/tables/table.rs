//! One table.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::prelude::SessionContext;
use deltalake::arrow::array::RecordBatch;
use deltalake::arrow::datatypes::{DataType, Field, Schema};
use deltalake::kernel::engine::arrow_conversion::TryIntoKernel;
use deltalake::kernel::transaction::CommitBuilder;
use deltalake::kernel::{Action, StructType, Transaction};
use deltalake::logstore::object_store::ObjectStoreExt;
use deltalake::operations::create::CreateBuilder;
use deltalake::protocol::{DeltaOperation, SaveMode};
use deltalake::{
    DeltaTable, DeltaTableBuilder, DeltaTableError, ObjectStore, ObjectStoreError, Path as ObjectPath,
};
use futures::{StreamExt, TryStreamExt};
use url::Url;

use super::commit::{self, DataFile};
use super::listing::Listing;
use super::location::Location;
use super::schema::{PARTITIONS, TableName};
use super::{Partition, TableError, parquet, version};
use crate::ids::BatchId;

/// A table that is open.
pub struct Table {
    name: TableName,
    pub(super) delta: DeltaTable,
    pub(super) folder: Option<PathBuf>,
    pub(super) listing: Option<Listing>,
}

/// How the names of files end.
const EXTENSION: &str = ".zstd.parquet";

/// The part of a log that a file has the rows of; `None` of a file into which others were merged.
pub(crate) fn batch_of(path: &str) -> Option<BatchId> {
    let name = path.rsplit('/').next()?.strip_suffix(EXTENSION)?;
    if name.len() != 16 {
        return None;
    }
    u64::from_str_radix(name, 16).ok().map(|number| BatchId(number.cast_signed()))
}

/// Requests to a bucket at the same time.
const REQUESTS: usize = 32;

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
            .with_configuration(version::settings().into_iter().map(|(key, value)| (key, Some(value))))
            .with_raise_if_key_not_exists(false)
            .await;
        let mut delta = match delta {
            Ok(delta) => delta,
            // Another collector made it at the same time.
            Err(_) => builder.load().await?,
        };
        delta.update_state().await?;
        let delta = version::check(name.as_str(), delta).await?;
        Ok(Self { name, delta, folder, listing: None })
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

    /// Appends the rows of a segment, unless they are there. The files are on the disk or in the bucket before the
    /// table names them.
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
        let mut files = Vec::new();
        for (partition, rows) in rows.into_iter().filter(|(_, rows)| rows.num_rows() > 0) {
            files.push(self.put(partition, batch, rows).await?);
        }
        self.sync(files.iter().map(|file| file.path.as_str())).await?;
        loop {
            let transaction = Transaction::new(writer, i64::try_from(segment).unwrap_or(i64::MAX));
            let operation = DeltaOperation::Write {
                mode: SaveMode::Append,
                partition_by: Some(PARTITIONS.map(String::from).to_vec()),
                predicate: None,
            };
            let committed =
                CommitBuilder::from(commit::properties().with_application_transaction(transaction))
                    .with_actions(files.iter().map(|file| Action::Add(commit::add(file, true))).collect())
                    .build(Some(self.delta.snapshot()?), self.delta.log_store(), operation)
                    .await;
            match committed {
                Ok(committed) => {
                    return self.sync([commit::version_path(committed.version()).as_str()]).await;
                }
                // Another writer has deleted rows or changed the table's settings, or an attempt that was answered with
                // an error has succeeded.
                Err(error) if commit::is_conflict(&error) => {}
                Err(error) => return Err(error.into()),
            }
            self.delta.update_state().await?;
            if self.last_segment(writer).await? >= Some(segment) {
                return Ok(());
            }
        }
    }

    /// Writes a file, which the table does not know yet.
    async fn put(
        &self,
        partition: Partition,
        batch: BatchId,
        rows: RecordBatch,
    ) -> Result<DataFile, TableError> {
        let Partition { app, day } = &partition;
        let path = format!("app={app}/day={day}/{:016x}{EXTENSION}", batch.0);
        let (table, count) = (self.name, rows.num_rows() as u64);
        let written = tokio::task::spawn_blocking(move || parquet::file(table, &rows)).await;
        let file = written.expect("it does not panic")?;
        let bytes = file.len() as u64;
        let put = self.delta.object_store().put(&ObjectPath::from(path.as_str()), file.into()).await;
        put.map_err(DeltaTableError::from)?;
        let written = chrono::Utc::now().timestamp_millis();
        Ok(DataFile { path, partition, bytes, rows: count, written })
    }

    /// Makes sure that files are on the disk, with their names. A bucket has them when it has answered.
    pub(super) async fn sync(&self, paths: impl IntoIterator<Item = &str>) -> Result<(), TableError> {
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

    /// The URL of a file.
    pub fn url(&self, path: &str) -> Url {
        let uri = self.delta.log_store().to_uri(&ObjectPath::from(path));
        let url = Url::parse(&uri).or_else(|_| Url::from_file_path(&uri));
        url.expect("files have absolute paths")
    }

    /// Makes sure that files are there: for the engine, one that is missing has no rows.
    pub async fn check_files(&self, paths: Vec<String>) -> Result<(), TableError> {
        let missing = |path: String| TableError::Missing { table: self.name.as_str(), path };
        if let Some(folder) = &self.folder {
            for path in paths {
                match fs::metadata(folder.join(&path)) {
                    Ok(_) => {}
                    Err(error) if error.kind() == ErrorKind::NotFound => return Err(missing(path)),
                    Err(error) => return Err(error.into()),
                }
            }
            return Ok(());
        }
        let objects = self.delta.object_store();
        let heads = futures::stream::iter(paths).map(|path| head(Arc::clone(&objects), path));
        let checked: Result<Vec<()>, _> = heads.buffer_unordered(REQUESTS).try_collect().await;
        match checked {
            Ok(_) => Ok(()),
            Err((path, ObjectStoreError::NotFound { .. })) => Err(missing(path)),
            Err((_, error)) => Err(DeltaTableError::from(error).into()),
        }
    }
}

async fn head(objects: Arc<dyn ObjectStore>, path: String) -> Result<(), (String, ObjectStoreError)> {
    match objects.head(&ObjectPath::from(path.as_str())).await {
        Ok(_) => Ok(()),
        Err(error) => Err((path, error)),
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
