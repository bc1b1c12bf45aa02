//! Naming a function by the tokens before it.

use super::brackets::{Brackets, Level, LevelKind};
use super::token::{IndexKey, Keyword, Kind, Token};

/// A longer path such as `a.b.c.d` is cut to its last parts.
const MAX_PARTS: usize = 3;

/// Longer names are not used: minified code may have large strings as keys.
const MAX_LENGTH: usize = 100;

/// An index is shown if it is not longer than this.
const MAX_INDEX_LENGTH: usize = 24;

/// At most this many brackets are left in search of what a function belongs to.
const MAX_STEPS: usize = 16;

/// A class's name and superclass have at most this many tokens.
const MAX_CLASS_HEAD: usize = 16;

/// The name of the function whose first token follows the tokens before `head` in a level.
pub(super) fn of_context(open: &Brackets<'_>, level: usize, head: usize) -> Option<String> {
    Context { open, level, end: head, steps: MAX_STEPS }.name()
}

/// The name of the class whose body is a level, if it has no name of its own: that of its constructor.
pub(super) fn of_class(open: &Brackets<'_>, level: usize) -> Option<String> {
    let around = level.checked_sub(1)?;
    let (first, end) = (open.levels[around].first, open.levels[level].first);
    let keyword = class_keyword(&open.tokens[first..end])?;
    let is_named = open.tokens[first + keyword + 1..end].first().is_some_and(|next| next.kind == Kind::Name);
    if is_named { None } else { of_context(open, around, first + keyword) }
}

/// If these tokens end with the head of a class, the index of `class`.
pub(super) fn class_keyword(list: &[Token]) -> Option<usize> {
    let head = list.iter().enumerate().rev().take(MAX_CLASS_HEAD);
    let mut head = head.skip_while(|(_, token)| {
        use Kind::*;
        matches!(
            token.kind,
            // Punctuation is that of TypeScript's type parameters.
            Name | Dot
                | Parentheses { .. }
                | Index(_)
                | OtherPunctuation
                | Keyword(super::token::Keyword::Extends)
        )
    });
    head.next().filter(|(_, token)| token.kind == Kind::Keyword(Keyword::Class)).map(|(index, _)| index)
}

/// Whether the last of these tokens is the name after `function`.
pub(super) fn is_function_name(list: &[Token]) -> bool {
    match list {
        [.., before, _] if before.kind == Kind::Keyword(Keyword::Function) => true,
        [.., keyword, before, _] => {
            before.kind == Kind::Star && keyword.kind == Kind::Keyword(Keyword::Function)
        }
        _ => false,
    }
}

/// The tokens before something, in one level.
#[derive(Clone, Copy)]
struct Context<'open, 'text> {
    open: &'open Brackets<'text>,
    level: usize,
    /// The index after the last token.
    end: usize,
    /// How many more brackets may be left.
    steps: usize,
}

