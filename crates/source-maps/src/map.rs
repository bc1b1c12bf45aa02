//! Reading a source map, and looking up positions.

mod sizes;

use std::fmt;

use data_encoding::BASE64;
use sourcemap::{DecodedMap, SourceMap, SourceMapIndex};

use crate::declaration::{Declared, Text};
use crate::excerpt::Excerpt;
use crate::scopes::{self, BadScopes, Field, Function, Functions, Position};

/// The maximum size of a map.
const MAX_BYTES: usize = 1 << 26;

/// The maximum nesting of maps in sections. The format allows only one level.
const MAX_LEVELS: usize = 4;

/// The maximum length of a function's name. Longer ones are ignored, because many functions may share one.
const MAX_NAME_BYTES: usize = 1 << 12;

/// At most this many mappings of one position are searched for a name. Tools write one or two.
const MAX_AT_POSITION: usize = 8;

/// The length of `__name(`, with which esbuild keeps the names of functions. It gives the call the place of the function.
const NAME_CALL: u32 = 7;

/// What V8 puts before the names of accessors.
const ACCESSORS: [&str; 2] = ["get ", "set "];

/// A source map.
#[derive(Debug)]
pub struct Map {
    mappings: Vec<Mapping>,
    sources: Vec<Source>,
    names: Vec<String>,
    /// The functions of the generated code, from scopes.
    functions: Functions,
    bad_scopes: Option<BadScopes>,
    debug_id: Option<String>,
    file: Option<String>,
}

/// A mapping, with 0-based lines and columns.
#[derive(Clone, Copy, Debug)]
struct Mapping {
    generated: Position,
    /// `None` if the generated code has no source.
    source: Option<u32>,
    original: Position,
    name: Option<u32>,
}

#[derive(Debug)]
struct Source {
    name: String,
    text: Option<Text>,
    /// Its functions, from scopes that have no generated ranges.
    functions: Functions,
}

/// A function's name and location in its source.
#[derive(Clone, Debug)]
pub(crate) struct Original<'map> {
    /// The name of the source in the map.
    pub(crate) source: &'map str,
    /// The index of the source in the map.
    pub(crate) source_index: u32,
    /// 1-based.
    pub(crate) line: u32,
    /// 1-based, in UTF-16 code units.
    pub(crate) column: u32,
    /// The name of the function; empty if it has none, `None` if it is unknown.
    pub(crate) name: Option<&'map str>,
    /// How many columns the mapping is before the function in the generated code; `None` for the script itself.
    pub(crate) ahead: Option<u32>,
    /// The text around it, if the map contains the source.
    pub(crate) excerpt: Option<Excerpt<'map>>,
}

/// The JSON in a `data:` URL, which is not checked.
pub fn json_of_data_url(url: &str) -> Result<Vec<u8>, MapError> {
    if url.len() > MAX_BYTES {
        return Err(MapError::TooLong);
    }
    let invalid = || MapError::Invalid("the data: URL is not base64-encoded JSON".to_owned());
    let (kind, data) = url.split_once(',').ok_or_else(invalid)?;
    if !kind.starts_with("data:application/json") || !kind.ends_with(";base64") {
        return Err(invalid());
    }
    BASE64.decode(data.as_bytes()).map_err(|_| invalid())
}

impl Map {
    /// Reads a source map or an index map.
    pub fn read(json: &[u8]) -> Result<Self, MapError> {
        if json.len() > MAX_BYTES {
            return Err(MapError::TooLong);
        }
        sizes::check(scopes::without_guard(json))?;
        let decoded = sourcemap::decode_slice(json).map_err(|error| MapError::Invalid(error.to_string()))?;
        Self::of(&decoded, Field::read(json))
    }

    /// Reads a map from a `data:` URL.
    pub fn from_data_url(url: &str) -> Result<Self, MapError> {
        Self::read(&json_of_data_url(url)?)
    }

    /// The number of mappings.
    pub fn mappings(&self) -> usize {
        self.mappings.len()
    }

