//! `selfprof-collector engine`

use std::net::{IpAddr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use selfprof_store::cluster::parts::{Executor, PartError, Scheduler};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use super::process::{self, stopped};
use crate::arguments::{EngineArguments, EngineCommand, ExecutorArguments, HostPort, SchedulerArguments};

/// Runs the command.
pub async fn engine(arguments: EngineArguments) -> Result<ExitCode> {
    process::tell();
    match arguments.command {
        EngineCommand::Scheduler(arguments) => scheduler(arguments).await,
        EngineCommand::Executor(arguments) => executor(arguments).await,
    }
}

async fn scheduler(arguments: SchedulerArguments) -> Result<ExitCode> {
    check_network(&arguments.listen, arguments.network.trusted_network)?;
    let ip = arguments.listen.ip();
    if arguments.public.is_none() && ip.is_unspecified() {
        bail!("{ip} says nothing about how executors reach this machine: add --public HOST");
    }
    let scheduler = Scheduler {
        listen: arguments.listen,
        public: arguments.public.unwrap_or_else(|| in_url(ip)),
        executor_timeout: Duration::from_secs(arguments.executor_timeout),
    };
    scheduler.check()?;
    println!("the scheduler listens on df://{}", arguments.listen);
    tokio::select! {
        ended = scheduler.run() => ended.context("the scheduler")?,
        () = stopped() => {}
    }
    Ok(ExitCode::SUCCESS)
}

async fn executor(arguments: ExecutorArguments) -> Result<ExitCode> {
    check_network(&arguments.listen, arguments.network.trusted_network)?;
    if arguments.listen.port() == u16::MAX {
        bail!("the next port is needed too, so {} is too large", u16::MAX);
    }
    let folder = arguments.work_dir.unwrap_or_else(std::env::temp_dir);
    // Results are deleted with everything beside them, so their folder is new.
    let work = std::fs::create_dir_all(&folder)
        .and_then(|()| tempfile::Builder::new().prefix("selfprof-executor-").tempdir_in(&folder))
        .with_context(|| format!("cannot make a folder for results in {}", folder.display()))?;
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let executor = Executor {
        scheduler: (arguments.scheduler.host.clone(), arguments.scheduler.port),
        listen: arguments.listen,
        public: arguments.public,
        work: work.path().to_owned(),
        tasks: arguments.tasks.map_or_else(processors, usize::from),
        memory: arguments.memory.map(|mebibytes| u64::from(mebibytes) << 20),
    };
    executor.check()?;
    tokio::select! {
        reached = reach(&arguments.scheduler) => reached?,
        () = stopped() => return Ok(ExitCode::SUCCESS),
    }
    println!("the executor listens on {}, for the scheduler at {}", arguments.listen, arguments.scheduler);
    let mut stop = std::pin::pin!(stopped());
    let mut running = std::pin::pin!(executor.run());
    // Both hear of the signal.
    let asked = tokio::select! {
        ended = &mut running => { ended.context("the executor")?; false }
        () = &mut stop => true,
    };
    if !asked {
        // The signal may have reached the executor first.
        timeout(STOP_TIME, stop).await.map_err(|_| PartError::Ended).context("the executor")?;
    } else if timeout(DRAIN_TIME, running).await.is_err() {
        eprintln!("some tasks did not end in {DRAIN_TIME:?}; others do them");
    }
    Ok(ExitCode::SUCCESS)
}

/// How long tasks may take after the executor was asked to stop.
const DRAIN_TIME: Duration = Duration::from_secs(30);

/// How long a signal takes at most.
const STOP_TIME: Duration = Duration::from_millis(100);

/// How long the scheduler may take to appear: machines start in any order.
const REACH_TIME: Duration = Duration::from_secs(30);

/// Waits until the scheduler is there.
async fn reach(scheduler: &HostPort) -> Result<()> {
    let address = scheduler.to_string();
    let attempts = async {
        let mut told = false;
        while let Err(error) = TcpStream::connect(&address).await {
            if !told {
                eprintln!("waiting for the scheduler at {address}: {error}");
                told = true;
            }
            sleep(Duration::from_millis(250)).await;
        }
    };
    match timeout(REACH_TIME, attempts).await {
        Ok(()) => Ok(()),
        Err(_) => {
            bail!("no scheduler answers at {address}: is `selfprof-collector engine scheduler` running?")
        }
    }
}

/// Ballista has no passwords.
fn check_network(listen: &SocketAddr, is_trusted: bool) -> Result<()> {
    if is_trusted || listen.ip().is_loopback() {
        return Ok(());
    }
    bail!(
        "{listen} can be reached from other machines, and anyone who can reach it can run queries and read files, because Apache Ballista \
         knows no passwords\n\nhint: let only machines that you trust reach it, for example by a firewall or a private network, and add \
         --trusted-network"
    );
}

/// An address as part of a URL.
fn in_url(ip: IpAddr) -> String {
    if ip.is_ipv6() { format!("[{ip}]") } else { ip.to_string() }
}
