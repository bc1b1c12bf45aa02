//! The journals of the program's threads, and turning them into traces.

use std::env;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use selfprof_formats::journal::{self, Journal};
use selfprof_trace::Entries;
use selfprof_trace::summary::Summary;
use tempfile::TempDir;

use crate::arguments::SourceMapArguments;
use crate::failure::Failure;
use crate::files::input;
use crate::files::output::{self, TracePaths};
use crate::source_maps;
use crate::terminal::color::Colors;
use crate::terminal::messages::{say, warn};
use crate::terminal::tables;

/// The directory of the journals: `main.journal`, and `worker-<id>.journal` for each worker. A temporary one is deleted when
/// dropped.
#[derive(Debug)]
pub struct Recording {
    directory: Directory,
}

#[derive(Debug)]
enum Directory {
    Temporary(TempDir),
    Existing(PathBuf),
}

/// A thread with a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Thread {
    Main,
    Worker(u64),
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
        let threads = recording.threads().map_err(|error| {
            Failure::usage(format!("cannot read the directory {}", directory.display())).because(&error)
        })?;
        if threads.is_empty() {
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
        let is_empty = self.threads().is_ok_and(|threads| threads.is_empty());
        match self.directory {
            _ if is_empty => None,
            Directory::Temporary(directory) => Some(directory.keep()),
            Directory::Existing(path) => Some(path),
        }
    }

    /// Writes the traces, and prints the table of the main thread's functions to stderr.
    ///
    /// Tries every thread; returns the first failure and reports the others.
    pub fn finish(&self, output: &TracePaths, top: usize) -> Result<(), Failure> {
        let threads =
            self.threads().map_err(|error| Failure::job("cannot read the recording").because(&error))?;
        if !threads.contains(&Thread::Main) {
            return Err(Failure::job("nothing was recorded: the process ended before recording could start"));
        }
        let results = threads.into_iter().map(|thread| self.finish_thread(thread, output, top));
        let mut failures = results.filter_map(Result::err);
        let first = failures.next();
        failures.for_each(|failure| failure.report());
        first.map_or(Ok(()), Err)
    }

    /// The threads that have journals, the main thread first.
    fn threads(&self) -> io::Result<Vec<Thread>> {
        let mut threads = Vec::new();
        for entry in fs::read_dir(self.directory())? {
            let name = entry?.file_name();
            threads.extend(name.to_str().and_then(Thread::of_file));
        }
        threads.sort_unstable();
        Ok(threads)
    }

    fn finish_thread(&self, thread: Thread, output: &TracePaths, top: usize) -> Result<(), Failure> {
        let name = thread.name();
        let path = self.directory().join(thread.file());
        let journal = File::open(&path)
            .map_err(journal::JournalError::Io)
            .and_then(|file| journal::read(BufReader::new(file)))
            .map_err(|error| Failure::job(format!("cannot read the recording of {name}")).because(&error))?;
        let summary = Summary::of(&journal.trace);
        // The trace is written even if stderr is closed.
        let recorded = selfprof_formats::Thread {
            source_maps: source_maps::recorded_maps(&journal.source_maps),
            ..selfprof_formats::Thread::main(journal.trace.clone())
        };
        let _ = print(thread, (&journal, &recorded), input::recorded(&path), top);
        let path_of_trace = thread.output(output);
        let replacing = output::replacing(&path_of_trace);
        output::write(&recorded, &path_of_trace).map_err(|error| {
            Failure::job(format!("cannot write the trace of {name} to {}", path_of_trace.display()))
                .because(&error)
        })?;
        let extent = tables::extent(&summary, Some(journal.header.interval));
        say(format_args!("trace: {} ({extent}){replacing}", path_of_trace.display()));
        Ok(())
    }
}

/// Prints warnings about incomplete data, and the tables of the main thread.
fn print(
    thread: Thread,
    (journal, shown): (&Journal, &selfprof_formats::Thread),
    recorded: Option<SystemTime>,
    top: usize,
) -> io::Result<()> {
    missing_data(thread, journal).iter().for_each(warn);
    if thread != Thread::Main || top == 0 {
        return Ok(());
    }
    // Source maps are applied to the tables only; the file keeps the locations of the code that ran.
    let (trace, inferred) = source_maps::applied(shown, &SourceMapArguments::default(), recorded);
    let summary = &Summary::of(&trace);
    let shown = (&trace, summary);
    let base = env::current_dir().unwrap_or_default();
    let mut err = BufWriter::new(io::stderr().lock());
    tables::write_functions(&mut err, shown, &inferred, top, &base, Colors::for_stderr())?;
    tables::write_entries(&mut err, shown, top, Colors::for_stderr())?;
    tables::write_markers(&mut err, summary)?;
    tables::write_times(&mut err, summary)?;
    err.flush()
}

/// What is missing from the trace, one message each.
fn missing_data(thread: Thread, journal: &Journal) -> Vec<String> {
    let name = thread.name();
    let mut messages = Vec::new();
    if journal.end.as_ref().is_some_and(|end| end.full) {
        messages.push(format!("the sample buffer of {name} was full; later samples are missing"));
    }
    if journal.lost > 0 {
        messages.push(format!("{} samples of {name} were lost", journal.lost));
    }
    let dropped = journal.trace.entries().map_or(0, Entries::dropped);
    if dropped > 0 {
        messages
            .push(format!("the entry buffer of {name} was full; {dropped} marks and measures are missing"));
    }
    if journal.left_out_source_maps > 0 {
        messages.push(format!(
            "the source maps of {} scripts of {name} are missing: they are too long, or too many",
            journal.left_out_source_maps
        ));
    }
    if journal.end.is_none() {
        messages.push(format!("the recording of {name} was interrupted; its last samples may be missing"));
    }
    messages
}

impl Thread {
    fn of_file(name: &str) -> Option<Self> {
        match name.strip_suffix(".journal")? {
            "main" => Some(Self::Main),
            name => name.strip_prefix("worker-")?.parse().ok().map(Self::Worker),
        }
    }

    fn file(self) -> String {
        match self {
            Self::Main => "main.journal".to_owned(),
            Self::Worker(id) => format!("worker-{id}.journal"),
        }
    }

    fn output(self, output: &TracePaths) -> PathBuf {
        match self {
            Self::Main => output.main().to_owned(),
            Self::Worker(id) => output.worker(id),
        }
    }

    fn name(self) -> String {
        match self {
            Self::Main => "the main thread".to_owned(),
            Self::Worker(id) => format!("worker {id}"),
        }
    }
}
