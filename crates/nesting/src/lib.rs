//! How deep a source nests, measured without recursion.
//!
//! Parsers and traversals recurse, and a stack that overflows ends the process. So the depth is bounded before a parser
//! sees the source. The measure errs on the high side: every token since the last `;` or `,` counts as one level,
//! because operators, arrows, labels and `if (a) if (b)` nest without brackets, and so do the tokens before each open
//! bracket.
//!
//! ```
//! use selfprof_nesting::{Language, nesting};
//!
//! assert_eq!(nesting("f(() => [1])", Language::JavaScript).map(|nesting| nesting.depth), Some(6));
//! ```
//!
//! JSX is absent: a quote in its text looks like the start of a string.

#![forbid(unsafe_code)]

/// What a source is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// JavaScript without extensions.
    JavaScript,
    /// TypeScript without JSX, or JavaScript.
    TypeScript,
}

/// How a source nests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nesting {
    /// The greatest depth.
    pub depth: u32,
    /// The sum of the depths of all tokens. A parser that tries several readings of what is in parentheses may read a
    /// token once for each level.
    pub work: u64,
}

/// How a source nests, or `None` where it cannot be told.
///
/// Whether a `/` divides or starts a regular expression depends on the grammar in a few places, such as after `}`. If
/// the two readings of such a place could differ in what follows, nothing is known about the rest.
pub fn nesting(source: &str, language: Language) -> Option<Nesting> {
    let mut scan = Scan {
        bytes: source.as_bytes(),
        at: 0,
        frames: Vec::new(),
        open: 0,
        level: 0,
        angles: 0,
        is_typescript: language == Language::TypeScript,
        nesting: Nesting { depth: 0, work: 0 },
    };
    if source.starts_with("#!") {
        scan.skip_line();
    }
    scan.run()?;
    Some(scan.nesting)
}

/// What is before the next token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// An operator, an opening bracket, or nothing: an operand comes next.
    Operator,
    /// A dot: a property's name comes next.
    Dot,
    /// An identifier, a literal, `]`: an operand has ended.
    Operand,
    /// `)` of a call or of parentheses.
    Parentheses,
    /// A keyword after which an operand comes.
    Keyword,
    /// `if`, `for`, `while`, `with`: parentheses and a statement come.
    Head,
    /// A word that is an operand or a keyword, as the grammar has it.
    Either,
    /// `)` of a statement's head.
    HeadParentheses,
    /// A keyword before a block: `else`, `do`, `try`, `finally`. Or `=>`.
    Block,
    /// `}` of a block, after which a statement comes.
    EndOfBlock,
    /// `}` of a block, a function or an object.
    Brace,
}

struct Frame {
    /// The level outside of the bracket, and what of it is due to `<`.
    level: u32,
    angles: u32,
    kind: Bracket,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    Parentheses {
        is_head: bool,
    },
    Square,
    Brace {
        is_block: bool,
    },
    /// `${` in a template.
    Template,
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    frames: Vec<Frame>,
    /// The sum of the levels outside of all open brackets.
    open: u32,
    /// Tokens since the last separator, inside the innermost open bracket.
    level: u32,
    /// How many `<` of types may be open inside the innermost open bracket.
    angles: u32,
    is_typescript: bool,
    nesting: Nesting,
}

