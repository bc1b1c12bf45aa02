//! Errors of reading and writing profiles.
use std::fmt;
use std::io;

use selfprof_trace::TableFull;
use selfprof_trace::foreign::LimitExceeded;

use crate::format::Format;
use crate::json::Exceeded;
use crate::other_formats::OtherFormat;

/// Why a profile could not be read. For invalid JSON, the source has the position.
#[derive(Debug)]
pub enum ReadError {
    /// The input failed, or its compression is corrupt.
    Io(io::Error),
    /// The text is longer than [`ReadOptions::max_bytes`](crate::ReadOptions::max_bytes).
    TooLong,
    /// A list is longer than [`ReadOptions::limits`](crate::ReadOptions::limits).
    Limit(LimitExceeded),
    /// The text is not JSON, or not in this format.
    Json(Format, serde_json::Error),
    /// The bytes are not a message of this format.
    Protobuf(Format, Box<dyn std::error::Error + Send + Sync>),
    /// None of the profile's values is a time; these are their types.
    NoTimes(Format, String),
    /// The text is in a format that is only written, not read.
    WriteOnly(Format),
    /// The file is something else that is known.
    Other(OtherFormat),
    /// The text is JSON, but in no format that is known.
    Unknown,
}

impl ReadError {
    /// The error of serde, unless a limit made it stop.
    pub(crate) fn of_json(format: Format, error: serde_json::Error, exceeded: Exceeded) -> Self {
        exceeded.map_or(Self::Json(format, error), Self::Limit)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(_) => f.write_str("cannot read the trace"),
            Self::TooLong => f.write_str("the trace is too long"),
            Self::Limit(_) => f.write_str("the trace is too large"),
            Self::Json(format, error) if error.is_data() => write!(f, "the JSON is not {}", format.noun()),
            Self::Json(..) => f.write_str("the trace is not JSON"),
            Self::Protobuf(format, _) => write!(f, "the file is not {}", format.noun()),
            Self::NoTimes(format, types) => {
                write!(f, "this is {} without times, of: {types}", format.noun())
            }
            Self::WriteOnly(format) => {
                write!(f, "this is {}, which selfprof can write but not read", format.noun())
            }
            Self::Other(format) => write!(f, "this is {format}, which selfprof does not read"),
            Self::Unknown => f.write_str("the JSON is in no format that selfprof knows"),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(source) => Some(source),
            Self::Limit(source) => Some(source),
            Self::Json(_, source) => Some(source),
            Self::Protobuf(_, source) => Some(source.as_ref()),
            Self::TooLong | Self::NoTimes(..) | Self::WriteOnly(_) | Self::Other(_) | Self::Unknown => None,
        }
    }
}

/// Why a profile could not be written.
#[derive(Debug)]
pub enum WriteError {
    /// The merged tables of all threads exceed the size of a table.
    TooLarge(TableFull),
    /// The format repeats a stack's functions for each of its samples, and they would be too many.
    TooDeep,
    /// The output failed.
    Io(io::Error),
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLarge(_) => "the threads have more stacks than a profile can hold",
            Self::TooDeep => {
                "the stacks are too deep: the profile would list more than 134,217,728 functions"
            }
            Self::Io(_) => "cannot write the profile",
        })
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::TooLarge(source) => Some(source),
            Self::Io(source) => Some(source),
            Self::TooDeep => None,
        }
    }
}
