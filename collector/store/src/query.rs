//! What the tables say.
//!
//! A query asks for the samples of an application in a period, of those that a [filter](Filter) selects. The engine
//! adds them up by stack, in plain SQL; what is made of the sums is in [`functions`] and [`flame_graph`].

mod columns;
pub mod comparison;
mod finished;
pub mod flame_graph;
mod frame_info;
pub mod functions;
mod hashes;
mod hour_sums;
mod known;
mod minified;
mod paths;
mod profiles;
mod releases;
pub mod series;
pub mod slow_spans;
mod snapshot;
pub mod spans;
mod stacks;
pub mod values;
mod visible;

use std::sync::Arc;

use datafusion::error::DataFusionError;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::prelude::SessionContext;
use deltalake::arrow::array::RecordBatch;
use parking_lot::Mutex;

pub(crate) use columns::Columns;
pub(crate) use finished::Finished;
pub use frame_info::FrameInfo;
pub use minified::Minified;
pub use profiles::{ProfileOrder, ProfileRow, ReadableProfile};
pub use releases::ReleasePage;
pub(crate) use snapshot::files_as_table;
pub use stacks::StackSums;
pub(crate) use visible::repeated;

use hashes::KnownHashes;
use known::Known;
use visible::KnownDuplicates;

use crate::cluster::{Cluster, ClusterError};
use crate::filter::Filter;
use crate::maps::{MapError, Maps};
use crate::tables::{self, Location, Table, TableError};

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
    tables: tokio::sync::Mutex<Vec<Table>>,
    maps: Maps,
    runtime: Arc<RuntimeEnv>,
    cluster: Option<Cluster>,
    hashes: KnownHashes,
    duplicates: Mutex<KnownDuplicates>,
}

/// The memory that all queries together may use, in bytes. What needs more is written to temporary files.
const MEMORY: usize = 256 << 20;

/// The memory for what is known of repeated profiles, in bytes.
const DUPLICATES: usize = 4 << 20;

impl Reader {
    /// Opens the tables at a location.
    pub async fn open(location: &Location) -> Result<Self, QueryError> {
        let tables = tables::open(location).await?;
        let pool = Arc::new(FairSpillPool::new(MEMORY));
        let runtime = RuntimeEnvBuilder::new().with_memory_pool(pool).build_arc()?;
        Ok(Self {
            tables: tokio::sync::Mutex::new(tables),
            maps: Maps::open(location)?,
            runtime,
            cluster: None,
            hashes: KnownHashes::default(),
            duplicates: Mutex::new(Known::new(DUPLICATES)),
        })
    }

    /// Lets a cluster answer, instead of this process.
    pub fn on_cluster(self, cluster: Cluster) -> Self {
        Self { cluster: Some(cluster), ..self }
    }

    /// The source maps.
    pub fn maps(&self) -> &Maps {
        &self.maps
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
