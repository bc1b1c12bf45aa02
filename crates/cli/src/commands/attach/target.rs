//! The process to attach to, as the system describes it (proc(5)).

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, geteuid, pidfd_open, pidfd_send_signal};

use crate::commands::run::command::{have_permission_model, is_permission_model, script};
use crate::failure::Failure;
use crate::terminal::names::printable;

use super::status::Status;

/// The bit of SIGUSR1 in a set of signals.
const SIGUSR1_BIT: u64 = 1 << (10 - 1);

/// A process that runs Node.js, and may be attached to.
#[derive(Debug)]
pub struct Target {
    pid: u32,
    /// Refers to this process even if another one gets its id.
    handle: OwnedFd,
    /// Its command line. A program may have replaced it by a title.
    words: Vec<OsString>,
    /// Its `NODE_OPTIONS` when it started.
    node_options: String,
}

impl Target {
    /// Finds the process. Fails if it is certain that it cannot be attached to. Does nothing to it.
    pub fn find(pid: u32) -> Result<Self, Failure> {
        let no_such = || {
            Failure::job(format!("there is no process {pid}"))
                .hint("`pgrep -a node` lists the Node.js processes of this machine")
        };
        let id = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(no_such)?;
        let handle = pidfd_open(id, PidfdFlags::empty()).map_err(|error| match error {
            // The latter are ids of threads.
            Errno::SRCH | Errno::INVAL | Errno::NOENT => no_such(),
            _ => Failure::job(format!("cannot access process {pid}")).because(&error),
        })?;
        let mut target = Self { pid, handle, words: Vec::new(), node_options: String::new() };
        let status = target.status().map_err(|_| no_such())?;
        target.check_owner(&status)?;
        target.check_executable()?;
        target.check_namespaces()?;
        target.words = words(&target.read("cmdline"));
        target.node_options = words(&target.read("environ"))
            .iter()
            .find_map(|pair| Some(pair.to_str()?.strip_prefix("NODE_OPTIONS=")?.to_owned()))
            .unwrap_or_default();
        target.check_permission_model()?;
        Ok(target)
    }

