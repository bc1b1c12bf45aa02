//! Finding the ends of tokens.
//!
//! Functions take the offset of a token and return the offset after it, or `None` if it has no end.

use super::token::Kind;

/// Whether a line ends after this character, for V8. `\r\n` is one end.
pub(super) fn ends_line(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

fn is_space(character: char) -> bool {
    character.is_whitespace() || character == '\u{FEFF}'
}

/// What is between two tokens.
pub(super) struct Gap {
    pub(super) end: usize,
    pub(super) has_line_end: bool,
}

/// Skips white space and comments. `None` if a comment has no end.
pub(super) fn gap(text: &str, start: usize) -> Option<Gap> {
    let (mut at, mut has_line_end) = (start, false);
    if at == 0 && text.starts_with("#!") {
        at = line_end(text, at);
    }
    loop {
        let rest = &text[at..];
        if rest.starts_with("//") {
            at = line_end(text, at);
        } else if let Some(comment) = rest.strip_prefix("/*") {
            let length = comment.find("*/")? + 4;
            has_line_end |= rest[..length].contains(ends_line);
            at += length;
        } else {
            match rest.chars().next() {
                Some(character) if is_space(character) => {
                    has_line_end |= ends_line(character);
                    at += character.len_utf8();
                }
                _ => return Some(Gap { end: at, has_line_end }),
            }
        }
    }
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..].find(ends_line).map_or(text.len(), |length| at + length)
}

/// The end of an identifier or keyword; `start` if there is none.
pub(super) fn word(text: &str, start: usize) -> usize {
    let rest = text[start..].strip_prefix('#').unwrap_or(&text[start..]);
    let end = rest.find(|character: char| !is_part_of_word(character)).unwrap_or(rest.len());
    if end == 0 { start } else { text.len() - rest.len() + end }
}

fn is_part_of_word(character: char) -> bool {
    // `\` starts an escape sequence.
    character.is_ascii_alphanumeric()
        || matches!(character, '_' | '$' | '\\')
        || !character.is_ascii() && !is_space(character)
}

/// A number is read as if it were a word with dots. A sign in its exponent counts as an operator.
pub(super) fn number(text: &str, start: usize) -> usize {
    let rest = &text[start..];
    let is_part = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '.');
    start + rest.find(|character| !is_part(character)).unwrap_or(rest.len())
}

pub(super) fn string(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let quote = bytes[start];
    let mut at = start + 1;
    loop {
        match *bytes.get(at)? {
            byte if byte == quote => return Some(at + 1),
            b'\\' if bytes.get(at + 1) == Some(&b'\r') && bytes.get(at + 2) == Some(&b'\n') => at += 3,
            b'\\' => at += 2,
            b'\n' | b'\r' => return None,
            _ => at += 1,
        }
    }
}

/// A regular expression with its flags.
pub(super) fn regex(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut is_in_class) = (start + 1, false);
    loop {
        match *bytes.get(at)? {
            b'/' if !is_in_class => return Some(word(text, at + 1)),
            b'[' => is_in_class = true,
            b']' => is_in_class = false,
            b'\\' if !matches!(bytes.get(at + 1), Some(b'\n' | b'\r')) => at += 1,
            b'\\' | b'\n' | b'\r' => return None,
            _ => {}
        }
        at += 1;
    }
}

/// Where a part of a template literal ends.
pub(super) enum TemplateEnd {
    /// After the last backtick.
    Template(usize),
    /// After `${`.
    Hole(usize),
}

/// A template literal, after its first backtick or after the `}` of a hole.
pub(super) fn template(text: &str, start: usize) -> Option<TemplateEnd> {
    let bytes = text.as_bytes();
    let mut at = start;
    loop {
        match *bytes.get(at)? {
            b'`' => return Some(TemplateEnd::Template(at + 1)),
            b'$' if bytes.get(at + 1) == Some(&b'{') => return Some(TemplateEnd::Hole(at + 2)),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Operators, longest first.
const OPERATORS: [(&str, Kind); 28] = [
    ("||=", Kind::Assign),
    ("&&=", Kind::Assign),
    ("??=", Kind::Assign),
    ("===", Kind::OtherPunctuation),
    ("!==", Kind::OtherPunctuation),
    ("...", Kind::OtherPunctuation),
    ("**=", Kind::OtherPunctuation),
    ("<<=", Kind::OtherPunctuation),
    (">>=", Kind::OtherPunctuation),
    ("=>", Kind::Arrow),
    ("==", Kind::OtherPunctuation),
    ("!=", Kind::OtherPunctuation),
    ("<=", Kind::OtherPunctuation),
    (">=", Kind::OtherPunctuation),
    ("+=", Kind::OtherPunctuation),
    ("-=", Kind::OtherPunctuation),
    ("*=", Kind::OtherPunctuation),
    ("/=", Kind::OtherPunctuation),
    ("%=", Kind::OtherPunctuation),
    ("&=", Kind::OtherPunctuation),
    ("|=", Kind::OtherPunctuation),
    ("^=", Kind::OtherPunctuation),
    ("**", Kind::OtherPunctuation),
    ("||", Kind::Logical),
    ("&&", Kind::Logical),
    ("??", Kind::Logical),
    ("++", Kind::Step),
    ("--", Kind::Step),
];

/// An operator or other punctuation, except brackets, `,` and `;`.
pub(super) fn operator(text: &str, start: usize) -> (Kind, usize) {
    let rest = &text[start..];
    if let Some((operator, kind)) = OPERATORS.iter().find(|(operator, _)| rest.starts_with(operator)) {
        return (*kind, start + operator.len());
    }
    let next = rest.as_bytes().get(1).copied().unwrap_or(0);
    match rest.as_bytes()[0] {
        b'?' if next == b'.' && !rest.as_bytes().get(2).is_some_and(u8::is_ascii_digit) => {
            (Kind::Dot, start + 2)
        }
        b'.' => (Kind::Dot, start + 1),
        b'=' => (Kind::Assign, start + 1),
        b':' => (Kind::Colon, start + 1),
        b'?' => (Kind::Question, start + 1),
        b'*' => (Kind::Star, start + 1),
        // Also the first byte of anything unknown: the caller only passes ASCII here.
        _ => (Kind::OtherPunctuation, start + 1),
    }
}
