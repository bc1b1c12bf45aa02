//! Parsing a source, within bounds.
//!
//! The parser recurses for each level of nesting, and tries several readings of what is in parentheses. So a source is
//! parsed only if its nesting is known to fit in the stack of a thread of its own, and its size and the work in the
//! bounds below.

use std::thread;

use oxc_allocator::Allocator;
use oxc_ast_visit::VisitJs;
use oxc_parser::{ParseOptions, Parser};
use oxc_span::SourceType;
use selfprof_nesting::{Language, nesting};

use super::Tree;
use super::walk::Walk;

/// The longest source that is parsed. Its tree takes some 6 times as much memory.
const MAX_BYTES: usize = 1 << 25;

/// The greatest depth that is parsed. TypeScript's compiler has some 340 levels.
const MAX_DEPTH: u32 = 1 << 12;

/// The most tokens of a source whose depth cannot be told, such as JSX.
const MAX_TOKENS: u32 = 3 << 12;

/// The most work that is done for one source, see [`selfprof_nesting::Nesting::work`]. Each unit takes up to 10 bytes
/// and 40 ns. That of TypeScript's compiler is a fifth of it.
const MAX_WORK: u64 = 1 << 27;

/// The stack that one level takes at most, in bytes: a test tries the deepest sources.
const BYTES_PER_LEVEL: usize = if cfg!(debug_assertions) { 48 << 10 } else { 8 << 10 };

/// What a thread needs for itself.
const STACK_OF_THREAD: usize = 1 << 18;

pub(super) fn parse(source: &str, is_typescript: bool) -> Tree {
    if source.len() > MAX_BYTES {
        return Tree::default();
    }
    let script = (SourceType::unambiguous(), Some(Language::JavaScript));
    let typescript = (SourceType::ts().with_unambiguous(true), Some(Language::TypeScript));
    let jsx = (SourceType::tsx().with_unambiguous(true), None);
    let attempts = if is_typescript { [typescript, script, jsx] } else { [script, typescript, jsx] };
    let mut best = Tree::default();
    let tokens = token_bound(source);
    for (source_type, language) in attempts {
        let Some(depth) = language.and_then(|language| depth_of(source, language)).or(tokens) else {
            continue;
        };
        let stack = STACK_OF_THREAD + depth as usize * BYTES_PER_LEVEL;
        let parsed = thread::scope(|scope| {
            let thread = thread::Builder::new().stack_size(stack);
            let thread = thread.spawn_scoped(scope, || parse_as(source, source_type)).ok()?;
            thread.join().ok()
        });
        match parsed {
            Some(Parsed { tree, is_valid: true }) => return tree,
            // The parser goes on after some errors.
            Some(Parsed { tree, .. }) if best.functions.is_empty() => best = tree,
            _ => {}
        }
    }
    best
}

struct Parsed {
    tree: Tree,
    is_valid: bool,
}

fn parse_as(source: &str, source_type: SourceType) -> Parsed {
    let allocator = Allocator::default();
    let options = ParseOptions {
        allow_return_outside_function: true,
        enable_ident_hashes: false,
        ..ParseOptions::default()
    };
    let parsed = Parser::new(&allocator, source, source_type).with_options(options).parse();
    if parsed.panicked {
        return Parsed { tree: Tree::default(), is_valid: false };
    }
    let mut walk = Walk::new(source);
    walk.visit_program(&parsed.program);
    Parsed { tree: walk.finish(), is_valid: parsed.diagnostics.is_empty() }
}

fn depth_of(source: &str, language: Language) -> Option<u32> {
    let nesting = nesting(source, language);
    let known = nesting.filter(|nesting| nesting.depth <= MAX_DEPTH && nesting.work <= MAX_WORK);
    known.map(|nesting| nesting.depth)
}

/// A bound that holds for every language: each level takes a token at least. Strings and comments count as code, which
/// they look like in the text of JSX.
fn token_bound(source: &str) -> Option<u32> {
    let mut tokens = 0_u32;
    let mut is_in_word = false;
    for byte in source.bytes() {
        let is_word = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80;
        if !is_word && !byte.is_ascii_whitespace() || is_word && !is_in_word {
            tokens += 1;
            if tokens > MAX_TOKENS {
                return None;
            }
        }
        is_in_word = is_word;
    }
    Some(tokens)
}

#[cfg(test)]
mod tests;
