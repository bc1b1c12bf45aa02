//! A source map, in the order in which it is asked.

use std::fmt;

use data_encoding::BASE64;
use sourcemap::{DecodedMap, SourceMap, SourceMapIndex};

use crate::declaration::{Declared, Text};
use crate::excerpt::Excerpt;
use crate::scopes::{self, BadScopes, Field, Function, Functions, Position};

/// How long a map may be. Its mappings take up to 16 times as much memory.
const MOST_BYTES: usize = 1 << 26;

/// How deep maps may lie in sections of maps. The format has one level of them.
const MOST_LEVELS: usize = 4;

/// How long a function's name may be. What is longer is taken for none, since any number of functions may have it.
const MOST_NAME_BYTES: usize = 1 << 12;

/// A source map that was read.
#[derive(Debug)]
pub struct Map {
    mappings: Vec<Mapping>,
    sources: Vec<Source>,
    names: Vec<String>,
    /// The functions of the code, as far as scopes tell.
    functions: Functions,
    bad_scopes: Option<BadScopes>,
    debug_id: Option<String>,
    file: Option<String>,
}

/// Where a stretch of generated code comes from. Lines and columns count from 0 here.
#[derive(Clone, Copy, Debug)]
struct Mapping {
    generated: Position,
    /// `None` where the code was made from nothing.
    source: Option<u32>,
    original: Position,
    name: Option<u32>,
}

#[derive(Debug)]
struct Source {
    name: String,
    text: Option<Text>,
    /// Its functions, as far as scopes tell that do not tell those of the code.
    functions: Functions,
}

