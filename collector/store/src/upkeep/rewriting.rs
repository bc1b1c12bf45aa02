//! Files of a table as one new file.

use std::sync::Arc;

use datafusion::datasource::MemTable;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::prelude::{SessionConfig, SessionContext};
use deltalake::arrow::array::{Int64Array, RecordBatch};
use deltalake::arrow::compute::cast;
use deltalake::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use deltalake::arrow::error::ArrowError;
use futures::TryStreamExt;

use super::UpkeepError;
use crate::query::{self, Columns};
use crate::tables::{DataFile, LABELS, NewFile, Table, TableError, TableName};

/// The rows of a profile in all tables: its number, and what it was written with.
pub type ProfileRows = (i64, i64);

/// Reads files and writes new ones, with little memory.
pub struct Rewriter {
    runtime: Arc<RuntimeEnv>,
}

/// The memory for sorting, in bytes. What needs more is written to temporary files.
const MEMORY: usize = 128 << 20;

/// Rows that are handled together.
const ROWS: usize = 8_192;

/// The same for the table of profiles, a row of which may have a megabyte.
const PROFILES: usize = 64;

impl Rewriter {
    pub fn new() -> Result<Self, UpkeepError> {
        let pool = Arc::new(FairSpillPool::new(MEMORY));
        Ok(Self { runtime: RuntimeEnvBuilder::new().with_memory_pool(pool).build_arc()? })
    }

    /// Writes the rows of files of one partition to a new file, without the rows of some profiles; `None` if no row is
    /// left. The table does not know the new file yet.
    pub async fn rewrite(
        &self,
        table: &Table,
        files: &[DataFile],
        without: &[ProfileRows],
    ) -> Result<Option<DataFile>, UpkeepError> {
        let Some(first) = files.first() else { return Ok(None) };
        let context = self.context(table, files).await?;
        let left_out = if without.is_empty() {
            ""
        } else {
            context.register_table("left_out", Arc::new(profile_rows(without)?))?;
            "left anti join left_out on files.profile = left_out.profile and files.batch = left_out.batch"
        };
        let sql = sql(table.name(), &table.name().schema(), left_out);
        let mut file = NewFile::create(table, &first.partition)?;
        write(&context, &sql, table, &mut file).await?;
        let (read, expected) = (file.rows(), files.iter().map(|file| file.rows).sum());
        let keeps_all = without.is_empty() && !has_equal_rows(table.name());
        if keeps_all && read != expected {
            return Err(UpkeepError::Rows { table: table.name(), files: files.len(), expected, read });
        }
        Ok(file.finish().await?)
    }

    /// Writes the sums of a file of samples by hour, in a file of the same name. The table of sums does not know it
    /// yet.
    pub async fn add_up(
        &self,
        samples: &Table,
        hours: &Table,
        file: &DataFile,
    ) -> Result<Option<DataFile>, UpkeepError> {
        let context = self.context(samples, std::slice::from_ref(file)).await?;
        let labels = LABELS.join(", ");
        let sql = format!(
            "select date_trunc('hour', time) as hour, {labels}, marker, spans, stack, sum(weight) as weight, \
             sum(\"count\") as \"count\" from files group by date_trunc('hour', time), {labels}, marker, spans, stack \
             order by hour, {labels}, stack, marker, spans"
        );
        let mut sums = NewFile::create_at(hours, &file.partition, &file.path)?;
        write(&context, &sql, hours, &mut sums).await?;
        Ok(sums.finish().await?)
    }

    /// The profiles that are there twice. The rows in the batch with the smallest number count, so these are the
    /// others.
    pub async fn repeated(
        &self,
        profiles: &Table,
        files: &[DataFile],
    ) -> Result<Vec<ProfileRows>, UpkeepError> {
        self.profile_rows(profiles, files, &query::repeated("files")).await
    }

    /// The profiles of a session.
    pub async fn of_session(
        &self,
        profiles: &Table,
        files: &[DataFile],
        session: i64,
    ) -> Result<Vec<ProfileRows>, UpkeepError> {
        let sql = format!("select profile, batch from files where session = {session}");
        self.profile_rows(profiles, files, &sql).await
    }

    /// Whether a file has rows of some profiles.
    pub async fn has_any(
        &self,
        table: &Table,
        file: &DataFile,
        profiles: &[ProfileRows],
    ) -> Result<bool, UpkeepError> {
        let context = self.context(table, std::slice::from_ref(file)).await?;
        context.register_table("wanted", Arc::new(profile_rows(profiles)?))?;
        let sql = "select files.profile from files left semi join wanted \
                   on files.profile = wanted.profile and files.batch = wanted.batch limit 1";
        let found = context.sql(sql).await?.collect().await?;
        Ok(found.iter().any(|batch| batch.num_rows() > 0))
    }

