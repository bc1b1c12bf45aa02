//! What a function is called where it is defined, read off the source around that place.
//!
//! Generated code is mapped where its tokens begin, and V8 places a function at its list of parameters, so the place is in
//! one of a few spots: at the function's name, at `function` or a modifier before it, at the parameters or the first of them, or where the
//! statement begins that declares it.

/// A source, and where its lines begin.
#[derive(Debug)]
pub(crate) struct Text {
    text: String,
    lines: Vec<usize>,
    /// How many UTF-16 code units stand before each [`STRIDE`]th byte, or the character that it is in. Empty for ASCII.
    units: Vec<usize>,
}

/// Sources may be one line of megabytes, in which each column would be counted from the start.
const STRIDE: usize = 1 << 10;

/// What the source tells of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Declared<'text> {
    /// Its name.
    As(&'text str),
    /// That it has none.
    Nameless,
    /// Nothing.
    Unknown,
}

/// How far is looked for the class around a constructor.
const REACH: usize = 1 << 16;

/// How far is looked for all else that belongs together: white space, an identifier, what is assigned to. A source without
/// the ends of these does not make a place in it cost more.
const NEAR: usize = 1 << 12;

/// What may stand before a function's or method's name.
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

/// Words before a parenthesis that name no function.
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

    /// What the function is called that is defined at this line and column, which count from 0, columns in UTF-16 units.
    pub(crate) fn declared_at(&self, line: u32, column: u32) -> Declared<'_> {
        match self.offset(line, column) {
            Some(at) => Reader { text: &self.text }.declared_at(at),
            None => Declared::Unknown,
        }
    }

    /// The line with this number, counted from 0, without what ends it.
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

    /// How many UTF-16 code units stand before this character.
    fn units_before(&self, at: usize) -> usize {
        let from = boundary(&self.text, at / STRIDE * STRIDE).min(at);
        self.units[at / STRIDE] + self.text[from..at].encode_utf16().count()
    }

    /// The character that begins with this UTF-16 code unit, or the end.
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

