//! Byte streams: bounded input and buffered output, with gzip.

pub(crate) mod input;
pub(crate) mod output;
