//! Reading a source map, and looking up positions.

mod fields;
mod mappings;

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::data_url::json_of_data_url;
use crate::excerpt::Excerpt;
use crate::inference::{self, FunctionPlace, TOP_LEVEL};
use crate::map_error::{MAX_BYTES, MapError};
use crate::problem::{Problem, Problems};
use crate::scopes::{self, Function, Functions, MAX_HEAD, Position};
use crate::text::Text;
use crate::tree::Rank;
use crate::url::is_absolute;
use fields::{Fields, Items};
use mappings::{Mapping, RangeMappings};

/// The maximum number of mappings. Each takes 40 bytes.
const MAX_MAPPINGS: usize = 3 << 22;

/// The maximum nesting of maps in sections. The format allows only one level.
const MAX_LEVELS: usize = 4;

/// The maximum length of a function's name. Longer ones are ignored, because many functions may share one.
const MAX_NAME_BYTES: usize = 1 << 12;

/// At most this many mappings of one position are searched for a name. Tools write one or two.
const MAX_AT_POSITION: usize = 8;

/// The function that a bundler puts around all code starts before this column if the code begins on the same line:
/// `"use strict";(() => {`.
const MAX_WRAPPER_COLUMN: u32 = 24;

/// The length of `__name(`, with which esbuild keeps the names of functions. It gives the call the place of the
/// function.
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
    problems: Problems,
    debug_id: Option<String>,
    file: Option<String>,
    /// The index of the source of all mappings, if they have only one.
    only_source: Option<u32>,
}

#[derive(Debug)]
struct Source {
    /// `None` if the map has the text only, or nothing.
    name: Option<String>,
    text: Option<Text>,
    /// Whether people would rather not see it: it is of a library, or made by a tool.
    is_ignored: bool,
    /// Its functions, from scopes that have no generated ranges.
    functions: Functions,
}

/// A function's name and location in its source.
#[derive(Clone, Debug)]
pub(crate) struct Original<'map> {
    /// The name of the source in the map, if it has one.
    pub(crate) source: Option<&'map str>,
    /// The index of the source in the map.
    pub(crate) source_index: u32,
    /// 1-based.
    pub(crate) line: u32,
    /// 1-based, in UTF-16 code units.
    pub(crate) column: u32,
    /// The name of the function; empty if it has none, `None` if it is unknown.
    pub(crate) name: Option<&'map str>,
    /// How many columns the mapping is before the function in the generated code.
    pub(crate) ahead: u32,
    /// The name that the source gives it if it is anonymous, or that of a script.
    pub(crate) inferred: Option<&'map str>,
    /// The text around it, if the map contains the source.
    pub(crate) excerpt: Option<Excerpt<'map>>,
}

/// What a map has for a position, with 0-based lines and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OriginalPosition<'map> {
    /// The source, if it has a name.
    pub source: Option<&'map str>,
    /// The line in the source.
    pub line: u32,
    /// The column in the source, in UTF-16 code units.
    pub column: u32,
    /// The name of the mapping.
    pub name: Option<&'map str>,
}

impl Map {
    /// Reads a source map or an index map. Parts that are invalid are left out, see [`Map::problems`].
    pub fn read(json: &[u8]) -> Result<Self, MapError> {
        if json.len() > MAX_BYTES {
            return Err(MapError::TooLong);
        }
        let text = String::from_utf8_lossy(json);
        let fields = Fields::of(without_guard(&text))?;
        let mut map = Self {
            mappings: Vec::new(),
            sources: Vec::new(),
            names: Vec::new(),
            functions: Functions::default(),
            problems: Problems::default(),
            debug_id: None,
            file: None,
            only_source: None,
        };
        let mut left = Left { root_bytes: MAX_BYTES, mappings: MAX_MAPPINGS };
        map.debug_id = map.debug_id_of(&fields);
        map.add(&fields, (0, 0), &mut left, MAX_LEVELS)?;
        map.mappings.sort_by_key(|mapping| mapping.generated);
        map.functions.sort();
        let mut sources = map.mappings.iter().filter_map(|mapping| mapping.source);
        let first = sources.next();
        map.only_source = first.filter(|first| sources.all(|source| source == *first));
        Ok(map)
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

    /// What is invalid in the map, and was left out: the first of it.
    pub fn problems(&self) -> &[Problem] {
        self.problems.list()
    }

    /// The sources in the map's `ignoreList`: those of libraries, and those that tools made.
    pub fn ignored_sources(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().filter(|source| source.is_ignored).filter_map(|source| source.name.as_deref())
    }

    /// The [original position](https://tc39.es/ecma426/#sec-GetOriginalPositions) of a 0-based line and column of
    /// generated code, if a mapping on its line has one.
    pub fn original_position(&self, line: u32, column: u32) -> Option<OriginalPosition<'_>> {
        let (mapping, _) = self.mapping_of((line, column))?;
        let source = self.sources.get(mapping.source? as usize)?;
        let (line, column) = mapping.original;
        Some(OriginalPosition { source: source.name.as_deref(), line, column, name: self.name(mapping.name) })
    }