    /// The answer to a query about the table `files`: the rows of these files.
    pub async fn rows(
        &self,
        table: &Table,
        files: &[DataFile],
        sql: &str,
    ) -> Result<Vec<RecordBatch>, UpkeepError> {
        Ok(self.context(table, files).await?.sql(sql).await?.collect().await?)
    }

    /// The releases that have profiles.
    pub async fn releases(&self, profiles: &Table, files: &[DataFile]) -> Result<Vec<String>, UpkeepError> {
        let mut releases = Vec::new();
        for batch in &self.rows(profiles, files, "select distinct release from files").await? {
            releases.extend(batch.texts("release")?.iter().flatten().map(str::to_owned));
        }
        Ok(releases)
    }

    async fn profile_rows(
        &self,
        profiles: &Table,
        files: &[DataFile],
        sql: &str,
    ) -> Result<Vec<ProfileRows>, UpkeepError> {
        let mut rows = Vec::new();
        for batch in &self.rows(profiles, files, sql).await? {
            let (profiles, batches) = (batch.numbers("profile")?, batch.numbers("batch")?);
            rows.extend(profiles.values().iter().copied().zip(batches.values().iter().copied()));
        }
        Ok(rows)
    }

    /// A session in which `files` are these files, all of which must be there.
    async fn context(&self, table: &Table, files: &[DataFile]) -> Result<SessionContext, UpkeepError> {
        table.check_files(files.iter().map(|file| file.path.clone()).collect()).await?;
        let config = SessionConfig::new()
            // One processor is enough: queries and senders need the others.
            .with_target_partitions(1)
            .with_batch_size(if table.name() == TableName::Profiles { PROFILES } else { ROWS })
            .with_collect_statistics(false)
            .set_str("datafusion.execution.spill_compression", "lz4_frame");
        let context = SessionContext::new_with_config_rt(config, Arc::clone(&self.runtime));
        table.register_store(&context)?;
        let urls: Vec<_> = files.iter().map(|file| table.url(&file.path)).collect();
        context.register_table("files", query::files_as_table(table.name(), &urls)?)?;
        Ok(context)
    }
}

/// Writes the answer to a file.
async fn write(
    context: &SessionContext,
    sql: &str,
    table: &Table,
    file: &mut NewFile,
) -> Result<(), UpkeepError> {
    let schema = table.name().schema();
    let mut rows = context.sql(sql).await?.execute_stream().await?;
    while let Some(batch) = rows.try_next().await? {
        file.write(&conform(&batch, &schema).map_err(TableError::from)?).await?;
    }
    Ok(())
}

/// Whether a table may have equal rows, of which one is enough.
fn has_equal_rows(table: TableName) -> bool {
    matches!(table, TableName::Stacks | TableName::Frames)
}

/// The rows in the order in which they take the least room, and in which a reader can leave out hours, releases and
/// pages. The rows of a profile stay together: in the order of stacks, hashes of profiles and sessions would take more
/// than is saved.
fn sql(table: TableName, schema: &SchemaRef, left_out: &str) -> String {
    let columns: Vec<String> =
        schema.fields().iter().map(|field| format!("files.\"{}\"", field.name())).collect();
    let columns = columns.join(", ");
    let order = match table {
        TableName::Profiles => "date_trunc('hour', time), release, page, time, profile",
        TableName::Samples => "date_trunc('hour', time), release, page, time, profile, stack",
        TableName::Spans => "date_trunc('hour', time), release, page, time, profile, start",
        TableName::Hours => "hour, release, page, stack",
        // Stacks with the same callers beside each other.
        TableName::Stacks => "release, array_to_string(frames, ','), stack",
        TableName::Frames => "release, resource, line, \"column\", name, frame",
    };
    let rows = if has_equal_rows(table) {
        format!("(select distinct {columns} from files) as files")
    } else {
        format!("files {left_out}")
    };
    format!("select {columns} from {rows} order by {order}")
}

/// Rows with the table's types, which the engine may have replaced by similar ones.
fn conform(rows: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let columns = rows.columns().iter().zip(schema.fields());
    let columns = columns.map(|(column, field)| cast(column, field.data_type())).collect::<Result<_, _>>()?;
    RecordBatch::try_new(Arc::clone(schema), columns)
}

/// Profiles as a table in memory.
fn profile_rows(profiles: &[ProfileRows]) -> Result<MemTable, UpkeepError> {
    let field = |name: &str| Field::new(name, DataType::Int64, false);
    let schema = Arc::new(Schema::new(vec![field("profile"), field("batch")]));
    let numbers: Int64Array = profiles.iter().map(|row| row.0).collect();
    let batches: Int64Array = profiles.iter().map(|row| row.1).collect();
    let rows = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(numbers), Arc::new(batches)])
        .map_err(TableError::from)?;
    Ok(MemTable::try_new(schema, vec![vec![rows]])?)
}
