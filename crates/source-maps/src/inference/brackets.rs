//! The brackets that are open at a place in a source, and the tokens in them.

use super::token::Token;

/// At most this many tokens of a bracket are kept; the older half is dropped.
pub(super) const MAX_TOKENS: usize = 128;

/// The open brackets.
pub(super) struct Brackets<'text> {
    pub(super) text: &'text str,
    /// The tokens of all levels: those of a level follow those of the level around it.
    pub(super) tokens: Vec<Token>,
    /// Outermost first. The first is the script itself.
    pub(super) levels: Vec<Level>,
}

/// An open bracket.
#[derive(Clone, Debug)]
pub(super) struct Level {
    pub(super) kind: LevelKind,
    /// The index of its first token.
    pub(super) first: usize,
    /// Whether tokens at its start were dropped.
    pub(super) is_cut: bool,
    /// The offset of the bracket.
    pub(super) start: usize,
    /// The function that this bracket's parameters or body belong to.
    pub(super) function: Option<u32>,
    /// The function that is the value of this parenthesis, if nothing follows it.
    pub(super) wraps: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LevelKind {
    Script,
    /// Arguments of a call.
    Call,
    /// Parentheses around an expression, or around the parameters of an arrow function.
    Group,
    /// Parentheses of a statement, or around parameters after `function`.
    Head,
    Array,
    Index,
    /// A block, or the body of a function.
    Block,
    Object,
    Class,
    /// `${...}` in a template literal.
    Hole,
}

impl Level {
    pub(super) fn new(kind: LevelKind, first: usize, start: usize, function: Option<u32>) -> Self {
        Self { kind, first, is_cut: false, start, function, wraps: None }
    }
}

impl<'text> Brackets<'text> {
    pub(super) fn new(text: &'text str) -> Self {
        Self { text, tokens: Vec::new(), levels: vec![Level::new(LevelKind::Script, 0, 0, None)] }
    }

    /// The tokens of the innermost level.
    pub(super) fn list(&self) -> &[Token] {
        &self.tokens[self.level().first..]
    }

    pub(super) fn level(&self) -> &Level {
        &self.levels[self.levels.len() - 1]
    }

    pub(super) fn level_mut(&mut self) -> &mut Level {
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    pub(super) fn text_of(&self, token: &Token) -> &'text str {
        &self.text[token.start as usize..token.end as usize]
    }

    /// Whether statements, or members of a class, are in the innermost level.
    pub(super) fn has_statements(&self) -> bool {
        matches!(self.level().kind, LevelKind::Script | LevelKind::Block | LevelKind::Class)
    }

    pub(super) fn push(&mut self, token: Token) {
        self.tokens.push(token);
        let first = self.level().first;
        if self.tokens.len() - first > MAX_TOKENS {
            self.tokens.drain(first..first + MAX_TOKENS / 2);
            self.level_mut().is_cut = true;
        }
    }
}
