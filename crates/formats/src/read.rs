//! Reading a profile in any readable format.

use std::io::Read;

use selfprof_trace::foreign::Problems;
use serde::de::IgnoredAny;

use crate::detect::{Detected, detect};
use crate::error::ReadError;
use crate::format::Format;
use crate::formats::{chrome, cpuprofile, explainer, firefox, otlp, pprof, speedscope, w3c};
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
/// The format is the one in the hint, or else detected from the text, or else implied by the file name. Invalid data is
/// repaired and listed in [`Problems`].
pub fn read(input: impl Read, hint: Hint<'_>, options: &ReadOptions) -> Result<Profile, ReadError> {
    let text = input::text(input, options.max_bytes)?;
    let detected = match hint.format {
        Some(format) => Some(format),
        None => match detect(&text) {
            Some(Detected::Format(format)) => Some(format),
            Some(Detected::Other(other)) => return Err(ReadError::Other(other)),
            None => None,
        },
    };
    let implied = || Format::of_name(hint.name?).filter(|&format| format != Format::W3c);
    let Some(format) = detected.or_else(implied) else {
        return Err(match serde_json::from_slice::<IgnoredAny>(&text) {
            Ok(_) => ReadError::Unknown,
            Err(error) => ReadError::Json(Format::W3c, error),
        });
    };
    let main = |(trace, problems)| vec![(Thread::main(trace), problems)];
    let threads = match format {
        Format::W3c => w3c::read_threads_of_text(&text, options)?,
        Format::CpuProfile => main(cpuprofile::read_text(&text, options)?),
        Format::Explainer => explainer::read_text(&text, options)?,
        Format::Chrome => chrome::read_text(&text, options)?,
        Format::Firefox => firefox::read_text(&text, options)?,
        Format::Speedscope => speedscope::read_text(&text, options)?,
        Format::Pprof => pprof::read_text(&text, options)?,
        Format::Otlp => otlp::read_text(&text, options)?,
        Format::Collapsed => return Err(ReadError::WriteOnly(format)),
    };
    Ok(Profile { format, threads })
}

#[cfg(test)]
mod tests;
