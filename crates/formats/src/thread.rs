//! The trace of one thread.

use std::borrow::Cow;
use std::path::Path;

use selfprof_trace::Trace;

use crate::script_map::ScriptMap;

/// A thread and its trace.
#[derive(Clone, Debug)]
pub struct Thread {
    /// The thread's name: `main-thread`, or `worker-` and the number of the worker.
    pub name: String,
    /// The process that the thread belongs to, if the format says.
    pub process: Option<Process>,
    /// The time origin of the profile in milliseconds since the Unix epoch, like `performance.timeOrigin`, if it is
    /// known.
    pub time_origin: Option<f64>,
    /// The thread's trace. All threads of a profile have the same time origin.
    pub trace: Trace,
    /// The source maps that the recording took from the program, one for a script. Only the W3C format holds them.
    pub source_maps: Vec<ScriptMap>,
}

/// The process of a thread, and the thread's place in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// The id of the process.
    pub pid: u32,
    /// The thread's id in Node.js: 0 for the main thread, `worker.threadId` for a worker.
    pub tid: u64,
    /// The command line of the process, for people to read.
    pub command: String,
}

impl Thread {
    /// The name of the main thread, also used for threads without a name.
    pub const MAIN: &'static str = "main-thread";

    /// The main thread of an unknown process.
    pub fn main(trace: Trace) -> Self {
        Self::named(Self::MAIN, trace)
    }

    /// A thread of an unknown process.
    pub fn named(name: impl Into<String>, trace: Trace) -> Self {
        Self { name: name.into(), process: None, time_origin: None, trace, source_maps: Vec::new() }
    }

    /// The same thread with another trace, without source maps.
    pub fn with_trace(&self, trace: Trace) -> Self {
        Self {
            process: self.process.clone(),
            time_origin: self.time_origin,
            ..Self::named(self.name.clone(), trace)
        }
    }

    /// A name that tells the thread from threads of other processes, e.g. `vite 4711` or `vite 4711 worker-1`.
    pub fn label(&self) -> Cow<'_, str> {
        match &self.process {
            None => Cow::Borrowed(&self.name),
            Some(process) if self.name == Self::MAIN => process.label().into(),
            Some(process) => format!("{} {}", process.label(), self.name).into(),
        }
    }
}

impl Process {
    /// A process of which only a name is known, which may have spaces.
    #[cfg(feature = "conversion")]
    pub(crate) fn named(pid: u32, name: &str) -> Self {
        let command = if name.contains(' ') { format!("\"{name}\"") } else { name.to_owned() };
        Self { pid, tid: 0, command }
    }

    /// The program and the id, e.g. `vite 4711`.
    pub fn label(&self) -> String {
        format!("{} {}", self.program(), self.pid)
    }

    /// The program's name: that of the script, without its folder and extension, or else of the executable.
    pub fn program(&self) -> &str {
        let (first, rest) = first_word(&self.command);
        // Options instead of a script: `node -e ...`.
        let script = Some(first_word(rest).0).filter(|word| !word.is_empty() && !word.starts_with('-'));
        let path = Path::new(script.unwrap_or(first));
        let name = match path.extension().and_then(|extension| extension.to_str()) {
            Some("js" | "cjs" | "mjs" | "ts" | "cts" | "mts") => path.file_stem(),
            _ => path.file_name(),
        };
        name.and_then(|name| name.to_str()).unwrap_or("process")
    }
}

/// The first word of a command line, which has quotes if it contains spaces, and the rest.
fn first_word(command: &str) -> (&str, &str) {
    let command = command.trim_start();
    match command.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
        None => command.split_once(' ').unwrap_or((command, "")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_labelled_by_program_and_process() {
        #[track_caller]
        fn check(command: &str, name: &str, expected: &str) {
            let process = Some(Process { pid: 7, tid: 0, command: command.to_owned() });
            let thread = Thread { process, ..Thread::named(name, Trace::new()) };
            assert_eq!(thread.label(), expected);
        }
        check("node /a/vite.js build", Thread::MAIN, "vite 7");
        check("node node_modules/.bin/eslint .", "worker-3", "eslint 7 worker-3");
        check("node \"/a b/my server.mjs\" x", Thread::MAIN, "my server 7");
        check("node -e \"let a = 1\"", Thread::MAIN, "node 7");
        check("node -p", Thread::MAIN, "node 7");
        check("", Thread::MAIN, "process 7");
        assert_eq!(Thread::main(Trace::new()).label(), "main-thread");
    }
}
