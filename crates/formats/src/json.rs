//! What the formats in JSON share: reading strings and lists of others, and writing as a stream.

use std::fmt;
use std::io::{self, Write};
use std::marker::PhantomData;

use selfprof_trace::Micros;
use selfprof_trace::foreign::LimitExceeded;
use serde::de::{Deserialize, DeserializeSeed, Error, SeqAccess, Visitor};
use serde_json::Deserializer;
use serde_json::de::{Read, SliceRead, StrRead};

/// Writes `before`, then the items with commas between them.
pub(crate) fn list<W: Write, T>(
    out: &mut W,
    before: &str,
    items: impl Iterator<Item = T>,
    mut write: impl FnMut(&mut W, T) -> io::Result<()>,
) -> io::Result<()> {
    out.write_all(before.as_bytes())?;
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        write(out, item)?;
    }
    Ok(())
}

/// Writes a string with its quotes and escapes.
pub(crate) fn string(out: &mut impl Write, text: &str) -> io::Result<()> {
    Ok(serde_json::to_writer(out, text)?)
}

/// Writes a whole number.
pub(crate) fn number(out: &mut impl Write, number: impl itoa::Integer) -> io::Result<()> {
    out.write_all(itoa::Buffer::new().format(number).as_bytes())
}

/// Writes a whole number, or `null`.
pub(crate) fn number_or_null(out: &mut impl Write, value: Option<impl itoa::Integer>) -> io::Result<()> {
    match value {
        Some(value) => number(out, value),
        None => out.write_all(b"null"),
    }
}

/// Writes a time in milliseconds, with as many digits as it shows.
pub(crate) fn millis(out: &mut impl Write, time: Micros) -> io::Result<()> {
    number(out, time.0 / 1000)?;
    let rest = time.0 % 1000;
    let digit = |number: u64| b'0' + (number % 10) as u8;
    let digits = [b'.', digit(rest / 100), digit(rest / 10), digit(rest)];
    let length =
        digits.iter().rposition(|&digit| digit != b'0').filter(|&last| last > 0).map_or(0, |last| last + 1);
    out.write_all(&digits[..length])
}

/// Reads JSON, to its end.
pub(crate) fn read<'de, S: DeserializeSeed<'de>>(text: &'de [u8], seed: S) -> serde_json::Result<S::Value> {
    fn from<'de, R: Read<'de>, S: DeserializeSeed<'de>>(text: R, seed: S) -> serde_json::Result<S::Value> {
        let mut json = Deserializer::new(text);
        let value = seed.deserialize(&mut json)?;
        json.end()?;
        Ok(value)
    }
    // Strings need not be checked one by one when all of the text is known to be UTF-8.
    match std::str::from_utf8(text) {
        Ok(text) => from(StrRead::new(text), seed),
        Err(_) => from(SliceRead::new(text), seed),
    }
}

/// A `DOMString`. JavaScript strings may hold lone surrogates, which become U+FFFD, as in a `USVString`.
#[derive(Default)]
pub(crate) struct Text(pub(crate) String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl Visitor<'_> for TextVisitor {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text, E> {
                Ok(Text(text.to_owned()))
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Text, E> {
                Ok(Text(without_surrogates(bytes)))
            }
        }

        // Asked for bytes, serde_json gives a lone surrogate as three bytes (WTF-8) instead of failing.
        deserializer.deserialize_bytes(TextVisitor)
    }
}

/// Decodes WTF-8, with one U+FFFD for each lone surrogate.
fn without_surrogates(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        // A surrogate is an 0xED byte and two continuation bytes, which are three invalid chunks.
        if chunk.invalid().first().is_some_and(|&byte| byte >= 0xC0) {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}

/// Why reading stopped, if that was our will: serde's errors are text alone.
pub(crate) type Exceeded = Option<LimitExceeded>;

/// Stops reading at a limit.
pub(crate) fn stop<E: Error>(limit: LimitExceeded, exceeded: &mut Exceeded) -> E {
    *exceeded = Some(limit);
    E::custom(limit)
}

/// Reads a list and hands each element over as it comes, until one is refused.
pub(crate) struct Elements<'read, E, P> {
    pub(crate) push: P,
    pub(crate) exceeded: &'read mut Exceeded,
    pub(crate) element: PhantomData<E>,
}

impl<'de, E, P> DeserializeSeed<'de> for Elements<'_, E, P>
where
    E: Deserialize<'de>,
    P: FnMut(E) -> Result<(), LimitExceeded>,
{
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, E, P> Visitor<'de> for Elements<'_, E, P>
where
    E: Deserialize<'de>,
    P: FnMut(E) -> Result<(), LimitExceeded>,
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<(), A::Error> {
        while let Some(element) = elements.next_element::<E>()? {
            (self.push)(element).map_err(|limit| stop(limit, self.exceeded))?;
        }
        Ok(())
    }
}

/// Hands each element of a list over as it comes, until one is refused.
pub(crate) fn elements<E, P>(exceeded: &mut Exceeded, push: P) -> Elements<'_, E, P>
where
    P: FnMut(E) -> Result<(), LimitExceeded>,
{
    Elements { push, exceeded, element: PhantomData }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn milliseconds_are_written_as_they_show() {
        #[track_caller]
        fn check(micros: u64) {
            let mut written = Vec::new();
            millis(&mut written, Micros(micros)).unwrap();
            assert_eq!(String::from_utf8(written).unwrap(), Micros(micros).to_string());
        }
        (0..2000).for_each(check);
        proptest!(|(micros: u64)| check(micros));
    }
}
