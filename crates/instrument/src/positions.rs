//! Byte offsets as lines and columns.

/// A place in a text. Lines and columns count from 1; columns count UTF-16 units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line. JavaScript ends lines at `\n`, `\r`, `\r\n`, U+2028 and U+2029.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// Bytes between two entries of [`Positions::units`].
const STEP: usize = 1 << 7;

/// Finds the positions of offsets, in any order, in a text of any shape: a bundle may be a single line of megabytes.
pub(crate) struct Positions<'a> {
    text: &'a str,
    /// The offsets at which lines start.
    lines: Vec<u32>,
    /// UTF-16 units before each `STEP` bytes. Empty if the text is ASCII.
    units: Vec<u32>,
}

impl<'a> Positions<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let mut lines = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            let ends_line = match byte {
                b'\n' => true,
                b'\r' => bytes.get(at + 1) != Some(&b'\n'),
                // The last byte of U+2028 or U+2029.
                0xA8 | 0xA9 => at >= 2 && bytes[at - 2..at] == [0xE2, 0x80],
                _ => false,
            };
            if ends_line {
                lines.push(at as u32 + 1);
            }
        }
        let mut units = Vec::new();
        if !text.is_ascii() {
            let mut sum = 0;
            for block in bytes.chunks(STEP) {
                units.push(sum);
                sum += utf16_length(block);
            }
        }
        Self { text, lines, units }
    }

    /// The index of the line of an offset.
    pub(crate) fn line(&self, offset: u32) -> usize {
        self.lines.partition_point(|start| *start <= offset) - 1
    }

    pub(crate) fn line_start(&self, line: usize) -> u32 {
        self.lines[line]
    }

    pub(crate) fn lines(&self) -> usize {
        self.lines.len()
    }

    /// UTF-16 units before an offset.
    pub(crate) fn units_before(&self, offset: u32) -> u32 {
        let offset = offset as usize;
        match self.units.get(offset / STEP) {
            Some(sum) => sum + utf16_length(&self.text.as_bytes()[offset / STEP * STEP..offset]),
            None if self.units.is_empty() => offset as u32,
            None => {
                let last = (self.units.len() - 1) * STEP;
                self.units[self.units.len() - 1] + utf16_length(&self.text.as_bytes()[last..offset])
            }
        }
    }

    pub(crate) fn position(&self, offset: u32) -> Position {
        let line = self.line(offset);
        let column = self.units_before(offset) - self.units_before(self.lines[line]);
        Position { line: line as u32 + 1, column: column + 1 }
    }

    /// The offset of a position, or of the end of its line.
    pub(crate) fn offset(&self, line: usize, column: u32) -> Option<u32> {
        let start = *self.lines.get(line)?;
        let end = self.lines.get(line + 1).map_or(self.text.len() as u32, |next| *next);
        if self.units.is_empty() {
            return Some(start.saturating_add(column).min(end));
        }
        let wanted = self.units_before(start).saturating_add(column);
        let block = self.units.partition_point(|sum| *sum <= wanted).saturating_sub(1);
        let mut at = (block * STEP).clamp(start as usize, end as usize);
        while !self.text.is_char_boundary(at) {
            at += 1;
        }
        let mut units = self.units_before(at as u32);
        for character in self.text[at..end as usize].chars() {
            if units >= wanted {
                break;
            }
            units += character.len_utf16() as u32;
            at += character.len_utf8();
        }
        Some(at as u32)
    }
}

/// Units of the characters that start in these bytes of UTF-8.
fn utf16_length(bytes: &[u8]) -> u32 {
    bytes.iter().map(|byte| u32::from(byte & 0xC0 != 0x80) + u32::from(*byte >= 0xF0)).sum()
}

#[cfg(test)]
mod tests {
    use super::{Position, Positions};

    #[test]
    fn every_offset_has_the_position_that_counting_gives() {
        let line = "aé𝒳\u{2028}b\r\nc\rd\n\u{FEFF}e ".repeat(300);
        for text in ["", "a\nb", "\r\r\n", &line] {
            let positions = Positions::new(text);
            let (mut expected, mut previous) = (Position { line: 1, column: 1 }, ' ');
            for (at, character) in text.char_indices() {
                if previous == '\n' || previous == '\u{2028}' || previous == '\r' && character != '\n' {
                    expected = Position { line: expected.line + 1, column: 1 };
                }
                assert_eq!(positions.position(at as u32), expected, "{at}");
                let found = positions.offset(expected.line as usize - 1, expected.column - 1);
                assert_eq!(found, Some(at as u32));
                let end = positions.lines.get(expected.line as usize).map_or(text.len() as u32, |next| *next);
                assert_eq!(positions.offset(expected.line as usize - 1, 10_000), Some(end));
                expected.column += character.len_utf16() as u32;
                previous = character;
            }
        }
    }
}
