//! Finding the name of a function in the source text around its definition.
//!
//! Mappings refer to the starts of tokens, and V8's position of a function is its list of parameters. The original position is therefore
//! one of these: the function's name, `function` or a modifier before it, the parameters or the first of them, or the start of the
//! statement that declares it.

/// A source text with an index of its lines.
#[derive(Debug)]
pub(crate) struct Text {
    text: String,
    lines: Vec<usize>,
    /// The number of UTF-16 code units before every [`STRIDE`]th byte, or before the next character boundary. Empty for ASCII.
    units: Vec<usize>,
}

/// The distance of entries in [`Text::units`]. Without them, finding a column in a line of megabytes would count from its start.
const STRIDE: usize = 1 << 10;

/// The name of a function in its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Declared<'text> {
    /// The function has this name.
    Named(&'text str),
    /// The function has no name.
    Anonymous,
    /// The text is not a recognized function definition.
    Unknown,
}

/// How many bytes are searched for the class of a constructor.
const MAX_CLASS_DISTANCE: usize = 1 << 16;

/// How many bytes are searched for anything else: the end of white space, of an identifier, of an assignment's target. This bounds
/// the cost in hostile sources.
const MAX_DISTANCE: usize = 1 << 12;

/// Words that may precede the name of a function or method.
const MODIFIERS: [&str; 14] = [
    "async",
    "static",
    "get",
    "set",
    "export",
    "default",
    "public",
    "private",
    "protected",
    "readonly",
    "override",
    "abstract",
    "declare",
    "accessor",
];

/// Words before a parenthesis that are not the name of a function.
const KEYWORDS: [&str; 16] = [
    "if", "for", "while", "switch", "catch", "with", "return", "typeof", "void", "delete", "new", "await",
    "yield", "in", "of", "do",
];

impl Text {
    pub(crate) fn new(text: String) -> Self {
        let starts = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let lines = [0].into_iter().chain(starts).collect();
        let units = if text.is_ascii() { Vec::new() } else { units(&text) };
        Self { text, lines, units }
    }

