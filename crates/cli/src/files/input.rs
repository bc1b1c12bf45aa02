//! Reading profiles, and reporting the problems in them.

use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::time::SystemTime;

use selfprof_formats::{Format, Hint, ReadError, ReadOptions, Thread, read};
use selfprof_trace::Clock;
use selfprof_trace::foreign::Problems;

use crate::arguments::{LabelArguments, NodeFramesArgument, SourceMapArguments};
use crate::collector::{self, Address, Fetched};
use crate::failure::Failure;
use crate::labels;
use crate::node_frames;
use crate::program::Program;
use crate::source_maps::{self, ReadableThread};
use crate::terminal::messages::warn;
use crate::terminal::names::printable;
use crate::urls;

use super::download::download;

/// At most this many problems are listed; the rest are counted.
const MAX_LISTED_PROBLEMS: usize = 10;

/// Whether the path is `-`, which means stdin or stdout.
pub fn is_stream(path: &Path) -> bool {
    path == Path::new("-")
}

/// The input's name in messages.
pub fn name_of(path: &Path) -> String {
    match urls::of_argument(path) {
        Ok(Some(url)) => urls::shown(&url),
        _ if is_stream(path) => "stdin".to_owned(),
        _ => path.display().to_string(),
    }
}

/// The name of the file, which may say what its format is.
pub fn file_name(path: &Path) -> Option<String> {
    if let Ok(Some(url)) = urls::of_argument(path) {
        return url.path_segments()?.next_back().filter(|name| !name.is_empty()).map(str::to_owned);
    }
    path.file_name().filter(|_| !is_stream(path)).map(|name| name.to_string_lossy().into_owned())
}

/// Reads a profile, reports its problems, applies source maps and infers names. The format is detected unless it is
/// given.
pub fn threads(
    path: &Path,
    format: Option<Format>,
    (labels, node_frames, maps): (&LabelArguments, NodeFramesArgument, &SourceMapArguments),
) -> Result<Vec<ReadableThread>, Failure> {
    labels::check_input(path, labels)?;
    let mut threads: Vec<Thread> = profile(path, format)?.into_iter().map(|(thread, _)| thread).collect();
    labels::retain(&mut threads, labels);
    node_frames::apply(node_frames.node_frames, &mut threads)?;
    source_maps::apply(threads, maps, recorded(path))
}

/// When the profile was written, if it is a file: scripts that have changed since are not those that were profiled.
pub fn recorded(path: &Path) -> Option<SystemTime> {
    let metadata = fs::metadata(path).ok().filter(|metadata| metadata.is_file() && !is_stream(path))?;
    metadata.modified().ok()
}

/// Reads a profile and reports its problems, without applying source maps. A URL stands for a file, or for what a
/// collector has there.
pub fn profile(path: &Path, format: Option<Format>) -> Result<Vec<(Thread, Problems)>, Failure> {
    if let Some(address) = Address::of(path)? {
        return Ok(of_collector(&address)?.threads);
    }
    let input: Box<dyn Read> = if let Some(url) = urls::of_argument(path)? {
        Box::new(Cursor::new(download(&url)?))
    } else if is_stream(path) {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(path)
            .map_err(|error| Failure::usage(format!("cannot open {}", path.display())).because(&error))?;
        Box::new(file)
    };
    let name = file_name(path);
    let profile = read(input, Hint { format, name: name.as_deref() }, &ReadOptions::default()).map_err(|error| {
        let failure = Failure::job(format!("cannot read {}", name_of(path))).because(&error);
        match error {
            ReadError::Json(_, error) if error.is_eof() => {
                failure.hint("the file is empty or truncated; it may have been copied before it was complete")
            }
            ReadError::Json(Format::W3c, _) => failure.hint(
                "a trace is a file written by `selfprof run`, or the JSON of `await profiler.stop()`; \
                 see `selfprof convert --help` for the other formats",
            ),
            ReadError::Json(..) => failure.hint("see `selfprof convert --help` for the formats that selfprof reads"),
            ReadError::Protobuf(..) => failure.hint("the file is truncated or corrupt, or in another format"),
            ReadError::NoTimes(..) => failure.hint("record how long functions run, by `wall` or `cpu` time"),
            ReadError::WriteOnly(_) => failure.hint(
                "use the trace that this file was converted from; \
                 see `selfprof convert --help` for the formats that selfprof reads",
            ),
            ReadError::Io(error) if is_corrupt(&error) => {
                failure.hint("the compressed file is truncated or corrupt; `gzip -t` checks it")
            }
            ReadError::TooLong => failure.hint(format!(
                "selfprof reads up to {} MiB, after decompression; record for a shorter time, or with a longer interval",
                ReadOptions::default().max_bytes >> 20
            )),
            ReadError::Limit(_) => failure.hint("record for a shorter time, or with a longer interval"),
            ReadError::Other(other) => failure.hint(other.hint()),
            ReadError::Unknown => failure.hint(
                "a trace is a file written by `selfprof run`, or the JSON of `await profiler.stop()`; \
                 see `selfprof convert --help` for the other formats",
            ),
            ReadError::Io(_) => failure,
        }
    })?;
    let is_alone = profile.threads.len() == 1;
    for (thread, problems) in &profile.threads {
        let label = printable(&thread.label());
        report(problems, if is_alone { None } else { Some(&label) });
    }
    Ok(profile.threads)
}

/// Asks a collector, and says what is to be known of its answer.
pub fn of_collector(address: &Address) -> Result<Fetched, Failure> {
    let fetched = collector::fetch(address)?;
    if let Some(remark) = &fetched.remark {
        warn(format_args!("{}: {remark}", printable(&fetched.name)));
    }
    Ok(fetched)
}

/// Whether decompression failed, not the input itself.
fn is_corrupt(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData
    )
}

/// Reads a profile and merges its threads, for commands that show the whole program.
pub fn program(
    path: &Path,
    format: Option<Format>,
    (labels, node_frames): (&LabelArguments, NodeFramesArgument),
    (maps, clock): (&SourceMapArguments, Clock),
) -> Result<Program, Failure> {
    Program::new(labelled(path, format, (labels, node_frames))?, (maps, clock), recorded(path))
}

/// Reads the threads of a profile, with the samples that have these labels.
pub fn labelled(
    path: &Path,
    format: Option<Format>,
    (labels, node_frames): (&LabelArguments, NodeFramesArgument),
) -> Result<Vec<Thread>, Failure> {
    labels::check_input(path, labels)?;
    let mut threads: Vec<Thread> = profile(path, format)?.into_iter().map(|(thread, _)| thread).collect();
    if threads.is_empty() {
        return Err(Failure::job(format!("{} has no threads", name_of(path))));
    }
    labels::retain(&mut threads, labels);
    node_frames::apply(node_frames.node_frames, &mut threads)?;
    Ok(threads)
}

/// Prints the problems as warnings. Their indexes are those of the lists in the file.
fn report(problems: &Problems, thread: Option<&str>) {
    let prefix = thread.map_or(String::new(), |name| format!("{name}: "));
    let listed = problems.list().iter().take(MAX_LISTED_PROBLEMS);
    let rest = problems.total() - listed.len() as u64;
    listed.for_each(|problem| warn(format_args!("{prefix}{problem}")));
    if rest > 0 {
        warn(format_args!("{prefix}{rest} more problems in the trace"));
    }
}
