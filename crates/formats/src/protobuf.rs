//! Protocol buffers from untrusted sources.
//!
//! A message of two bytes becomes a hundred in memory, so the messages are counted before they are decoded.

use selfprof_trace::foreign::LimitExceeded;

/// The messages in a message, by the numbers of their fields.
pub(crate) struct Messages(pub(crate) &'static [(u64, &'static Messages)]);

/// A message without further ones that are worth counting.
pub(crate) const LEAF: Messages = Messages(&[]);

/// Counts the messages in a message. Fails if there are more than the limit. Bytes that are not a message are left to
/// the decoder.
pub(crate) fn check_messages(bytes: &[u8], messages: &Messages, limit: usize) -> Result<(), LimitExceeded> {
    count(bytes, messages, &mut (0, limit))
}

fn count(bytes: &[u8], messages: &Messages, counted: &mut (usize, usize)) -> Result<(), LimitExceeded> {
    for (field, content) in (Fields { bytes }) {
        if let Some((_, inner)) = messages.0.iter().find(|(number, _)| *number == field) {
            LimitExceeded::check("messages", counted.0, counted.1)?;
            counted.0 += 1;
            count(content, inner, counted)?;
        }
    }
    Ok(())
}

/// The largest number of a field, if the bytes are a message with at least one.
pub(crate) fn last_field(bytes: &[u8]) -> Option<u64> {
    let mut fields = Fields { bytes };
    let last = fields.by_ref().map(|(field, _)| field).max();
    last.filter(|_| fields.bytes.is_empty())
}

/// The numbers and contents of fields, up to the first that is damaged. What has no length has no content.
struct Fields<'a> {
    bytes: &'a [u8],
}

impl<'a> Iterator for Fields<'a> {
    type Item = (u64, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let mut rest = self.bytes;
        let tag = varint(&mut rest).filter(|tag| *tag >= 8)?;
        let content = match tag & 7 {
            0 => varint(&mut rest).map(|_| &[][..]),
            1 => take(&mut rest, 8).map(|_| &[][..]),
            2 => varint(&mut rest).and_then(|length| take(&mut rest, length)),
            5 => take(&mut rest, 4).map(|_| &[][..]),
            _ => None,
        }?;
        self.bytes = rest;
        Some((tag >> 3, content))
    }
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..70).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], length: u64) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_counted_where_they_are_named() {
        const INNER: Messages = Messages(&[(1, &LEAF)]);
        const OUTER: Messages = Messages(&[(1, &INNER), (3, &LEAF)]);
        #[track_caller]
        fn check(bytes: &[u8], count: usize) {
            assert!(check_messages(bytes, &OUTER, count).is_ok());
            assert!(count == 0 || check_messages(bytes, &OUTER, count - 1).is_err());
        }
        check(&[], 0);
        // Field 1 with two empty messages of field 1 and a number; field 2 is a text.
        check(&[0x0a, 6, 0x0a, 0, 0x0a, 0, 0x10, 5], 3);
        check(&[0x12, 4, 0x0a, 0, 0x0a, 0], 0);
        check(&[0x1a, 0, 0x10, 5, 0x1a, 0], 2);
        // What ends early.
        check(&[0x1a, 0, 0x0a, 200, 1], 1);
        check(&[0xff], 0);
        check(&[0x0b], 0);
        check(&[0x80; 11], 0);
    }
}
