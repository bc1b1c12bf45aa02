//! Limits on the size of a foreign trace.

use std::fmt;

/// The maximum size of a foreign trace, so that a hostile one cannot exhaust memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of resources. 262,144 by default.
    pub resources: usize,
    /// The number of frames. 2,097,152 by default.
    pub frames: usize,
    /// The number of stacks. 8,388,608 by default.
    pub stacks: usize,
    /// The number of samples. 16,777,216 by default, four and a half hours at 1 ms.
    pub samples: usize,
    /// The number of marks and measures. 16,777,216 by default.
    pub entries: usize,
    /// The size of all names and URLs in bytes. 268,435,456 (256 MiB) by default.
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

/// A foreign trace exceeds a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitExceeded {
    what: &'static str,
    limit: usize,
}

impl LimitExceeded {
    /// More than `limit` of `what`, a plural noun.
    pub fn new(what: &'static str, limit: usize) -> Self {
        Self { what, limit }
    }

    /// Fails if a list of this length is full.
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
