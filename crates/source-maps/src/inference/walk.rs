//! Reading a source from its start, with a stack of the brackets that are open.

use super::brackets::{Brackets, Level, LevelKind};
use super::naming;
use super::scanner::{self, TemplateEnd};
use super::token::{IndexKey, Keyword, Kind, Token};

/// Nothing is inferred after deeper nesting.
const MAX_LEVELS: usize = 10_000;

/// At most this many words are before the name of a method, as in `static async *name`.
const MAX_MODIFIERS: usize = 3;

/// The return type of an arrow function has at most this many tokens.
const MAX_TYPE_TOKENS: usize = 16;

/// The name of a function that is called where it is written.
const CALLED_AT_ONCE: &str = "(IIFE)";

/// The source text up to here, and the functions that were found in it.
pub(super) struct Walk<'text> {
    /// The offsets of the functions, ascending.
    starts: &'text [usize],
    /// The first of them that was not passed.
    next: usize,
    /// By function, parallel to `starts`.
    functions: Vec<Function>,
    open: Brackets<'text>,
    at: usize,
}

#[derive(Clone, Debug, Default)]
struct Function {
    /// Whether this is known to be a function.
    is_confirmed: bool,
    is_arrow: bool,
    name: Option<String>,
}

/// The source is not understood from here on.
struct NotUnderstood;

impl<'text> Walk<'text> {
    /// `starts` are the offsets of the functions, ascending.
    pub(super) fn new(text: &'text str, starts: &'text [usize]) -> Self {
        Self {
            starts,
            next: 0,
            functions: vec![Function::default(); starts.len()],
            open: Brackets::new(text),
            at: 0,
        }
    }

    /// The names of the functions.
    pub(super) fn names(mut self) -> Vec<Option<String>> {
        // Offsets in tokens are 32-bit.
        if u32::try_from(self.open.text.len()).is_err() {
            return vec![None; self.starts.len()];
        }
        while let Ok(true) = self.step() {}
        // What follows a function can change its name.
        for level in &self.open.levels {
            for function in [level.function, level.wraps].into_iter().flatten() {
                self.functions[function as usize].name = None;
            }
        }
        self.functions.into_iter().map(|function| function.name.filter(|_| function.is_confirmed)).collect()
    }

    /// Reads a token. Returns whether there was one.
    fn step(&mut self) -> Result<bool, NotUnderstood> {
        let gap = scanner::gap(self.open.text, self.at).ok_or(NotUnderstood)?;
        let start = gap.end;
        self.at = start;
        let Some(&byte) = self.open.text.as_bytes().get(start) else { return Ok(false) };
        while self.starts.get(self.next).is_some_and(|&at| at < start) {
            self.next += 1;
        }
        let function = (self.starts.get(self.next) == Some(&start)).then_some(self.next as u32);
        match byte {
            b',' | b';' => {
                self.separate(byte);
                self.at += 1;
            }
            b')' | b']' | b'}' => self.close(byte)?,
            b'(' | b'[' | b'{' => self.open(byte, function)?,
            b'`' => self.template(start, start + 1)?,
            _ => self.token(byte, function, gap.has_line_end)?,
        }
        Ok(true)
    }

    fn separate(&mut self, byte: u8) {
        self.before(None);
        if byte == b','
            && let Some(function) = self.open.level_mut().wraps.take()
        {
            // A sequence of expressions.
            self.functions[function as usize].name = None;
        }
        let first = self.open.level().first;
        let starts_return =
            self.open.list().first().is_some_and(|token| token.kind == Kind::Keyword(Keyword::Return));
        let in_class_head = byte == b',' && naming::class_keyword(self.open.list()).is_some();
        self.open.tokens.truncate(first);
        self.open.level_mut().is_cut = false;
        if in_class_head {
            // TypeScript's `class A<T, U>` and `implements A, B`.
            let at = self.at as u32;
            let kind = Kind::Keyword(Keyword::Class);
            self.open.push(Token { kind, start: at, end: at + 1, function: None });
        } else if byte == b',' && matches!(self.open.level().kind, LevelKind::Script | LevelKind::Block) {
            // The statement goes on. `return a, b` returns `b`.
            let kind = if starts_return { Kind::Keyword(Keyword::Return) } else { Kind::OtherPunctuation };
            let at = self.at as u32;
            self.open.push(Token { kind, start: at, end: at + 1, function: None });
        }
    }