    /// Its id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Its folder in /proc.
    pub fn folder(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}", self.pid))
    }

    /// Its executable, even if the file has been replaced.
    pub fn executable(&self) -> PathBuf {
        self.folder().join("exe")
    }

    /// Its script, or what is known instead, to name a trace after.
    pub fn name(&self) -> PathBuf {
        let arguments = self.words.get(1..).unwrap_or_default();
        script(arguments).or(self.words.first().map(OsString::as_os_str)).unwrap_or_default().into()
    }

    /// Its command line, for people to read.
    pub fn command(&self) -> String {
        let words: Vec<_> = self.words.iter().map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }

    /// The options of Node.js that it was started with, and perhaps arguments of its script.
    pub fn options(&self) -> impl Iterator<Item = &str> {
        let arguments = self.words.iter().skip(1).filter_map(|word| word.to_str());
        arguments.chain(self.node_options.split_whitespace())
    }

    /// Fails if SIGUSR1 would end the process.
    pub fn check_signal(&self) -> Result<(), Failure> {
        let status = self.status().map_err(|_| self.has_ended())?;
        if status.caught & SIGUSR1_BIT == 0 {
            return Err(Failure::job(format!(
                "process {} does not handle SIGUSR1, so Node.js cannot open its inspector",
                self.pid
            ))
            .hint(
                "if it is just starting, try again; if it was started with --disable-sigusr1, record it with \
                 `selfprof run`",
            ));
        }
        if status.blocked & SIGUSR1_BIT != 0 {
            return Err(Failure::job(format!("process {} blocks SIGUSR1", self.pid))
                .hint("record it with `selfprof run`"));
        }
        Ok(())
    }

    /// Sends SIGUSR1.
    pub fn send_signal(&self) -> Result<(), Failure> {
        self.check_signal()?;
        pidfd_send_signal(&self.handle, Signal::USR1).map_err(|error| match error {
            Errno::SRCH => self.has_ended(),
            _ => Failure::job(format!("cannot send SIGUSR1 to process {}", self.pid)).because(&error),
        })
    }

    /// The failure for a process that has ended.
    pub fn has_ended(&self) -> Failure {
        Failure::job(format!("process {} has ended", self.pid))
    }

    /// Fails if the process has ended.
    pub fn check_alive(&self) -> Result<(), Failure> {
        let mut handles = [PollFd::new(&self.handle, PollFlags::IN)];
        let timeout = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
        match poll(&mut handles, Some(&timeout)) {
            Ok(1..) => Err(self.has_ended()),
            _ => Ok(()),
        }
    }

    /// A handle that becomes readable when the process ends.
    pub fn handle(&self) -> io::Result<OwnedFd> {
        BorrowedFd::try_clone_to_owned(&self.handle.as_fd())
    }

    /// Fails if the process cannot see this file, because its file system is another one.
    pub fn check_sees(&self, file: &Path) -> Result<(), Failure> {
        let root = self.folder().join("root");
        let of_process = file.strip_prefix("/").ok().and_then(|file| fs::metadata(root.join(file)).ok());
        let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        let own = fs::metadata(file).ok().map(identity);
        if own.is_some() && of_process.map(identity) == own {
            return Ok(());
        }
        Err(Failure::job(format!("process {} does not see the file {}", self.pid, file.display())).hint(
            "it has another file system, such as a container or systemd's PrivateTmp: run selfprof there, or set TMPDIR \
             to a directory that both see",
        ))
    }

    fn status(&self) -> io::Result<Status> {
        fs::read_to_string(self.folder().join("status")).map(|text| Status::parse(&text))
    }

    /// A file of its folder; empty if it cannot be read.
    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder().join(name)).unwrap_or_default()
    }

    fn check_owner(&self, status: &Status) -> Result<(), Failure> {
        let pid = self.pid;
        if matches!(status.state, 'Z' | 'X') {
            return Err(self.has_ended());
        }
        if let Some(user) = status.user.filter(|&user| user != geteuid().as_raw()) {
            return Err(Failure::job(format!("process {pid} belongs to another user"))
                .hint(format!("run selfprof as that user: `sudo -u '#{user}' selfprof attach {pid}`")));
        }
        if status.state == 'T' {
            return Err(Failure::job(format!("process {pid} is stopped"))
                .hint(format!("`kill -CONT {pid}` continues it")));
        }
        if let Some(tracer) = status.tracer {
            return Err(Failure::job(format!("process {pid} is traced by process {tracer}"))
                .hint("end the debugger first"));
        }
        Ok(())
    }

    fn check_executable(&self) -> Result<(), Failure> {
        let pid = self.pid;
        let executable = fs::read_link(self.executable()).map_err(|error| match error.kind() {
            ErrorKind::NotFound => self.has_ended(),
            _ => Failure::job(format!("cannot access process {pid}"))
                .because(&error)
                .hint("run selfprof as the user that started the process"),
        })?;
        let name = executable.file_name().unwrap_or_default().to_string_lossy();
        // The executable of a running process may have been replaced.
        let name = name.trim_end_matches(" (deleted)");
        // Not any program: the next step runs it to learn its version.
        if name.starts_with("node") {
            return Ok(());
        }
        Err(Failure::job(format!("process {pid} is not Node.js: it is `{}`", printable(name)))
            .hint("`pgrep -a node` lists the Node.js processes of this machine"))
    }

    fn check_namespaces(&self) -> Result<(), Failure> {
        for kind in ["pid", "net"] {
            let of = |process: &Path| fs::read_link(process.join("ns").join(kind)).ok();
            if of(&self.folder()) != of(Path::new("/proc/self")) {
                return Err(Failure::job(format!("process {} is in another container", self.pid))
                    .hint("run selfprof inside the container"));
            }
        }
        Ok(())
    }

    fn check_permission_model(&self) -> Result<(), Failure> {
        let arguments = self.words.get(1..).unwrap_or_default();
        if have_permission_model(arguments) || self.node_options.split_whitespace().any(is_permission_model) {
            return Err(permission_model(self.pid));
        }
        Ok(())
    }
}

/// The failure for a process with Node.js's permission model.
pub fn permission_model(pid: u32) -> Failure {
    Failure::job(format!(
        "process {pid} has Node.js's permission model, which keeps the recorder from loading"
    ))
    .hint("run the program without `--permission` to profile it")
}

/// Waits until the process of this handle ends.
pub fn wait_for_end(handle: &OwnedFd) {
    let _ = rustix::io::retry_on_intr(|| poll(&mut [PollFd::new(handle, PollFlags::IN)], None));
}

/// Words that end with a zero byte.
fn words(bytes: &[u8]) -> Vec<OsString> {
    let words = bytes.split(|&byte| byte == 0).filter(|word| !word.is_empty());
    words.map(|word| OsString::from_vec(word.to_owned())).collect()
}
