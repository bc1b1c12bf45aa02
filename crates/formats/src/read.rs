//! Reading a profile of any format that is read.

use std::io::Read;

use selfprof_trace::foreign::Problems;

use crate::recognise::recognise;
use crate::{Format, ReadError, ReadOptions, Thread, cpuprofile, explainer, input, w3c};

/// What was read.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The format that it had.
    pub format: Format,
    /// The threads, with what was wrong with each. There is at least one, except in the explainer's format.
    pub threads: Vec<(Thread, Problems)>,
}

/// What is known of the format before the text is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hint<'name> {
    /// It is said to be this one, whatever it looks like.
    pub format: Option<Format>,
    /// The name of the file, which tells when the text does not.
    pub name: Option<&'name str>,
}

/// Reads a profile, plain or compressed with gzip.
///
/// The format is the one that is said, else the one that the text looks like, else the one that the name ends in, else the
/// W3C's, whose errors then tell what is wrong. What makes no sense in it is repaired, and listed in [`Problems`].
pub fn read(input: impl Read, hint: Hint<'_>, options: &ReadOptions) -> Result<Profile, ReadError> {
    let text = input::text(input, options.max_bytes)?;
    let format = hint.format.or_else(|| recognise(&text)).or_else(|| Format::of_name(hint.name?));
    let format = format.unwrap_or(Format::W3c);
    let main = |(trace, problems)| vec![(Thread::main(trace), problems)];
    let threads = match format {
        Format::W3c => main(w3c::read_text(&text, options)?),
        Format::CpuProfile => main(cpuprofile::read_text(&text, options)?),
        Format::Explainer => explainer::read_text(&text, options)?,
        _ => return Err(ReadError::WriteOnly(format)),
    };
    Ok(Profile { format, threads })
}

#[cfg(test)]
mod tests;