    /// A token that is not a bracket.
    fn token(&mut self, byte: u8, function: Option<u32>, has_line_end: bool) -> Result<(), NotUnderstood> {
        let (text, start) = (self.open.text, self.at);
        let next_is_digit = text.as_bytes().get(start + 1).is_some_and(u8::is_ascii_digit);
        let (kind, end) = match byte {
            b'"' | b'\'' => (Kind::String, scanner::string(text, start).ok_or(NotUnderstood)?),
            b'0'..=b'9' => (Kind::Number, scanner::number(text, start)),
            b'.' if next_is_digit => (Kind::Number, scanner::number(text, start)),
            b'/' if !self.open.list().last().is_some_and(Token::ends_operand) => {
                (Kind::Regex, scanner::regex(text, start).ok_or(NotUnderstood)?)
            }
            _ => match scanner::word(text, start) {
                end if end > start => (self.word_kind(&text[start..end]), end),
                _ => scanner::operator(text, start),
            },
        };
        let mut token = Token { kind, start: start as u32, end: end as u32, function: None };
        let follows_operand =
            self.open.list().last().is_some_and(|last| last.ends_operand() || last.kind == Kind::ArrowBody);
        if has_line_end && token.starts_operand() && follows_operand && self.open.has_statements() {
            self.separate(b';');
        }
        token.function = self.before(Some(&token));
        if let Some(function) =
            function.filter(|_| matches!(kind, Kind::Name | Kind::Keyword(Keyword::Function)))
        {
            self.begin(function, self.open.tokens.len());
            token.function = Some(function);
        }
        self.at = end;
        if kind == Kind::Colon && self.is_label() {
            self.separate(b';');
        } else {
            self.open.push(token);
        }
        Ok(())
    }

    /// At a colon: whether it ends a label, `case ...` or `default`.
    fn is_label(&self) -> bool {
        matches!(self.open.level().kind, LevelKind::Script | LevelKind::Block)
            && match self.open.list() {
                [label] => label.kind == Kind::Name || label.kind == Kind::Keyword(Keyword::Case),
                list => is_case(list),
            }
    }

    /// Whether a word is a keyword here.
    fn word_kind(&self, word: &str) -> Kind {
        let list = self.open.list();
        let follows_dot = list.last().is_some_and(|last| last.kind == Kind::Dot);
        let is_key = matches!(self.open.level().kind, LevelKind::Object | LevelKind::Class)
            && !self.open.level().is_cut
            && list.len() <= MAX_MODIFIERS
            && list.iter().all(|token| matches!(token.kind, Kind::Name | Kind::Star));
        match Keyword::of(word) {
            Some(keyword) if !follows_dot && !is_key => Kind::Keyword(keyword),
            _ => Kind::Name,
        }
    }

    /// A function starts; its own tokens begin at this index of the innermost level's.
    fn begin(&mut self, function: u32, head: usize) {
        let name = naming::of_context(&self.open, self.open.levels.len() - 1, head);
        self.functions[function as usize].name = name;
        let is_value = !self.open.list().iter().any(|token| matches!(token.kind, Kind::Assign | Kind::Arrow));
        if self.open.level().kind == LevelKind::Group && !self.open.level().is_cut && is_value {
            self.open.level_mut().wraps = Some(function);
        }
    }

    /// What the next token, or `None` for a separator or closing bracket, says about the function of the last one. Returns the
    /// function that the next token belongs to.
    fn before(&mut self, next: Option<&Token>) -> Option<u32> {
        let last = self.open.list().last().copied()?;
        let function = last.function?;
        let kind = next.map(|next| next.kind);
        let is_async = last.kind == Kind::Name && self.open.text_of(&last) == "async";
        let known = &mut self.functions[function as usize];
        if known.is_confirmed {
            let is_called = match (last.kind, kind) {
                (Kind::Braces | Kind::Parentheses { .. }, Some(Kind::Template)) => true,
                (Kind::Dot, Some(Kind::Name)) => {
                    next.is_some_and(|next| ["call", "apply"].contains(&self.open.text_of(next)))
                }
                // The function of the next token: `.` in `}.call(`.
                (Kind::Braces | Kind::Parentheses { .. }, Some(Kind::Dot)) => return Some(function),
                _ => false,
            };
            if is_called {
                self.call_at_once(function);
            }
            return None;
        }
        let in_return_type = self.is_in_return_type(function);
        let known = &mut self.functions[function as usize];
        match (last.kind, kind) {
            (Kind::Name | Kind::Parentheses { .. }, Some(Kind::Arrow)) => {
                known.is_confirmed = true;
                known.is_arrow = true;
                Some(function)
            }
            // `async` before a parameter, or before `function`.
            (_, Some(Kind::Name | Kind::Keyword(Keyword::Function))) if is_async => Some(function),
            (Kind::Keyword(Keyword::Function), Some(Kind::Star)) => Some(function),
            // TypeScript's `(a): Type => ...`. Not `a ? (b) : c => ...`.
            (Kind::Parentheses { .. }, Some(Kind::Colon))
                if !self.open.list().iter().any(|token| token.kind == Kind::Question) =>
            {
                Some(function)
            }
            (_, Some(Kind::Arrow)) if in_return_type => {
                known.is_confirmed = true;
                known.is_arrow = true;
                Some(function)
            }
            (_, Some(next)) if in_return_type && is_part_of_type(next) => Some(function),
            // Not a function, or one with a name.
            _ => {
                known.name = None;
                None
            }
        }
    }

