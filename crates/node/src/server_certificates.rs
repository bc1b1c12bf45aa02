//! Which certificates a server may send over TLS. OpenSSL reads them in one go, in time and memory that a server chooses unless their keys and their
//! extensions are such as browsers know.

use der::asn1::AnyRef;
use der::{Reader, Result, SliceReader, Tag, TagNumber, Tagged};
use std::panic::catch_unwind;
use std::slice;

/// As OpenSSL calls it.
const TLS_1_3: i32 = 0x0304;

/// 1.2.840.113549.1.1.1, 1.2.840.113549.1.1.10, 1.3.101.112 and 1.3.101.113: RSA, RSASSA-PSS, Ed25519 and Ed448.
const KEYS: [&[u8]; 4] = [
    &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01],
    &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0a],
    &[0x2b, 0x65, 0x70],
    &[0x2b, 0x65, 0x71],
];

/// 1.2.840.10045.2.1: elliptic curves. Those that a server makes up, rather than names, can take OpenSSL a third of a second to read.
const CURVE: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];

/// 1.2.840.10045.3.1.7, 1.3.132.0.34 and 1.3.132.0.35: P-256, P-384 and P-521.
const CURVES: [&[u8]; 3] = [
    &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07],
    &[0x2b, 0x81, 0x04, 0x00, 0x22],
    &[0x2b, 0x81, 0x04, 0x00, 0x23],
];

/// 1.3.6.1.5.5.7.1.7, 1.3.6.1.5.5.7.1.8 and 1.3.6.1.5.5.7.1.14: addresses, numbers of networks and proxies, which OpenSSL reads and browsers do not.
const UNKNOWN_EXTENSIONS: [&[u8]; 3] = [
    &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x01, 0x07],
    &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x01, 0x08],
    &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x01, 0x0e],
];

/// 2.5.29.31
const CRL_DISTRIBUTION_POINTS: &[u8] = &[0x55, 0x1d, 0x1f];

/// Whether OpenSSL may read the certificates of a message `Certificate`. Each is written as DER demands, its key is of a kind that browsers know (RSA,
/// Ed25519, Ed448, or one of the curves P-256, P-384 and P-521, by name), and it has none of the extensions that OpenSSL alone reads. `message` points
/// to `length` bytes after the header; `version` is OpenSSL's number of the version of TLS. On the thread of the connection, inside a function of
/// OpenSSL, which owns the bytes.
pub extern "C" fn check(message: *const u8, length: usize, version: i32) -> bool {
    // SAFETY: the caller promises so, and the bytes are not kept.
    let message = unsafe { slice::from_raw_parts(message, length) };
    catch_unwind(|| are_usual(message, version >= TLS_1_3)).ok().flatten().unwrap_or(false)
}

/// <https://www.rfc-editor.org/rfc/rfc8446#section-4.4.2> and <https://www.rfc-editor.org/rfc/rfc5246#section-7.4.2>
fn are_usual(mut message: &[u8], is_tls_1_3: bool) -> Option<bool> {
    if is_tls_1_3 {
        let _context = take(&mut message, 1)?;
    }
    let mut list = take(&mut message, 3)?;
    while !list.is_empty() {
        if !is_usual(take(&mut list, 3)?).ok()? {
            return Some(false);
        }
        if is_tls_1_3 {
            let _extensions = take(&mut list, 2)?;
        }
    }
    Some(message.is_empty())
}

/// What follows its length, which is a number of so many bytes.
fn take<'a>(bytes: &mut &'a [u8], width: usize) -> Option<&'a [u8]> {
    let (number, rest) = bytes.split_at_checked(width)?;
    let length = number.iter().fold(0, |length, &byte| length << 8 | usize::from(byte));
    let (taken, rest) = rest.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

/// <https://www.rfc-editor.org/rfc/rfc5280#section-4.1>
fn is_usual(certificate: &[u8]) -> Result<bool> {
    let mut signed = sequence(&mut sequence(&mut SliceReader::new(certificate)?)?)?;
    let version_or_serial_number: AnyRef<'_> = signed.decode()?;
    if version_or_serial_number.tag() == constructed(0) {
        signed.decode::<AnyRef<'_>>()?;
    }
    let _signature_and_issuer: [AnyRef<'_>; 2] = [signed.decode()?, signed.decode()?];
    let _validity_and_subject: [AnyRef<'_>; 2] = [signed.decode()?, signed.decode()?];
    if !is_usual_key(sequence(&mut sequence(&mut signed)?)?)? {
        return Ok(false);
    }
    while !signed.is_finished() {
        let part: AnyRef<'_> = signed.decode()?;
        if part.tag() != constructed(3) {
            continue;
        }
        let mut extensions = sequence(&mut SliceReader::new(part.value())?)?;
        while !extensions.is_finished() {
            if !is_usual_extension(sequence(&mut extensions)?)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The algorithm of a key: <https://www.rfc-editor.org/rfc/rfc5280#section-4.1.2.7>
fn is_usual_key(mut algorithm: SliceReader<'_>) -> Result<bool> {
    let kind: AnyRef<'_> = algorithm.decode()?;
    kind.tag().assert_eq(Tag::ObjectIdentifier)?;
    if kind.value() != CURVE {
        return Ok(KEYS.contains(&kind.value()));
    }
    let curve: AnyRef<'_> = algorithm.decode()?;
    Ok(curve.tag() == Tag::ObjectIdentifier && CURVES.contains(&curve.value()))
}

/// <https://www.rfc-editor.org/rfc/rfc5280#section-4.2>
fn is_usual_extension(mut extension: SliceReader<'_>) -> Result<bool> {
    let kind: AnyRef<'_> = extension.decode()?;
    let mut value: AnyRef<'_> = extension.decode()?;
    if value.tag() == Tag::Boolean {
        value = extension.decode()?;
    }
    if kind.value() != CRL_DISTRIBUTION_POINTS {
        return Ok(!UNKNOWN_EXTENSIONS.contains(&kind.value()));
    }
    value.tag().assert_eq(Tag::OctetString)?;
    let mut points = sequence(&mut SliceReader::new(value.value())?)?;
    while !points.is_finished() {
        let mut point = sequence(&mut points)?;
        while !point.is_finished() {
            let part: AnyRef<'_> = point.decode()?;
            if part.tag() == constructed(0) && !is_full_name(part.value())? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Whether the name of a distribution point stands for itself. To one that is relative to that of the issuer, OpenSSL adds a copy of the issuer's: 16 KB
/// of such points take it 180 MB and more than a second. <https://www.rfc-editor.org/rfc/rfc5280#section-4.2.1.13>
fn is_full_name(name: &[u8]) -> Result<bool> {
    let name: AnyRef<'_> = SliceReader::new(name)?.decode()?;
    Ok(name.tag() == constructed(0))
}

const fn constructed(number: u32) -> Tag {
    Tag::ContextSpecific { constructed: true, number: TagNumber(number) }
}

/// What is in a sequence.
fn sequence<'a>(reader: &mut SliceReader<'a>) -> Result<SliceReader<'a>> {
    let sequence: AnyRef<'a> = reader.decode()?;
    sequence.tag().assert_eq(Tag::Sequence)?;
    SliceReader::new(sequence.value())
}
