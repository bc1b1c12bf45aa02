//! Why a site is not instrumented.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use selfprof_instrument::MapError;

/// Why a site is not instrumented.
#[derive(Debug)]
pub enum SiteError {
    /// A pattern is empty, or cannot be parsed.
    Pattern {
        /// What it was to choose.
        of: PatternKind,
        /// What is wrong with it; `None` if it is empty.
        error: Option<globset::Error>,
    },
    /// The runtime's template lacks one of the names that it must have.
    Template,
    /// An input cannot be opened.
    Open(PathBuf, io::Error),
    /// An input is neither a file nor a folder.
    SpecialFile(PathBuf),
    /// The inputs have more files than this.
    TooManyFiles(usize),
    /// The inputs have more functions than can be numbered.
    TooManyFunctions,
    /// There is nothing to instrument.
    NoScripts,
    /// An input is already instrumented.
    AlreadyInstrumented {
        /// The file or folder.
        path: PathBuf,
        /// What shows it, if that is not the code itself.
        sign: Option<String>,
    },
    /// Two inputs would be written to one file.
    SamePlace(PathBuf, PathBuf),
    /// An input would be overwritten.
    Overwrites {
        /// The input.
        source: PathBuf,
        /// The output folder.
        output: PathBuf,
    },
    /// What is to be the output folder is something else.
    OutputIsNoFolder(PathBuf),
    /// The output folder has files that no earlier run has written.
    OutputOfOthers(PathBuf),
    /// A file or folder cannot be read.
    Read(PathBuf, io::Error),
    /// A file or folder cannot be written.
    Write(PathBuf, io::Error),
    /// A source map cannot be made.
    SourceMap(PathBuf, MapError),
    /// The threads cannot be started.
    Threads(rayon::ThreadPoolBuildError),
}

/// What a pattern is to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternKind {
    /// [`Options::include`](crate::Options::include)
    Include,
    /// [`Options::exclude`](crate::Options::exclude)
    Exclude,
    /// [`Mode::Trace`](crate::Mode::Trace)
    Functions,
}

impl fmt::Display for SiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pattern { error: None, .. } => write!(f, "a pattern is empty"),
            Self::Pattern { error: Some(_), .. } => write!(f, "a pattern cannot be parsed"),
            Self::Template => write!(f, "this is not the runtime's template"),
            Self::Open(path, _) => write!(f, "cannot open {}", path.display()),
            Self::SpecialFile(path) => write!(f, "{} is neither a file nor a folder", path.display()),
            Self::TooManyFiles(most) => write!(f, "the input has more than {most} files"),
            Self::TooManyFunctions => write!(f, "the input is too large to be traced"),
            Self::NoScripts => write!(f, "there are no scripts and no HTML pages in the input"),
            Self::AlreadyInstrumented { path, sign } => {
                let sign = sign.as_ref().map_or(String::new(), |sign| format!(": {sign}"));
                write!(f, "{} is already instrumented{sign}", path.display())
            }
            Self::SamePlace(one, other) => {
                write!(f, "{} and {} would be written to one file", one.display(), other.display())
            }
            Self::Overwrites { source, output } => {
                write!(f, "the copies in {} would overwrite {}", output.display(), source.display())
            }
            Self::OutputIsNoFolder(path) => write!(f, "{} is not a folder", path.display()),
            Self::OutputOfOthers(path) => {
                write!(f, "{} has files that `selfprof instrument` did not write", path.display())
            }
            Self::Read(path, _) => write!(f, "cannot read {}", path.display()),
            Self::Write(path, _) => write!(f, "cannot write {}", path.display()),
            Self::SourceMap(path, _) => write!(f, "cannot make a source map of {}", path.display()),
            Self::Threads(_) => write!(f, "cannot start a thread"),
        }
    }
}

impl Error for SiteError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Pattern { error: Some(error), .. } => Some(error),
            Self::Open(_, error) | Self::Read(_, error) | Self::Write(_, error) => Some(error),
            Self::SourceMap(_, error) => Some(error),
            Self::Threads(error) => Some(error),
            _ => None,
        }
    }
}
