//! The first and last lines of a journal.

use std::fmt;
use std::str::FromStr;

use selfprof_trace::Micros;
use serde::{Deserialize, Serialize};

use crate::thread::Thread;

/// The version that is written, in the first member of the header. Readers reject newer versions and read older ones as
/// they are.
pub const VERSION: u64 = 6;

/// The header of a journal, which describes the recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The id of the recorded process.
    pub pid: u32,
    /// The id of the thread in Node.js: 0 for the main thread, `worker.threadId` for a worker.
    pub thread_id: u64,
    /// The effective sample interval.
    pub interval: Micros,
    /// When the engine recorded functions.
    pub mode: Mode,
    /// The thread's time origin (`performance.timeOrigin`), in milliseconds since the Unix epoch.
    pub time_origin_ms: f64,
    /// The version of Node.js, e.g. `v20.1.2`.
    pub node: String,
    /// Whether marks and measures are recorded.
    pub entries: bool,
    /// The thread's time origin on the system's monotonic clock, which all processes share. Zero in versions without
    /// it.
    pub origin: Micros,
    /// The thread's name; empty in versions without it.
    pub thread_name: String,
    /// The command line of the process; empty in versions without it.
    pub command: String,
}

impl Header {
    /// The name of the thread; if the journal has none, the main thread's, or that of a worker by its number.
    pub fn name(&self) -> String {
        match (&*self.thread_name, self.thread_id) {
            ("", 0) => Thread::MAIN.to_owned(),
            ("", id) => format!("worker-{id}"),
            (name, _) => name.to_owned(),
        }
    }

    /// How much later this time origin is than that of another journal; zero if it is earlier.
    pub fn since(&self, other: &Self) -> Micros {
        if self.origin == Micros::ZERO || other.origin == Micros::ZERO {
            let later = self.time_origin_ms - other.time_origin_ms;
            return Micros::from_millis_f64(later.max(0.0)).unwrap_or(Micros::ZERO);
        }
        self.origin.saturating_sub(other.origin)
    }
}

/// When the engine records the names and locations of functions: the Document-Policy configuration point
/// [js-profiling-mode].
///
/// [js-profiling-mode]: https://wicg.github.io/js-self-profiling/#js-profiling-mode
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// From the start of the process: each compilation costs a little, but starting a profiler costs nothing.
    #[default]
    Eager,
    /// While a profiler runs: starting a profiler walks the heap.
    Lazy,
}

impl Mode {
    /// The policy's value: `"eager"` or `"lazy"`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Eager => "eager",
            Self::Lazy => "lazy",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        match text {
            "eager" => Ok(Self::Eager),
            "lazy" => Ok(Self::Lazy),
            _ => Err(UnknownMode),
        }
    }
}

/// The string is neither `eager` nor `lazy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownMode;

impl fmt::Display for UnknownMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a profiling mode is `eager` or `lazy`")
    }
}

impl std::error::Error for UnknownMode {}

/// The end of a recording, if the process had time to write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// The reason in one word, e.g. `exit`.
    pub reason: String,
    /// Whether the sample buffer was full before the end, so that later samples are missing.
    pub full: bool,
}

/// The header as serialized on its line.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HeaderLine {
    selfprof_journal: u64,
    pid: u32,
    thread_id: u64,
    interval: u64,
    mode: String,
    time_origin: f64,
    node: String,
    /// Absent in version 1, which has no entries.
    #[serde(default)]
    entries: bool,
    /// Absent before version 3, as are the members below.
    #[serde(default)]
    origin: u64,
    #[serde(default)]
    thread_name: String,
    #[serde(default)]
    command: String,
}

impl From<&Header> for HeaderLine {
    fn from(header: &Header) -> Self {
        Self {
            selfprof_journal: VERSION,
            pid: header.pid,
            thread_id: header.thread_id,
            interval: header.interval.0,
            mode: header.mode.as_str().to_owned(),
            time_origin: header.time_origin_ms,
            node: header.node.clone(),
            entries: header.entries,
            origin: header.origin.0,
            thread_name: header.thread_name.clone(),
            command: header.command.clone(),
        }
    }
}

impl TryFrom<HeaderLine> for Header {
    type Error = UnknownMode;

    fn try_from(line: HeaderLine) -> Result<Self, UnknownMode> {
        Ok(Self {
            pid: line.pid,
            thread_id: line.thread_id,
            interval: Micros(line.interval),
            mode: line.mode.parse()?,
            time_origin_ms: line.time_origin,
            node: line.node,
            entries: line.entries,
            origin: Micros(line.origin),
            thread_name: line.thread_name,
            command: line.command,
        })
    }
}

/// The end as serialized on its line.
#[derive(Serialize, Deserialize)]
pub(super) struct EndLine {
    pub(super) reason: String,
    pub(super) full: bool,
}
