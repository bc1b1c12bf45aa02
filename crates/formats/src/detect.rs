//! Detecting the format of a text, or of a message.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::format::Format;
use crate::other_formats::OtherFormat;
use crate::protobuf;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detected {
    Format(Format),
    Other(OtherFormat),
}

/// The format with these members in its outermost object, or in the first element of its outermost list; `None` if
/// there is none.
///
/// Parsing stops at the first member that only one format has.
///
/// Of protocol buffers, it is the one that has these fields.
pub(crate) fn detect(text: &[u8]) -> Option<Detected> {
    if text.starts_with(b"PERFILE") {
        return Some(Detected::Other(OtherFormat::PerfData));
    }
    if text.starts_with(b"v8-version") {
        return Some(Detected::Other(OtherFormat::V8Log));
    }
    if let Some(format) = message(text) {
        return Some(Detected::Format(format));
    }
    let mut found = None;
    // The visitor stops with an error once the format is known.
    let mut json = serde_json::Deserializer::from_slice(text);
    let _ = Outermost { found: &mut found, within: Within::Nothing }.deserialize(&mut json);
    found
}

/// OTLP has two fields on the outermost level, and pprof up to fourteen, of which every profile has some after the
/// second.
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

/// What contains a value.
#[derive(Clone, Copy, PartialEq)]
enum Within {
    Nothing,
    List,
    /// The member `profile`: Sentry, the explainer and the DevTools protocol have one.
    Profile,
    /// The member `result` or `params`: V8's coverage, and messages of the DevTools protocol, have one.
    Result,
    /// The member `head`: V8's old CPU profiles and its heap profiles have one.
    Head,
}

struct Outermost<'found> {
    found: &'found mut Option<Detected>,
    within: Within,
}

impl<'de> DeserializeSeed<'de> for Outermost<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Outermost<'_> {
    fn of_member(&self, member: &str) -> Option<Detected> {
        use Detected::{Format as Readable, Other};
        Some(match (self.within, member) {
            (Within::Profile, "strings" | "stackFrames" | "main-thread") => Readable(Format::Explainer),
            (Within::Profile, "nodes" | "timeDeltas") => Readable(Format::CpuProfile),
            (Within::Profile, "thread_metadata" | "frames" | "stacks") => Other(OtherFormat::Sentry),
            (Within::Head, "callFrame" | "selfSize") => Other(OtherFormat::HeapProfile),
            (Within::Head, "functionName" | "callUID" | "hitCount") => Readable(Format::CpuProfile),
            (Within::Result, "profile") => Other(OtherFormat::ProtocolMessage),
            (Within::Result, "result") => Other(OtherFormat::Coverage),
            (Within::Profile | Within::Result | Within::Head, _) => return None,
            (_, "frames" | "resources" | "stacks" | "trace") => Readable(Format::W3c),
            (Within::List, "ph" | "cat" | "ts") => Readable(Format::Chrome),
            (Within::List, _) => return None,
            (_, "nodes" | "timeDeltas") => Readable(Format::CpuProfile),
            (_, "strings" | "stackFrames" | "effectiveInterval") => Readable(Format::Explainer),
            (_, "traceEvents") => Readable(Format::Chrome),
            (_, "meta" | "libs" | "threads") => Readable(Format::Firefox),
            (_, "$schema" | "shared" | "profiles") => Readable(Format::Speedscope),
            (_, "resourceProfiles") => Readable(Format::Otlp),
            (_, "snapshot") => Other(OtherFormat::HeapSnapshot),
            (_, "chunk_id" | "profiler_id" | "client_sdk" | "debug_meta") => Other(OtherFormat::Sentry),
            (_, "dataForRoots") => Other(OtherFormat::ReactProfiler),
            (_, "recording" | "overview") => Other(OtherFormat::SafariTimeline),
            (_, "log") => Other(OtherFormat::Har),
            (_, "mappings" | "sourcesContent") => Other(OtherFormat::SourceMap),
            (_, "source-map-cache") => Other(OtherFormat::Coverage),
            _ => return None,
        })
    }
}

