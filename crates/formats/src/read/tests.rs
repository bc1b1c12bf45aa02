//! Format detection and hostile input.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use serde_json::{Map, Value};

use super::*;
use crate::OtherFormat;

const W3C: &str = include_str!("../../fixtures/w3c/chromium-156-small.json");
const CPU_PROFILE: &str = include_str!("../../fixtures/cpuprofile/node-20-small.cpuprofile");
const EXPLAINER: &str = r#"{"version":1,"options":{"interval":1},"effectiveInterval":1,"profile":{
    "strings":["f @ a.js:1:2","(anonymous)"],"stackFrames":{"1":{"name":0},"2":{"name":1,"parent":1}},
    "main-thread":[{"type":"stack","timestamp":1,"stack":2},{"type":"mark","timestamp":1,"name":"m"}],
    "worker-1":[{"type":"stack","timestamp":2}]}}"#;

const OLD_CPU_PROFILE: &str = r#"{"head":{"functionName":"(root)","url":"","id":1,"hitCount":0,"children":[
    {"functionName":"parse","url":"a.js","lineNumber":2,"id":2,"hitCount":2,"children":[]}]},
    "startTime":1,"endTime":2,"samples":[2,1,2],"timestamps":[1000,2000,2500]}"#;
const CHROME: &str = r#"[{"ph":"B","name":"run","pid":1,"tid":"2","ts":10},{"ph":"X","name":"f","pid":1,"tid":"2","ts":12,"dur":3},
    {"ph":"E","pid":1,"tid":"2","ts":20},{"ph":"P","name":"ProfileChunk","id":"0x1","args":{"data":{"cpuProfile":{"nodes":[
    {"id":1,"callFrame":{"functionName":"parse"}}],"samples":[1,1]},"timeDeltas":[5,7],"endTime":30}}}]"#;
const FIREFOX: &str = r#"{"meta":{"interval":1,"categories":[{"name":"JavaScript"}]},"threads":[{"name":"a","samples":
    {"stack":[0,1],"time":[1,2]},"stackTable":{"prefix":[null,0],"frame":[0,0]},"frameTable":{"func":[0],"category":[0]},
    "funcTable":{"name":[0],"fileName":[1],"lineNumber":[3],"columnNumber":[4]},"stringArray":["parse","a.js"]},
    {"name":"b","samples":{"schema":{"stack":0,"time":1},"data":[[0,1],[null,2]]},"stackTable":{"schema":{"prefix":0,"frame":1},
    "data":[[null,0]]},"frameTable":{"schema":{"location":0},"data":[[0]]},"stringTable":["f (a.js:1:2)"]}]}"#;
const SPEEDSCOPE: &str = r#"{"$schema":"","shared":{"frames":[{"name":"parse","file":"a.js","line":1,"col":2}]},"profiles":[
    {"type":"sampled","unit":"milliseconds","startValue":0,"samples":[[0],[0,0],[]],"weights":[1,2,3]},
    {"type":"evented","unit":"seconds","startValue":0,"endValue":9,"events":[{"type":"O","at":1,"frame":0},{"type":"C","at":2,"frame":0}]}]}"#;

/// Texts in the readable formats.
const TEXTS: [(Format, &str); 7] = [
    (Format::W3c, W3C),
    (Format::CpuProfile, CPU_PROFILE),
    (Format::CpuProfile, OLD_CPU_PROFILE),
    (Format::Explainer, EXPLAINER),
    (Format::Chrome, CHROME),
    (Format::Firefox, FIREFOX),
    (Format::Speedscope, SPEEDSCOPE),
];