    /// Adds a map at an offset in the generated code.
    fn add(
        &mut self,
        fields: &Fields<'_>,
        at: Position,
        left: &mut Left,
        levels: usize,
    ) -> Result<(), MapError> {
        match fields.version.map(RawValue::get) {
            Some("3" | "3.0") => {}
            Some(version) if version.starts_with(|first: char| first == '-' || first.is_ascii_digit()) => {
                return Err(MapError::Invalid(format!("it has version {version:.20}, which is not 3")));
            }
            _ => self.problems.add(Problem::Version),
        }
        let file = fields::text("file", fields.file, &mut self.problems);
        self.file = self.file.take().or(file.map(Cow::into_owned));
        match fields.sections {
            Some(sections) => self.add_sections(sections, at, left, levels),
            None => self.add_map(fields, at, left),
        }
    }

    fn add_map(
        &mut self,
        fields: &Fields<'_>,
        (line, column): Position,
        left: &mut Left,
    ) -> Result<(), MapError> {
        let mut problems = std::mem::take(&mut self.problems);
        let added = self.add_sources(fields, left, &mut problems).and_then(|added| {
            let missing = || MapError::Invalid("it has no mappings".to_owned());
            let text = fields::text("mappings", fields.mappings, &mut problems).ok_or_else(missing)?;
            left.mappings = left
                .mappings
                .checked_sub(text.bytes().filter(|byte| b",;".contains(byte)).count())
                .ok_or_else(|| MapError::Invalid(format!("it has more than {MAX_MAPPINGS} mappings")))?;
            let ranges =
                fields::text("rangeMappings", fields.range_mappings, &mut problems).unwrap_or_default();
            let mut ranges = RangeMappings::new(&ranges);
            let mappings = mappings::decode(&text, &mut ranges, (added.sources, added.names))
                .map_err(MapError::Invalid)?;
            if mappings.bad > 0 {
                let first_line = mappings.first_bad.saturating_add(line).saturating_add(1);
                problems.add(Problem::Mappings { count: mappings.bad, first_line });
            }
            if let Some(reason) = ranges.problem() {
                problems.add(Problem::RangeMappings(reason));
            }
            self.mappings.extend(mappings.list.into_iter().map(|mapping| {
                let (down, right) = mapping.generated;
                let right = if down == 0 { right.saturating_add(column) } else { right };
                Mapping {
                    generated: (down.saturating_add(line), right),
                    source: mapping.source.map(|id| id + added.first_source),
                    name: mapping.name.map(|id| id + added.first_name),
                    ..mapping
                }
            }));
            self.add_scopes(fields, &added, (line, column), &mut problems);
            Ok(())
        });
        self.problems = problems;
        added
    }

