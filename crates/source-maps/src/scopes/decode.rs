//! Decoding `scopes`: items separated by commas, each with a tag and VLQ numbers.
//!
//! The decoder follows the [grammar] of the draft specification, in one pass and without recursion. The crate
//! srcmap-scopes 0.4 is not used: it ignores the draft's empty items, does not check for overflow, and overflows the
//! stack on deep trees.
//!
//! [grammar]: https://tc39.es/ecma426/branch/proposal-scopes/#sec-scopes-grammar

use std::fmt;
use std::mem::take;
use std::ops::Range;

use super::functions::{Function, Functions, Position, Scopes};
use crate::vlq::{BadNumber, Numbers};

/// Tags of items. Others are not needed for functions.
mod tag {
    pub(super) const EMPTY: u32 = 0;
    pub(super) const SCOPE_START: u32 = 1;
    pub(super) const SCOPE_END: u32 = 2;
    pub(super) const RANGE_START: u32 = 4;
    pub(super) const RANGE_END: u32 = 5;
}

/// Bits of an original scope's flags.
mod scope_flag {
    pub(super) const HAS_NAME: u32 = 1;
    pub(super) const IS_STACK_FRAME: u32 = 4;
}

/// Bits of a generated range's flags.
mod range_flag {
    pub(super) const HAS_LINE: u32 = 1;
    pub(super) const HAS_DEFINITION: u32 = 2;
    pub(super) const IS_STACK_FRAME: u32 = 4;
    pub(super) const IS_HIDDEN: u32 = 8;
}

/// Why the `scopes` of a map are invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadScopes {
    /// The item with this 1-based number is invalid, for this reason.
    Item(usize, &'static str),
    /// A scope or range is not closed.
    Unclosed,
}

impl fmt::Display for BadScopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Item(number, reason) => write!(f, "item {number} {reason}"),
            Self::Unclosed => f.write_str("a scope is not closed"),
        }
    }
}

impl std::error::Error for BadScopes {}

/// Decodes the `scopes` of a map with this number of sources and this range of names.
pub(crate) fn decode(text: &str, sources: u32, names: Range<u32>) -> Result<Scopes, BadScopes> {
    let mut decoder = Decoder { sources, names, ..Decoder::default() };
    for (index, item) in text.split(',').enumerate() {
        decoder.take(Item(Numbers(item.as_bytes()))).map_err(|reason| BadScopes::Item(index + 1, reason))?;
    }
    if !decoder.open_scopes.is_empty() || !decoder.open_ranges.is_empty() {
        return Err(BadScopes::Unclosed);
    }
    Ok(decoder.scopes)
}

#[derive(Default)]
struct Decoder {
    sources: u32,
    names: Range<u32>,
    scopes: Scopes,
    /// The functions of the current source.
    source: Functions,
    /// For each scope so far, the name of its innermost function.
    definitions: Vec<Option<u32>>,
    /// For each open scope, its innermost function.
    open_scopes: Vec<Option<u32>>,
    /// For each open range, its innermost function.
    open_ranges: Vec<Option<u32>>,
    /// The values that the numbers of the next item are relative to.
    scope_at: Position,
    name: u32,
    range_at: Position,
    definition: u32,
}

