//! The program's process, and forwarding signals to it.
//!
//! A signal sent to `selfprof run` is meant for the program, and `selfprof` must outlive the program to write the
//! trace. A terminal sends its signals to the whole foreground process group, so the program gets them directly; a
//! signal from another process reaches only `selfprof`, which forwards it.

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Instant;

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;

use super::command::CommandLine;
use crate::arguments::ToggleSignal;
use crate::failure::Failure;
use crate::installation::node::Node;
use crate::installation::package::Package;
use crate::signals::not_ignored;

/// The running program.
#[derive(Debug)]
pub struct Child {
    id: u32,
    events: Receiver<Event>,
}

/// What happens while the program runs.
#[derive(Debug)]
pub enum Event {
    /// The program has ended.
    Ended(Result<Ended, Failure>),
    /// The signal of `--toggle` has arrived.
    Toggle,
    /// The deadline has passed.
    Deadline,
}

/// What is started.
#[derive(Debug)]
pub enum Executable {
    /// Node.js.
    Node(Node),
    /// Another program. The Node.js processes that it starts are recorded.
    Other {
        /// Its path.
        path: PathBuf,
        /// The Node.js that it finds first on PATH, if one was asked for.
        node: Option<Node>,
    },
}

impl Executable {
    fn path(&self) -> &Path {
        match self {
            Self::Node(node) => &node.program,
            Self::Other { path, .. } => path,
        }
    }
}

/// The options of Node.js that the program's `#!` line or else the environment sets.
fn other_node_options(command: &CommandLine) -> Option<OsString> {
    let own = command.variables.iter().rev().find(|(name, _)| name == "NODE_OPTIONS");
    own.map(|(_, value)| value.clone()).or_else(|| env::var_os("NODE_OPTIONS"))
}

/// `NODE_OPTIONS` with the preload before other options. The preload removes it again, and looks for the same text.
fn node_options(preload: &Path, others: Option<OsString>) -> OsString {
    let path = preload.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    let mut options = OsString::from(format!("--require=\"{path}\""));
    if let Some(others) = others.filter(|others| !others.is_empty()) {
        options.push(" ");
        options.push(others);
    }
    options
}

/// `PATH` with the folder of this Node.js before the others.
fn path_with(node: &Node, path: Option<OsString>) -> OsString {
    let mut folders = node.program.parent().map_or(OsString::new(), |folder| folder.as_os_str().to_owned());
    if let Some(path) = path {
        folders.push(":");
        folders.push(path);
    }
    folders
}

/// How the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It exited with this code.
    Code(u8),
    /// This signal killed it.
    Signal(i32),
}

/// The process that signals are forwarded to. Shared with the thread that receives them, and cleared before the process
/// is reaped, because its id may then be reused.
type Target = Arc<Mutex<Option<Pid>>>;

impl Child {
    /// Starts the program with the standard streams of this process, and preloads the recorder.
    pub fn spawn(
        executable: &Executable,
        package: &Package,
        settings: &Value,
        command: &CommandLine,
        toggle: Option<ToggleSignal>,
    ) -> Result<Self, Failure> {
        // The handlers are installed before the program starts, so that no signal is missed.
        let toggle = toggle.map(ToggleSignal::number);
        let signals = SignalsInfo::<WithOrigin>::new(caught_signals().into_iter().chain(toggle))
            .map_err(|error| Failure::job("cannot catch signals").because(&error))?;
        let mut process = Command::new(executable.path());
        process
            .args(&command.arguments)
            .envs(command.variables.iter().map(|(name, value)| (name, value)))
            .env("NODE_OPTIONS", node_options(&package.preload(), other_node_options(command)))
            .env("SELFPROF_RUN", settings.to_string());
        if let Executable::Other { node: Some(node), .. } = executable {
            process.env("PATH", path_with(node, env::var_os("PATH")));
        }
        let process = process.spawn().map_err(|error| {
            Failure::job(format!("cannot start {}", executable.path().display())).because(&error)
        })?;
        let id = process.id();
        let target = Arc::new(Mutex::new(Some(Pid::from_child(&process))));
        let shared = Arc::clone(&target);
        let (sender, events) = channel();
        let on_toggle = sender.clone();
        // The thread runs until this process ends, so a signal after the program's end does not interrupt writing the
        // trace.
        thread::spawn(move || {
            forward(signals, &shared, toggle, || drop(on_toggle.send(Event::Toggle)));
        });
        thread::spawn(move || sender.send(Event::Ended(wait(process, &target))));
        Ok(Self { id, events })
    }

    /// The id of the program's process.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Waits for what happens next, at most until `deadline`.
    pub fn next_event(&self, deadline: Option<Instant>) -> Event {
        // The sender of the thread that waits for the program lives until it has sent the end, so receiving cannot
        // fail.
        match deadline {
            None => self.events.recv().unwrap_or(Event::Ended(Ok(Ended::Code(1)))),
            Some(deadline) => {
                let left = deadline.saturating_duration_since(Instant::now());
                self.events.recv_timeout(left).unwrap_or(Event::Deadline)
            }
        }
    }
}

/// Waits for the program to end.
fn wait(mut process: std::process::Child, target: &Target) -> Result<Ended, Failure> {
    let pid = Pid::from_child(&process);
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let status = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options))
        .map_err(io::Error::from)
        .and_then(|_| {
            // The process is still a zombie, so its id cannot be reused while this waits for the lock.
            target.lock().take();
            process.wait()
        })
        .map_err(|error| Failure::job("cannot wait for the program").because(&error))?;
    Ok(ended(status))
}

fn ended(status: ExitStatus) -> Ended {
    match status.signal() {
        Some(signal) => Ended::Signal(signal),
        // Exit codes have eight bits.
        None => Ended::Code(status.code().and_then(|code| code.try_into().ok()).unwrap_or(1)),
    }
}

/// Ends this process by the signal that ended the program, so that a shell sees the same status.
///
/// For a signal that does not kill, returns the exit code that shells use instead.
pub fn die_of(signal: i32) -> ExitCode {
    // Returns only if it fails.
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    128_u8.saturating_add(signal.try_into().unwrap_or(0)).into()
}

/// Forwards each signal that a process sent, except the one that toggles recording. Signals from the kernel reach the
/// program directly.
fn forward(mut signals: SignalsInfo<WithOrigin>, target: &Target, toggle: Option<i32>, on_toggle: impl Fn()) {
    for origin in signals.forever() {
        if Some(origin.signal) == toggle {
            on_toggle();
            continue;
        }
        if origin.cause == Cause::Kernel {
            continue;
        }
        let target = target.lock();
        if let (Some(pid), Some(signal)) = (*target, Signal::from_named_raw(origin.signal)) {
            // Fails if the program has just ended, which is harmless.
            let _ = kill_process(pid, signal);
        }
    }
}

/// The signals that ask a program to end, and those whose meaning programs choose. The program inherits which of them
/// are ignored.
fn caught_signals() -> Vec<i32> {
    not_ignored([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2])
}