/// The first character that begins here or behind.
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

    /// The first place from here on that is no white space.
    fn skip_space(self, at: usize) -> usize {
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        at + rest.iter().take(NEAR).take_while(|byte| byte.is_ascii_whitespace()).count()
    }

    /// The end of what stands before here and before white space.
    fn skip_space_back(self, at: usize) -> usize {
        let before = self.text.as_bytes().get(..at).unwrap_or_default();
        at - before.iter().rev().take(NEAR).take_while(|byte| byte.is_ascii_whitespace()).count()
    }

    /// Where to stop looking for what stands before this.
    fn near(self, at: usize, reach: usize) -> usize {
        boundary(self.text, at.saturating_sub(reach)).min(at)
    }

    /// The identifier or keyword that begins here; may be empty.
    fn word(self, at: usize) -> &'text str {
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        let private = usize::from(rest.first() == Some(&b'#'));
        let length = rest.iter().skip(private).take(NEAR).take_while(|byte| is_part_of_word(**byte)).count();
        if length == 0 || length == NEAR {
            ""
        } else {
            self.text.get(at..at + private + length).unwrap_or_default()
        }
    }

    /// The identifier or keyword that ends here; may be empty.
    fn word_before(self, at: usize) -> &'text str {
        let before = self.text.as_bytes().get(..at).unwrap_or_default();
        let length = before.iter().rev().take(NEAR).take_while(|byte| is_part_of_word(**byte)).count();
        let length = if length == NEAR { 0 } else { length };
        let start = at - length;
        let start = if length > 0 && self.byte_before(start) == b'#' { start - 1 } else { start };
        self.text.get(start..at).unwrap_or_default()
    }

    fn declared_at(self, at: usize) -> Declared<'text> {
        let start = self.skip_space(at);
        if self.byte(start) == b'(' || self.byte(start) == b'<' {
            return self.before_parameters(start);
        }
        if let Some(parenthesis) = self.first_parameter_of(start) {
            return self.before_parameters(parenthesis);
        }
        let mut at = start;
        // A handful of modifiers, at most.
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
                // `async (a) => ...`, or a method of that name, which hardly anybody has.
                ("async", b'(') => return self.assigned(start),
                (modifier, byte) if MODIFIERS.contains(&modifier) && begins_name(byte) => at = next,
                (keyword, _) if KEYWORDS.contains(&keyword) => return Declared::Nameless,
                (name, _) => return self.named(name, next, start),
            }
        }
        Declared::Unknown
    }

    /// The parenthesis before what stands here, if this is the first parameter in a list of them.
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

    /// At `name`, with `next` behind it.
    fn named(self, name: &'text str, next: usize, start: usize) -> Declared<'text> {
        match (self.byte(next), self.byte(next + 1)) {
            (b'=', b'>') => self.assigned(start),
            (b'(' | b'<', _) if name == "constructor" => self.class_around(start),
            (b'(' | b'<', _) => Declared::As(name),
            (b'=', b'=') => Declared::Unknown,
            (b'=' | b':', _) => Declared::As(name),
            // An optional method of a class, or a declaration with a type that is sure to be assigned.
            (b'?' | b'!', b'(' | b':' | b'<') => Declared::As(name),
            _ => Declared::Unknown,
        }
    }

    /// Behind `function` or `class`.
    fn after_keyword(self, at: usize, start: usize) -> Declared<'text> {
        let at = if self.byte(at) == b'*' { self.skip_space(at + 1) } else { at };
        match self.word(at) {
            "" | "extends" => self.assigned(start),
            name => Declared::As(name),
        }
    }

    /// Behind `const`: a name to which something is assigned.
    fn declarator(self, at: usize) -> Declared<'text> {
        let name = self.word(at);
        let next = self.skip_space(at + name.len());
        match (name, self.byte(next)) {
            ("", _) => Declared::Unknown,
            (name, b'=' | b':' | b'!') => Declared::As(name),
            _ => Declared::Unknown,
        }
    }

    /// At a method whose name is a string.
    fn quoted(self, at: usize) -> Declared<'text> {
        let rest = self.text.get(at + 1..).unwrap_or_default();
        let end = rest.as_bytes().iter().take(NEAR).position(|byte| *byte == self.byte(at));
        match end.and_then(|end| rest.get(..end)) {
            Some(name) if !name.contains(['\n', '\\']) => Declared::As(name),
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
            word if KEYWORDS.contains(&word) => Declared::Nameless,
            name => Declared::As(name),
        }
    }

    /// What a function without a name of its own is assigned to, by `name =` or `name:` before it.
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
                // `??=`, `||=` and `&&=` give names as well.
                let end = end - 1;
                let from = self.near(end, NEAR);
                let target = self.text[from..end].trim_end_matches(['?', '|', '&']);
                self.target(self.skip_space_back(from + target.len()))
            }
            b':' => self.key(self.skip_space_back(end - 1)),
            _ if self.word_before(end) == "default" => Declared::As("default"),
            _ => Declared::Nameless,
        }
    }

    /// What stands before `=`.
    fn target(self, end: usize) -> Declared<'text> {
        let line = &self.text[self.near(end, NEAR)..end];
        let line = &line[line.rfind(['\n', ';', '{', '}']).map_or(0, |at| at + 1)..];
        // With a type, the name stands before that: `const handler: Handler =`.
        let declared = line.split_once(':').and_then(|(before, _)| before.split_whitespace().last());
        if let Some(name) = declared.filter(|name| name.bytes().all(is_part_of_word)) {
            return Declared::As(name);
        }
        match self.word_before(end) {
            "" => Declared::Nameless,
            name => Declared::As(name),
        }
    }

    /// What stands before `:`, if it is the key of an object and not the middle of a condition.
    fn key(self, end: usize) -> Declared<'text> {
        let quote = self.byte_before(end);
        let (name, start) = if quote == b'"' || quote == b'\'' {
            let from = self.near(end - 1, NEAR);
            let line = &self.text[from..end - 1];
            match line.rfind(['\n', char::from(quote)]) {
                Some(at) if line.as_bytes()[at] == quote => (&line[at + 1..], from + at),
                _ => return Declared::Nameless,
            }
        } else {
            let name = self.word_before(end);
            (name, end - name.len())
        };
        match self.byte_before(self.skip_space_back(start)) {
            b'{' | b',' if !name.is_empty() => Declared::As(name),
            _ => Declared::Nameless,
        }
    }

    /// The class that a constructor is of: the last one that begins before it.
    fn class_around(self, at: usize) -> Declared<'text> {
        let from = self.near(at, REACH);
        let before = &self.text[from..at];
        let is_keyword = |place: usize| !before[..place].bytes().next_back().is_some_and(is_part_of_word);
        let class = before.rmatch_indices("class ").find(|(place, _)| is_keyword(*place));
        match class.map(|(place, keyword)| self.word(self.skip_space(from + place + keyword.len()))) {
            Some("" | "extends") | None => Declared::As("constructor"),
            Some(name) => Declared::As(name),
        }
    }
}

/// Whether identifiers have this byte. All that is not ASCII is taken for a part of one.
fn is_part_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// Whether a name may begin with this, so that a modifier before it is one.
fn begins_name(byte: u8) -> bool {
    is_part_of_word(byte) || b"#*[\"'".contains(&byte)
}

#[cfg(test)]
mod tests;