    fn add_sources(
        &mut self,
        fields: &Fields<'_>,
        left: &mut Left,
        problems: &mut Problems,
    ) -> Result<Added, MapError> {
        let (first_source, first_name) = (self.sources.len() as u32, self.names.len() as u32);
        let root = fields::text("sourceRoot", fields.source_root, problems).filter(|root| !root.is_empty());
        let slash = root.as_ref().map_or("", |root| if root.ends_with('/') { "" } else { "/" });
        let root = root.unwrap_or_default();
        let names = fields::list("sources", fields.sources, Items::StringsAndNulls, problems);
        let names = names.ok_or_else(|| MapError::Invalid("it has no list of sources".to_owned()))?;
        left.root_bytes =
            left.root_bytes.checked_sub(root.len().saturating_mul(names.len())).ok_or_else(|| {
                MapError::Invalid(format!("the names of its sources have more than {} MiB", MAX_BYTES >> 20))
            })?;
        let texts = fields::list("sourcesContent", fields.sources_content, Items::StringsAndNulls, problems);
        let mut texts = texts.unwrap_or_default().into_iter();
        let sources = names.len();
        self.sources.extend(names.into_iter().map(|name| {
            let text = texts.next().flatten();
            let text = text.map(|text| Text::new(text.into_owned(), name.as_deref().unwrap_or_default()));
            let name = name.filter(|name| !name.is_empty()).map(|name| match is_absolute(&name) {
                true => name.into_owned(),
                false => format!("{root}{slash}{name}"),
            });
            Source { name, text, is_ignored: false, functions: Functions::default() }
        }));
        let ignored = fields.ignore_list.filter(|list| list.get() != "null").map(|list| {
            let list = serde_json::from_str::<Vec<u32>>(list.get()).ok();
            list.filter(|list| list.iter().all(|&index| (index as usize) < sources))
        });
        match ignored {
            Some(Some(ignored)) => {
                for index in ignored {
                    self.sources[(first_source + index) as usize].is_ignored = true;
                }
            }
            Some(None) => problems.add(Problem::Field("ignoreList", "a list of indices of sources")),
            None => {}
        }
        let names = fields::list("names", fields.names, Items::Strings, problems).unwrap_or_default();
        self.names.extend(names.into_iter().map(|name| name.map(Cow::into_owned).unwrap_or_default()));
        Ok(Added { first_source, sources, first_name, names: self.names.len() - first_name as usize })
    }

    fn add_scopes(&mut self, fields: &Fields<'_>, added: &Added, at: Position, problems: &mut Problems) {
        let Some(text) = fields::text("scopes", fields.scopes, problems) else { return };
        let names = added.first_name..self.names.len() as u32;
        match scopes::decode(&text, added.sources as u32, names) {
            Ok(scopes) if scopes.generated.is_empty() => {
                let sources = &mut self.sources[added.first_source as usize..];
                for (source, functions) in sources.iter_mut().zip(scopes.original) {
                    source.functions = functions;
                }
            }
            Ok(scopes) => self.functions.append(scopes.generated, at),
            Err(error) => problems.add(Problem::Scopes(error)),
        }
    }

    fn add_sections(
        &mut self,
        sections: &RawValue,
        (line, column): Position,
        left: &mut Left,
        levels: usize,
    ) -> Result<(), MapError> {
        let Some(levels) = levels.checked_sub(1) else {
            return Err(MapError::Invalid("its sections are nested too deeply".to_owned()));
        };
        let sections: Vec<&RawValue> = serde_json::from_str(sections.get())
            .map_err(|_| MapError::Invalid("its sections are not a list".to_owned()))?;
        for (number, section) in (1..).zip(sections) {
            if let Err(problem) = self.add_section(number, section, (line, column), left, levels) {
                self.problems.add(problem);
            }
        }
        Ok(())
    }

    /// Adds a section, unless it is invalid or takes too much.
    fn add_section(
        &mut self,
        number: usize,
        section: &RawValue,
        (line, column): Position,
        left: &mut Left,
        levels: usize,
    ) -> Result<(), Problem> {
        let bad = |reason: &str| Err(Problem::Section(number, reason.to_owned()));
        let Ok(section) = Fields::of(section.get()) else { return bad("it is not an object") };
        let offset = section.offset.and_then(|offset| Fields::of(offset.get()).ok());
        let offset =
            offset.and_then(|offset| Some((fields::number(offset.line)?, fields::number(offset.column)?)));
        let Some((down, right)) = offset else { return bad("its offset is not two numbers") };
        let Some(map) = section.map else {
            return match section.url.map(|url| serde_json::from_str::<String>(url.get())) {
                Some(Ok(url)) => Err(Problem::LinkedSection(number, url)),
                _ => bad("it has no map"),
            };
        };
        let Ok(fields) = Fields::of(map.get()) else { return bad("its map is not an object") };
        let right = if down == 0 { right.saturating_add(column) } else { right };
        let at = (down.saturating_add(line), right);
        // What is before its first mapping is not the end of the section before.
        self.mappings.push(Mapping {
            generated: at,
            source: None,
            original: (0, 0),
            name: None,
            is_range: false,
        });
        self.add(&fields, at, left, levels).or_else(|error| bad(&error.to_string()))
    }

