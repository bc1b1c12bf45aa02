//! Options of reading and writing.

use selfprof_trace::foreign::Limits;

/// Limits of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// The maximum size of the text in bytes, after decompression. 1 GiB by default.
    pub max_bytes: u64,
    /// The maximum lengths of the lists.
    pub limits: Limits,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { max_bytes: 1 << 30, limits: Limits::default() }
    }
}

/// Options of writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Whether to compress with gzip, as for a file named `*.gz`.
    pub gzip: bool,
}
