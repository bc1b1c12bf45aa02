//! The bytes of a trace: perhaps compressed, and not more than are wanted.

use std::fmt;
use std::io::{self, Read};

use flate2::read::MultiGzDecoder;

/// The first bytes of every gzip file (RFC 1952, section 2.3.1). No JSON begins so.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The text of a trace, decompressed if need be, which fails with [`TooLong`] after `max_bytes`.
///
/// The bound is on what comes out, since a kilobyte of gzip can expand to a megabyte.
pub(super) fn open<'input>(mut input: impl Read + 'input, max_bytes: u64) -> io::Result<impl Read + 'input> {
    let mut start = Vec::with_capacity(GZIP.len());
    input.by_ref().take(GZIP.len() as u64).read_to_end(&mut start)?;
    let is_gzip = start == GZIP;
    let whole = io::Cursor::new(start).chain(input);
    let text: Box<dyn Read + 'input> =
        if is_gzip { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) };
    Ok(Bounded { text, left: max_bytes })
}

/// Fails, instead of ending quietly, when more is there than may be read.
struct Bounded<R> {
    text: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // One byte beyond the bound is asked for, to tell a text that ends there from one that does not.
        let length = usize::try_from(self.left.saturating_add(1)).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.text.read(&mut buffer[..length])?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => return Err(io::Error::other(TooLong)),
        }
        Ok(read)
    }
}

/// There is more text than may be read.
#[derive(Debug)]
pub(super) struct TooLong;

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is more text than may be read")
    }
}

impl std::error::Error for TooLong {}