impl Scan<'_> {
    fn run(&mut self) -> Option<()> {
        let mut before = Before::Operator;
        // Whether the line has no token yet.
        let mut is_line_start = true;
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C => {
                    is_line_start |= matches!(byte, b'\n' | b'\r');
                    self.at += 1;
                    continue;
                }
                b'/' if self.peek(1) == Some(b'/') => {
                    self.skip_line();
                    continue;
                }
                b'/' if self.peek(1) == Some(b'*') => {
                    self.skip_comment();
                    // It may have a line end in it.
                    is_line_start = true;
                    continue;
                }
                // Comments in scripts, operators in modules. The second one is a comment at the start of a line only:
                // `while (i-->0)`.
                b'<' if self.bytes[self.at..].starts_with(b"<!--") => return None,
                b'-' if is_line_start && self.bytes[self.at..].starts_with(b"-->") => return None,
                _ if self.is_space() => {
                    is_line_start |= self.is_line_separator();
                    self.at += self.character_length();
                    continue;
                }
                _ => {}
            }
            before = self.token(byte, before)?;
            is_line_start = false;
            let depth = self.open.saturating_add(self.level);
            self.nesting.depth = self.nesting.depth.max(depth);
            self.nesting.work = self.nesting.work.saturating_add(depth.into());
        }
        Some(())
    }

    fn token(&mut self, byte: u8, before: Before) -> Option<Before> {
        Some(match byte {
            b'(' => {
                self.open(Bracket::Parentheses { is_head: before == Before::Head });
                Before::Operator
            }
            b'[' => {
                self.open(Bracket::Square);
                Before::Operator
            }
            b'{' => {
                self.open(Bracket::Brace {
                    is_block: matches!(before, Before::Block | Before::HeadParentheses),
                });
                Before::Operator
            }
            b')' | b']' | b'}' => match self.close() {
                Some(Bracket::Template) => self.template(),
                Some(Bracket::Parentheses { is_head: true }) => Before::HeadParentheses,
                Some(Bracket::Parentheses { is_head: false }) => Before::Parentheses,
                Some(Bracket::Square) => Before::Operand,
                Some(Bracket::Brace { is_block: true }) => Before::EndOfBlock,
                Some(Bracket::Brace { is_block: false }) | None => Before::Brace,
            },
            b';' => {
                self.at += 1;
                // `if (a) b; else if (c) d; else ...`
                if !self.next_word_is(b"else") && !self.next_word_is(b"while") {
                    self.level = 0;
                    self.angles = 0;
                }
                Before::Operator
            }
            b',' => {
                self.at += 1;
                // `A<b, A<b, ...>>`
                self.level = self.angles;
                Before::Operator
            }
            b'<' if self.is_typescript => {
                self.at += 1;
                self.level += 1;
                self.angles = self.level;
                Before::Operator
            }
            b'"' | b'\'' => {
                self.string(byte);
                self.level += 1;
                Before::Operand
            }
            b'`' => {
                self.at += 1;
                self.level += 1;
                self.template()
            }
            b'/' => {
                self.level += 1;
                match before {
                    Before::Operand | Before::Parentheses => {
                        self.at += 1;
                        Before::Operator
                    }
                    Before::Either | Before::Brace => {
                        self.at += 1;
                        if self.line_has_slash() {
                            return None;
                        }
                        Before::Operator
                    }
                    _ => {
                        self.regex();
                        Before::Operand
                    }
                }
            }
            b'.' if !self.peek(1).is_some_and(|next| next.is_ascii_digit()) => {
                self.level += 1;
                self.at += 1;
                if self.peek(0) == Some(b'.') { Before::Operator } else { Before::Dot }
            }
            b'=' if self.peek(1) == Some(b'>') => {
                self.level += 1;
                self.at += 2;
                Before::Block
            }
            b'+' | b'-' if self.peek(1) == Some(byte) => {
                self.level += 1;
                self.at += 2;
                // `a++ / b`; a regular expression after a prefix is an error.
                before
            }
            _ if byte.is_ascii_alphanumeric()
                || matches!(byte, b'_' | b'$' | b'#' | b'\\' | b'.')
                || !byte.is_ascii() =>
            {
                self.word(before)
            }
            _ => {
                self.level += 1;
                self.at += 1;
                Before::Operator
            }
        })
    }

    fn word(&mut self, before: Before) -> Before {
        let start = self.at;
        self.at += self.character_length();
        while let Some(byte) = self.peek(0) {
            let is_part = byte.is_ascii_alphanumeric()
                || matches!(byte, b'_' | b'$' | b'\\')
                // `1.5`, `\u{61}`
                || byte == b'.' && self.bytes[start].is_ascii_digit()
                || !byte.is_ascii() && !self.is_space();
            if byte == b'{' && self.bytes[start..self.at].ends_with(b"\\u") {
                let length = self.bytes[self.at..].iter().position(|byte| *byte == b'}');
                self.at += length.unwrap_or(0) + 1;
                continue;
            }
            if !is_part {
                break;
            }
            self.at += self.character_length();
        }
        let word = &self.bytes[start..self.at];
        let continues = matches!(
            word,
            b"in"
                | b"instanceof"
                | b"of"
                | b"else"
                | b"while"
                | b"catch"
                | b"finally"
                | b"from"
                | b"as"
                | b"extends"
        ) || self.is_typescript && matches!(word, b"is" | b"satisfies");
        let is_property = before == Before::Dot;
        // No expression continues with a word, so the statement, the member of a class or the case before has ended.
        let ended =
            matches!(before, Before::Brace | Before::EndOfBlock | Before::Operand | Before::Parentheses)
                && !continues
                || matches!(word, b"case" | b"default") && !is_property;
        if ended {
            self.level = 0;
            self.angles = 0;
        }
        self.level += 1;
        if is_property {
            return Before::Operand;
        }
        match word {
            b"if" | b"for" | b"while" | b"with" => Before::Head,
            // `for await (`
            b"await" if before == Before::Head => Before::Head,
            b"await" | b"yield" | b"of" | b"let" | b"async" | b"static" | b"get" | b"set" | b"as"
            | b"from" | b"using" | b"accessor" => Before::Either,
            b"do" | b"else" | b"finally" | b"try" => Before::Block,
            b"break" | b"case" | b"continue" | b"debugger" | b"default" | b"delete" | b"export"
            | b"extends" | b"import" | b"in" | b"instanceof" | b"new" | b"return" | b"throw" | b"typeof"
            | b"var" | b"const" | b"void" | b"function" | b"class" | b"switch" | b"catch" => Before::Keyword,
            b"keyof" | b"readonly" | b"unique" | b"infer" | b"asserts" | b"is" | b"satisfies"
            | b"abstract" | b"declare" | b"override" | b"public" | b"private" | b"protected" | b"type"
                if self.is_typescript =>
            {
                Before::Either
            }
            _ => Before::Operand,
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn open(&mut self, kind: Bracket) {
        self.at += 1;
        let level = self.level + 1;
        self.frames.push(Frame { level, angles: self.angles, kind });
        self.open = self.open.saturating_add(level);
        self.level = 0;
        self.angles = 0;
    }

    fn close(&mut self) -> Option<Bracket> {
        self.at += 1;
        let frame = self.frames.pop()?;
        self.open = self.open.saturating_sub(frame.level);
        self.level = frame.level;
        self.angles = frame.angles;
        Some(frame.kind)
    }

    fn skip_line(&mut self) {
        while let Some(byte) = self.peek(0) {
            if byte == b'\n' || byte == b'\r' || self.is_line_separator() {
                break;
            }
            self.at += 1;
        }
    }

    fn skip_comment(&mut self) {
        let rest = &self.bytes[self.at + 2..];
        let length = rest.windows(2).position(|pair| pair == b"*/").map_or(rest.len(), |length| length + 2);
        self.at += 2 + length;
    }

    fn string(&mut self, quote: u8) {
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            match byte {
                b'\\' if self.peek(0) == Some(b'\r') && self.peek(1) == Some(b'\n') => self.at += 2,
                b'\\' => self.at += 1,
                // The parser stops at a string without an end.
                b'\n' | b'\r' => return,
                _ if byte == quote => return,
                _ => {}
            }
        }
    }

    /// Goes to the end of a template, or into its next hole.
    fn template(&mut self) -> Before {
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'`' => return Before::Operand,
                b'$' if self.peek(0) == Some(b'{') => {
                    self.open(Bracket::Template);
                    return Before::Operator;
                }
                _ => {}
            }
        }
        Before::Operand
    }

    fn regex(&mut self) {
        self.at += 1;
        let mut is_in_class = false;
        while let Some(byte) = self.peek(0) {
            if byte == b'\n' || byte == b'\r' || self.is_line_separator() {
                // The parser stops at a regular expression without an end.
                return;
            }
            self.at += 1;
            match byte {
                b'\\' if !matches!(self.peek(0), Some(b'\n' | b'\r')) => self.at += 1,
                b'[' => is_in_class = true,
                b']' => is_in_class = false,
                b'/' if !is_in_class => return,
                _ => {}
            }
        }
    }

    /// Whether a regular expression that has just begun could end.
    fn line_has_slash(&self) -> bool {
        let rest = &self.bytes[self.at..];
        rest.iter().find(|byte| matches!(byte, b'/' | b'\n' | b'\r')) == Some(&b'/')
    }

    fn next_word_is(&self, word: &[u8]) -> bool {
        let rest = &self.bytes[self.at..];
        let start = rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(rest.len());
        // A comment or another kind of space may be before the word.
        rest[start..].starts_with(word)
            || rest.get(start).is_some_and(|byte| *byte == b'/' || !byte.is_ascii())
    }

    fn character_length(&self) -> usize {
        match self.peek(0) {
            Some(0xF0..) => 4,
            Some(0xE0..) => 3,
            Some(0xC0..) => 2,
            _ => 1,
        }
    }

    fn is_line_separator(&self) -> bool {
        matches!(self.bytes[self.at..], [0xE2, 0x80, 0xA8 | 0xA9, ..])
    }

    /// Whether a white space that is not ASCII comes.
    fn is_space(&self) -> bool {
        let rest = &self.bytes[self.at..];
        let character = &rest[..self.character_length().min(rest.len())];
        !rest[0].is_ascii()
            && std::str::from_utf8(character).is_ok_and(|text| {
                text.starts_with(|space: char| space.is_whitespace() || space == '\u{FEFF}')
            })
    }
}

#[cfg(test)]
mod tests;