fn read_any(bytes: &[u8]) -> Result<Profile, ReadError> {
    read(bytes, Hint::default(), &ReadOptions::default())
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// The error and its causes, as one line.
fn message(result: Result<Profile, ReadError>) -> String {
    let error = result.unwrap_err();
    let causes = std::iter::successors(std::error::Error::source(&error), |cause| cause.source());
    causes.fold(error.to_string(), |message, cause| format!("{message}: {cause}"))
}

#[test]
fn formats_are_detected() {
    for (format, text) in TEXTS {
        for bytes in [text.as_bytes().to_vec(), gzip(text.as_bytes())] {
            let profile = read_any(&bytes).unwrap();
            assert_eq!(profile.format, format);
            assert!(profile.threads.iter().all(|(_, problems)| problems.is_empty()));
        }
    }
}

/// PowerShell writes UTF-16 with a byte order mark, and editors write UTF-8 with one.
#[test]
fn encodings_are_detected() {
    for (format, text) in TEXTS {
        let expected = read_any(text.as_bytes()).unwrap();
        let units = || text.encode_utf16();
        let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
        let encoded = [
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            [b"\xff\xfe", &little[..]].concat(),
            [b"\xfe\xff", &big[..]].concat(),
            little.clone(),
            big,
            gzip(&[b"\xff\xfe", &little[..]].concat()),
        ];
        for bytes in encoded {
            let profile = read_any(&bytes).unwrap();
            assert_eq!(profile.format, format);
            for ((expected, _), (found, problems)) in expected.threads.iter().zip(&profile.threads) {
                assert_eq!(problems.list(), []);
                assert_eq!(found.trace.samples(), expected.trace.samples());
            }
        }
    }
}

#[test]
fn what_is_not_read_is_named() {
    let chunk = r#"{"version":"2","platform":"javascript","profile":{"samples":[],"frames":[],"stacks":[],"thread_metadata":{}}}"#;
    assert_eq!(
        message(read_any(chunk.as_bytes())),
        "this is a profile in Sentry's format, which selfprof does not read"
    );
    let heap =
        r#"{"head":{"callFrame":{"functionName":"(root)"},"selfSize":0,"id":1,"children":[]},"samples":[]}"#;
    assert_eq!(message(read_any(heap.as_bytes())), "this is a V8 heap profile, which selfprof does not read");
    assert_eq!(message(read_any(b"{\"a\":1}")), "the JSON is in no format that selfprof knows");
    for other in OtherFormat::ALL {
        assert!(!other.to_string().is_empty() && !other.hint().is_empty());
    }
}

#[test]
fn the_hint_overrides_detection() {
    let hint = Hint { format: Some(Format::CpuProfile), name: Some("a.json") };
    let error = read(W3C.as_bytes(), hint, &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().starts_with("the JSON is not a V8 CPU profile"), "{error}");
}

#[test]
fn corrupt_compression_is_an_error() {
    for (_, text) in TEXTS {
        let whole = gzip(text.as_bytes());
        for length in [3, 12, whole.len() / 2, whole.len() - 1] {
            assert!(message(read_any(&whole[..length])).starts_with("cannot read the trace: "));
        }
    }
}

#[test]
fn the_size_limit_applies_after_decompression() {
    let zeros = gzip(&vec![b' '; 1 << 22]);
    assert!(zeros.len() < 1 << 16);
    let options = ReadOptions { max_bytes: 1 << 20, ..ReadOptions::default() };
    assert!(matches!(read(&zeros[..], Hint::default(), &options), Err(ReadError::TooLong)));
}

#[test]
fn depth_is_bounded() {
    for start in [
        "[{\"ph\":",
        "{\"traceEvents\":[{\"args\":",
        "{\"meta\":{\"a\":",
        "{\"meta\":{},\"threads\":[{\"samples\":{\"stack\":",
        "{\"shared\":{\"frames\":",
        "{\"frames\":",
        "{\"nodes\":",
        "{\"nodes\":[{\"children\":",
        "{\"profile\":{\"a\":",
        "{\"x\":",
        "",
    ] {
        for bracket in ["[", "{\"a\":"] {
            assert!(
                message(read_any(format!("{start}{}", bracket.repeat(500_000)).as_bytes())).contains("JSON")
            );
        }
    }
}

#[test]
fn extreme_numbers_never_panic() {
    for (format, text) in TEXTS {
        for number in ["1000000000", "-1", "1e300", "1e999999", "0.5", "18446744073709551616"] {
            for part in
                text.split_inclusive(|c: char| !c.is_ascii_digit()).take(400).collect::<Vec<_>>().windows(1)
            {
                let digits = part[0].trim_end_matches(|c: char| !c.is_ascii_digit());
                if digits.is_empty() {
                    continue;
                }
                let changed = text.replacen(&format!(":{digits}"), &format!(":{number}"), 1);
                let hint = Hint { format: Some(format), name: None };
                let _ = read(changed.as_bytes(), hint, &ReadOptions::default());
            }
        }
    }
}

#[test]
fn invalid_utf8_is_replaced_or_an_error() {
    for (_, text) in TEXTS {
        let mut bytes = text.as_bytes().to_vec();
        let name = text
            .find("(anonymous)")
            .or_else(|| text.find("runSmall"))
            .or_else(|| text.find("parse"))
            .unwrap();
        bytes[name] = 0xFF;
        match read_any(&bytes) {
            Ok(profile) => {
                assert!(profile.threads[0].0.trace.names().iter().any(|(_, name)| name.contains('\u{FFFD}')))
            }
            Err(error) => assert!(matches!(error, ReadError::Json(..))),
        }
    }
}

/// Random JSON with the members of the formats, in any order and of any type.
fn json() -> impl Strategy<Value = Value> {
    const MEMBERS: &[&str] = &[
        "frames",
        "resources",
        "samples",
        "stacks",
        "trace",
        "entries",
        "nodes",
        "timeDeltas",
        "startTime",
        "id",
        "parent",
        "children",
        "callFrame",
        "functionName",
        "url",
        "lineNumber",
        "columnNumber",
        "selfprof",
        "version",
        "timeOrigin",
        "pauses",
        "profile",
        "strings",
        "stackFrames",
        "main-thread",
        "1",
        "2",
        "name",
        "type",
        "timestamp",
        "stack",
        "stackId",
        "frameId",
        "parentId",
        "resourceId",
        "line",
        "column",
        "marker",
        "duration",
        "entryType",
        "head",
        "hitCount",
        "timestamps",
        "durations",
        "traceEvents",
        "ph",
        "ts",
        "dur",
        "args",
        "meta",
        "threads",
        "processes",
        "shared",
        "schema",
        "data",
        "stackTable",
        "frameTable",
        "funcTable",
        "stringArray",
        "profiles",
        "events",
        "weights",
        "unit",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2..9_i64).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(
            &[
                "",
                "stack",
                "mark",
                "gc",
                "B",
                "E",
                "X",
                "O",
                "C",
                "ms",
                "(root)",
                "(idle)",
                "f @ a.js:1:2",
                "\u{0}ü"
            ][..]
        )
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        let member = (prop::sample::select(MEMBERS), inner.clone());
        prop_oneof![
            prop::collection::vec(inner, 0..6).prop_map(Value::from),
            prop::collection::vec(member, 0..6).prop_map(|members| members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect::<Map<_, _>>()
                .into()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn json_of_any_shape_never_panics(json in json(), format in prop::sample::select(&Format::READABLE[..])) {
        let hint = Hint { format: Some(format), name: None };
        if let Ok(profile) = read(json.to_string().as_bytes(), hint, &ReadOptions::default()) {
            for (thread, _) in profile.threads {
                let trace = thread.trace;
                prop_assert!(trace.stacks().iter().all(|(id, stack)| stack.parent < Some(id)));
                prop_assert!(trace.samples().is_sorted_by_key(|sample| sample.timestamp));
            }
        }
    }

    #[test]
    fn corrupt_text_never_panics(which in 0..TEXTS.len(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = TEXTS[which].1.as_bytes().to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = read_any(&bytes);
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), gzip_header in any::<bool>()) {
        let mut bytes = bytes;
        if gzip_header {
            bytes.splice(0..0, [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
        }
        let _ = read_any(&bytes);
    }
}