impl<'open, 'text> Context<'open, 'text> {
    fn level(self) -> &'open Level {
        &self.open.levels[self.level]
    }

    fn list(self) -> &'open [Token] {
        &self.open.tokens[self.level().first..self.end]
    }

    /// The tokens before the last `count` ones.
    fn before(self, count: usize) -> Self {
        Self { end: self.end - count, ..self }
    }

    /// The tokens before the bracket.
    fn around(self) -> Option<Self> {
        let level = self.level.checked_sub(1)?;
        Some(Self { level, end: self.level().first, steps: self.steps.checked_sub(1)?, ..self })
    }

    fn is(self, token: &Token, text: &str) -> bool {
        token.kind == Kind::Name && self.open.text_of(token) == text
    }

    /// What the function after these tokens is called.
    fn name(self) -> Option<String> {
        let Some(last) = self.list().last() else { return self.of_bracket() };
        match last.kind {
            Kind::Name if self.is(last, "async") => self.before(1).name(),
            Kind::Assign => self.before(1).target(),
            Kind::Colon if self.is_after_key() => self.before(1).key(),
            Kind::Colon if self.list().iter().any(|token| token.kind == Kind::Question) => self.operand(),
            Kind::Question | Kind::Logical => self.operand(),
            Kind::Keyword(Keyword::Return) => self.returned(),
            Kind::Arrow => self.before(1).returned_by_arrow(),
            _ => None,
        }
    }

    /// The name of the first thing in a bracket.
    fn of_bracket(self) -> Option<String> {
        if self.level().is_cut {
            return None;
        }
        match self.level().kind {
            LevelKind::Call => {
                let around = self.around()?;
                let (callee, before) = around.path()?;
                let is_new =
                    before.list().last().is_some_and(|last| last.kind == Kind::Keyword(Keyword::New));
                Some(format!("(callback of {}{callee})", if is_new { "new " } else { "" }))
            }
            LevelKind::Group => self.around()?.name(),
            _ => None,
        }
    }

    /// After an operator or in a conditional expression: the name of the whole expression.
    fn operand(self) -> Option<String> {
        let list = self.list();
        // How many conditional expressions are entered from behind: what is assigned or returned in their first branches is not this.
        let mut branches = 0_u32;
        for index in (0..list.len()).rev() {
            let token = &list[index];
            let here = self.before(list.len() - index);
            match token.kind {
                Kind::Assign if branches == 0 => return here.target(),
                Kind::Arrow if branches == 0 => return here.returned_by_arrow(),
                Kind::Keyword(Keyword::Return) => return here.returned(),
                Kind::Keyword(
                    Keyword::New
                    | Keyword::Operator
                    | Keyword::Await
                    | Keyword::Function
                    | Keyword::Class
                    | Keyword::Extends,
                ) => {}
                Kind::Keyword(_) => return None,
                Kind::ArrowBody if branches == 0 => return None,
                Kind::Colon if self.before(list.len() - index - 1).is_after_key() => return here.key(),
                Kind::Colon => branches += 1,
                Kind::Question => branches = branches.saturating_sub(1),
                _ => {}
            }
            // The end of a statement without a semicolon.
            let next = list.get(index + 1);
            if token.ends_operand() && next.is_some_and(Token::starts_operand) && !self.is(token, "async") {
                return None;
            }
        }
        self.before(list.len()).of_bracket()
    }

    /// Whether these tokens are the key of an object and a colon.
    fn is_after_key(self) -> bool {
        self.level().kind == LevelKind::Object
            && !self.level().is_cut
            && matches!(self.list(), [_, colon] if colon.kind == Kind::Colon)
    }

    fn key(self) -> Option<String> {
        let [key] = self.list() else { return None };
        // Before anything else is done with it: many functions may have one long key.
        let text = Some(self.open.text_of(key)).filter(|text| text.len() <= MAX_LENGTH)?;
        match key.kind {
            Kind::Name | Kind::Number => Some(text.to_owned()),
            Kind::String => unquoted(text).map(str::to_owned),
            _ => None,
        }
    }

    /// The target of an assignment.
    fn target(self) -> Option<String> {
        let list = self.list();
        if let Some(colon) = list.iter().position(|token| token.kind == Kind::Colon) {
            let is_nested = list[colon..].iter().any(|token| token.kind == Kind::Assign);
            if let Some(name) = self.annotated(colon)
                && !is_nested
            {
                return self.is_type(&list[colon + 1..]).then_some(name);
            }
            let is_conditional = list.iter().any(|token| token.kind == Kind::Question);
            let is_after_key = self.before(list.len() - colon - 1).is_after_key();
            if !is_conditional && !is_after_key && !is_nested {
                return None;
            }
        }
        self.path().map(|(path, _)| path)
    }

    /// The name in TypeScript's `const name: Type`, or of a field `name: Type` of a class, with the colon at this index.
    fn annotated(self, colon: usize) -> Option<String> {
        let (name, words) = self.list()[..colon].split_last()?;
        let is_declared = match self.level().kind {
            LevelKind::Class => words.iter().all(|word| word.kind == Kind::Name),
            _ => words.last().is_some_and(|word| {
                word.kind == Kind::Keyword(Keyword::Other)
                    && ["const", "let", "var"].contains(&self.open.text_of(word))
            }),
        };
        let text = self.open.text_of(name);
        let is_name = name.kind == Kind::Name && text.len() <= MAX_LENGTH;
        (is_name && is_declared && !self.level().is_cut).then(|| text.to_owned())
    }

    /// Whether these tokens are one of the usual types, such as `Fn`, `a.Fn<T>` or `(a: T) => void`. Others might be the end of the
    /// statement, and an assignment of its own.
    fn is_type(self, mut rest: &[Token]) -> bool {
        let is = |token: &Token, texts: &[&str]| texts.contains(&self.open.text_of(token));
        loop {
            while let [parameters, arrow, after @ ..] = rest
                && matches!(parameters.kind, Kind::Parentheses { .. })
                && arrow.kind == Kind::Arrow
            {
                rest = after;
            }
            let Some((first, mut after)) = rest.split_first() else { return false };
            match first.kind {
                Kind::Braces => {}
                Kind::Keyword(Keyword::Operator) if is(first, &["void"]) => {}
                Kind::Name => {
                    while let [dot, name, more @ ..] = after
                        && (dot.kind, name.kind) == (Kind::Dot, Kind::Name)
                    {
                        after = more;
                    }
                    if let [open, argument, close, more @ ..] = after
                        && is(open, &["<"])
                        && (argument.kind == Kind::Name || is(argument, &["void"]))
                        && is(close, &[">"])
                    {
                        after = more;
                    }
                }
                _ => return false,
            }
            match after {
                [] => return true,
                [operator, more @ ..] if is(operator, &["|", "&"]) => rest = more,
                _ => return false,
            }
        }
    }

    /// The last parts of the path with which these tokens end, such as `a.b` or `this.handlers[name]`, and the tokens before it.
    fn path(self) -> Option<(String, Self)> {
        let list = self.list();
        let mut at = list.len();
        // `f?.()`
        if at > 0 && list[at - 1].kind == Kind::Dot {
            at -= 1;
        }
        let mut parts: Vec<String> = Vec::new();
        let mut length = 0;
        loop {
            let mut suffix = String::new();
            while let Some(token) = at.checked_sub(1).map(|before| &list[before]) {
                let accessor = match token.kind {
                    Kind::Index(key) => index(key, self.open.text_of(token)),
                    Kind::Parentheses { is_head: false } => "()".to_owned(),
                    _ => break,
                };
                if parts.len() < MAX_PARTS && suffix.len() < MAX_LENGTH {
                    suffix = accessor + &suffix;
                }
                at -= 1;
                if at.checked_sub(1).is_some_and(|before| list[before].kind == Kind::Dot) {
                    at -= 1;
                }
            }
            let name = at.checked_sub(1).map(|before| &list[before]).filter(|token| token.kind == Kind::Name);
            let Some(name) = name else {
                // Something else has these properties, such as an array.
                break;
            };
            at -= 1;
            let name = self.open.text_of(name);
            length += name.len() + suffix.len() + 1;
            if parts.len() < MAX_PARTS && length <= MAX_LENGTH {
                parts.push(format!("{name}{suffix}"));
            } else if parts.is_empty() {
                return None;
            }
            match at.checked_sub(1).map(|before| list[before].kind) {
                Some(Kind::Dot) => at -= 1,
                _ => break,
            }
        }
        if parts.is_empty() {
            return None;
        }
        parts.reverse();
        Some((parts.join("."), self.before(list.len() - at)))
    }

    /// After `return`: by the function around.
    fn returned(self) -> Option<String> {
        let mut body = self;
        while matches!(body.level().kind, LevelKind::Block) {
            let around = body.around()?;
            if let Some(name) = around.function_with_body() {
                return returned_by(name?);
            }
            body = around;
        }
        None
    }

    /// If the function whose body follows these tokens is one: its name, if it has one.
    fn function_with_body(self) -> Option<Option<String>> {
        let list = self.list();
        let is =
            |back: usize, kind: Kind| list.len().checked_sub(back).is_some_and(|at| list[at].kind == kind);
        let last = list.last()?;
        if last.kind == Kind::Arrow {
            return Some(self.before(1).arrow_name());
        }
        if !matches!(last.kind, Kind::Parentheses { .. }) {
            return None;
        }
        let function = Kind::Keyword(Keyword::Function);
        if is(2, function) {
            return Some(self.before(2).name());
        }
        if is(2, Kind::Star) && is(3, function) {
            return Some(self.before(3).name());
        }
        let name = list.len().checked_sub(2).map(|at| &list[at]).filter(|token| token.kind == Kind::Name)?;
        let is_method = matches!(self.level().kind, LevelKind::Class | LevelKind::Object);
        if is_method || is_function_name(&list[..list.len() - 1]) {
            let name = self.open.text_of(name);
            return Some((name.len() <= MAX_LENGTH).then(|| name.to_owned()));
        }
        None
    }

    /// The name of the arrow function with the parameters at the end of these tokens.
    fn arrow_name(self) -> Option<String> {
        match self.list().last()?.kind {
            Kind::Name | Kind::Parentheses { .. } => self.before(1).name(),
            _ => None,
        }
    }

    fn returned_by_arrow(self) -> Option<String> {
        returned_by(self.arrow_name()?)
    }
}

fn returned_by(name: String) -> Option<String> {
    (!name.starts_with('(') && name.len() <= MAX_LENGTH).then(|| format!("(returned by {name})"))
}

/// A property in brackets.
fn index(key: IndexKey, text: &str) -> String {
    let is_short = text.len() <= MAX_INDEX_LENGTH && !text.contains(char::is_control);
    match key {
        IndexKey::String | IndexKey::NameOrNumber if is_short => format!("[{text}]"),
        _ => "[…]".to_owned(),
    }
}

/// The content of a string literal, if it has no escape sequences.
fn unquoted(literal: &str) -> Option<&str> {
    let content = literal.get(1..literal.len().checked_sub(1)?)?;
    (!content.is_empty() && !content.contains('\\') && !content.contains(char::is_control)).then_some(content)
}
