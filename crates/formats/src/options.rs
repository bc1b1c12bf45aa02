//! How much is read, and how it is written.

use selfprof_trace::foreign::Limits;

/// How much to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// The most bytes of text, counted after decompression. 1 GiB by default.
    pub max_bytes: u64,
    /// The most entries of each list.
    pub limits: Limits,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { max_bytes: 1 << 30, limits: Limits::default() }
    }
}

/// How to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Whether to compress with gzip, as the name `*.gz` promises.
    pub gzip: bool,
}
