//! How much is taken from somebody else.

use std::fmt;

/// The most that a foreign trace may hold, so that a hostile one cannot take all memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many resources. 262,144 by default.
    pub resources: usize,
    /// How many frames. 2,097,152 by default.
    pub frames: usize,
    /// How many stacks. 8,388,608 by default.
    pub stacks: usize,
    /// How many samples. 16,777,216 by default, which is four and a half hours at 1 ms.
    pub samples: usize,
    /// How many marks and measures. 16,777,216 by default.
    pub entries: usize,
    /// How many bytes of names and URLs. 268,435,456 (256 MiB) by default.
    pub text_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            resources: 1 << 18,
            frames: 1 << 21,
            stacks: 1 << 23,
            samples: 1 << 24,
            entries: 1 << 24,
            text_bytes: 1 << 28,
        }
    }
}

/// A foreign trace holds more than the reader is willing to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitExceeded {
    what: &'static str,
    limit: usize,
}

impl LimitExceeded {
    /// There are more than `limit` of `what`, which is a plural.
    pub fn new(what: &'static str, limit: usize) -> Self {
        Self { what, limit }
    }

    /// Fails when a list of this length is full.
    pub fn check(what: &'static str, length: usize, limit: usize) -> Result<(), Self> {
        if length < limit { Ok(()) } else { Err(Self::new(what, limit)) }
    }
}

impl fmt::Display for LimitExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the trace has more than {} {}", self.limit, self.what)
    }
}

impl std::error::Error for LimitExceeded {}
