//! Source maps of instrumented text.

#![forbid(unsafe_code)]

use selfprof_instrument::{Instrumented, Options, instrument};
use sourcemap::{SourceMap, SourceMapBuilder};

const SOURCE: &str = "const größe = '𝒳'; function f(x) {\r\n  while (x > 0) x--\n  return größe.split('é').map(y => y.trim()) }\n\
                      f(1); for (const k of [3, 1].sort()) { f(k); f('𝒳'.replace('é', k)) }\u{2028}f(2)";

fn instrumented(source: &str) -> Instrumented {
    instrument(source, &Options { min_statements: 0, ..Options::default() }).expect("JavaScript")
}

/// The text from a position to the end of the word or of the line.
fn word_at(text: &str, line: u32, column: u32) -> String {
    let lines: Vec<&str> = text.split(['\n', '\u{2028}']).collect();
    let units: Vec<u16> = lines[line as usize].encode_utf16().collect();
    let rest = String::from_utf16_lossy(&units[column as usize..]);
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let end = rest.find(|character| !is_part(character)).unwrap_or(rest.len());
    rest[..end.max(rest.chars().next().map_or(0, char::len_utf8))].to_owned()
}

#[test]
fn every_word_is_mapped_to_itself() {
    let instrumented = instrumented(SOURCE);
    let json = instrumented.source_map(SOURCE, "app.js", None).expect("a map");
    let map = SourceMap::from_slice(&json).expect("a map");
    assert_eq!(map.get_source(0), Some("app.js"));
    assert_eq!(map.get_source_contents(0), Some(SOURCE));
    let mut words = Vec::new();
    for token in map.tokens() {
        let word = word_at(&instrumented.text, token.get_dst_line(), token.get_dst_col());
        assert_eq!(word, word_at(SOURCE, token.get_src_line(), token.get_src_col()), "{token:?}");
        words.push(word);
    }
    for word in
        ["größe", "function", "while", "x", "return", "split", "é", "map", "y", "trim", "sort", "replace"]
    {
        assert!(words.iter().any(|found| found == word), "{word} is not mapped");
    }
}

#[test]
fn each_mapping_of_the_input_is_kept() {
    let instrumented = instrumented(SOURCE);
    let mut builder = SourceMapBuilder::new(Some("bundle.js"));
    builder.set_source_root(Some("src"));
    let (a, b) = (builder.add_source("a.ts"), builder.add_source("b.ts"));
    builder.set_source_contents(a, Some("text of a"));
    builder.add_to_ignore_list(b);
    // Each unit of each line, each with a place that tells where it was.
    for (line, text) in (0..).zip(SOURCE.split(['\n', '\u{2028}'])) {
        let mut column = 0;
        for character in text.chars() {
            let source = ["a.ts", "b.ts"][column as usize % 2];
            builder.add(line, column, line + 100, column + 1000, Some(source), Some("name"), false);
            column += character.len_utf16() as u32;
        }
    }
    let mut input = Vec::new();
    builder.into_sourcemap().to_writer(&mut input).expect("JSON");
    let before = SourceMap::from_slice(&input).expect("a map").get_token_count();

    let json = instrumented.source_map(SOURCE, "unused", Some(&input)).expect("a map");
    let map = SourceMap::from_slice(&json).expect("a map");
    assert_eq!(map.get_token_count(), before);
    for token in map.tokens() {
        let (line, column) = (token.get_src_line() - 100, token.get_src_col() - 1000);
        assert_eq!(
            word_at(&instrumented.text, token.get_dst_line(), token.get_dst_col()),
            word_at(SOURCE, line, column),
            "{token:?}"
        );
        assert_eq!(token.get_source(), Some(["src/a.ts", "src/b.ts"][column as usize % 2]));
        assert_eq!(token.get_name(), Some("name"));
    }
    assert_eq!(map.get_file(), Some("bundle.js"));
    let a = map.sources().position(|source| source == "src/a.ts").and_then(|index| u32::try_from(index).ok());
    assert_eq!(a.and_then(|index| map.get_source_contents(index)), Some("text of a"));
    let ignored: Vec<_> = map.ignore_list().filter_map(|index| map.get_source(*index)).collect();
    assert_eq!(ignored, ["src/b.ts"]);
}

#[test]
fn maps_with_sections_are_read() {
    let map = br#"{"version":3,"sections":[{"offset":{"line":0,"column":6},"map":
        {"version":3,"sources":["a.js"],"names":[],"mappings":"AACA"}}]}"#;
    let instrumented = instrumented(SOURCE);
    let json = instrumented.source_map(SOURCE, "unused", Some(map)).expect("a map");
    let map = SourceMap::from_slice(&json).expect("a map");
    let token = map.get_token(0).expect("a mapping");
    assert_eq!((token.get_dst(), token.get_src(), token.get_source()), ((0, 6), (1, 0), Some("a.js")));
}

#[test]
fn maps_that_are_none_are_errors() {
    let instrumented = instrumented(SOURCE);
    for map in ["", "{", "[]", r#"{"version":3,"sources":[],"names":[],"mappings":"!"}"#] {
        assert!(instrumented.source_map(SOURCE, "a.js", Some(map.as_bytes())).is_err(), "{map}");
    }
    // Mappings far outside of the text.
    let far = br#"{"version":3,"sources":["a.js"],"names":[],"mappings":"ggggggBAAA;;;;;;;;;;;;AAAA"}"#;
    assert!(instrumented.source_map(SOURCE, "a.js", Some(far)).is_ok());
}
