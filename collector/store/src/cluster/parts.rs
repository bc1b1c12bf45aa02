//! The two parts of a cluster, as processes.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::error::BallistaError;
use ballista_core::extension::ballista_scalar_functions;
use ballista_core::object_store::{
    runtime_env_with_s3_support, session_config_with_s3_support, session_state_with_s3_support,
};
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::SessionConfig;

/// How a scheduler runs.
#[derive(Clone, Debug)]
pub struct Scheduler {
    /// Where it listens.
    pub listen: SocketAddr,
    /// The name or address at which executors reach it.
    pub public: String,
    /// An executor that has been silent for so long is given up, and its tasks are done by others.
    pub executor_timeout: Duration,
}

/// How an executor runs.
#[derive(Clone, Debug)]
pub struct Executor {
    /// The host and port of the scheduler.
    pub scheduler: (String, u16),
    /// Where others fetch what it has computed. It takes tasks at the next port.
    pub listen: SocketAddr,
    /// The name or address at which others reach it; the scheduler knows where it comes from.
    pub public: Option<String>,
    /// The folder of what it has computed. Everything in it is deleted.
    pub work: PathBuf,
    /// How many tasks it does at the same time.
    pub tasks: usize,
    /// The memory that its tasks may use together, in bytes.
    pub memory: Option<u64>,
}

/// A part that cannot run.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// The address.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, std::io::Error),
    /// Anything else.
    #[error("{0}")]
    Failed(#[from] BallistaError),
    /// It has ended.
    #[error("it exited unexpectedly")]
    Ended,
}

/// Results and plans of finished queries are kept for so long.
const KEPT: Duration = Duration::from_secs(300);

/// An executor says so often that it is there, in seconds.
const HEARTBEAT: u64 = 2;

/// The shortest time after which an executor is given up. It has been silent several times by then.
pub const MIN_TIMEOUT: Duration = Duration::from_secs(3 * HEARTBEAT);

/// The largest message between the parts. A plan names all files of the tables.
const MAX_MESSAGE: u32 = 256 << 20;

impl Scheduler {
    /// Whether it can listen.
    pub fn check(&self) -> Result<(), PartError> {
        can_listen(self.listen)
    }

    /// Runs until it is dropped.
    pub async fn run(self) -> Result<(), PartError> {
        let timeout = self.executor_timeout.max(MIN_TIMEOUT).as_secs();
        let config = SchedulerConfig {
            bind_host: self.listen.ip().to_string(),
            bind_port: self.listen.port(),
            external_host: self.public,
            executor_timeout_seconds: timeout,
            expire_dead_executor_interval_seconds: (timeout / 4).max(1),
            no_executors_grace_period_seconds: timeout,
            finished_job_data_clean_up_interval_seconds: KEPT.as_secs(),
            finished_job_state_clean_up_interval_seconds: KEPT.as_secs(),
            grpc_server_max_decoding_message_size: MAX_MESSAGE,
            grpc_server_max_encoding_message_size: MAX_MESSAGE,
            grpc_client_max_message_size: MAX_MESSAGE,
            override_config_producer: Some(Arc::new(session_config_with_s3_support)),
            override_session_builder: Some(Arc::new(session_state_with_s3_support)),
            ..SchedulerConfig::default()
        };
        let cluster = BallistaCluster::new_from_config(&config).await?;
        start_server(cluster, self.listen, Arc::new(config)).await?;
        Err(PartError::Ended)
    }
}

impl Executor {
    /// Where it takes tasks.
    fn tasks_address(&self) -> SocketAddr {
        SocketAddr::new(self.listen.ip(), self.listen.port().saturating_add(1))
    }

    /// Whether it can listen.
    pub fn check(&self) -> Result<(), PartError> {
        can_listen(self.listen)?;
        can_listen(self.tasks_address())
    }

    /// Runs until the process gets SIGINT or SIGTERM, then lets its tasks end.
    pub async fn run(self) -> Result<(), PartError> {
        // What does not fit into memory is not beside the results, because Ballista deletes all folders there.
        let (results, spilled) = (self.work.join("results"), self.work.join("spilled"));
        for folder in [&results, &spilled] {
            std::fs::create_dir_all(folder).map_err(BallistaError::from)?;
        }
        let runtime = move |config: &SessionConfig| {
            let buckets = runtime_env_with_s3_support(config)?;
            RuntimeEnvBuilder::from_runtime_env(&buckets).with_temp_file_path(&spilled).build_arc()
        };
        let config = ExecutorProcessConfig {
            bind_host: self.listen.ip().to_string(),
            port: self.listen.port(),
            grpc_port: self.tasks_address().port(),
            external_host: self.public,
            scheduler_host: self.scheduler.0,
            scheduler_port: self.scheduler.1,
            vcores: self.tasks,
            task_scheduling_policy: TaskSchedulingPolicy::PushStaged,
            work_dir: Some(results.to_string_lossy().into_owned()),
            job_data_ttl_seconds: 4 * KEPT.as_secs(),
            job_data_clean_up_interval_seconds: KEPT.as_secs(),
            grpc_max_decoding_message_size: MAX_MESSAGE,
            grpc_max_encoding_message_size: MAX_MESSAGE,
            executor_heartbeat_interval_seconds: HEARTBEAT,
            memory_pool_size: self.memory,
            override_function_registry: Some(Arc::new(functions())),
            override_config_producer: Some(Arc::new(session_config_with_s3_support)),
            override_runtime_producer: Some(Arc::new(runtime)),
            ..ExecutorProcessConfig::default()
        };
        Ok(start_executor_process(Arc::new(config)).await?)
    }
}

/// The functions that tasks may use. Those of lists are not among Ballista's own for executors.
fn functions() -> BallistaFunctionRegistry {
    let mut functions = BallistaFunctionRegistry::default();
    let scalar = ballista_scalar_functions();
    functions
        .scalar_functions
        .extend(scalar.into_iter().map(|function| (function.name().to_owned(), function)));
    functions
}

/// The libraries say less clearly that an address is taken, or do not say it at all.
fn can_listen(address: SocketAddr) -> Result<(), PartError> {
    TcpListener::bind(address).map(drop).map_err(|error| PartError::Listen(address, error))
}
