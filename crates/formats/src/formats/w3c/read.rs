//! Reading a trace from an untrusted source.

mod several;

use std::io::Read;

use selfprof_trace::Trace;
use selfprof_trace::foreign::Problems;

use super::reading::{Reading, TraceObject};
use super::threads::OtherThreads;
use crate::error::ReadError;
use crate::format::Format;
use crate::json;
use crate::options::ReadOptions;
use crate::streams::input;
use crate::thread::Thread;

/// Reads a trace with the default [`ReadOptions`]. See [`read_with`].
pub fn read(input: impl Read) -> Result<(Trace, Problems), ReadError> {
    read_with(input, &ReadOptions::default())
}

/// Reads a trace: a `ProfilerTrace`, or an object with one in its member `trace`, plain or gzipped. The trace may have
/// selfprof's extensions `calls`, `durations`, `entries`, `droppedEntriesCount`, `evaluated`, `waitingTimes` and
/// `sourceMaps`, the last of which is checked and left out. Other members
/// are ignored.
///
/// Invalid ids, numbers, markers and entries are repaired and listed in [`Problems`]. Text that is not JSON, does not
/// have the shape of the dictionaries, or exceeds the options is an error.
pub fn read_with(input: impl Read, options: &ReadOptions) -> Result<(Trace, Problems), ReadError> {
    read_text(&input::text(input, options.max_bytes)?, options)
}

/// As [`read_with`], with the other threads of the file after the main thread. The file may also be a list of traces,
/// or have several traces one after the other.
pub fn read_threads(input: impl Read, options: &ReadOptions) -> Result<Vec<(Thread, Problems)>, ReadError> {
    read_threads_of_text(&input::text(input, options.max_bytes)?, options)
}

/// Reads a trace from its decompressed text.
fn read_text(text: &[u8], options: &ReadOptions) -> Result<(Trace, Problems), ReadError> {
    let (thread, problems) = parse(text, Reading::new(options.limits, None))?.into_thread(Thread::MAIN);
    Ok((thread.trace, problems))
}

/// Reads all threads from the decompressed text, which may also be a list of traces, or several traces one after the
/// other.
pub(crate) fn read_threads_of_text(
    text: &[u8],
    options: &ReadOptions,
) -> Result<Vec<(Thread, Problems)>, ReadError> {
    if text.trim_ascii_start().starts_with(b"[") {
        return several::read_list(text, options);
    }
    match read_one(text, options) {
        Err(ReadError::Json(_, error)) if several::is_followed(&error) => several::read_lines(text, options),
        result => result,
    }
}

/// Reads all threads of one trace.
fn read_one(text: &[u8], options: &ReadOptions) -> Result<Vec<(Thread, Problems)>, ReadError> {
    let mut reading = parse(text, Reading::new(options.limits, Some(OtherThreads::default())))?;
    let others = reading.others.take().unwrap_or_default();
    others.problems.into_iter().for_each(|problem| reading.trace.report(problem));
    Ok(std::iter::once(reading.into_thread(Thread::MAIN)).chain(others.list).collect())
}

fn parse(text: &[u8], mut reading: Reading) -> Result<Reading, ReadError> {
    match json::read(text, TraceObject { reading: &mut reading, is_outermost: true }) {
        Ok(()) => Ok(reading),
        Err(error) => Err(ReadError::of_json(Format::W3c, error, reading.exceeded)),
    }
}
