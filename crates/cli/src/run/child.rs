//! The script's process, and the signals that come while it runs.
//!
//! Whoever sends a signal to `selfprof run` means the script, and `selfprof` must outlive it to write the trace.
//! A terminal sends its signals to the whole foreground group, so the script has them already; a process sends
//! them to us alone, so we pass them on.

use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;

use super::recording::Recording;
use crate::arguments::RunArguments;
use crate::failure::Failure;
use crate::node::Node;
use crate::package::Package;

/// How many marks and measures of a thread are recorded when nothing else was asked for. A program that makes them in a
/// loop shall not fill the disk.
const MOST_ENTRIES: u32 = 1 << 20;

/// The running script.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    target: Target,
}

/// How the script ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It exited with this code.
    Code(u8),
    /// This signal killed it.
    Signal(i32),
}

/// Where signals are passed on to: shared with the thread that receives them, and emptied before the process is
/// reaped, since its id may then become another's.
type Target = Arc<Mutex<Option<Pid>>>;

impl Child {
    /// Starts the script, with the standard streams of this process and a recording preloaded.
    pub fn spawn(
        node: &Node,
        package: &Package,
        recording: &Recording,
        arguments: &RunArguments,
    ) -> Result<Self, Failure> {
        // Caught before the script starts, so that no signal finds this process unprepared.
        let signals = SignalsInfo::<WithOrigin>::new(caught_signals())
            .map_err(|error| Failure::job("cannot catch signals").because(&error))?;
        let wishes = json!({
            "dir": recording.directory(),
            "interval": arguments.interval,
            "limit": arguments.buffer,
            "maxEntries": arguments.marks.then(|| arguments.buffer.unwrap_or(MOST_ENTRIES)),
            "mode": arguments.mode.as_str(),
            "nodeFrames": arguments.node_frames.as_str(),
            "pid": 0,
        });
        let process = Command::new(&node.program)
            .arg("--require")
            .arg(package.preload())
            .args(&arguments.script)
            .env("SELFPROF_RUN", wishes.to_string())
            .spawn()
            .map_err(|error| {
                Failure::job(format!("cannot start {}", node.program.display())).because(&error)
            })?;
        let target = Arc::new(Mutex::new(Some(Pid::from_child(&process))));
        let shared = Arc::clone(&target);
        // Lives as long as this process: after the script, too, no signal shall cut the writing short.
        thread::spawn(move || pass_on(signals, &shared));
        Ok(Self { process, target })
    }

    /// Waits until the script ended.
    pub fn wait(mut self) -> Result<Ended, Failure> {
        let pid = Pid::from_child(&self.process);
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let status = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options))
            .map_err(io::Error::from)
            .and_then(|_| {
                // Still a zombie, so its id is still its own while the lock is waited for.
                self.target.lock().unwrap_or_else(PoisonError::into_inner).take();
                self.process.wait()
            })
            .map_err(|error| Failure::job("cannot wait for the script").because(&error))?;
        Ok(ended(status))
    }
}

fn ended(status: ExitStatus) -> Ended {
    match status.signal() {
        Some(signal) => Ended::Signal(signal),
        // An exit code has eight bits.
        None => Ended::Code(status.code().and_then(|code| code.try_into().ok()).unwrap_or(1)),
    }
}

/// Ends this process as the script ended, so that a shell sees what it would have seen.
///
/// Returns the code that shells use instead, for signals that do not kill.
pub fn die_of(signal: i32) -> ExitCode {
    // Comes back only when it failed.
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    128_u8.saturating_add(signal.try_into().unwrap_or(0)).into()
}

/// Passes on each signal that a process sent. Those of the kernel were sent to the script too.
fn pass_on(mut signals: SignalsInfo<WithOrigin>, target: &Target) {
    for origin in signals.forever() {
        if origin.cause == Cause::Kernel {
            continue;
        }
        let target = target.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(pid), Some(signal)) = (*target, Signal::from_named_raw(origin.signal)) {
            // Fails when the script has just ended, and then nobody is left to tell.
            let _ = kill_process(pid, signal);
        }
    }
}

/// The signals that ask a program to end, apart from those that this process was started to ignore, as `nohup`
/// does: catching these would have the script not ignore them.
fn caught_signals() -> Vec<i32> {
    let ignored = ignored_signals();
    let is_ignored = |signal: i32| ignored & (1 << (signal - 1)) != 0;
    [SIGINT, SIGTERM, SIGHUP, SIGQUIT].into_iter().filter(|&signal| !is_ignored(signal)).collect()
}

/// The set of ignored signals, one bit each (proc(5), `SigIgn`). None where there is no such file.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
