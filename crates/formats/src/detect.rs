//! Detecting the format of a text.

use std::fmt;

use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use crate::format::Format;

/// The format with these members in its outermost object, or `None` if there is none.
///
/// Parsing stops at the first member that only one format has.
pub(crate) fn detect(text: &[u8]) -> Option<Format> {
    let mut found = None;
    // The visitor stops with an error once the format is known.
    let _ = serde_json::Deserializer::from_slice(text).deserialize_map(Members { found: &mut found });
    found
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
