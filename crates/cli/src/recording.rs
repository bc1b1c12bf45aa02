//! The recording of a program: the journals of its threads, which become one trace.

mod connections;
mod descendants;
mod journals;
mod not_recorded;

pub use connections::Connections;
pub use descendants::{Descendants, command_line};
pub use journals::IsKept;

use std::collections::BTreeMap;
use std::env;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use selfprof_formats::Thread;
use selfprof_trace::Clock;
use selfprof_trace::summary::Summary;
use tempfile::TempDir;

use descendants::Seen;

use crate::arguments::{NodeFrames, SourceMapArguments};
use crate::failure::Failure;
use crate::files::input;
use crate::files::output::{self, TracePath};
use crate::node_frames;
use crate::program::Program;
use crate::terminal::color::Colors;
use crate::terminal::messages::say;
use crate::terminal::tables;

/// The directory of the journals, one file for each thread: `PID.ID.main.journal`, or `PID.ID.worker-N.journal`. A
/// temporary one is deleted when dropped.
#[derive(Debug)]
pub struct Recording {
    directory: Directory,
}

#[derive(Debug)]
enum Directory {
    Temporary(TempDir),
    Existing(PathBuf),
}

impl Recording {
    /// Creates the directory.
    pub fn prepare() -> Result<Self, Failure> {
        let directory = tempfile::Builder::new().prefix("selfprof-").tempdir().map_err(|error| {
            let parent = env::temp_dir();
            Failure::job(format!("cannot create a directory in {}", parent.display()))
                .because(&error)
                .hint("TMPDIR sets another directory for temporary files")
        })?;
        Ok(Self { directory: Directory::Temporary(directory) })
    }

    /// A recording that was left behind.
    pub fn open(directory: &Path) -> Result<Self, Failure> {
        let recording = Self { directory: Directory::Existing(directory.to_owned()) };
        let files = recording.files().map_err(|error| {
            Failure::usage(format!("cannot read the directory {}", directory.display())).because(&error)
        })?;
        if files.is_empty() {
            return Err(Failure::usage(format!("there is no recording in {}", directory.display()))
                .hint("a recording is a folder of files that end in .journal"));
        }
        Ok(recording)
    }

    /// The directory of the journals.
    pub fn directory(&self) -> &Path {
        match &self.directory {
            Directory::Temporary(directory) => directory.path(),
            Directory::Existing(path) => path,
        }
    }

    /// Leaves the journals where they are, if there are any, and returns the directory.
    pub fn keep(self) -> Option<PathBuf> {
        let is_empty = self.files().is_ok_and(|files| files.is_empty());
        match self.directory {
            _ if is_empty => None,
            Directory::Temporary(directory) => Some(directory.keep()),
            Directory::Existing(path) => Some(path),
        }
    }

    /// Writes the trace, and prints the table of the program's functions to stderr.
    ///
    /// Tries every thread; returns the first failure and reports the others.
    pub fn finish(
        &self,
        output: &TracePath,
        (top, shown_frames): (usize, NodeFrames),
        ending: &Ending<'_>,
    ) -> Result<(), Failure> {
        let files =
            self.files().map_err(|error| Failure::job("cannot read the recording").because(&error))?;
        let (recorded, failures) = journals::read(&files, ending.is_kept);
        let mut known = not_recorded::warn_about_failures(self.directory());
        let mut failures = failures.into_iter();
        let first = failures.next();
        failures.for_each(|failure| failure.report());
        let Some(interval) = recorded.first().map(|recorded| recorded.interval) else {
            return Err(first.unwrap_or_else(|| {
                // On a full disk, files can be created but not written.
                if not_recorded::has_empty_reason(self.directory()) {
                    let folder = self.directory().display();
                    return Failure::job(format!("nothing was recorded: cannot write to {folder}"))
                        .hint("the disk may be full; TMPDIR sets another directory for temporary files");
                }
                Failure::job(
                    "nothing was recorded: no Node.js process came to the point where recording starts",
                )
            }));
        };
        let mut threads: Vec<Thread> = recorded.into_iter().map(|recorded| recorded.thread).collect();
        known.extend(threads.iter().filter_map(|thread| Some(thread.process.as_ref()?.pid)));
        not_recorded::warn_about_processes(&ending.seen, &known);
        not_recorded::say_what_goes_on(&ending.alive, &threads);
        let replacing = output::replacing(output.path());
        let written = output::write(&threads, output.path()).map_err(|error| {
            Failure::job(format!("cannot write the trace to {}", output.path().display())).because(&error)
        });
        // The table needs no file, so it is printed even if the disk is full.
        let recorded = files.first().and_then(|file| input::recorded(file));
        node_frames::apply(shown_frames, &mut threads)?;
        let program = Program::new(threads, (&SourceMapArguments::default(), Clock::default()), recorded)?;
        let summary = Summary::of_merged(&program.merged);
        // The messages that follow are printed even if the table cannot be.
        let _ = print(&program, &summary, top);
        written?;
        let extent = tables::extent(&program, &summary, Some(interval));
        say(format_args!("trace: {} ({extent}){replacing}", output.path().display()));
        first.map_or(Ok(()), Err)
    }

    /// The journals.
    fn files(&self) -> io::Result<Vec<PathBuf>> {
        journals::files(self.directory())
    }
}

/// How a recording ended.
#[derive(Default)]
pub struct Ending<'a> {
    /// The times that are kept; all by default.
    pub is_kept: Option<IsKept<'a>>,
    /// The processes that were seen, by their ids.
    pub seen: BTreeMap<u32, Seen>,
    /// The recorded processes that have not ended.
    pub alive: Vec<u32>,
}

/// Prints the tables of the program.
fn print(program: &Program, summary: &Summary, top: usize) -> io::Result<()> {
    if top == 0 {
        return Ok(());
    }
    // Source maps are applied to the tables only; the file keeps the locations of the code that ran.
    let shown = (&program.merged.trace, summary);
    let base = env::current_dir().unwrap_or_default();
    let colors = Colors::for_stderr();
    let mut err = BufWriter::new(io::stderr().lock());
    tables::write_functions(&mut err, shown, &program.inferred, top, &base, colors)?;
    tables::write_entries(&mut err, shown, top, colors)?;
    if program.threads.len() > 1 {
        tables::write_processes(&mut err, program, summary, top, &base, colors)?;
    }
    tables::write_markers(&mut err, summary)?;
    tables::write_times(&mut err, program, summary)?;
    err.flush()
}
