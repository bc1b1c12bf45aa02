//! Detecting the format of a text, or of a message.

use std::fmt;

use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use crate::format::Format;
use crate::protobuf;

/// The format with these members in its outermost object, or `None` if there is none.
///
/// Parsing stops at the first member that only one format has.
///
/// Of protocol buffers, it is the one that has these fields.
pub(crate) fn detect(text: &[u8]) -> Option<Format> {
    if let Some(format) = message(text) {
        return Some(format);
    }
    let mut found = None;
    // The visitor stops with an error once the format is known.
    let _ = serde_json::Deserializer::from_slice(text).deserialize_map(Members { found: &mut found });
    found
}

/// OTLP has two fields on the outermost level, and pprof up to fourteen, of which every profile has some after the second.
fn message(text: &[u8]) -> Option<Format> {
    if matches!(text.trim_ascii_start().first(), None | Some(b'{' | b'[')) {
        return None;
    }
    match protobuf::last_field(text)? {
        1 | 2 => Some(Format::Otlp),
        3..=15 => Some(Format::Pprof),
        _ => None,
    }
}

struct Members<'found> {
    found: &'found mut Option<Format>,
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(member) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            *self.found = match &*member {
                "frames" | "resources" | "stacks" | "trace" => Some(Format::W3c),
                "nodes" | "timeDeltas" => Some(Format::CpuProfile),
                "profile" | "strings" | "stackFrames" | "effectiveInterval" => Some(Format::Explainer),
                "traceEvents" => Some(Format::Chrome),
                "meta" | "libs" | "threads" => Some(Format::Firefox),
                "$schema" | "shared" | "profiles" => Some(Format::Speedscope),
                "resourceProfiles" => Some(Format::Otlp),
                _ => None,
            };
            if self.found.is_some() {
                return Err(A::Error::custom("found"));
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_identify_formats() {
        #[track_caller]
        fn check(bytes: &[u8], expected: Option<Format>) {
            assert_eq!(detect(bytes), expected);
        }
        check(&[0x0a, 2, 0x12, 0, 0x12, 0], Some(Format::Otlp));
        check(&[0x0a, 4, 8, 1, 0x10, 2, 0x32, 0], Some(Format::Pprof));
        check(&[0x5a, 4, 8, 1, 0x10, 2, 0x60, 1], Some(Format::Pprof));
        // What ends early, and a field that neither has.
        check(&[0x0a, 9, 0x12, 0], None);
        check(&[0x82, 1, 0], None);
        // A line feed is a field, and a brace a length.
        check(format!("\n{{\"frames\":{}", "[".repeat(113)).as_bytes(), Some(Format::W3c));
    }

    #[test]
    fn members_identify_formats() {
        #[track_caller]
        fn check(text: &str, expected: Option<Format>) {
            assert_eq!(detect(text.as_bytes()), expected);
        }
        check(r#"{"frames":["#, Some(Format::W3c));
        check(r#" {"duration":5,"timing":{"nodes":[]},"entries":[],"trace":"#, Some(Format::W3c));
        check(r#"{"samples":[],"stacks":"#, Some(Format::W3c));
        check(r#"{"samples":[1,2],"timeDeltas":"#, Some(Format::CpuProfile));
        check(r#"{"version":1,"options":{},"effectiveInterval":1,"#, Some(Format::Explainer));
        check(r#"{"strings":[]"#, Some(Format::Explainer));
        check(r#"{"traceEvents":[]}"#, Some(Format::Chrome));
        check(r#"{"meta":{}}"#, Some(Format::Firefox));
        check(r#"{"exporter":"x","$schema":"#, Some(Format::Speedscope));
        for text in ["", "{", "{}", "[]", "frames", r#"{"a":1}"#, r#"{"samples":[}"#, "\u{0}\u{1}"] {
            check(text, None);
        }
        check(&format!("{{\"a\":{}", "[".repeat(1_000_000)), None);
    }
}
