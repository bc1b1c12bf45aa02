//! Places in HTML.

use selfprof_instrument::Position;

/// Counts lines and columns from the start of a page. HTML ends lines at `\n`, `\r` and `\r\n`, unlike JavaScript not
/// at U+2028. Firefox counts so; Chromium does not count a `\r` alone, which is not used.
#[derive(Debug)]
pub struct Cursor<'a> {
    text: &'a str,
    offset: usize,
    position: Position,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, offset: 0, position: Position { line: 1, column: 1 } }
    }

    /// The place of an offset that is not before the last one. Columns count UTF-16 units.
    pub fn advance(&mut self, offset: usize) -> Position {
        let bytes = self.text.as_bytes();
        for at in self.offset..offset.max(self.offset) {
            let byte = bytes[at];
            if byte == b'\n' || byte == b'\r' && bytes.get(at + 1) != Some(&b'\n') {
                self.position = Position { line: self.position.line + 1, column: 1 };
            } else {
                // Four bytes of UTF-8 are two units of UTF-16; other characters are one, which their first byte stands
                // for.
                self.position.column += u32::from(byte & 0xC0 != 0x80) + u32::from(byte >= 0xF0);
            }
        }
        self.offset = self.offset.max(offset);
        self.position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_as_in_html() {
        let mut cursor = Cursor::new("é𝒳a\r\nb\rc\u{2028}d\n");
        let mut place = |offset| {
            let Position { line, column } = cursor.advance(offset);
            (line, column)
        };
        assert_eq!(place(0), (1, 1));
        assert_eq!(place(2), (1, 2));
        assert_eq!(place(6), (1, 4));
        assert_eq!(place(9), (2, 1));
        assert_eq!(place(11), (3, 1));
        assert_eq!(place(15), (3, 3));
        assert_eq!(place(17), (4, 1));
    }
}
