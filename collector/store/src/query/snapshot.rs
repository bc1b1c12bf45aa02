//! The tables as they are when a question is asked.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::future::try_join_all;
use url::Url;

use super::finished::Finished;
use super::{QueryError, Reader, Selection};
use crate::tables::{TableName, day_of};

/// The files of the tables at one point in time, those of an application and the days of a selection.
pub(super) struct Snapshot {
    /// A session in which SQL sees these files as tables.
    pub context: SessionContext,
    files: HashMap<TableName, Vec<Url>>,
}

impl Snapshot {
    /// The files of a table.
    pub fn files(&self, name: TableName) -> &[Url] {
        self.files.get(&name).map_or(&[], Vec::as_slice)
    }

    /// Leaves out the samples and spans whose profiles are not there: those of a part of the log that is being written,
    /// or whose collector was lost with its log while it was.
    async fn leave_out_unfinished(&mut self) -> Result<(), QueryError> {
        let mut finished = Finished::of(self.files(TableName::Profiles).iter().map(Url::path));
        let files = [TableName::Samples, TableName::Spans].into_iter().flat_map(|name| self.files(name));
        let Some(sql) = finished.query(files.map(Url::path), TableName::Profiles.as_str()) else {
            return Ok(());
        };
        finished.add(&Reader::rows(&self.context, &sql).await?)?;
        for name in [TableName::Samples, TableName::Spans] {
            let files: Vec<Url> =
                self.files(name).iter().filter(|file| finished.has(file.path())).cloned().collect();
            self.register(name.as_str(), name, &files)?;
            self.files.insert(name, files);
        }
        Ok(())
    }

    /// Lets SQL see these files of a table under another name.
    pub fn register(&self, name: &str, table: TableName, files: &[Url]) -> Result<(), QueryError> {
        self.context.deregister_table(name)?;
        self.context.register_table(name, files_as_table(table, files)?)?;
        Ok(())
    }
}

/// When a table is looked at.
fn turn_of(table: TableName) -> usize {
    match table {
        TableName::Profiles => 0,
        TableName::Samples | TableName::Hours | TableName::Spans => 1,
        TableName::Stacks | TableName::Frames => 2,
    }
}

impl Reader {
    /// The tables as they are now.
    pub(super) async fn snapshot(&self, selection: &Selection) -> Result<Snapshot, QueryError> {
        let context = match &self.cluster {
            None => session_of(&self.runtime),
            Some(cluster) => {
                cluster.check().await?;
                cluster.context(config(), &self.runtime)?
            }
        };
        let (first, last) = (day_of(selection.from), day_of(selection.to.saturating_sub(1)));
        let mut snapshot = Snapshot { context, files: HashMap::new() };
        let mut tables = self.tables.lock().await;
        // In the opposite order to that in which they are written, so that each profile has its samples, and each
        // sample its stack.
        for turn in 0..3 {
            let of_turn = tables.iter_mut().filter(|table| turn_of(table.name()) == turn);
            let files = of_turn.map(async |table| {
                let files = table.files(&selection.app, first.as_str()..=last.as_str()).await?;
                Ok::<_, QueryError>((files, table))
            });
            for (files, table) in try_join_all(files).await? {
                table.register_store(&snapshot.context)?;
                snapshot.register(table.name().as_str(), table.name(), &files)?;
                snapshot.files.insert(table.name(), files);
            }
        }
        drop(tables);
        snapshot.leave_out_unfinished().await?;
        Ok(snapshot)
    }
}

/// A session that runs in this process.
pub(crate) fn session_of(runtime: &Arc<RuntimeEnv>) -> SessionContext {
    SessionContext::new_with_config_rt(config(), Arc::clone(runtime))
}

fn config() -> SessionConfig {
    SessionConfig::new()
        .with_collect_statistics(false)
        .set_bool("datafusion.execution.parquet.pushdown_filters", true)
        .set_bool("datafusion.execution.parquet.reorder_filters", true)
}

/// Files as a table. One without files is of the same kind, because only this kind can be sent to a cluster.
pub(crate) fn files_as_table(name: TableName, files: &[Url]) -> Result<Arc<dyn TableProvider>, QueryError> {
    let paths = files.iter().map(ListingTableUrl::parse).collect::<Result<_, _>>()?;
    let options = ListingOptions::new(Arc::new(ParquetFormat::default())).with_file_extension(".parquet");
    let config = ListingTableConfig::new_with_multi_paths(paths)
        .with_listing_options(options)
        .with_schema(name.schema());
    Ok(Arc::new(ListingTable::try_new(config)?))
}
