//! The source map of an instrumented text.

use crate::edits::{self, Inserted};
use crate::output::Instrumented;
use crate::positions::Positions;
use sourcemap::{DecodedMap, SourceMap, SourceMapBuilder};
use std::fmt;

/// Why a source map could not be made.
#[derive(Debug)]
pub struct MapError(sourcemap::Error);

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the source map cannot be read")
    }
}

impl std::error::Error for MapError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

impl From<sourcemap::Error> for MapError {
    fn from(error: sourcemap::Error) -> Self {
        Self(error)
    }
}

impl Instrumented {
    /// A source map, as JSON, from the instrumented text to the text that `source` was made from.
    ///
    /// With the map of `source` itself, given as JSON, each of its mappings is moved to where its text is now: what was
    /// mapped exactly stays so. Proposed parts of maps, such as scopes, are left out, because their positions are not
    /// moved, and so is the debug id, which is that of `source`. Without one, each word and
    /// each operator of `source` is mapped, and `url` is its URL.
    ///
    /// # Errors
    ///
    /// The map of `source` is not a source map.
    pub fn source_map(&self, source: &str, url: &str, map: Option<&[u8]>) -> Result<Vec<u8>, MapError> {
        let positions = Positions::new(source);
        let moved = Moved { positions: &positions, inserted: &self.inserted };
        let map = match map {
            // Editors may have put a byte order mark before it.
            Some(map) => match sourcemap::decode_slice(map.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(map))? {
                DecodedMap::Regular(map) => moved.compose(&map),
                DecodedMap::Index(map) => moved.compose(&map.flatten()?),
                DecodedMap::Hermes(map) => moved.compose(&map),
            },
            None => moved.words(source, url),
        };
        let mut json = Vec::new();
        map.to_writer(&mut json)?;
        Ok(json)
    }
}

struct Moved<'a> {
    positions: &'a Positions<'a>,
    inserted: &'a [Inserted],
}

impl Moved<'_> {
    /// The column, from 0, of the character at an offset.
    fn column(&self, offset: u32, line: usize) -> u32 {
        let start = self.positions.line_start(line);
        let units = self.positions.units_before(offset) - self.positions.units_before(start);
        units + edits::shift(self.inserted, offset) - edits::shift_of_end(self.inserted, start)
    }

    fn compose(&self, map: &SourceMap) -> SourceMap {
        let mut builder = SourceMapBuilder::new(map.get_file());
        // They begin with the source root already.
        for (index, source) in (0..).zip(map.sources()) {
            let id = builder.add_source(source);
            builder.set_source_contents(id, map.get_source_contents(index));
        }
        for index in map.ignore_list() {
            if let Some(source) = map.get_source(*index) {
                let id = builder.add_source(source);
                builder.add_to_ignore_list(id);
            }
        }
        for token in map.tokens() {
            let line = token.get_dst_line();
            // A mapping outside of the text maps nothing.
            let Some(offset) = self.positions.offset(line as usize, token.get_dst_col()) else { continue };
            let column = self.column(offset, line as usize);
            builder.add(
                line,
                column,
                token.get_src_line(),
                token.get_src_col(),
                token.get_source(),
                token.get_name(),
                token.is_range(),
            );
        }
        builder.into_sourcemap()
    }

    fn words(&self, text: &str, url: &str) -> SourceMap {
        let mut builder = SourceMapBuilder::new(None);
        let source = builder.add_source(url);
        builder.set_source_contents(source, Some(text));
        for line in 0..self.positions.lines() {
            let start = self.positions.line_start(line);
            let end = if line + 1 < self.positions.lines() {
                self.positions.line_start(line + 1)
            } else {
                text.len() as u32
            };
            let mut original = 0;
            let mut shift = edits::shift_of_end(self.inserted, start);
            let before_line = shift;
            let mut next = self.inserted.partition_point(|entry| entry.at < start);
            let mut was_part = None;
            for (at, character) in text[start as usize..end as usize].char_indices() {
                let is_inserted = self.inserted.get(next).is_some_and(|entry| entry.at == start + at as u32);
                if is_inserted {
                    shift = self.inserted[next].sum;
                    next += 1;
                }
                let is_part = character.is_alphanumeric() || matches!(character, '_' | '$');
                if is_inserted || was_part != Some(is_part) {
                    builder.add_raw(
                        line as u32,
                        original + shift - before_line,
                        line as u32,
                        original,
                        Some(source),
                        None,
                        false,
                    );
                }
                was_part = Some(is_part);
                original += character.len_utf16() as u32;
            }
        }
        builder.into_sourcemap()
    }
}
