//! A source text: its lines, its columns, and its functions.

use std::sync::OnceLock;

use crate::tree::{Function, Rank, Tree};

/// A source text with an index of its lines, which end as they do in JavaScript.
#[derive(Debug)]
pub(crate) struct Text {
    text: String,
    lines: Vec<usize>,
    /// The number of UTF-16 code units before every [`STRIDE`]th byte, or before the next character boundary. Empty for
    /// ASCII.
    units: Vec<usize>,
    is_typescript: bool,
    /// Made when the first function is asked for.
    tree: OnceLock<Tree>,
}

/// The distance of entries in [`Text::units`]. Without them, finding a column in a line of megabytes would count from
/// its start.
const STRIDE: usize = 1 << 10;

/// At most this many spaces are between a position and the function that it is of, as in `function (`.
const MAX_SPACES: usize = 16;

/// At most this many functions of a line are compared with a name.
const MAX_FUNCTIONS_OF_LINE: usize = 64;

/// The name of the sources of TypeScript ends with one of these.
const TYPESCRIPT: [&str; 4] = [".ts", ".tsx", ".mts", ".cts"];

impl Text {
    /// The text of the source with this name, of which only the end says something.
    pub(crate) fn new(text: String, name: &str) -> Self {
        let bytes = text.as_bytes();
        let ends_line = |at: usize| match bytes[at] {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            0xA8 | 0xA9 => bytes[..at].ends_with(&[0xE2, 0x80]),
            _ => false,
        };
        let lines =
            [0].into_iter().chain((0..bytes.len()).filter(|&at| ends_line(at)).map(|at| at + 1)).collect();
        let units = if text.is_ascii() { Vec::new() } else { units(&text) };
        let name = name.split(['?', '#']).next().unwrap_or_default();
        let is_typescript = TYPESCRIPT.iter().any(|end| name.ends_with(end));
        Self { text, lines, units, is_typescript, tree: OnceLock::new() }
    }

    /// The function that this 0-based line and column, in UTF-16 units, is a position of.
    pub(crate) fn function_at(&self, line: u32, column: u32) -> Option<(&Function, Rank)> {
        let at = self.offset(line, column)?;
        let rest = &self.text.as_bytes()[at..];
        let spaces = rest.iter().take(MAX_SPACES).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        self.tree().at(at + spaces)
    }

    /// Whether a function of this 0-based line has this name.
    pub(crate) fn line_has_function(&self, line: u32, name: &str) -> bool {
        let Some(&start) = self.lines.get(line as usize) else { return false };
        let end = self.lines.get(line as usize + 1).copied().unwrap_or(self.text.len());
        let mut names = self.tree().names_between((start, end), &self.text).take(MAX_FUNCTIONS_OF_LINE);
        names.any(|of_line| of_line == name)
    }

    /// Whether one of these words is at this 0-based line and column.
    pub(crate) fn has_word_at(&self, line: u32, column: u32, words: &[&str]) -> bool {
        let rest = self.offset(line, column).and_then(|at| self.text.get(at..)).unwrap_or_default();
        words.iter().any(|word| {
            let behind = rest.strip_prefix(word).map(|behind| behind.chars().next());
            behind.is_some_and(|next| {
                next.is_none_or(|next| !next.is_alphanumeric() && next != '_' && next != '$')
            })
        })
    }

    fn tree(&self) -> &Tree {
        self.tree.get_or_init(|| Tree::of(&self.text, self.is_typescript))
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The line with this 0-based number, without its line terminator.
    pub(crate) fn line(&self, line: u32) -> Option<&str> {
        let start = *self.lines.get(line as usize)?;
        let end = self.lines.get(line as usize + 1).copied().unwrap_or(self.text.len());
        self.text.get(start..end).map(|text| text.trim_end_matches(['\r', '\n', '\u{2028}', '\u{2029}']))
    }

    fn offset(&self, line: u32, column: u32) -> Option<usize> {
        let start = *self.lines.get(line as usize)?;
        let end = self.lines.get(line as usize + 1).map_or(self.text.len(), |next| next - 1);
        let end = self.text.floor_char_boundary(end);
        let offset = if self.units.is_empty() {
            start + column as usize
        } else {
            self.at_unit(self.units_before(start) + column as usize)?
        };
        (offset <= end).then_some(offset)
    }

    /// The number of UTF-16 code units before a byte offset.
    fn units_before(&self, at: usize) -> usize {
        let from = self.text.ceil_char_boundary(at / STRIDE * STRIDE).min(at);
        self.units[at / STRIDE] + self.text[from..at].encode_utf16().count()
    }

    /// The byte offset of the character that starts with this UTF-16 code unit, or of the end.
    fn at_unit(&self, unit: usize) -> Option<usize> {
        let stride = self.units.partition_point(|&before| before <= unit) - 1;
        let from = self.text.ceil_char_boundary(stride * STRIDE);
        let mut left = unit - self.units[stride];
        for (at, character) in self.text[from..].char_indices() {
            if left == 0 {
                return Some(from + at);
            }
            left = left.checked_sub(character.len_utf16())?;
        }
        (left == 0).then_some(self.text.len())
    }
}

/// See [`Text::units`].
fn units(text: &str) -> Vec<usize> {
    let mut units = Vec::with_capacity(text.len() / STRIDE + 1);
    let mut count = 0;
    for (at, character) in text.char_indices() {
        if at >= units.len() * STRIDE {
            units.push(count);
        }
        count += character.len_utf16();
    }
    if text.len() >= units.len() * STRIDE {
        units.push(count);
    }
    units
}

#[cfg(test)]
mod tests;