    /// Whether the last tokens are a colon after the parameters of this function, and a part of its type.
    fn is_in_return_type(&self, function: u32) -> bool {
        let mut list = self.open.list().iter().rev().take(MAX_TYPE_TOKENS);
        list.any(|token| token.kind == Kind::Colon && token.function == Some(function))
    }

    /// The function is called where it is written.
    fn call_at_once(&mut self, function: u32) {
        self.functions[function as usize].name = Some(CALLED_AT_ONCE.to_owned());
        // Its value is not the function.
        self.open.level_mut().wraps.take_if(|wrapped| *wrapped == function);
    }

    fn open(&mut self, byte: u8, function: Option<u32>) -> Result<(), NotUnderstood> {
        if self.open.levels.len() > MAX_LEVELS {
            return Err(NotUnderstood);
        }
        // An arrow function cannot be called without parentheses around it: a new statement starts.
        if self.open.has_statements()
            && self.open.list().last().is_some_and(|last| last.kind == Kind::ArrowBody)
        {
            self.separate(b';');
        }
        let kind = match byte {
            b'(' => self.parenthesis_kind(),
            b'[' if self.open.list().last().is_some_and(Token::ends_operand) => LevelKind::Index,
            b'[' if self.open.list().last().is_some_and(|last| last.kind == Kind::Dot) => LevelKind::Index,
            b'[' => LevelKind::Array,
            _ => self.brace_kind(),
        };
        let mut owner = self.owner_of_bracket(byte, kind);
        if let Some(function) = function {
            let head = match (byte, kind) {
                (b'(', LevelKind::Head) => self.function_head(),
                (b'(', LevelKind::Group) => Some(self.open.tokens.len()),
                (b'(', LevelKind::Call) if self.is_constructor() => {
                    let name = naming::of_class(&self.open, self.open.levels.len() - 1);
                    self.functions[function as usize] =
                        Function { is_confirmed: true, is_arrow: false, name };
                    None
                }
                _ => None,
            };
            if let Some(head) = head {
                self.begin(function, head);
                self.functions[function as usize].is_confirmed = kind == LevelKind::Head;
                owner = Some(function);
            }
        }
        self.open.levels.push(Level::new(kind, self.open.tokens.len(), self.at, owner));
        self.at += 1;
        Ok(())
    }

    /// The function whose parameters or body are in a bracket that opens here.
    fn owner_of_bracket(&mut self, byte: u8, kind: LevelKind) -> Option<u32> {
        let last = self.open.list().last().copied()?;
        let function = last.function?;
        let known = &mut self.functions[function as usize];
        match (last.kind, byte) {
            // `function (`
            (Kind::Keyword(Keyword::Function) | Kind::Star, b'(') => {
                known.is_confirmed = true;
                Some(function)
            }
            // `async (`
            (Kind::Name, b'(') if !known.is_confirmed => Some(function),
            (Kind::Parentheses { .. }, b'{') if known.is_confirmed && kind == LevelKind::Block => {
                Some(function)
            }
            (Kind::Braces | Kind::Parentheses { .. }, b'(') if known.is_confirmed => {
                self.call_at_once(function);
                None
            }
            _ if !known.is_confirmed => {
                known.name = None;
                None
            }
            _ => None,
        }
    }

