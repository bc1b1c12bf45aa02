//! A source map, in the order in which it is asked.

use std::fmt;

use sourcemap::{DecodedMap, SourceMap, SourceMapIndex};

use crate::declaration::{Declared, Text};
use crate::excerpt::Excerpt;

/// How long a map may be. Its mappings take up to 16 times as much memory.
const MOST_BYTES: usize = 1 << 26;

/// How deep maps may lie in sections of maps. The format has one level of them.
const MOST_LEVELS: usize = 4;

/// A source map that was read.
#[derive(Debug)]
pub struct Map {
    mappings: Vec<Mapping>,
    sources: Vec<Source>,
    names: Vec<String>,
    debug_id: Option<String>,
    file: Option<String>,
}

/// Where a stretch of generated code comes from. Lines and columns count from 0 here.
#[derive(Clone, Copy, Debug)]
struct Mapping {
    generated: (u32, u32),
    /// `None` where the code was made from nothing.
    source: Option<u32>,
    original: (u32, u32),
    name: Option<u32>,
}

#[derive(Debug)]
struct Source {
    name: String,
    text: Option<Text>,
}

/// Where a function is in its source.
#[derive(Clone, Debug)]
pub(crate) struct Place<'map> {
    /// The source as the map names it.
    pub(crate) source: &'map str,
    /// Counted from 1.
    pub(crate) line: u32,
    /// Counted from 1, in UTF-16 code units.
    pub(crate) column: u32,
    /// What the function is called there; empty when it has no name; `None` when that is not known.
    pub(crate) name: Option<&'map str>,
    /// The text around it, when the map holds it.
    pub(crate) excerpt: Option<Excerpt<'map>>,
}

impl Map {
    /// Reads a map, or an index map with all its sections.
    pub fn read(json: &[u8]) -> Result<Self, MapError> {
        if json.len() > MOST_BYTES {
            return Err(MapError::TooLong);
        }
        Self::of(sourcemap::decode_slice(json).map_err(|error| MapError::Invalid(error.to_string()))?)
    }

    /// Reads a map that is in a `data:` URL.
    pub fn from_data_url(url: &str) -> Result<Self, MapError> {
        if url.len() > MOST_BYTES {
            return Err(MapError::TooLong);
        }
        Self::of(sourcemap::decode_data_url(url).map_err(|error| MapError::Invalid(error.to_string()))?)
    }

    /// The identity that the map shares with the code, in lower case, if it has one.
    pub fn debug_id(&self) -> Option<&str> {
        self.debug_id.as_deref()
    }

    /// The name of the generated code, if the map tells.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    fn of(decoded: DecodedMap) -> Result<Self, MapError> {
        let debug_id = decoded.debug_id().map(|id| id.to_string().to_ascii_lowercase());
        let mut map =
            Self { mappings: Vec::new(), sources: Vec::new(), names: Vec::new(), debug_id, file: None };
        map.take(&decoded, (0, 0), MOST_LEVELS)?;
        map.mappings.sort_by_key(|mapping| mapping.generated);
        Ok(map)
    }

    fn take(&mut self, decoded: &DecodedMap, offset: (u32, u32), levels: usize) -> Result<(), MapError> {
        match decoded {
            DecodedMap::Regular(map) => self.take_map(map, offset),
            DecodedMap::Hermes(map) => self.take_map(map, offset),
            DecodedMap::Index(index) => self.take_sections(index, offset, levels)?,
        }
        Ok(())
    }

    fn take_map(&mut self, map: &SourceMap, (line, column): (u32, u32)) {
        self.file = self.file.take().or_else(|| map.get_file().map(str::to_owned));
        let (first_source, first_name) = (self.sources.len() as u32, self.names.len() as u32);
        self.sources.extend(map.sources().zip(map.source_contents()).map(|(name, text)| Source {
            name: name.to_owned(),
            text: text.map(|text| Text::new(text.to_owned())),
        }));
        self.names.extend(map.names().map(str::to_owned));
        let has = |id: u32, count: u32| Some(id).filter(|&id| id < count);
        self.mappings.extend(map.tokens().map(|token| {
            let raw = token.get_raw_token();
            let column = if raw.dst_line == 0 { raw.dst_col.saturating_add(column) } else { raw.dst_col };
            Mapping {
                generated: (raw.dst_line.saturating_add(line), column),
                source: has(raw.src_id, map.get_source_count()).map(|id| id + first_source),
                original: (raw.src_line, raw.src_col),
                name: has(raw.name_id, map.get_name_count()).map(|id| id + first_name),
            }
        }));
    }

    fn take_sections(
        &mut self,
        index: &SourceMapIndex,
        (line, column): (u32, u32),
        levels: usize,
    ) -> Result<(), MapError> {
        let Some(levels) = levels.checked_sub(1) else {
            return Err(MapError::Invalid("its sections have sections that have sections ...".to_owned()));
        };
        self.file = self.file.take().or_else(|| index.get_file().map(str::to_owned));
        for section in index.sections() {
            let (down, right) = section.get_offset();
            let right = if down == 0 { right.saturating_add(column) } else { right };
            if let Some(map) = section.get_sourcemap() {
                self.take(map, (down.saturating_add(line), right), levels)?;
            }
        }
        Ok(())
    }

    /// Where the function comes from that is defined at this line and column, which count from 1. `generated` is what it is
    /// called there.
    pub(crate) fn find(&self, line: u32, column: u32, generated: &str) -> Option<Place<'_>> {
        let position = (line.checked_sub(1)?, column.checked_sub(1)?);
        // The last mapping that begins there or before, on the same line.
        let after = self.mappings.partition_point(|mapping| mapping.generated <= position);
        let mapping = self.mappings[..after].last().filter(|mapping| mapping.generated.0 == position.0)?;
        let source = self.sources.get(mapping.source? as usize)?;
        let (line, column) = mapping.original;
        let mapped_name = mapping.name.and_then(|id| self.names.get(id as usize)).map(String::as_str);
        let declared = source.text.as_ref().map_or(Declared::Unknown, |text| text.declared_at(line, column));
        let name = match declared {
            Declared::As(name) => Some(name),
            // What has no name in the source has none in the code either, unless the map knows one or a tool gave it one.
            Declared::Nameless if generated.is_empty() => Some(mapped_name.unwrap_or("")),
            Declared::Nameless | Declared::Unknown => mapped_name,
        };
        Some(Place {
            source: &source.name,
            line: line.saturating_add(1),
            column: column.saturating_add(1),
            name,
            excerpt: source.text.as_ref().map(|text| Excerpt::new(text, line)),
        })
    }
}

/// Why a map cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapError {
    /// It is longer than 64 MiB.
    TooLong,
    /// It is no source map, in these words.
    Invalid(String),
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "it is longer than {} MiB", MOST_BYTES >> 20),
            Self::Invalid(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for MapError {}

#[cfg(test)]
mod tests;
