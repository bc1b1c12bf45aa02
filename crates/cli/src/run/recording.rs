//! The journals that the script's threads leave behind, and what becomes of them.

use std::env;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use selfprof_formats::journal::{self, Journal};
use selfprof_trace::Entries;
use selfprof_trace::summary::Summary;
use tempfile::TempDir;

use crate::arguments::SourceMapArguments;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::paint::Paint;
use crate::source_maps;
use crate::table;
use crate::talk::{say, warn};

/// The directory of journals: `main.journal`, and `worker-<id>.journal` for each worker. It goes when it is
/// dropped.
#[derive(Debug)]
pub struct Recording {
    directory: TempDir,
}

/// A thread that left a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Thread {
    Main,
    Worker(u64),
}

impl Recording {
    /// Makes the directory.
    pub fn prepare() -> Result<Self, Failure> {
        let directory = tempfile::Builder::new().prefix("selfprof-").tempdir().map_err(|error| {
            let place = env::temp_dir();
            Failure::job(format!("cannot make a directory in {}", place.display()))
                .because(&error)
                .hint("TMPDIR names another place for temporary files")
        })?;
        Ok(Self { directory })
    }

    /// Where the journals are.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Writes the traces, and shows the table of the main thread's on stderr.
    ///
    /// Each thread's trace is tried; the first failure is returned, and later ones are reported.
    pub fn tell(&self, output: &Output, top: usize) -> Result<(), Failure> {
        let threads =
            self.threads().map_err(|error| Failure::job("cannot read the recording").because(&error))?;
        if !threads.contains(&Thread::Main) {
            return Err(Failure::job("there is no recording: the script's process ended before it began"));
        }
        let results = threads.into_iter().map(|thread| self.tell_of(thread, output, top));
        let mut failures = results.filter_map(Result::err);
        let first = failures.next();
        failures.for_each(|failure| failure.report());
        first.map_or(Ok(()), Err)
    }

    /// The threads that left journals, the main thread first.
    fn threads(&self) -> io::Result<Vec<Thread>> {
        let mut threads = Vec::new();
        for entry in fs::read_dir(self.directory())? {
            let name = entry?.file_name();
            threads.extend(name.to_str().and_then(Thread::of_file));
        }
        threads.sort_unstable();
        Ok(threads)
    }

    fn tell_of(&self, thread: Thread, output: &Output, top: usize) -> Result<(), Failure> {
        let name = thread.name();
        let journal = File::open(self.directory().join(thread.file()))
            .map_err(journal::JournalError::Io)
            .and_then(|file| journal::read(BufReader::new(file)))
            .map_err(|error| Failure::job(format!("cannot read the recording of {name}")).because(&error))?;
        let summary = Summary::of(&journal.trace);
        // Stderr may be closed, and the trace is to be written all the same.
        let _ = show(thread, &journal, &summary, top);
        let path = thread.output(output);
        output::write(&journal.trace, &path).map_err(|error| {
            Failure::job(format!("cannot write the trace of {name} to {}", path.display())).because(&error)
        })?;
        let extent = table::extent(&summary, Some(journal.header.interval));
        say(format_args!("trace: {} ({extent})", path.display()));
        Ok(())
    }
}

/// Shows what was recorded, and what was not.
fn show(thread: Thread, journal: &Journal, summary: &Summary, top: usize) -> io::Result<()> {
    for lack in lacks(thread, journal) {
        warn(lack);
    }
    if thread != Thread::Main || top == 0 {
        return Ok(());
    }
    // The trace that is written has the places of the code that ran; people know their sources.
    let placed = source_maps::placed(&journal.trace, &SourceMapArguments::default());
    let placed_summary = placed.as_ref().map(Summary::of);
    let shown = placed.as_ref().zip(placed_summary.as_ref()).unwrap_or((&journal.trace, summary));
    let base = env::current_dir().unwrap_or_default();
    let mut err = BufWriter::new(io::stderr().lock());
    table::write_functions(&mut err, shown, top, &base, Paint::for_stderr())?;
    table::write_entries(&mut err, shown, top, Paint::for_stderr())?;
    table::write_markers(&mut err, summary)?;
    err.flush()
}

/// In what respects the recording is not the whole truth.
fn lacks(thread: Thread, journal: &Journal) -> Vec<String> {
    let name = thread.name();
    let mut lacks = Vec::new();
    if journal.end.as_ref().is_some_and(|end| end.full) {
        lacks.push(format!("the sample buffer of {name} was full, so the trace lacks what came later"));
    }
    if journal.lost > 0 {
        lacks.push(format!("{} samples of {name} were lost", journal.lost));
    }
    let dropped = journal.trace.entries().map_or(0, Entries::dropped);
    if dropped > 0 {
        lacks.push(format!(
            "the trace of {name} lacks {dropped} marks and measures, for which there was no room"
        ));
    }
    if journal.end.is_none() {
        lacks.push(format!("the recording of {name} was cut off, so the trace may lack its last moments"));
    }
    lacks
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

    fn output(self, output: &Output) -> PathBuf {
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
