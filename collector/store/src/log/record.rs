//! The bytes of a record: its length, its checksum, its content.

use std::io::{self, Read};

/// The longest record, in bytes. A damaged length must not make a reader allocate more.
pub const MAX_RECORD: usize = 64 << 20;

/// Appends a record to bytes that will be written.
pub fn frame(record: &[u8], to: &mut Vec<u8>) {
    let length = u32::try_from(record.len()).expect("records are shorter than MAX_RECORD");
    to.extend_from_slice(&length.to_le_bytes());
    to.extend_from_slice(&crc32fast::hash(record).to_le_bytes());
    to.extend_from_slice(record);
}

/// The next record; `None` at the end, and at a record that was not written completely, whose sender has had no answer.
pub fn next(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut head = [0; 8];
    if !fill(from, &mut head)? {
        return Ok(None);
    }
    let [a, b, c, d, crc @ ..] = head;
    let length = u32::from_le_bytes([a, b, c, d]) as usize;
    if length > MAX_RECORD {
        return Ok(None);
    }
    let mut record = vec![0; length];
    if !fill(from, &mut record)? || crc32fast::hash(&record) != u32::from_le_bytes(crc) {
        return Ok(None);
    }
    Ok(Some(record))
}

/// Whether there were enough bytes.
fn fill(from: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match from.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
