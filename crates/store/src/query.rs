//! What the tables say.
//!
//! A query asks for the samples of an application in a period, of those that a [filter](Filter) selects. The engine
//! adds them up by stack, in plain SQL; what is made of the sums is in [`functions`] and [`flame_graph`].

mod columns;
pub mod comparison;
pub mod flame_graph;
pub mod functions;
mod profiles;
mod stacks;
pub mod values;
mod visible;

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::error::DataFusionError;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::prelude::{SessionConfig, SessionContext};
use deltalake::arrow::array::RecordBatch;
use deltalake::{FilterOp, FilterValue};
use tokio::sync::Mutex;

pub use profiles::ProfileRow;
pub use stacks::{FrameInfo, StackSums};

use crate::cluster::{Cluster, ClusterError};
use crate::filter::Filter;
use crate::maps::{MapError, Maps};
use crate::tables::{Location, Table, TableError, TableName, Tables, day_of};

/// Which samples are asked for.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The application.
    pub app: String,
    /// From this time, in microseconds since 1970.
    pub from: i64,
    /// Up to this time, without it.
    pub to: i64,
    /// Which of them.
    pub filter: Filter,
}

/// A question that cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The tables.
    #[error(transparent)]
    Tables(#[from] TableError),
    /// The source maps.
    #[error(transparent)]
    Maps(#[from] MapError),
    /// The cluster that answers queries.
    #[error(transparent)]
    Cluster(ClusterError),
    /// The engine.
    #[error("the query failed: {0}")]
    Engine(#[from] Box<DataFusionError>),
    /// A result that is not what was asked for.
    #[error("the engine returned {0}")]
    Result(String),
}

impl From<ClusterError> for QueryError {
    fn from(error: ClusterError) -> Self {
        match error {
            ClusterError::Query(error) => Self::Engine(error),
            _ => Self::Cluster(error),
        }
    }
}

impl From<DataFusionError> for QueryError {
    fn from(error: DataFusionError) -> Self {
        Self::Engine(Box::new(error))
    }
}

/// Answers questions from the tables. Each question sees the tables as they are when it begins.
pub struct Reader {
    tables: Mutex<Vec<Table>>,
    maps: Maps,
    runtime: Arc<RuntimeEnv>,
    cluster: Option<Cluster>,
}

/// The memory that all queries together may use, in bytes. What needs more is written to temporary files.
const MEMORY: usize = 256 << 20;

impl Reader {
    /// Opens the tables at a location.
    pub async fn open(location: &Location) -> Result<Self, QueryError> {
        let tables = Tables::open(location, "").await?.into_tables();
        let pool = Arc::new(FairSpillPool::new(MEMORY));
        let runtime = RuntimeEnvBuilder::new().with_memory_pool(pool).build_arc()?;
        Ok(Self { tables: Mutex::new(tables), maps: Maps::open(location)?, runtime, cluster: None })
    }

    /// Lets a cluster answer, instead of this process.
    pub fn on_cluster(self, cluster: Cluster) -> Self {
        Self { cluster: Some(cluster), ..self }
    }

    /// The source maps.
    pub fn maps(&self) -> &Maps {
        &self.maps
    }

    /// A session in which SQL sees the tables of an application, of the days of a selection.
    async fn session(&self, selection: &Selection) -> Result<SessionContext, QueryError> {
        let config = SessionConfig::new()
            .with_collect_statistics(false)
            .set_bool("datafusion.execution.parquet.pushdown_filters", true)
            .set_bool("datafusion.execution.parquet.reorder_filters", true);
        let context = match &self.cluster {
            None => SessionContext::new_with_config_rt(config, Arc::clone(&self.runtime)),
            Some(cluster) => {
                cluster.check().await?;
                cluster.context(config, &self.runtime)?
            }
        };
        let (first, last) = (day_of(selection.from), day_of(selection.to.saturating_sub(1)));
        let filters = [
            ("app", FilterOp::Eq, FilterValue::Scalar(selection.app.as_str())),
            ("day", FilterOp::Ge, FilterValue::Scalar(first.as_str())),
            ("day", FilterOp::Le, FilterValue::Scalar(last.as_str())),
        ];
        for table in self.tables.lock().await.iter_mut() {
            let files = table.files(&filters).await?;
            table.register_store(&context)?;
            context.register_table(table.name().as_str(), provider(table.name(), files.urls)?)?;
        }
        Ok(context)
    }

    /// The rows of a query.
    async fn rows(context: &SessionContext, sql: &str) -> Result<Vec<RecordBatch>, QueryError> {
        tracing::debug!(sql, "query");
        let cluster = context.state_ref().read().config().get_extension::<Cluster>();
        match cluster {
            None => Ok(context.sql(sql).await?.collect().await?),
            Some(cluster) => Ok(cluster.rows(context, sql).await?),
        }
    }
}

/// Files as a table. One without files is of the same kind, because only this kind can be sent to a cluster.
fn provider(name: TableName, files: Vec<url::Url>) -> Result<Arc<dyn TableProvider>, QueryError> {
    let paths = files.iter().map(ListingTableUrl::parse).collect::<Result<_, _>>()?;
    let options = ListingOptions::new(Arc::new(ParquetFormat::default())).with_file_extension(".parquet");
    let config = ListingTableConfig::new_with_multi_paths(paths)
        .with_listing_options(options)
        .with_schema(name.schema());
    Ok(Arc::new(ListingTable::try_new(config)?))
}