impl<'de> Visitor<'de> for Outermost<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(member) = map.next_key::<Cow<'de, str>>()? {
            *self.found = self.of_member(&member);
            if self.found.is_some() {
                return Err(A::Error::custom("found"));
            }
            let within = match &*member {
                "profile" if self.within == Within::Nothing => Within::Profile,
                "result" | "params" if self.within == Within::Nothing => Within::Result,
                "head" if self.within == Within::Nothing => Within::Head,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            map.next_value_seed(Outermost { found: self.found, within })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if self.within == Within::Result {
            *self.found = Some(Detected::Other(OtherFormat::Coverage));
        }
        if self.within != Within::Nothing {
            return Err(A::Error::custom("a list in a list"));
        }
        list.next_element_seed(Outermost { found: self.found, within: Within::List })?;
        while list.next_element::<IgnoredAny>()?.is_some() {}
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
            assert_eq!(detect(bytes), expected.map(Detected::Format));
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
            assert_eq!(detect(text.as_bytes()), expected.map(Detected::Format), "{text}");
        }
        check(r#"{"frames":["#, Some(Format::W3c));
        check(r#" {"duration":5,"timing":{"nodes":[]},"entries":[],"trace":"#, Some(Format::W3c));
        check(r#"{"samples":[],"stacks":"#, Some(Format::W3c));
        check(r#"[{"samples":[],"stacks":"#, Some(Format::W3c));
        check(r#"{"samples":[1,2],"timeDeltas":"#, Some(Format::CpuProfile));
        check(r#"{"typeId":"CPU","head":{"functionName":"#, Some(Format::CpuProfile));
        check(r#"{"profile":{"nodes":"#, Some(Format::CpuProfile));
        check(r#"{"version":1,"options":{},"effectiveInterval":1,"#, Some(Format::Explainer));
        check(r#"{"version":1,"profile":{"strings":"#, Some(Format::Explainer));
        check(r#"{"strings":[]"#, Some(Format::Explainer));
        check(r#"{"traceEvents":[]}"#, Some(Format::Chrome));
        check(r#"[{"pid":1,"tid":1,"ph":"B","#, Some(Format::Chrome));
        check(r#"{"meta":{}}"#, Some(Format::Firefox));
        check(r#"{"exporter":"x","$schema":"#, Some(Format::Speedscope));
        let without_format =
            ["", "{", "{}", "[]", "[[{\"ph\":1}]]", "frames", r#"{"a":1}"#, r#"{"samples":[}"#, "\u{0}\u{1}"];
        for text in without_format {
            check(text, None);
        }
        check(&format!("{{\"a\":{}", "[".repeat(1_000_000)), None);
        check(&"[".repeat(1_000_000), None);
        check(&r#"{"profile":"#.repeat(1_000_000), None);
    }

    #[test]
    fn what_is_not_read_is_recognized() {
        #[track_caller]
        fn check(text: &str, expected: OtherFormat) {
            assert_eq!(detect(text.as_bytes()), Some(Detected::Other(expected)));
        }
        check(r#"{"head":{"callFrame":{"functionName":"(root)"},"selfSize":0"#, OtherFormat::HeapProfile);
        check(r#"{"snapshot":{"meta":{}},"nodes":[1,2]}"#, OtherFormat::HeapSnapshot);
        check(r#"{"result":[{"scriptId":"1","functions":[]}]}"#, OtherFormat::Coverage);
        check(r#"{"id":7,"result":{"profile":{"nodes":[]}}}"#, OtherFormat::ProtocolMessage);
        check(
            r#"{"method":"Profiler.consoleProfileFinished","params":{"id":"1","profile":{"#,
            OtherFormat::ProtocolMessage,
        );
        check("v8-version,12,4,254,21,-node.33,0", OtherFormat::V8Log);
        check(
            r#"{"version":"2","platform":"javascript","profile":{"samples":[],"frames":[]"#,
            OtherFormat::Sentry,
        );
        check(r#"{"chunk_id":"1"}"#, OtherFormat::Sentry);
        check(r#"{"version":5,"dataForRoots":[]}"#, OtherFormat::ReactProfiler);
        check(r#"{"version":1,"recording":{}}"#, OtherFormat::SafariTimeline);
        check(r#"{"log":{"version":"1.2"}}"#, OtherFormat::Har);
        check(r#"{"version":3,"sources":[],"mappings":""}"#, OtherFormat::SourceMap);
        check("PERFILE2", OtherFormat::PerfData);
    }
}
