//! Strings that others wrote.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A `DOMString`. JavaScript strings may hold lone surrogates, which become U+FFFD, as in a `USVString`.
#[derive(Default)]
pub(crate) struct Text(pub(crate) String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl Visitor<'_> for TextVisitor {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
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