    fn parenthesis_kind(&self) -> LevelKind {
        let list = self.open.list();
        let before = list.len().checked_sub(2).map(|index| list[index].kind);
        match list.last().map(|last| last.kind) {
            Some(Kind::Keyword(keyword)) => match keyword {
                Keyword::Head | Keyword::Function => LevelKind::Head,
                Keyword::Await if before == Some(Kind::Keyword(Keyword::Head)) => LevelKind::Head,
                Keyword::Import => LevelKind::Call,
                _ => LevelKind::Group,
            },
            Some(Kind::Star) if before == Some(Kind::Keyword(Keyword::Function)) => LevelKind::Head,
            Some(Kind::Name) if naming::is_function_name(list) => LevelKind::Head,
            Some(Kind::Parentheses { is_head: true }) => LevelKind::Group,
            Some(Kind::Dot) => LevelKind::Call,
            Some(_) if list.last().is_some_and(Token::ends_operand) => LevelKind::Call,
            _ => LevelKind::Group,
        }
    }

    fn brace_kind(&self) -> LevelKind {
        let (level, list) = (self.open.level(), self.open.list());
        if naming::class_keyword(list).is_some() {
            return LevelKind::Class;
        }
        match list.last().map(|last| last.kind) {
            None if self.open.has_statements() || level.is_cut => LevelKind::Block,
            None => LevelKind::Object,
            Some(Kind::Keyword(Keyword::Block | Keyword::Head)) => LevelKind::Block,
            Some(Kind::Keyword(_)) => LevelKind::Object,
            Some(Kind::Arrow) => LevelKind::Block,
            Some(_) if list.last().is_some_and(Token::ends_operand) => LevelKind::Block,
            Some(Kind::Parentheses { .. }) => LevelKind::Block,
            Some(Kind::OtherPunctuation) if self.is_after_return_type() => LevelKind::Block,
            Some(_) => LevelKind::Object,
        }
    }

    /// Whether the body of TypeScript's `f(): Type<T> {...}` may start here.
    fn is_after_return_type(&self) -> bool {
        let list = self.open.list();
        let is_type_end = list.last().is_some_and(|last| self.open.text_of(last) == ">");
        let is_return_type = |pair: &[Token]| {
            matches!(pair, [Token { kind: Kind::Parentheses { .. }, .. }, Token { kind: Kind::Colon, .. }])
        };
        is_type_end
            && list.windows(2).any(is_return_type)
            && !list.iter().any(|token| token.kind == Kind::Question)
    }

    /// At `(` after `function`: the index of the function's first token.
    fn function_head(&self) -> Option<usize> {
        let list = self.open.list();
        let mut head = list.len();
        if list.last().is_some_and(|last| last.kind == Kind::Star) {
            head -= 1;
        }
        head = head.checked_sub(1).filter(|&at| list[at].kind == Kind::Keyword(Keyword::Function))?;
        if let Some(before) = head.checked_sub(1)
            && list[before].kind == Kind::Name
            && self.open.text_of(&list[before]) == "async"
        {
            head = before;
        }
        Some(self.open.level().first + head)
    }

    /// At `(`: whether it is after `constructor` in a class.
    fn is_constructor(&self) -> bool {
        self.open.level().kind == LevelKind::Class
            && matches!(self.open.list(), [name] if self.open.text_of(name) == "constructor")
    }

    fn close(&mut self, byte: u8) -> Result<(), NotUnderstood> {
        self.before(None);
        use LevelKind::*;
        let is_match = match self.open.level().kind {
            Script => false,
            Call | Group | Head => byte == b')',
            Array | Index => byte == b']',
            Block | Object | Class | Hole => byte == b'}',
        };
        if !is_match {
            return Err(NotUnderstood);
        }
        let level = self.open.levels.pop().ok_or(NotUnderstood)?;
        let last = self.open.tokens[level.first..].last().copied();
        let is_single = self.open.tokens.len() == level.first + 1 && !level.is_cut;
        self.open.tokens.truncate(level.first);
        if level.kind == Hole {
            return self.template(level.start, self.at + 1);
        }
        let mut token =
            Token { kind: Kind::Braces, start: level.start as u32, end: self.at as u32 + 1, function: None };
        match level.kind {
            Call | Group => {
                token.kind = Kind::Parentheses { is_head: false };
                let wrapped = level.wraps.filter(|&wrapped| self.is_last(wrapped, last));
                // `((function () {}))`
                let nested = last.filter(|last| is_single && last.kind == token.kind);
                token.function = level.function.or(wrapped).or(nested.and_then(|nested| nested.function));
            }
            Head => {
                token.kind = Kind::Parentheses { is_head: true };
                token.function = level.function;
            }
            Array => token.kind = Kind::Array,
            Index => {
                token.kind = Kind::Index(IndexKey::Other);
                if let Some(key) = last.filter(|_| is_single) {
                    (token.start, token.end) = (key.start, key.end);
                    token.kind = Kind::Index(match key.kind {
                        Kind::String => IndexKey::String,
                        Kind::Name | Kind::Number => IndexKey::NameOrNumber,
                        _ => IndexKey::Other,
                    });
                }
            }
            Block if self.open.list().last().is_some_and(|last| last.kind == Kind::Arrow) => {
                token.kind = Kind::ArrowBody;
            }
            _ => token.function = level.function,
        }
        self.at += 1;
        if token.kind == Kind::Braces && level.kind != Object && self.ends_statement() {
            self.separate(b';');
        } else {
            self.open.push(token);
        }
        Ok(())
    }

