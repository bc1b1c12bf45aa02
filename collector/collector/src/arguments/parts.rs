//! The arguments of `engine`.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand};
use selfprof_store::cluster::parts::MIN_TIMEOUT;

/// Start a part of a cluster that answers queries: one scheduler, and executors on any number of machines
///
/// When one machine is not enough for the queries of a collector, start
///
///   on one machine:    selfprof-collector engine scheduler
///   on others:         selfprof-collector engine executor --scheduler HOST:50050
///   beside your data:  selfprof-collector serve --engine df://HOST:50050
///
/// The collector and all executors read the same tables: give `serve` a bucket as `--data`, and all processes the same
/// AWS_ variables, or give it a folder that all machines have at the same path. All run the same version of
/// selfprof-collector.
///
/// The parts are those of Apache Ballista, which has no passwords: anyone who can reach the scheduler or an executor
/// can run queries, and thus read what the process may read. So they listen on this machine only, unless you pass
/// `--trusted-network`.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct EngineArguments {
    #[command(subcommand)]
    pub command: EngineCommand,
}

#[derive(Debug, Subcommand)]
pub enum EngineCommand {
    Scheduler(SchedulerArguments),
    Executor(ExecutorArguments),
}

/// Divide queries into tasks, and give them to executors, until SIGINT or SIGTERM
///
/// `GET /readyz` reports whether there are executors. Queries that are running when the scheduler ends must be
/// repeated; nothing else is lost.
#[derive(Debug, Args)]
pub struct SchedulerArguments {
    /// The address to listen on
    #[arg(long, default_value = "127.0.0.1:50050", value_name = "IP:PORT")]
    pub listen: SocketAddr,
    /// The name or address at which executors reach this machine [default: the address to listen on]
    #[arg(long, value_name = "HOST")]
    pub public: Option<String>,
    /// After how many seconds of silence an executor counts as lost, and others take over its tasks
    #[arg(long, default_value_t = 20, value_name = "SECONDS", value_parser = timeout())]
    pub executor_timeout: u64,
    #[command(flatten)]
    pub network: NetworkArguments,
}

/// Do the tasks of a scheduler, until SIGINT or SIGTERM
///
/// It may be killed at any time: others repeat its tasks.
#[derive(Debug, Args)]
pub struct ExecutorArguments {
    /// The scheduler
    #[arg(long, value_name = "HOST:PORT")]
    pub scheduler: HostPort,
    /// The address to listen on: collectors and executors fetch results there, and the scheduler gives tasks at the
    /// next port
    #[arg(long, default_value = "127.0.0.1:50051", value_name = "IP:PORT")]
    pub listen: SocketAddr,
    /// The name or address at which the others reach this machine [default: the one from which the scheduler sees it]
    #[arg(long, value_name = "HOST")]
    pub public: Option<String>,
    /// Where to create a folder for results, which is deleted at the end
    /// [default: the system's folder for temporary files]
    #[arg(long, value_name = "DIR")]
    pub work_dir: Option<PathBuf>,
    /// How many tasks run at the same time [default: as many as there are processors]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub tasks: Option<u16>,
    /// The memory for all tasks, in MiB; what needs more is written to files [default: 70% of the machine's]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(64..))]
    pub memory: Option<u32>,
    #[command(flatten)]
    pub network: NetworkArguments,
}

/// Who may reach a part.
#[derive(Debug, Args)]
pub struct NetworkArguments {
    /// Allow listening beyond this machine. Everyone who can reach the address can read all your data
    #[arg(long)]
    pub trusted_network: bool,
}

fn timeout() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(MIN_TIMEOUT.as_secs()..=3_600)
}

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPort {
    pub host: String,
    pub port: u16,
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl FromStr for HostPort {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
        match parts {
            Some((host, port)) if !host.is_empty() && !host.contains('/') => {
                Ok(Self { host: host.to_owned(), port })
            }
            _ => Err("write HOST:PORT, such as scheduler.example:50050".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheduler_has_a_host_and_a_port() {
        let expected = HostPort { host: "scheduler".into(), port: 50050 };
        assert_eq!("scheduler:50050".parse(), Ok(expected));
        assert_eq!("[::1]:50050".parse::<HostPort>().unwrap().host, "[::1]");
        for text in ["scheduler", ":50050", "df://scheduler:50050", "scheduler:x", ""] {
            assert!(text.parse::<HostPort>().is_err(), "{text}");
        }
    }
}
