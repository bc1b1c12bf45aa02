//! Reading a profile's bytes, decompressed and bounded.

use std::io::{self, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use crate::error::ReadError;

/// The first bytes of every gzip file (RFC 1952, section 2.3.1). No JSON begins with them.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The text of a profile, decompressed if it is gzipped. Fails if the text is longer than `max_bytes`.
///
/// The bound applies after decompression: a kilobyte of gzip can expand to a megabyte. The whole text is kept in
/// memory, because parsing is several times faster that way.
pub(crate) fn text(mut input: impl Read, max_bytes: u64) -> Result<Vec<u8>, ReadError> {
    let mut start = Vec::with_capacity(GZIP.len());
    input.by_ref().take(GZIP.len() as u64).read_to_end(&mut start).map_err(ReadError::Io)?;
    let is_gzip = start == GZIP;
    let whole = io::Cursor::new(start).chain(input);
    let bytes = if is_gzip {
        bounded(MultiGzDecoder::new(BufReader::new(whole)), max_bytes)
    } else {
        bounded(whole, max_bytes)
    };
    let text = utf8(bytes?);
    if text.len() as u64 > max_bytes { Err(ReadError::TooLong) } else { Ok(text) }
}

/// The text in UTF-8 without a byte order mark. Windows' PowerShell writes UTF-16, and editors add marks. No protocol
/// buffer begins with one, nor with half of a bracket.
fn utf8(mut bytes: Vec<u8>) -> Vec<u8> {
    let decode = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units).into_bytes()
    };
    match bytes[..] {
        [0xef, 0xbb, 0xbf, ..] => {
            bytes.drain(..3);
            bytes
        }
        [0xff, 0xfe, ref rest @ ..] => decode(rest, u16::from_le_bytes),
        [0xfe, 0xff, ref rest @ ..] => decode(rest, u16::from_be_bytes),
        [b'{' | b'[', 0, ..] => decode(&bytes, u16::from_le_bytes),
        [0, b'{' | b'[', ..] => decode(&bytes, u16::from_be_bytes),
        _ => bytes,
    }
}

fn bounded(input: impl Read, max_bytes: u64) -> Result<Vec<u8>, ReadError> {
    let mut text = Vec::new();
    // Reading one byte more than the bound tells whether the text is longer.
    input.take(max_bytes.saturating_add(1)).read_to_end(&mut text).map_err(ReadError::Io)?;
    if text.len() as u64 > max_bytes { Err(ReadError::TooLong) } else { Ok(text) }
}
