//! `selfprof convert`: converts a profile to another format.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use selfprof_formats::{Format, Thread, WriteError, WriteOptions, holds_threads, losses, write};
use selfprof_trace::summary::Summary;

use crate::arguments::ConvertArguments;
use crate::failure::Failure;
use crate::files::atomic;
use crate::files::input::{self, is_stream};
use crate::inferred_names;
use crate::source_maps::ReadableThread;
use crate::terminal::messages::{say, warn};
use crate::terminal::names::printable;

/// Runs the command.
pub fn convert(arguments: &ConvertArguments) -> Result<ExitCode, Failure> {
    let output = &arguments.output;
    let format = match arguments.to {
        Some(format) => format,
        None => format_of(output)?,
    };
    if output.is_dir() {
        return Err(Failure::usage(format!("{} is a directory", output.display()))
            .hint("`-o` takes the path of a file, e.g. `-o out.cpuprofile`"));
    }
    let directory = atomic::directory_of(output);
    if !directory.is_dir() {
        return Err(Failure::usage(format!("no such directory: {}", directory.display()))
            .hint("`-o FILE` sets the path of the profile"));
    }
    let mut readable = input::threads(
        &arguments.input,
        arguments.from,
        (&arguments.labels, arguments.node_frames, &arguments.source_maps),
    )?;
    match &arguments.thread {
        Some(wanted) => readable = vec![thread_named(readable, wanted)?],
        // Of `npm run build`, the first thread is npm's.
        None if !holds_threads(format) => put_busiest_first(&mut readable),
        None => {}
    }
    let threads = match format {
        // Standard traces have standard names.
        Format::W3c => readable.into_iter().map(|thread| thread.thread).collect(),
        _ => with_inferred_names(&readable)?,
    };
    let lost: Vec<String> = losses(format, &threads).iter().map(ToString::to_string).collect();
    if !lost.is_empty() {
        warn(format_args!("the format {format} cannot hold {}", printable(&lost.join(", nor "))));
    }
    if !holds_threads(format) && threads.len() > 1 {
        let busiest = printable(&threads[0].label());
        say(format_args!("written: the busiest thread, {busiest}; `--thread` chooses another"));
    }
    match write_threads(format, &threads, output) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        // The reader, e.g. `head`, has seen enough.
        Err(WriteError::Io(error)) if is_stream(output) && error.kind() == io::ErrorKind::BrokenPipe => {
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            let name = if is_stream(output) { "stdout".to_owned() } else { output.display().to_string() };
            Err(Failure::job(format!("cannot write {name}")).because(&error))
        }
    }
}

/// The thread with this label, or the first one of the process with this id.
fn thread_named(threads: Vec<ReadableThread>, wanted: &str) -> Result<ReadableThread, Failure> {
    let has_name = |thread: &Thread| thread.label() == wanted;
    let has_pid =
        |thread: &Thread| thread.process.as_ref().is_some_and(|process| process.pid.to_string() == wanted);
    let index = threads
        .iter()
        .position(|one| has_name(&one.thread))
        .or_else(|| threads.iter().position(|one| has_pid(&one.thread)));
    let names: Vec<String> = threads.iter().map(|one| format!("`{}`", one.thread.label())).collect();
    index.and_then(|index| threads.into_iter().nth(index)).ok_or_else(|| {
        let names = if names.len() > 20 { &names[..20] } else { &names };
        Failure::usage(format!("no thread is called `{wanted}`"))
            .hint(format!("the threads are {}", names.join(", ")))
    })
}

fn put_busiest_first(threads: &mut [ReadableThread]) {
    let busy: Vec<_> = threads.iter().map(|one| Summary::of(&one.thread.trace).busy.time).collect();
    let busiest = (0..busy.len()).rev().max_by_key(|&index| busy[index]);
    if let Some(busiest) = busiest {
        threads.swap(0, busiest);
    }
}

fn with_inferred_names(threads: &[ReadableThread]) -> Result<Vec<Thread>, Failure> {
    let named = threads.iter().map(|readable| inferred_names::named(&readable.thread, &readable.inferred));
    named
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::job("cannot add the inferred names").because(&error))
}

fn write_threads(format: Format, threads: &[Thread], output: &Path) -> Result<(), WriteError> {
    let name = output.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    // pprof files are gzipped unless the name ends in .pb.
    let gzip = name.ends_with(".gz") || format.is_always_compressed() && !name.ends_with(".pb");
    let options = WriteOptions { gzip };
    if is_stream(output) {
        write(format, threads, io::stdout().lock(), options)
    } else {
        atomic::write(output, |file| write(format, threads, file, options))
    }
}

/// The format that the name of the output implies.
fn format_of(output: &Path) -> Result<Format, Failure> {
    let name = output.file_name().unwrap_or_default().to_string_lossy();
    Format::of_name(&name).ok_or_else(|| {
        let message = if is_stream(output) {
            "no output format is given for stdout".to_owned()
        } else {
            format!("the name {} does not imply an output format", output.display())
        };
        Failure::usage(message)
            .hint(format!("set it with `--to FORMAT`, where FORMAT is {}", names(&Format::ALL)))
    })
}

/// `a, b or c`
fn names(formats: &[Format]) -> String {
    let names: Vec<&str> = formats.iter().map(|format| format.as_str()).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}
