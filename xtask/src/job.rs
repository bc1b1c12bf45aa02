//! Runs a child process, with its output on the terminal or in a log file.
//!
//! A log is a file and not a pipe: a grandchild that outlives the child then never blocks the reader, and the log
//! stays after the run.

use crate::progress::{Activity, Priority, seconds};
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, WaitId, WaitIdOptions, setpriority_process, waitid};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;
use wait4::Wait4;

/// The value that `nice` would get for [`Priority::Low`]: half the share of the processors that other programs get.
/// With much less, builds would take hours on a machine with other work.
const LOW: i32 = 3;

/// How often a running child is checked.
const GLANCE: Duration = Duration::from_millis(25);

/// A child that runs longer than this is assumed to hang.
const LIMIT: Duration = Duration::from_secs(45 * 60);

/// Where a child's stdout and stderr go.
pub enum Output<'a> {
    /// To the terminal, as they come.
    Shown,
    /// Appended to a file, under an activity.
    Logged(&'a Log, &'a Activity),
}

/// The file that takes the output of the children of one step.
pub struct Log {
    path: PathBuf,
}

impl Log {
    /// Starts an empty log.
    pub fn create(folder: &Path, name: &str) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let path = folder.join(format!("{name}.log"));
        File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Self { path })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The whole output, with anything that is not UTF-8 replaced.
    pub fn text(&self) -> String {
        fs::read(&self.path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    /// The newest line that is not blank, for a progress line; cheap however long the log is.
    fn last_line(&self) -> String {
        let tail = || -> std::io::Result<Vec<u8>> {
            let mut file = File::open(&self.path)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(2048)))?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = tail().unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default().to_owned()
    }

    /// The file, to be appended to.
    pub fn file(&self) -> Result<File> {
        File::options()
            .append(true)
            .open(&self.path)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// Runs the command to its end. An error names the program and how it ended.
pub fn run(command: &mut Command, output: &Output<'_>) -> Result<()> {
    run_within(command, output, LIMIT)
}

/// As [`run`]; a child that writes to a log is assumed to hang when its activity has taken longer than `limit`,
/// or twice as long with a low priority.
pub fn run_within(command: &mut Command, output: &Output<'_>, limit: Duration) -> Result<()> {
    let program =
        Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    command.stdin(Stdio::null());
    let status = match output {
        Output::Shown => command.status().with_context(|| format!("cannot start {program}"))?,
        Output::Logged(log, activity) => run_logged(command, log, activity, (&program, limit))?,
    };
    if !status.success() {
        bail!("{program} ended with {status}");
    }
    Ok(())
}

fn run_logged(
    command: &mut Command,
    log: &Log,
    activity: &Activity,
    (program, limit): (&str, Duration),
) -> Result<ExitStatus> {
    command.stdout(log.file()?).stderr(log.file()?);
    let mut child = command.spawn().with_context(|| format!("cannot start {program}"))?;
    let pid = Pid::from_child(&child);
    let is_low = activity.priority() == Priority::Low;
    // It waits for all other programs.
    let limit = if is_low { 2 * limit } else { limit };
    if is_low {
        // Its own children get the priority that it has when it starts them. A child that has ended already needs none.
        let _ = setpriority_process(Some(pid), LOW);
    }
    // The child stays waitable until `wait4` below, which tells how much CPU time it took.
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let mut hangs = false;
    while waitid(WaitId::Pid(pid), look)?.is_none() {
        if activity.elapsed() > limit {
            hangs = true;
            child.kill()?;
            break;
        }
        activity.continues(|| log.last_line());
        thread::sleep(GLANCE);
    }
    let ended = child.wait4()?;
    activity.add_cpu(ended.rusage.utime + ended.rusage.stime);
    if hangs {
        bail!("{program} was killed: it was still running after {}", seconds(limit));
    }
    Ok(ended.status)
}