    /// The name of the function defined at this 0-based line and column, in UTF-16 units.
    pub(crate) fn declared_at(&self, line: u32, column: u32) -> Declared<'_> {
        match self.offset(line, column) {
            Some(at) => Reader { text: &self.text }.declared_at(at),
            None => Declared::Unknown,
        }
    }

    /// Whether `function` or `async` is at this 0-based line and column.
    pub(crate) fn has_function_keyword_at(&self, line: u32, column: u32) -> bool {
        let word = self.offset(line, column).map(|at| Reader { text: &self.text }.word(at));
        word.is_some_and(|word| ["function", "async"].contains(&word))
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The line with this 0-based number, without its line terminator.
    pub(crate) fn line(&self, line: u32) -> Option<&str> {
        let start = *self.lines.get(line as usize)?;
        let end = self.lines.get(line as usize + 1).map_or(self.text.len(), |next| next - 1);
        self.text.get(start..end).map(|text| text.strip_suffix('\r').unwrap_or(text))
    }

    fn offset(&self, line: u32, column: u32) -> Option<usize> {
        let start = *self.lines.get(line as usize)?;
        let end = self.lines.get(line as usize + 1).map_or(self.text.len(), |next| next - 1);
        let offset = if self.units.is_empty() {
            start + column as usize
        } else {
            self.at_unit(self.units_before(start) + column as usize)?
        };
        (offset <= end).then_some(offset)
    }

    /// The number of UTF-16 code units before a byte offset.
    fn units_before(&self, at: usize) -> usize {
        let from = boundary(&self.text, at / STRIDE * STRIDE).min(at);
        self.units[at / STRIDE] + self.text[from..at].encode_utf16().count()
    }

    /// The byte offset of the character that starts with this UTF-16 code unit, or of the end.
    fn at_unit(&self, unit: usize) -> Option<usize> {
        let stride = self.units.partition_point(|&before| before <= unit) - 1;
        let from = boundary(&self.text, stride * STRIDE);
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

/// The first character boundary at or after an offset.
fn boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
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

#[derive(Clone, Copy)]
struct Reader<'text> {
    text: &'text str,
}

impl<'text> Reader<'text> {
    fn byte(self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    fn byte_before(self, at: usize) -> u8 {
        at.checked_sub(1).map_or(0, |before| self.byte(before))
    }

    /// The offset of the first non-space byte from here on.
    fn skip_space(self, at: usize) -> usize {
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        at + rest.iter().take(MAX_DISTANCE).take_while(|byte| byte.is_ascii_whitespace()).count()
    }

    /// The offset after the last non-space byte before here.
    fn skip_space_back(self, at: usize) -> usize {
        let before = self.text.as_bytes().get(..at).unwrap_or_default();
        at - before.iter().rev().take(MAX_DISTANCE).take_while(|byte| byte.is_ascii_whitespace()).count()
    }

    /// The offset at which a backwards search from here ends.
    fn near(self, at: usize, reach: usize) -> usize {
        boundary(self.text, at.saturating_sub(reach)).min(at)
    }

    /// The identifier or keyword that starts here; may be empty.
    fn word(self, at: usize) -> &'text str {
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        let private = usize::from(rest.first() == Some(&b'#'));
        let length =
            rest.iter().skip(private).take(MAX_DISTANCE).take_while(|byte| is_part_of_word(**byte)).count();
        if length == 0 || length == MAX_DISTANCE {
            ""
        } else {
            self.text.get(at..at + private + length).unwrap_or_default()
        }
    }

    /// The identifier or keyword that ends here; may be empty.
    fn word_before(self, at: usize) -> &'text str {
        let before = self.text.as_bytes().get(..at).unwrap_or_default();
        let length =
            before.iter().rev().take(MAX_DISTANCE).take_while(|byte| is_part_of_word(**byte)).count();
        let length = if length == MAX_DISTANCE { 0 } else { length };
        let start = at - length;
        let start = if length > 0 && self.byte_before(start) == b'#' { start - 1 } else { start };
        self.text.get(start..at).unwrap_or_default()
    }

    fn declared_at(self, at: usize) -> Declared<'text> {
        // Some tools map to the end of a line. What the next line declares is something else.
        if matches!(self.byte(at), b'\r' | b'\n') {
            return Declared::Unknown;
        }
        let start = self.skip_space(at);
        if self.byte(start) == b'(' || self.byte(start) == b'<' {
            return self.before_parameters(start);
        }
        if let Some(parenthesis) = self.first_parameter_of(start) {
            return self.before_parameters(parenthesis);
        }
        let mut at = start;
        // Skips modifiers.
        for _ in 0..MODIFIERS.len() {
            if self.byte(at) == b'*' {
                at = self.skip_space(at + 1);
            }
            let word = self.word(at);
            let next = self.skip_space(at + word.len());
            match (word, self.byte(next)) {
                ("", b'(') => return self.assigned(start),
                ("", b'\'' | b'"') => return self.quoted(at),
                ("", _) => return Declared::Unknown,
                ("function", _) => return self.after_keyword(next, start),
                ("class", _) => return self.after_keyword(next, start),
                ("const" | "let" | "var", _) => return self.declarator(next),
                // `async (a) => ...`, or a method named `async`, which is rare.
                ("async", b'(') => return self.assigned(start),
                (modifier, byte) if MODIFIERS.contains(&modifier) && begins_name(byte) => at = next,
                (keyword, _) if KEYWORDS.contains(&keyword) => return Declared::Anonymous,
                (name, _) => return self.named(name, next, start),
            }
        }
        Declared::Unknown
    }

    /// The opening parenthesis, if the first parameter of a list starts here.
    fn first_parameter_of(self, start: usize) -> Option<usize> {
        let end = self.skip_space_back(start);
        if self.byte_before(end) != b'(' {
            return None;
        }
        let next = self.skip_space(start + self.word(start).len());
        let is_parameter = match (self.byte(start), self.byte(next), self.byte(next + 1)) {
            (b'{' | b'[', ..) => true,
            (_, b'=', b'>') => false,
            (first, b':' | b',' | b')' | b'=' | b'?', _) => is_part_of_word(first),
            _ => false,
        };
        is_parameter.then(|| end - 1)
    }

    /// At `name`; `next` is the offset after it.
    fn named(self, name: &'text str, next: usize, start: usize) -> Declared<'text> {
        match (self.byte(next), self.byte(next + 1)) {
            (b'=', b'>') => self.assigned(start),
            (b'(' | b'<', _) if name == "constructor" => self.class_around(start),
            (b'(' | b'<', _) => Declared::Named(name),
            (b'=', b'=') => Declared::Unknown,
            (b'=' | b':', _) => Declared::Named(name),
            // An optional method, or a variable with a definite assignment assertion (`!`).
            (b'?' | b'!', b'(' | b':' | b'<') => Declared::Named(name),
            _ => Declared::Unknown,
        }
    }

    /// After `function` or `class`.
    fn after_keyword(self, at: usize, start: usize) -> Declared<'text> {
        let at = if self.byte(at) == b'*' { self.skip_space(at + 1) } else { at };
        match self.word(at) {
            "" | "extends" => self.assigned(start),
            name => Declared::Named(name),
        }
    }

    /// After `const`, `let` or `var`: a name that something is assigned to.
    fn declarator(self, at: usize) -> Declared<'text> {
        let name = self.word(at);
        let next = self.skip_space(at + name.len());
        match (name, self.byte(next)) {
            ("", _) => Declared::Unknown,
            (name, b'=' | b':' | b'!') => Declared::Named(name),
            _ => Declared::Unknown,
        }
    }

    /// At a method with a string as its name.
    fn quoted(self, at: usize) -> Declared<'text> {
        let rest = self.text.get(at + 1..).unwrap_or_default();
        let end = rest.as_bytes().iter().take(MAX_DISTANCE).position(|byte| *byte == self.byte(at));
        match end.and_then(|end| rest.get(..end)) {
            Some(name) if !name.contains(['\n', '\\']) => Declared::Named(name),
            _ => Declared::Unknown,
        }
    }

    /// At the parameters of a function: `name(`, `name<T>(`, `function (`, or `(` of an arrow function.
    fn before_parameters(self, at: usize) -> Declared<'text> {
        let end = self.skip_space_back(at);
        match self.word_before(end) {
            "" => self.assigned(at),
            "function" => self.assigned(end - "function".len()),
            "async" => self.assigned(end - "async".len()),
            "constructor" => self.class_around(end),
            word if KEYWORDS.contains(&word) => Declared::Anonymous,
            name => Declared::Named(name),
        }
    }

    /// The name that an anonymous function is assigned to, by `name =` or `name:` before it.
    fn assigned(self, start: usize) -> Declared<'text> {
        let mut end = self.skip_space_back(start);
        for modifier in ["async", "function"] {
            if self.word_before(end) == modifier {
                end = self.skip_space_back(end - modifier.len());
            }
        }
        let (last, before) = (self.byte_before(end), self.byte_before(end.saturating_sub(1)));
        match last {
            b'=' if !b"=!<>".contains(&before) => {
                // `??=`, `||=` and `&&=` also name functions.
                let end = end - 1;
                let from = self.near(end, MAX_DISTANCE);
                let target = self.text[from..end].trim_end_matches(['?', '|', '&']);
                self.target(self.skip_space_back(from + target.len()))
            }
            b':' => self.key(self.skip_space_back(end - 1)),
            _ if self.word_before(end) == "default" => Declared::Named("default"),
            _ => Declared::Anonymous,
        }
    }

    /// The target of an assignment, before `=`.
    fn target(self, end: usize) -> Declared<'text> {
        let line = &self.text[self.near(end, MAX_DISTANCE)..end];
        let line = &line[line.rfind(['\n', ';', '{', '}']).map_or(0, |at| at + 1)..];
        // A type annotation comes after the name: `const handler: Handler =`.
        let declared = line.split_once(':').and_then(|(before, _)| before.split_whitespace().last());
        if let Some(name) = declared.filter(|name| name.bytes().all(is_part_of_word)) {
            return Declared::Named(name);
        }
        match self.word_before(end) {
            "" => Declared::Anonymous,
            name => Declared::Named(name),
        }
    }

    /// The key of an object, before `:`, unless it is the middle of a conditional expression.
    fn key(self, end: usize) -> Declared<'text> {
        let quote = self.byte_before(end);
        let (name, start) = if quote == b'"' || quote == b'\'' {
            let from = self.near(end - 1, MAX_DISTANCE);
            let line = &self.text[from..end - 1];
            match line.rfind(['\n', char::from(quote)]) {
                Some(at) if line.as_bytes()[at] == quote => (&line[at + 1..], from + at),
                _ => return Declared::Anonymous,
            }
        } else {
            let name = self.word_before(end);
            (name, end - name.len())
        };
        match self.byte_before(self.skip_space_back(start)) {
            b'{' | b',' if !name.is_empty() => Declared::Named(name),
            _ => Declared::Anonymous,
        }
    }

    /// The class of a constructor: the last one that starts before it.
    fn class_around(self, at: usize) -> Declared<'text> {
        let from = self.near(at, MAX_CLASS_DISTANCE);
        let before = &self.text[from..at];
        let is_keyword = |index: usize| !before[..index].bytes().next_back().is_some_and(is_part_of_word);
        let class = before.rmatch_indices("class ").find(|(index, _)| is_keyword(*index));
        match class.map(|(index, keyword)| self.word(self.skip_space(from + index + keyword.len()))) {
            Some("" | "extends") | None => Declared::Named("constructor"),
            Some(name) => Declared::Named(name),
        }
    }
}

/// Whether identifiers may contain this byte. Every byte that is not ASCII counts as part of one.
fn is_part_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// Whether a name may start with this byte, so that the word before it is a modifier.
fn begins_name(byte: u8) -> bool {
    is_part_of_word(byte) || b"#*[\"'".contains(&byte)
}

#[cfg(test)]
mod tests;
