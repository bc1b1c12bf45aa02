//! A collector that runs.

use crate::checkout::Checkout;
use crate::collector::program;
use crate::job::Log;
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A collector on a free port of this machine, without settings. It is stopped when this is dropped.
pub struct Server {
    child: Child,
    program: PathBuf,
    url: String,
}

/// How long it may take to write its last profiles to the tables.
const TIME_TO_STOP: Duration = Duration::from_secs(30);

impl Server {
    /// Starts it with its data in this folder. What it says goes to the log.
    pub fn start(checkout: &Checkout, data: &Path, log: &Log) -> Result<Self> {
        let program = program(checkout);
        let mut command = Command::new(&program);
        command.arg("serve").arg("--data").arg(data).args(["--listen", "127.0.0.1:0"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log.file()?);
        let mut child = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        let mut stdout = BufReader::new(child.stdout.take().context("its stdout is a pipe")?);
        let mut line = String::new();
        stdout.read_line(&mut line)?;
        let Some(url) = line.split_whitespace().find(|word| word.starts_with("http://")) else {
            let _ = child.kill();
            let status = child.wait()?;
            bail!("the collector did not start and ended with {status}: {line}{}", log.text().trim_end());
        };
        Ok(Self { url: url.to_owned(), child, program })
    }

    /// Its URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its program, which then asks this collector.
    pub fn client(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env("SELFPROF_COLLECTOR", &self.url).env_remove("SELFPROF_COLLECTOR_TOKEN");
        command
    }

    /// Waits until it ends by itself.
    pub fn wait(mut self) -> Result<()> {
        let status = self.child.wait()?;
        if !status.success() {
            bail!("the collector ended with {status}");
        }
        Ok(())
    }

    /// Stops it: it first writes to the tables what is in its log.
    pub fn stop(mut self) -> Result<()> {
        if self.child.try_wait()?.is_none() {
            kill_process(Pid::from_child(&self.child), Signal::TERM)?;
        }
        let since = Instant::now();
        loop {
            match self.child.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => bail!("the collector ended with {status}"),
                None if since.elapsed() > TIME_TO_STOP => bail!("the collector did not stop"),
                None => thread::sleep(Duration::from_millis(25)),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Does nothing if it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