    fn debug_id_of(&mut self, fields: &Fields<'_>) -> Option<String> {
        let text = fields::text("debugId", fields.debug_id, &mut self.problems)?;
        let is_id = text.len() == 36 && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
        if !is_id {
            self.problems.add(Problem::Field("debugId", "a UUID"));
        }
        is_id.then(|| text.to_ascii_lowercase())
    }

    /// Whether scopes hide the function defined at this 1-based line and column from stacks, because it is not a
    /// function in the source.
    pub(crate) fn hides(&self, line: u32, column: u32, generated: &str) -> bool {
        let at = line.checked_sub(1).zip(column.checked_sub(1));
        at.and_then(|at| self.functions.defined_at(at, width(generated))).is_some_and(|known| known.is_hidden)
    }

    /// The original of the function with the name `generated` that is defined at this 1-based line and column.
    pub(crate) fn find(&self, line: u32, column: u32, generated: &str) -> Option<Original<'_>> {
        let position = (line.checked_sub(1)?, column.checked_sub(1)?);
        // An anonymous function at the very start is the script itself, not the first function of its source. A
        // bundler's function around all code is the same to people.
        let is_wrapper = position.0 == 0
            && self.mappings.first().is_some_and(|first| {
                first.generated > position && (first.generated.0 > 0 || position.1 < MAX_WRAPPER_COLUMN)
            });
        if generated.is_empty() && (position == (0, 0) || is_wrapper) {
            return self.script();
        }
        let (mapping, after) = self.mapping_of(position)?;
        let mapping = &mapping;
        let source_index = mapping.source?;
        let source = self.sources.get(source_index as usize)?;
        let known = self.functions.defined_at(position, width(generated));
        let known = known.or_else(|| self.original_function(source, mapping.original));
        let scoped = known.and_then(|function| self.name(function.name));
        let (line, column) = mapping.original;
        // A constructor is shown with the name of its class, as in V8, which is found in the source text. Scopes that
        // repeat the generated name are not useful: SWC 1.16 writes minified names.
        let name = scoped
            .filter(|name| !["", "constructor", generated].contains(name))
            .or_else(|| self.mapped_name(position, generated))
            .or_else(|| declared_name(source, mapping, position, generated));
        let ahead = match position.1 - mapping.generated.1 {
            NAME_CALL if self.is_argument(mapping, position, after) => 0,
            ahead => ahead,
        };
        let (line, column) = (line.saturating_add(1), column.saturating_add(1));
        let is_anonymous = name.unwrap_or(generated).is_empty();
        let inferred = source.text.as_ref().filter(|_| is_anonymous);
        let inferred =
            inferred.and_then(|text| inference::inferred(text, FunctionPlace { line, column, ahead }));
        Some(Original {
            source: source.name.as_deref(),
            source_index,
            line,
            column,
            name,
            ahead,
            inferred: inferred.filter(|&inferred| inferred != TOP_LEVEL),
            excerpt: source.text.as_ref().map(|text| Excerpt::new(text, mapping.original.0)),
        })
    }

    /// The original of the script itself: the start of its source, if it is made of one. The first mapping is that of
    /// what comes first in the generated code, which may be anything.
    fn script(&self) -> Option<Original<'_>> {
        let index = self.only_source?;
        let source = self.sources.get(index as usize)?;
        Some(Original {
            source: source.name.as_deref(),
            source_index: index,
            line: 1,
            column: 1,
            name: None,
            ahead: 0,
            inferred: Some(TOP_LEVEL),
            excerpt: source.text.as_ref().map(|text| Excerpt::new(text, 0)),
        })
    }

    /// The last mapping at or before a position, on the same line, and the index of the next one. A range mapping is
    /// moved to the position.
    fn mapping_of(&self, position: Position) -> Option<(Mapping, usize)> {
        let after = self.mappings.partition_point(|mapping| mapping.generated <= position);
        let mapping = *self.mappings[..after].last()?;
        let (line, column) = mapping.generated;
        if mapping.is_range {
            let (down, right) = mapping.original;
            let original = match position.0 - line {
                0 => (down, right.saturating_add(position.1 - column)),
                lines => (down.saturating_add(lines), position.1),
            };
            return Some((Mapping { generated: position, original, ..mapping }, after));
        }
        (line == position.0).then_some((mapping, after))
    }

    /// Whether an arrow function at this position, as the argument of esbuild's `__name(`, is what the mapping of that
    /// call is the original of. Then the next mapping, at this index, is that of its first parameter, or of the body
    /// behind `()=>`.
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

    /// The original name of the identifier that ends at the function's position, in `function a(` or in a method `a(`.
    ///
    /// A mapping at the position itself may have the name of a parameter, as in `a => 1`, and an earlier one may have
    /// the name of something else, as in `on(a => 1)`.
    fn mapped_name(&self, (line, column): Position, generated: &str) -> Option<&str> {
        let own = ACCESSORS.iter().find_map(|accessor| generated.strip_prefix(accessor)).unwrap_or(generated);
        let start = (line, column.checked_sub(width(own)).filter(|&start| start < column)?);
        let after = self.mappings.partition_point(|mapping| mapping.generated <= start);
        let here = self.mappings[..after].iter().rev().take_while(|mapping| mapping.generated == start);
        let name = here.take(MAX_AT_POSITION).find_map(|mapping| self.name(mapping.name))?;
        // V8 names an anonymous function after its variable, and a constructor after its class. In front of their
        // parameters is a keyword, which some tools map with a name.
        (!["", "async", "constructor", "function"].contains(&name)).then_some(name)
    }

    /// The function of a source that is defined at the original position. That is often the function's name, after
    /// which its scope may start.
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

