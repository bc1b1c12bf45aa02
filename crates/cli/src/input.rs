//! Profiles that are there already: finding and reading them, and telling what is wrong with them.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use selfprof_formats::{Format, Hint, ReadError, ReadOptions, Thread, read};
use selfprof_trace::foreign::Problems;

use crate::arguments::SourceMapArguments;
use crate::failure::Failure;
use crate::source_maps;
use crate::talk::{say, warn};

/// How many problems are told one by one.
const TOLD_PROBLEMS: usize = 10;

/// Whether the path means stdin or stdout.
pub fn is_stream(path: &Path) -> bool {
    path == Path::new("-")
}

/// What the path is called in messages.
pub fn name_of(path: &Path) -> String {
    if is_stream(path) { "stdin".to_owned() } else { path.display().to_string() }
}

/// Reads a profile of any format, or of one that is said, tells what was wrong with it, and places its functions by source
/// maps.
pub fn threads(
    path: &Path,
    format: Option<Format>,
    maps: &SourceMapArguments,
) -> Result<Vec<Thread>, Failure> {
    let threads = profile(path, format)?.into_iter().map(|(thread, _)| thread).collect();
    source_maps::place(threads, maps)
}

/// The threads as they stand in the file, with what was wrong with each.
pub fn profile(path: &Path, format: Option<Format>) -> Result<Vec<(Thread, Problems)>, Failure> {
    let input: Box<dyn Read> = if is_stream(path) {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(path)
            .map_err(|error| Failure::usage(format!("cannot open {}", path.display())).because(&error))?;
        Box::new(file)
    };
    let name = path.file_name().and_then(|name| name.to_str());
    let profile = read(input, Hint { format, name }, &ReadOptions::default()).map_err(|error| {
        let failure = Failure::job(format!("cannot read {}", name_of(path))).because(&error);
        match error {
            ReadError::Json(_, error) if error.is_eof() => {
                failure.hint("the file is empty or cut off: was it copied, or the program that wrote it ended, too early?")
            }
            ReadError::Json(Format::W3c, _) => failure.hint(
                "a trace is what `JSON.stringify(await profiler.stop())` gives, or what `selfprof run` writes; \
                 `selfprof convert --help` lists what else is read",
            ),
            ReadError::Json(..) => failure.hint("`selfprof convert --help` lists what is read"),
            ReadError::WriteOnly(_) => {
                failure.hint("keep the trace that it was made from; `selfprof convert --help` lists what is read")
            }
            ReadError::Io(error) if is_damage(&error) => failure
                .hint("the compressed file is cut off or damaged, as `gzip -t` would tell: copy or record it again"),
            ReadError::TooLong => failure.hint(format!(
                "up to {} MiB are read, of a compressed file too: record for a shorter time, or at a longer interval",
                ReadOptions::default().max_bytes >> 20
            )),
            ReadError::Limit(_) => failure.hint("record for a shorter time, or at a longer interval"),
            ReadError::Io(_) => failure,
        }
    })?;
    let is_alone = profile.threads.len() == 1;
    for (thread, problems) in &profile.threads {
        tell(problems, if is_alone { None } else { Some(&thread.name) });
    }
    Ok(profile.threads)
}

/// Whether it is the compression that cannot be read.
fn is_damage(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData
    )
}

/// The first of the threads, for what shows one alone.
pub fn main_thread(
    path: &Path,
    format: Option<Format>,
    maps: &SourceMapArguments,
) -> Result<Thread, Failure> {
    let mut threads = threads(path, format, maps)?.into_iter();
    let main = threads.next().ok_or_else(|| {
        Failure::job(format!("{} has no thread, so there is nothing to show", name_of(path)))
    })?;
    if threads.len() > 0 {
        let names: Vec<String> = threads.map(|thread| thread.name).collect();
        say(format_args!("{} is shown; there are {} too", main.name, names.join(", ")));
    }
    Ok(main)
}

/// Tells what was wrong. The numbers are those of the file's lists.
fn tell(problems: &Problems, thread: Option<&str>) {
    let within = thread.map_or(String::new(), |name| format!("{name}: "));
    let told = problems.list().iter().take(TOLD_PROBLEMS);
    let rest = problems.total() - told.len() as u64;
    told.for_each(|problem| warn(format_args!("{within}{problem}")));
    if rest > 0 {
        warn(format_args!("{within}and {rest} more problems in the trace"));
    }
}