impl Decoder {
    fn take(&mut self, mut item: Item<'_>) -> Result<(), &'static str> {
        // For a source without scopes, the draft has an item with the tag 0, the proposal nothing between two commas.
        match if item.is_at_end() { tag::EMPTY } else { item.unsigned()? } {
            tag::EMPTY => {
                if self.open_scopes.is_empty() {
                    self.end_source();
                }
                Ok(())
            }
            tag::SCOPE_START => self.start_scope(item),
            tag::SCOPE_END => self.end_scope(item),
            tag::RANGE_START => self.start_range(item),
            tag::RANGE_END => self.end_range(item),
            _ => Ok(()),
        }
    }

    fn start_scope(&mut self, mut item: Item<'_>) -> Result<(), &'static str> {
        let flags = item.unsigned()?;
        let start = advance(&mut self.scope_at, item.unsigned()?, item.unsigned()?)?;
        let name = match flags & scope_flag::HAS_NAME {
            0 => None,
            _ => {
                let name = accumulate(&mut self.name, item.signed()?).saturating_add(self.names.start);
                Some(name).filter(|name| self.names.contains(name))
            }
        };
        let mut function = self.open_scopes.last().copied().flatten();
        if flags & scope_flag::IS_STACK_FRAME != 0 {
            function = Some(self.source.begin(Function { start, name, is_hidden: false }));
        }
        self.open_scopes.push(function);
        self.definitions.push(function.and_then(|index| self.source.functions[index as usize].name));
        Ok(())
    }

    fn end_scope(&mut self, mut item: Item<'_>) -> Result<(), &'static str> {
        let end = advance(&mut self.scope_at, item.unsigned()?, item.unsigned()?)?;
        self.open_scopes.pop().ok_or("ends a scope that has not started")?;
        self.source.bound(end, self.open_scopes.last().copied().flatten());
        if self.open_scopes.is_empty() {
            self.end_source();
        }
        Ok(())
    }

    fn end_source(&mut self) {
        let source = take(&mut self.source);
        if self.scopes.original.len() < self.sources as usize {
            self.scopes.original.push(source);
        }
        self.scope_at = (0, 0);
    }

    fn start_range(&mut self, mut item: Item<'_>) -> Result<(), &'static str> {
        let flags = item.unsigned()?;
        let line = if flags & range_flag::HAS_LINE == 0 { 0 } else { item.unsigned()? };
        let start = advance(&mut self.range_at, line, item.unsigned()?)?;
        let name = match flags & range_flag::HAS_DEFINITION {
            0 => None,
            _ => {
                let definition = accumulate(&mut self.definition, item.signed()?);
                self.definitions.get(definition as usize).copied().flatten()
            }
        };
        let mut function = self.open_ranges.last().copied().flatten();
        if flags & range_flag::IS_STACK_FRAME != 0 {
            let is_hidden = flags & range_flag::IS_HIDDEN != 0;
            function = Some(self.scopes.generated.begin(Function { start, name, is_hidden }));
        }
        self.open_ranges.push(function);
        Ok(())
    }

    fn end_range(&mut self, mut item: Item<'_>) -> Result<(), &'static str> {
        let first = item.unsigned()?;
        let (line, column) = if item.is_at_end() { (0, first) } else { (first, item.unsigned()?) };
        let end = advance(&mut self.range_at, line, column)?;
        self.open_ranges.pop().ok_or("ends a range that has not started")?;
        self.scopes.generated.bound(end, self.open_ranges.last().copied().flatten());
        Ok(())
    }
}

/// [AccumulatePosition](https://tc39.es/ecma426/branch/proposal-scopes/#sec-AccumulatePosition).
fn advance(at: &mut Position, down: u32, right: u32) -> Result<Position, &'static str> {
    const FAR: &str = "exceeds 2^32 lines or columns";
    let column = if down == 0 { at.1.checked_add(right).ok_or(FAR)? } else { right };
    *at = (at.0.checked_add(down).ok_or(FAR)?, column);
    Ok(*at)
}

/// [AccumulateIndex](https://tc39.es/ecma426/branch/proposal-scopes/#sec-AccumulateIndex).
fn accumulate(index: &mut u32, by: i32) -> u32 {
    *index = index.saturating_add_signed(by);
    *index
}

/// The rest of an item.
struct Item<'text>(Numbers<'text>);

impl Item<'_> {
    fn is_at_end(&self) -> bool {
        self.0.is_at_end()
    }

    fn unsigned(&mut self) -> Result<u32, &'static str> {
        u32::try_from(self.0.unsigned().map_err(reason)?).map_err(|_| "has a number of more than 32 bits")
    }

    fn signed(&mut self) -> Result<i32, &'static str> {
        i32::try_from(self.0.signed().map_err(reason)?).map_err(|_| "has a number of more than 32 bits")
    }
}

fn reason(bad: BadNumber) -> &'static str {
    match bad {
        BadNumber::Missing => "has too few numbers",
        BadNumber::NotDigit => "has a character that is not a base64 digit",
    }
}
