//! Reading a profile's bytes, decompressed and bounded.

use std::io::{self, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use crate::error::ReadError;

/// The first bytes of every gzip file (RFC 1952, section 2.3.1). No JSON begins with them.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The text of a profile, decompressed if it is gzipped. Fails if the text is longer than `max_bytes`.
///
/// The bound applies after decompression: a kilobyte of gzip can expand to a megabyte. The whole text is kept in memory,
/// because parsing is several times faster that way.
pub(crate) fn text(mut input: impl Read, max_bytes: u64) -> Result<Vec<u8>, ReadError> {
    let mut start = Vec::with_capacity(GZIP.len());
    input.by_ref().take(GZIP.len() as u64).read_to_end(&mut start).map_err(ReadError::Io)?;
    let is_gzip = start == GZIP;
    let whole = io::Cursor::new(start).chain(input);
    if is_gzip {
        bounded(MultiGzDecoder::new(BufReader::new(whole)), max_bytes)
    } else {
        bounded(whole, max_bytes)
    }
}

fn bounded(input: impl Read, max_bytes: u64) -> Result<Vec<u8>, ReadError> {
    let mut text = Vec::new();
    // Reading one byte more than the bound tells whether the text is longer.
    input.take(max_bytes.saturating_add(1)).read_to_end(&mut text).map_err(ReadError::Io)?;
    if text.len() as u64 > max_bytes { Err(ReadError::TooLong) } else { Ok(text) }
}