/// Where a function is in its source.
#[derive(Clone, Debug)]
pub(crate) struct Place<'map> {
    /// The source as the map names it.
    pub(crate) source: &'map str,
    /// Which of the map's sources that is.
    pub(crate) source_index: u32,
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
        let decoded = sourcemap::decode_slice(json).map_err(|error| MapError::Invalid(error.to_string()))?;
        Self::of(&decoded, Field::read(json))
    }

    /// Reads a map that is in a `data:` URL.
    pub fn from_data_url(url: &str) -> Result<Self, MapError> {
        if url.len() > MOST_BYTES {
            return Err(MapError::TooLong);
        }
        let invalid = || MapError::Invalid("its data URL is not of JSON in base 64".to_owned());
        let (kind, data) = url.split_once(',').ok_or_else(invalid)?;
        if !kind.starts_with("data:application/json") || !kind.ends_with(";base64") {
            return Err(invalid());
        }
        Self::read(&BASE64.decode(data.as_bytes()).map_err(|_| invalid())?)
    }

    /// The identity that the map shares with the code, in lower case, if it has one.
    pub fn debug_id(&self) -> Option<&str> {
        self.debug_id.as_deref()
    }

    /// The name of the generated code, if the map tells.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Why the map's scopes, or those of one of its sections, are of no use, if that is so. Functions are then named as they are
    /// without.
    pub fn bad_scopes(&self) -> Option<&BadScopes> {
        self.bad_scopes.as_ref()
    }

    fn of(decoded: &DecodedMap, field: Result<Field, serde_json::Error>) -> Result<Self, MapError> {
        let (field, bad_scopes) = match field {
            Ok(field) => (field, None),
            Err(error) => (Field::default(), Some(BadScopes::Field(error.to_string()))),
        };
        let mut map = Self {
            mappings: Vec::new(),
            sources: Vec::new(),
            names: Vec::new(),
            functions: Functions::default(),
            bad_scopes,
            debug_id: decoded.debug_id().map(|id| id.to_string().to_ascii_lowercase()),
            file: None,
        };
        map.take(decoded, field, (0, 0), MOST_LEVELS)?;
        map.mappings.sort_by_key(|mapping| mapping.generated);
        map.functions.settle();
        Ok(map)
    }

    fn take(
        &mut self,
        decoded: &DecodedMap,
        field: Field,
        offset: Position,
        levels: usize,
    ) -> Result<(), MapError> {
        match decoded {
            DecodedMap::Regular(map) => self.take_map(map, field, offset),
            DecodedMap::Hermes(map) => self.take_map(map, field, offset),
            DecodedMap::Index(index) => self.take_sections(index, field, offset, levels)?,
        }
        Ok(())
    }

    fn take_map(&mut self, map: &SourceMap, field: Field, (line, column): Position) {
        self.file = self.file.take().or_else(|| map.get_file().map(str::to_owned));
        let (first_source, first_name) = (self.sources.len() as u32, self.names.len() as u32);
        self.sources.extend(map.sources().zip(map.source_contents()).map(|(name, text)| Source {
            name: name.to_owned(),
            text: text.map(|text| Text::new(text.to_owned())),
            functions: Functions::default(),
        }));
        self.names.extend(map.names().map(str::to_owned));
        let names = first_name..self.names.len() as u32;
        match field.scopes.map(|text| scopes::decode(&text, map.get_source_count(), names)) {
            Some(Ok(scopes)) if scopes.generated.is_empty() => {
                let sources = &mut self.sources[first_source as usize..];
                for (source, functions) in sources.iter_mut().zip(scopes.original) {
                    source.functions = functions;
                }
            }
            Some(Ok(scopes)) => self.functions.append(scopes.generated, (line, column)),
            Some(Err(error)) => self.bad_scopes = self.bad_scopes.take().or(Some(error)),
            None => {}
        }
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
        field: Field,
        (line, column): Position,
        levels: usize,
    ) -> Result<(), MapError> {
        let Some(levels) = levels.checked_sub(1) else {
            return Err(MapError::Invalid("its sections have sections that have sections ...".to_owned()));
        };
        self.file = self.file.take().or_else(|| index.get_file().map(str::to_owned));
        let mut fields = field.into_sections();
        for section in index.sections() {
            let field = fields.next().unwrap_or_default();
            let (down, right) = section.get_offset();
            let right = if down == 0 { right.saturating_add(column) } else { right };
            if let Some(map) = section.get_sourcemap() {
                self.take(map, field, (down.saturating_add(line), right), levels)?;
            }
        }
        Ok(())
    }

    /// Whether the function that is defined at this line and column, which count from 1, is to be left out of stacks, because
    /// a tool made it of what is no function in the source.
    pub(crate) fn hides(&self, line: u32, column: u32, generated: &str) -> bool {
        let at = line.checked_sub(1).zip(column.checked_sub(1));
        at.and_then(|at| self.functions.defined_at(at, width(generated))).is_some_and(|known| known.is_hidden)
    }

    /// Where the function comes from that is defined at this line and column, which count from 1. `generated` is what it is
    /// called there.
    pub(crate) fn find(&self, line: u32, column: u32, generated: &str) -> Option<Place<'_>> {
        let position = (line.checked_sub(1)?, column.checked_sub(1)?);
        // The last mapping that begins there or before, on the same line.
        let after = self.mappings.partition_point(|mapping| mapping.generated <= position);
        let mapping = self.mappings[..after].last().filter(|mapping| mapping.generated.0 == position.0)?;
        let source_index = mapping.source?;
        let source = self.sources.get(source_index as usize)?;
        let known = self.functions.defined_at(position, width(generated));
        let known = known.or_else(|| self.original_function(source, mapping.original));
        let scoped = known.and_then(|function| self.name(function.name));
        let (line, column) = mapping.original;
        // A constructor goes by its class's name, in V8 too, and the source tells that. What the function is called in the code
        // as well is no news: SWC 1.16 gives the names that it minified to.
        let name = match scoped.filter(|name| !["", "constructor", generated].contains(name)) {
            Some(name) => Some(name),
            // Nameless at its very beginning is the script itself, not the function that its source may begin with.
            None if position == (0, 0) && generated.is_empty() => None,
            None => self.declared_name(source, mapping, generated),
        };
        Some(Place {
            source: &source.name,
            source_index,
            line: line.saturating_add(1),
            column: column.saturating_add(1),
            name,
            excerpt: source.text.as_ref().map(|text| Excerpt::new(text, line)),
        })
    }

    /// What the source's text calls the function that a mapping leads to, else what the mapping does.
    fn declared_name<'map>(
        &'map self,
        source: &'map Source,
        mapping: &Mapping,
        generated: &str,
    ) -> Option<&'map str> {
        let (line, column) = mapping.original;
        let mapped = self.name(mapping.name);
        match source.text.as_ref().map_or(Declared::Unknown, |text| text.declared_at(line, column)) {
            Declared::As(name) => Some(name),
            // What has no name in the source has none in the code either, unless the map knows one or a tool gave it one.
            Declared::Nameless if generated.is_empty() => Some(mapped.unwrap_or("")),
            Declared::Nameless | Declared::Unknown => mapped,
        }
    }

    /// The function of a source that is defined where a mapping leads: often to its name, behind which its scope may begin.
    fn original_function<'map>(&'map self, source: &'map Source, at: Position) -> Option<&'map Function> {
        let next = source.functions.next_from(at).filter(|(function, distance)| {
            *distance == 0 || self.name(function.name).is_some_and(|name| width(name) == *distance)
        });
        next.map(|(function, _)| function).or_else(|| source.functions.defined_at(at, 0))
    }

    fn name(&self, id: Option<u32>) -> Option<&str> {
        self.names.get(id? as usize).map(String::as_str).filter(|name| name.len() <= MOST_NAME_BYTES)
    }
}

/// How many columns a name takes: UTF-16 units.
fn width(name: &str) -> u32 {
    name.encode_utf16().count().try_into().unwrap_or(u32::MAX)
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
