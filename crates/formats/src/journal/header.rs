//! The first and the last line of a journal.

use std::fmt;
use std::str::FromStr;

use selfprof_trace::Micros;
use serde::{Deserialize, Serialize};

use super::VERSION;

/// What a journal says about its recording as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The process that recorded.
    pub pid: u32,
    /// The thread in that process, as Node counts: 0 is the main thread, workers have `worker.threadId`.
    pub thread_id: u64,
    /// The sample interval that the session really had.
    pub interval: Micros,
    /// How the engine kept its record of functions.
    pub mode: Mode,
    /// When the thread's clock stood at zero, in milliseconds since the Unix epoch (`performance.timeOrigin`).
    pub time_origin_ms: f64,
    /// The version of Node, e.g. `v20.1.2`.
    pub node: String,
    /// Whether marks and measures are recorded.
    pub entries: bool,
}

/// How the engine keeps its record of functions: the Document-Policy configuration point [js-profiling-mode].
///
/// [js-profiling-mode]: https://wicg.github.io/js-self-profiling/#js-profiling-mode
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// From the start of the process on: starting a profiler costs nothing, each compilation a little.
    #[default]
    Eager,
    /// While a profiler runs: starting one walks the heap.
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

/// How a recording ended, when it had the time to say so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// What ended it, in a word, e.g. `exit`.
    pub reason: String,
    /// Whether the sample buffer had filled before, so that the recording lacks what came later.
    pub full: bool,
}

/// The header as its line has it.
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
    /// Absent in version 1, which had none.
    #[serde(default)]
    entries: bool,
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
        })
    }
}

/// The end as its line has it.
#[derive(Serialize, Deserialize)]
pub(super) struct EndLine {
    pub(super) reason: String,
    pub(super) full: bool,
}