    /// Whether the contents of a parenthesis end with a function, if `last` is their last token. An arrow
    /// function extends to the end of its expression, which is that of the parenthesis.
    fn is_last(&self, function: u32, last: Option<Token>) -> bool {
        self.functions[function as usize].is_arrow
            || last.is_some_and(|last| last.kind == Kind::Braces && last.function == Some(function))
    }

    /// At the end of a block, class or function: whether it is a statement or a member of a class.
    fn ends_statement(&self) -> bool {
        let list = self.open.list();
        match self.open.level().kind {
            // The value of a field may end with braces, too.
            LevelKind::Class => !list.iter().any(|token| token.kind == Kind::Assign),
            LevelKind::Script | LevelKind::Block => {
                !self.open.level().is_cut
                    && match (list.first().map(|first| first.kind), list.last().map(|last| last.kind)) {
                        (None, _) => true,
                        (_, Some(Kind::Keyword(Keyword::Block | Keyword::Head))) => true,
                        (Some(Kind::Keyword(first)), Some(last)) => {
                            matches!(first, Keyword::Function | Keyword::Class)
                                || first == Keyword::Export
                                    && !list.iter().any(|token| token.kind == Kind::Assign)
                                || last == Kind::Parentheses { is_head: true } && self.follows_head_keyword()
                        }
                        (Some(Kind::Name), Some(_)) => {
                            let is_async = self.open.text_of(&list[0]) == "async";
                            let is_function = list
                                .get(1)
                                .is_some_and(|second| second.kind == Kind::Keyword(Keyword::Function));
                            is_async && is_function
                        }
                        _ => false,
                    }
            }
            _ => false,
        }
    }

    /// Whether the last token is the parenthesis of a statement such as `if`.
    fn follows_head_keyword(&self) -> bool {
        let list = self.open.list();
        let before = |back: usize| list.len().checked_sub(back).map(|index| list[index].kind);
        match before(2) {
            Some(Kind::Keyword(Keyword::Await)) => before(3) == Some(Kind::Keyword(Keyword::Head)),
            kind => kind == Some(Kind::Keyword(Keyword::Head)),
        }
    }

    /// A template literal from `start`, of which everything before `from` was read.
    fn template(&mut self, start: usize, from: usize) -> Result<(), NotUnderstood> {
        match scanner::template(self.open.text, from).ok_or(NotUnderstood)? {
            TemplateEnd::Template(end) => {
                let mut token =
                    Token { kind: Kind::Template, start: start as u32, end: end as u32, function: None };
                token.function = self.before(Some(&token));
                self.open.push(token);
                self.at = end;
            }
            TemplateEnd::Hole(end) => {
                if self.open.levels.len() > MAX_LEVELS {
                    return Err(NotUnderstood);
                }
                self.open.levels.push(Level::new(LevelKind::Hole, self.open.tokens.len(), start, None));
                self.at = end;
            }
        }
        Ok(())
    }
}

/// Whether a type such as `a.Type<void>` may contain this token.
fn is_part_of_type(kind: Kind) -> bool {
    matches!(kind, Kind::Name | Kind::Dot | Kind::OtherPunctuation | Kind::Keyword(Keyword::Operator))
}

/// Whether these tokens are `case ...:` or `default:`, not a conditional expression.
fn is_case(list: &[Token]) -> bool {
    list.first().is_some_and(|first| first.kind == Kind::Keyword(Keyword::Case))
        && !list.iter().any(|token| token.kind == Kind::Question)
}
