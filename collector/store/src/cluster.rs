//! Queries on many machines, by [Apache Ballista](https://datafusion.apache.org/ballista/).
//!
//! Its scheduler divides each query into tasks for its executors; [`parts`] starts both. All of them read the files of
//! the tables, which are in a bucket, or in a folder that each machine has at the same path.

mod agreement;
mod errors;
pub mod parts;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use ballista::extension::{SessionConfigExt, SessionStateExt};
use ballista_core::config::{
    BALLISTA_ADAPTIVE_PLANNER_ENABLED, BALLISTA_CLIENT_IO_RETRIES_TIMES,
    BALLISTA_CLIENT_IO_RETRY_WAIT_TIME_MS,
};
use datafusion::error::DataFusionError;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::prelude::{SessionConfig, SessionContext};
use deltalake::arrow::array::RecordBatch;
use reqwest::{Client, StatusCode};
use url::Url;

pub use errors::{ClusterError, NotACluster};

/// A scheduler with its executors.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Host and port of the scheduler.
    scheduler: String,
    client: Client,
    /// By this name executors know what they have read for earlier queries.
    session: String,
}

/// The port of a scheduler, if a URL names none.
const PORT: u16 = 50_050;

/// How long the scheduler may take to say that it is there.
const CHECK_TIME: Duration = Duration::from_secs(3);

/// How long a query may take. The loss of an executor may be noticed late.
const QUERY_TIME: Duration = Duration::from_secs(120);

/// A query may fail less often than this. The machine on which a result waits to be fetched may be lost.
const ATTEMPTS: u32 = 4;

/// The time between two attempts.
const WAIT: Duration = Duration::from_millis(500);

impl FromStr for Cluster {
    type Err = NotACluster;

    fn from_str(text: &str) -> Result<Self, NotACluster> {
        let error = || NotACluster(text.to_owned());
        let url = Url::parse(text).map_err(|_| error())?;
        let is_plain = url.path().trim_matches('/').is_empty() && url.username().is_empty();
        let host = url.host_str().filter(|host| !host.is_empty() && url.scheme() == "df" && is_plain);
        let scheduler = format!("{}:{}", host.ok_or_else(error)?, url.port().unwrap_or(PORT));
        let client = Client::builder().no_proxy().timeout(CHECK_TIME).build().map_err(|_| error())?;
        Ok(Self { scheduler, client, session: uuid::Uuid::new_v4().to_string() })
    }
}

impl fmt::Display for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "df://{}", self.scheduler)
    }
}

impl Cluster {
    /// Whether it can answer: the scheduler is there, and has executors.
    pub async fn check(&self) -> Result<(), ClusterError> {
        let answer = self.client.get(format!("http://{}/readyz", self.scheduler)).send().await;
        match answer.map(|answer| answer.status()) {
            Ok(StatusCode::OK) => Ok(()),
            Ok(StatusCode::SERVICE_UNAVAILABLE) => Err(ClusterError::NoExecutors(self.to_string())),
            Ok(status) => Err(ClusterError::NotAScheduler(self.to_string(), status.as_u16())),
            Err(error) => Err(ClusterError::not_reached(self.to_string(), &error)),
        }
    }

    /// A session in which queries run on the cluster.
    pub(crate) fn context(
        &self,
        config: SessionConfig,
        runtime: &Arc<RuntimeEnv>,
    ) -> Result<SessionContext, DataFusionError> {
        let config = config
            .upgrade_for_ballista()
            // With it, a query that loses an executor may stay unanswered.
            .set_bool(BALLISTA_ADAPTIVE_PLANNER_ENABLED, false)
            .set_str(BALLISTA_CLIENT_IO_RETRIES_TIMES, "2")
            .set_str(BALLISTA_CLIENT_IO_RETRY_WAIT_TIME_MS, "500")
            .with_extension(Arc::new(self.clone()));
        let state = SessionStateBuilder::new()
            .with_config(config)
            .with_runtime_env(Arc::clone(runtime))
            .with_default_features()
            .build()
            .upgrade_for_ballista(format!("http://{}", self.scheduler))?;
        let state =
            SessionStateBuilder::new_from_existing(state).with_session_id(self.session.clone()).build();
        Ok(SessionContext::new_with_state(state))
    }

    /// The rows of a query. It is asked until two answers agree: Ballista 55.0 has been seen to leave out rows, without
    /// an error, when an executor was lost meanwhile.
    pub(crate) async fn rows(
        &self,
        context: &SessionContext,
        sql: &str,
    ) -> Result<Vec<RecordBatch>, ClusterError> {
        let query = context.sql(sql).await?;
        let attempts = async {
            let (mut failures, mut seen) = (0, Vec::new());
            loop {
                match query.clone().collect().await {
                    Ok(rows) => {
                        let digest = agreement::digest(&rows).map_err(DataFusionError::from)?;
                        if seen.contains(&digest) {
                            return Ok(rows);
                        }
                        if !seen.is_empty() {
                            tracing::warn!("a cluster's answers differ; the query is asked again");
                        }
                        seen.push(digest);
                    }
                    Err(error) => {
                        failures += 1;
                        if failures == ATTEMPTS {
                            return Err(error.into());
                        }
                        tracing::warn!(%error, failures, "a query is asked again");
                        tokio::time::sleep(WAIT).await;
                        self.check().await?;
                    }
                }
            }
        };
        let result = tokio::time::timeout(QUERY_TIME, attempts).await;
        result
            .unwrap_or_else(|_| Err(ClusterError::TooSlow { scheduler: self.to_string(), time: QUERY_TIME }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_has_the_address_of_its_scheduler() {
        let name = |text: &str| text.parse::<Cluster>().map(|cluster| cluster.to_string());
        assert_eq!(name("df://scheduler:4000").unwrap(), "df://scheduler:4000");
        assert_eq!(name("df://10.0.0.1").unwrap(), "df://10.0.0.1:50050");
        assert_eq!(name("df://[::1]:4000/").unwrap(), "df://[::1]:4000");
        for text in ["scheduler:4000", "http://scheduler:4000", "df://", "df://a/b", ""] {
            let error = name(text).unwrap_err().to_string();
            assert!(error.ends_with("is not a scheduler: it is written df://HOST:PORT"), "{error}");
        }
    }

    #[tokio::test]
    async fn a_cluster_that_is_not_there_is_an_error() {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let cluster: Cluster = format!("df://{free}").parse().unwrap();
        let error = cluster.check().await.unwrap_err().to_string();
        assert!(error.starts_with(&format!("no scheduler answers at df://{free}: ")), "{error}");
        assert!(error.contains("refused"), "{error}");
    }
}
