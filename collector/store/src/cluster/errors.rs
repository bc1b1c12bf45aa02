//! Why a cluster does not answer.

use std::error::Error;
use std::time::Duration;

use datafusion::error::DataFusionError;

/// A text that does not name a scheduler.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is not a scheduler: it is written df://HOST:PORT")]
pub struct NotACluster(pub(super) String);

/// A cluster that does not answer.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// Nothing is there, or it does not speak.
    #[error("no scheduler answers at {scheduler}: {why}")]
    NotReached {
        /// Where.
        scheduler: String,
        /// What happened.
        why: String,
    },
    /// Something else is there.
    #[error("what answers at {0} is not a scheduler: its status is {1}")]
    NotAScheduler(String, u16),
    /// Nobody does the work.
    #[error("the scheduler at {0} has no executors")]
    NoExecutors(String),
    /// A query fails.
    #[error("the query failed: {0}")]
    Query(#[from] Box<DataFusionError>),
    /// A query takes too long.
    #[error("the cluster of {scheduler} did not answer a query within {time:?}")]
    TooSlow {
        /// Where.
        scheduler: String,
        /// How long it had.
        time: Duration,
    },
}

impl From<DataFusionError> for ClusterError {
    fn from(error: DataFusionError) -> Self {
        Self::Query(Box::new(error))
    }
}

impl ClusterError {
    pub(super) fn not_reached(scheduler: String, error: &reqwest::Error) -> Self {
        if error.is_timeout() {
            return Self::NotReached { scheduler, why: "it takes too long".into() };
        }
        // The last cause says what happened.
        let mut cause: &dyn Error = error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        Self::NotReached { scheduler, why: cause.to_string() }
    }
}
