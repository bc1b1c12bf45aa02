//! Reading a profile in any readable format.

use std::io::Read;

use selfprof_trace::foreign::Problems;

use crate::detect::detect;
use crate::error::ReadError;
use crate::format::Format;
use crate::formats::{cpuprofile, explainer, otlp, pprof, w3c};
use crate::options::ReadOptions;
use crate::streams::input;
use crate::thread::Thread;

/// A profile that was read.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The format of the text.
    pub format: Format,
    /// The threads and the problems of each. There is at least one thread, except in the explainer's format.
    pub threads: Vec<(Thread, Problems)>,
}

/// What is known about the format before reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hint<'name> {
    /// The format, if it should not be detected.
    pub format: Option<Format>,
    /// The name of the file, whose extension decides if detection fails.
    pub name: Option<&'name str>,
}

/// Reads a profile, plain or gzipped.
///
/// The format is the one in the hint, or else detected from the text, or else implied by the file name, or else the W3C's, whose
/// errors then describe the text. Invalid data is repaired and listed in [`Problems`].
pub fn read(input: impl Read, hint: Hint<'_>, options: &ReadOptions) -> Result<Profile, ReadError> {
    let text = input::text(input, options.max_bytes)?;
    let format = hint.format.or_else(|| detect(&text)).or_else(|| Format::of_name(hint.name?));
    let format = format.unwrap_or(Format::W3c);
    let main = |(trace, problems)| vec![(Thread::main(trace), problems)];
    let threads = match format {
        Format::W3c => w3c::read_threads_of_text(&text, options)?,
        Format::CpuProfile => main(cpuprofile::read_text(&text, options)?),
        Format::Explainer => explainer::read_text(&text, options)?,
        Format::Pprof => pprof::read_text(&text, options)?,
        Format::Otlp => otlp::read_text(&text, options)?,
        _ => return Err(ReadError::WriteOnly(format)),
    };
    Ok(Profile { format, threads })
}

#[cfg(test)]
mod tests;