/// The name of a function from the syntax tree of its source.
fn declared_name<'map>(
    source: &'map Source,
    mapping: &Mapping,
    position: Position,
    generated: &str,
) -> Option<&'map str> {
    let text = source.text.as_ref()?;
    let (line, column) = mapping.original;
    if mapping.generated != position {
        // The mapping is before the function. It may be that of something else, such as of `on` in `on(event => ...)`.
        let distance = position.1 - mapping.generated.1;
        let is_of_function = match generated {
            "" => text.has_word_at(line, column, &["function", "async"]),
            _ => {
                distance <= width(generated).saturating_add(MAX_HEAD)
                    && !text.line_has_function(line, generated)
            }
        };
        if !is_of_function {
            return None;
        }
    }
    let (function, rank) = text.function_at(line, column)?;
    // Nothing anonymous is declared: it would have the name.
    let is_named = !generated.is_empty() || rank != Rank::Declaration;
    function.name(text.text()).filter(|name| is_named && name.len() <= MAX_NAME_BYTES)
}

/// The JSON of a map, without a byte order mark and without the [line] that prevents it from being run as a script.
///
/// [line]: https://tc39.es/ecma426/#sec-FetchSourceMap
pub fn without_guard(json: &str) -> &str {
    let json = json.strip_prefix('\u{FEFF}').unwrap_or(json);
    if json.starts_with(")]}") { json.split_once('\n').map_or("", |(_, rest)| rest) } else { json }
}

/// What the parts of a map may still take.
struct Left {
    /// The bytes of source roots, which precede the name of each source.
    root_bytes: usize,
    mappings: usize,
}

/// What a map has added.
struct Added {
    first_source: u32,
    sources: usize,
    first_name: u32,
    names: usize,
}

/// The number of columns of a name, in UTF-16 units.
fn width(name: &str) -> u32 {
    name.encode_utf16().count().try_into().unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
