//! Why a map cannot be read at all.

use std::fmt;

/// The maximum size of a map.
pub(crate) const MAX_BYTES: usize = 1 << 26;

/// Why a map cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapError {
    /// It is longer than 64 MiB.
    TooLong,
    /// It is not a valid source map, for this reason.
    Invalid(String),
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "it is longer than {} MiB", MAX_BYTES >> 20),
            Self::Invalid(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for MapError {}
