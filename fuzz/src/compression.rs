//! Gzipped profiles: whole, in several members, truncated and corrupt.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use selfprof_formats::{Hint, read};

use crate::profiles::{OPTIONS, checked, compared};

/// Raw bytes read as gzip, or a text that is compressed and possibly corrupted, depending on the first byte.
pub fn gzip(input: &[u8]) {
    let [kind, at, change, rest @ ..] = input else { return };
    match kind % 4 {
        0 => raw(&[&[0x1f, 0x8b], &input[1..]].concat()),
        1 => whole(rest, 0),
        2 => whole(rest, usize::from(*at)),
        _ => corrupt(rest, usize::from(*at), *change),
    }
}

/// Reading the bytes equals reading the output of another decoder.
fn raw(bytes: &[u8]) {
    let profile = checked(read(bytes, Hint::default(), &OPTIONS));
    let mut text = Vec::new();
    let decoder = MultiGzDecoder::new(bytes);
    let is_whole = decoder.take(OPTIONS.max_bytes + 1).read_to_end(&mut text).is_ok();
    match profile {
        Some(profile) => {
            assert!(is_whole && text.len() as u64 <= OPTIONS.max_bytes);
            let plain = checked(read(&text[..], Hint::default(), &OPTIONS));
            assert_eq!(plain.as_ref().map(compared), Some(compared(&profile)));
        }
        None if is_whole && !text.starts_with(&[0x1f, 0x8b]) => {
            assert!(checked(read(&text[..], Hint::default(), &OPTIONS)).is_none());
        }
        None => {}
    }
}

/// Compresses a text in one or two members.
fn whole(text: &[u8], at: usize) {
    let (first, second) = text.split_at(at.min(text.len()));
    let mut bytes = compressed(first);
    if !second.is_empty() {
        bytes.extend(compressed(second));
    }
    raw(&bytes);
}

/// Changes a byte of the compressed text, or truncates it.
fn corrupt(text: &[u8], at: usize, change: u8) {
    let mut bytes = compressed(text);
    let at = at % bytes.len();
    if change == 0 {
        bytes.truncate(at);
    } else {
        bytes[at] ^= change;
    }
    // Without the magic bytes, it is not read as gzip.
    if bytes.starts_with(&[0x1f, 0x8b]) {
        raw(&bytes);
    }
}

fn compressed(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    match encoder.write_all(text).and_then(|()| encoder.finish()) {
        Ok(bytes) => bytes,
        Err(error) => panic!("compressing into memory: {error}"),
    }
}