    /// The map's debug ID in lower case, if it has one.
    pub fn debug_id(&self) -> Option<&str> {
        self.debug_id.as_deref()
    }

    /// The name of the generated file, if the map has it.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// The error in the scopes of the map or of one of its sections, if any. Bad scopes are ignored.
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
        map.add(decoded, field, (0, 0), MAX_LEVELS)?;
        map.mappings.sort_by_key(|mapping| mapping.generated);
        map.functions.sort();
        Ok(map)
    }

    fn add(
        &mut self,
        decoded: &DecodedMap,
        field: Field,
        offset: Position,
        levels: usize,
    ) -> Result<(), MapError> {
        match decoded {
            DecodedMap::Regular(map) => self.add_map(map, field, offset),
            DecodedMap::Hermes(map) => self.add_map(map, field, offset),
            DecodedMap::Index(index) => self.add_sections(index, field, offset, levels)?,
        }
        Ok(())
    }

    fn add_map(&mut self, map: &SourceMap, field: Field, (line, column): Position) {
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
        self.mappings.reserve_exact(map.get_token_count() as usize);
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

    fn add_sections(
        &mut self,
        index: &SourceMapIndex,
        field: Field,
        (line, column): Position,
        levels: usize,
    ) -> Result<(), MapError> {
        let Some(levels) = levels.checked_sub(1) else {
            return Err(MapError::Invalid("its sections are nested too deeply".to_owned()));
        };
        self.file = self.file.take().or_else(|| index.get_file().map(str::to_owned));
        let mut fields = field.into_sections();
        for section in index.sections() {
            let field = fields.next().unwrap_or_default();
            let (down, right) = section.get_offset();
            let right = if down == 0 { right.saturating_add(column) } else { right };
            if let Some(map) = section.get_sourcemap() {
                self.add(map, field, (down.saturating_add(line), right), levels)?;
            }
        }
        Ok(())
    }

    /// Whether scopes hide the function defined at this 1-based line and column from stacks, because it is not a function in the
    /// source.
    pub(crate) fn hides(&self, line: u32, column: u32, generated: &str) -> bool {
        let at = line.checked_sub(1).zip(column.checked_sub(1));
        at.and_then(|at| self.functions.defined_at(at, width(generated))).is_some_and(|known| known.is_hidden)
    }

    /// The original of the function with the name `generated` that is defined at this 1-based line and column.
    pub(crate) fn find(&self, line: u32, column: u32, generated: &str) -> Option<Original<'_>> {
        let position = (line.checked_sub(1)?, column.checked_sub(1)?);
        // The last mapping at or before the position, on the same line.
        let after = self.mappings.partition_point(|mapping| mapping.generated <= position);
        let mapping = self.mappings[..after].last().filter(|mapping| mapping.generated.0 == position.0)?;
        let source_index = mapping.source?;
        let source = self.sources.get(source_index as usize)?;
        let known = self.functions.defined_at(position, width(generated));
        let known = known.or_else(|| self.original_function(source, mapping.original));
        let scoped = known.and_then(|function| self.name(function.name));
        let (line, column) = mapping.original;
        // A constructor is shown with the name of its class, as in V8, which is found in the source text. Scopes that repeat the generated
        // name are not useful: SWC 1.16 writes minified names.
        let name = match scoped.filter(|name| !["", "constructor", generated].contains(name)) {
            Some(name) => Some(name),
            // An anonymous function at the very start is the script itself, not the first function of its source.
            None if position == (0, 0) && generated.is_empty() => None,
            None => self.declared_name(source, mapping, position, generated),
        };
        Some(Original {
            source: &source.name,
            source_index,
            line: line.saturating_add(1),
            column: column.saturating_add(1),
            name,
            ahead: (position != (0, 0)).then(|| match position.1 - mapping.generated.1 {
                NAME_CALL if self.is_argument(mapping, position, after) => 0,
                ahead => ahead,
            }),
            excerpt: source.text.as_ref().map(|text| Excerpt::new(text, line)),
        })
    }

    /// Whether an arrow function at this position, as the argument of esbuild's `__name(`, is what the mapping of that call is the
    /// original of. Then the next mapping, at this index, is that of its first parameter, or of the body behind `()=>`.
    fn is_argument(&self, mapping: &Mapping, position: Position, next: usize) -> bool {
        let Some(next) = self.mappings.get(next) else { return false };
        let is_on_line = next.generated.0 == position.0 && next.original.0 == mapping.original.0;
        let distance = next.original.1.checked_sub(mapping.original.1);
        is_on_line
            && next.source == mapping.source
            && distance.is_some_and(|original| match (next.generated.1 - position.1, original) {
                (1, original) => original == 1,
                (4, original) => (4..=6).contains(&original),
                _ => false,
            })
    }

    /// The name of a function from the source text, or else from the mapping of its name.
    fn declared_name<'map>(
        &'map self,
        source: &'map Source,
        mapping: &Mapping,
        position: Position,
        generated: &str,
    ) -> Option<&'map str> {
        let (line, column) = mapping.original;
        // A function without a name starts at `function`, `async` or its parameters. If the mapping starts earlier, at something else,
        // its original position is not the function's: in `on(event => ...)`, it may be that of `on`.
        let is_exact = !generated.is_empty() || mapping.generated == position;
        let text = source.text.as_ref();
        let text = text.filter(|text| is_exact || text.has_function_keyword_at(line, column));
        let declared = text.map_or(Declared::Unknown, |text| text.declared_at(line, column));
        match declared {
            Declared::Named(name) => Some(name),
            // A function that is anonymous in both source and code has no name.
            Declared::Anonymous if generated.is_empty() => Some(""),
            Declared::Anonymous | Declared::Unknown => self.mapped_name(position, generated),
        }
    }

    /// The original name of the identifier that ends at the function's position, in `function a(` or in a method `a(`.
    ///
    /// A mapping at the position itself may have the name of a parameter, as in `a => 1`, and an earlier one may have the name of
    /// something else, as in `on(a => 1)`.
    fn mapped_name(&self, (line, column): Position, generated: &str) -> Option<&str> {
        let own = ACCESSORS.iter().find_map(|accessor| generated.strip_prefix(accessor)).unwrap_or(generated);
        let start = (line, column.checked_sub(width(own)).filter(|&start| start < column)?);
        let after = self.mappings.partition_point(|mapping| mapping.generated <= start);
        let here = self.mappings[..after].iter().rev().take_while(|mapping| mapping.generated == start);
        let name = here.take(MAX_AT_POSITION).find_map(|mapping| self.name(mapping.name))?;
        // V8 names an anonymous function after its variable, and a constructor after its class. In front of their parameters is a keyword,
        // which some tools map with a name.
        (!["", "async", "constructor", "function"].contains(&name)).then_some(name)
    }

    /// The function of a source that is defined at the original position. That is often the function's name, after which its scope may
    /// start.
    fn original_function<'map>(&'map self, source: &'map Source, at: Position) -> Option<&'map Function> {
        let next = source.functions.next_from(at).filter(|(function, distance)| {
            *distance == 0 || self.name(function.name).is_some_and(|name| width(name) == *distance)
        });
        next.map(|(function, _)| function).or_else(|| source.functions.defined_at(at, 0))
    }

    fn name(&self, id: Option<u32>) -> Option<&str> {
        self.names.get(id? as usize).map(String::as_str).filter(|name| name.len() <= MAX_NAME_BYTES)
    }
}

/// The number of columns of a name, in UTF-16 units.
fn width(name: &str) -> u32 {
    name.encode_utf16().count().try_into().unwrap_or(u32::MAX)
}

/// Why a map cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapError {
    /// It is longer than 64 MiB.
    TooLong,
    /// It is not a valid source map, for this reason.
    Invalid(String),
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "it is longer than {} MiB", MAX_BYTES >> 20),
            Self::Invalid(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for MapError {}

#[cfg(test)]
mod tests;
