//! A recording in progress: what `selfprof run` and `selfprof attach` have in common.

pub mod clock;
mod windows;

pub use windows::Windows;

use std::time::Duration;

use serde_json::{Value, json};

use crate::arguments::{NodeFrames, RecordingArguments, SamplingArguments};
use crate::commands::report::report_run;
use crate::failure::Failure;
use crate::files::output::TracePath;
use crate::recording::{Connections, Descendants, Ending, IsKept, Recording};
use crate::terminal::messages::{say, warn};
use crate::terminal::names::quoted;

/// How long child processes may take to end after the program.
const CHILDREN_PATIENCE: Duration = Duration::from_millis(200);

/// The default limit of marks and measures per thread, so that a program that makes them in a loop cannot fill the
/// disk.
const MAX_ENTRIES: u32 = 1 << 20;

/// What is made of a recording.
pub struct Products {
    /// The path of the trace.
    pub output: TracePath,
    /// How many functions the table has.
    pub top: usize,
    /// Whether to write and open a report.
    pub report: bool,
    /// Whether only a part of the time may be kept.
    pub is_cut: bool,
    /// How the table shows functions of Node.js's own scripts.
    pub node_frames: NodeFrames,
}

/// The directory of a recording, and the socket in it.
pub struct LiveRecording {
    recording: Recording,
    connections: Connections,
}

impl LiveRecording {
    /// Creates the directory and listens in it.
    pub fn prepare() -> Result<Self, Failure> {
        let recording = Recording::prepare()?;
        let connections = Connections::listen(recording.directory()).map_err(|error| {
            Failure::job(format!("cannot create a socket in {}", recording.directory().display()))
                .because(&error)
                .hint("TMPDIR sets another directory for temporary files")
        })?;
        Ok(Self { recording, connections })
    }

    /// The connections of the recorded processes.
    pub fn connections(&self) -> &Connections {
        &self.connections
    }

    /// What the recorded processes are asked for.
    pub fn settings(
        &self,
        sampling: &SamplingArguments,
        recording: &RecordingArguments,
        children: bool,
    ) -> Value {
        let &SamplingArguments { interval, buffer, marks } = sampling;
        json!({
            "dir": self.recording.directory(),
            "connection": self.connections.path(),
            "keep": recording.last.map(|last| last.as_secs_f64() * 1e3),
            "interval": interval,
            "limit": buffer,
            "maxEntries": marks.then(|| buffer.unwrap_or(MAX_ENTRIES)),
            "mode": recording.mode.as_str(),
            "nodeFrames": "full",
            "children": children,
        })
    }

    /// Ends the recordings of all processes and writes the trace. Returns whether that succeeded.
    pub fn finish(
        self,
        windows: &Windows,
        products: &Products,
        descendants: Option<Descendants>,
        has_ended: bool,
    ) -> bool {
        let Self { recording, connections } = self;
        let end = clock::now();
        // Before the recordings end: a process that starts later is not missed.
        let mut seen = descendants.map(|descendants| descendants.seen()).unwrap_or_default();
        seen.retain(|_, process| has_ended || process.is_old());
        // Child processes may be about to end with the program.
        let alive = if has_ended { connections.alive_after(CHILDREN_PATIENCE) } else { Vec::new() };
        for pid in connections.end() {
            warn(format_args!("process {pid} does not answer; its last samples may be missing"));
        }
        let is_kept = |time| windows.contains(time, end);
        let ending = Ending { is_kept: products.is_cut.then_some(&is_kept as IsKept<'_>), seen, alive };
        if !windows.was_open(end) {
            warn("the trace is empty: the program ended before recording began");
        }
        let finished = recording.finish(&products.output, (products.top, products.node_frames), &ending);
        if let Err(failure) = &finished {
            failure.report();
        }
        if products.report
            && finished.is_ok()
            && let Err(failure) = report_run(products.output.path())
        {
            failure.report();
        }
        // Deletes the journals, unless they are all that there is. If a signal killed this process, they would remain,
        // too.
        if finished.is_err()
            && let Some(directory) = recording.keep()
        {
            say(format_args!(
                "the recording is in {}; `selfprof recover {}` writes its trace",
                directory.display(),
                quoted(&directory.to_string_lossy())
            ));
        }
        finished.is_ok()
    }
}
