//! Reading strings with lone surrogates.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A `DOMString`. JavaScript strings may contain lone surrogates, which become U+FFFD, as in a `USVString`.
#[derive(Default)]
pub(crate) struct Text(pub(crate) String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_wtf8(deserializer, "a string", |bytes| Self(without_surrogates(bytes)))
    }
}

/// Reads a string without copying it, and converts it from WTF-8, which is UTF-8 with lone surrogates.
pub(crate) fn read_wtf8<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    expected: &'static str,
    convert: impl FnOnce(&[u8]) -> T,
) -> Result<T, D::Error> {
    struct Wtf8Visitor<F> {
        expected: &'static str,
        convert: F,
    }

    impl<T, F: FnOnce(&[u8]) -> T> Visitor<'_> for Wtf8Visitor<F> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.expected)
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<T, E> {
            Ok((self.convert)(bytes))
        }
    }

    // `deserialize_str` would fail at a lone surrogate; for bytes, serde_json passes it on as three bytes (WTF-8).
    deserializer.deserialize_bytes(Wtf8Visitor { expected, convert })
}

/// Decodes WTF-8, replacing each lone surrogate by one U+FFFD.
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
