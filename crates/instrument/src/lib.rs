//! Instruments JavaScript, so that the polyfill of the [JS Self-Profiling API] can sample it in browsers that lack the
//! API.
//!
//! The instrumented code tells the runtime of events: the entries and exits of functions, what `await` and `yield`
//! resume, the rounds of loops, and calls of slow natives. The runtime counts them. When a count is used up it reads
//! the clock and, if a sample is due, takes the stack from `new Error()`. Until a profiler starts, all that runs is the
//! test of a variable that never changes.
//!
//! Checks are few bytes, and not everywhere: small functions have none, and exits have them where most has run since
//! the check before, as far as the source grows by no more than 7 %.
//!
//! ```
//! use selfprof_instrument::{Options, instrument};
//!
//! let source = "function total(prices) { let sum = 0; for (const price of prices) sum += price; return sum }";
//! let instrumented = instrument(source, &Options::default())?;
//! assert_eq!(
//!     instrumented.text,
//!     "function total(prices) {$e?.(); let sum = 0; for (const price of prices) {$t?.();sum += price;} return sum }"
//! );
//! let total = instrumented.function_at(1, 60).map(|id| &instrumented.functions[id]);
//! assert_eq!(total.map(|function| (function.name.as_str(), function.line, function.column)), Some(("total", 1, 15)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What the code needs
//!
//! A classic script that runs first declares the [`Names`] in the global lexical scope, which modules see too: `$e` and
//! `$t`, which are `undefined` unless a profiler records and functions then, and the functions `$x`, `$h`, `$s` and
//! `$r`, which return their argument. The names are those of the build, see [`Names::absent_from`].
//! [`Options::has_fallback`] is for code that may also run without it.
//!
//! # What stays the same
//!
//! Text is only ever inserted, and never a line end. Everything else stays byte for byte as it was, and so does what
//! the program does, with these exceptions:
//!
//! - `Function.prototype.toString` returns the instrumented text. A function that a program sends elsewhere as text,
//!   such as to a worker, needs the names there.
//! - The text needs an engine with ECMAScript 2020, for `?.`.
//! - Calls in tail position are no longer reused frames in engines that reuse them.
//! - Code in strings is not instrumented.
//! - Columns in stack traces are those of the instrumented text; lines are the same. [`Instrumented::source_map`] maps
//!   them back.
//!
//! Code inside of `with` and `"use asm"` is left alone: an object of `with` could observe the names, and asm.js would
//! no longer be asm.js.
//!
//! # What is not here
//!
//! Files and threads: callers read and write, and say how much stack the calling thread has ([`Options::stack_bytes`]).
//! TypeScript and JSX, which bundlers compile before. A printer: nothing is formatted anew.
//!
//! [JS Self-Profiling API]: https://wicg.github.io/js-self-profiling/

#![forbid(unsafe_code)]

mod already;
mod calls;
mod edits;
mod map;
mod names;
mod natives;
mod output;
mod positions;
mod problem;
mod walk;

pub use already::is_instrumented;
pub use calls::Calls;
pub use map::MapError;
pub use names::{Names, NamesInUse};
pub use output::{Function, Instrumented};
pub use positions::Position;
pub use problem::Problem;

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_ast_visit::VisitJs;
use oxc_parser::{ParseOptions, Parser};
use oxc_span::SourceType;
use selfprof_nesting::{Language, nesting};

/// The size of the largest source that is instrumented, in bytes.
pub const MAX_SOURCE_BYTES: usize = 256 << 20;

/// The stack that one level of nesting takes at most, in bytes: `tests/stack.rs` tries the deepest sources that it
/// allows.
const BYTES_PER_LEVEL: usize = if cfg!(debug_assertions) { 32 << 10 } else { 4 << 10 };

/// What a source is to be parsed as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// A module if it has an import, an export, `import.meta` or an `await` outside of functions; otherwise a script.
    #[default]
    Unknown,
    /// A classic script.
    Script,
    /// The body of a function, as Node's CommonJS modules are.
    CommonJs,
    /// An ECMAScript module.
    Module,
}

/// How to instrument a source.
#[derive(Clone, Debug)]
pub struct Options {
    /// What the source is.
    pub goal: Goal,
    /// The names of the runtime's variables.
    pub names: Names,
    /// Functions with fewer statements, and those that call nothing but trivial natives, are left out, unless they have
    /// a loop, `await`, `yield` or a slow native call. With 0 none are left out, and no exit is.
    pub min_statements: u32,
    /// Whether the text begins with a statement that declares the names as properties of the global object, if nothing
    /// else has. Code then runs where the runtime does not, such as in a worker, or on a page whose policy forbids it.
    pub has_fallback: bool,
    /// The stack that the calling thread has for this call, in bytes. Deeper sources are refused: parsing them might
    /// overflow it, which would end the process.
    ///
    /// A level takes 4 KiB, in debug builds 32 KiB. TypeScript's compiler has some 340 levels, most bundles fewer than
    /// 150, so a thread with 16 MiB has room to spare. Parsing thousands of nested parentheses takes seconds, so more
    /// is not better for foreign code.
    pub stack_bytes: usize,
}

impl Default for Options {
    /// Four statements, no fallback, and three quarters of the 2 MiB that a thread of the standard library has.
    fn default() -> Self {
        Self {
            goal: Goal::Unknown,
            names: Names::default(),
            min_statements: 4,
            has_fallback: false,
            stack_bytes: 3 << 19,
        }
    }
}

/// Instruments a source.
///
/// # Errors
///
/// The source is too large, nests too deeply, is not JavaScript, or uses one of the names. It can be used as it is,
/// without instrumentation.
pub fn instrument(source: &str, options: &Options) -> Result<Instrumented, Problem> {
    with_tree(source, options, |_, collector| output::build(source, collector, options))
}

/// Instruments a source so that each entry and exit of chosen functions is an event.
///
/// The runtime declares the same [`Names`]. `$e(ID)` is called at an entry and returns a number that is not negative,
/// and `$t(ID,NUMBER)` at the exit gets it back, or `false` if `$on` was `false` at the entry. A function that is
/// suspended, by `await` or `yield`, calls `$t(ID,NUMBER,1)`, which returns -1, and `$e(ID,1)` when it is resumed. `$h`
/// returns its first argument. [`Options::min_statements`] has no meaning here.
///
/// What a function does before its body is not within its entry and exit: default values of parameters, and in a
/// generator everything before the first `next`. What is before the body of a `for await` loop or in the pattern of
/// `catch` may run while the function counts as suspended, and so does a generator's `yield*`.
///
/// [`Instrumented::untraceable`] lists the functions that stay as they are:
///
/// - a function that its body declares would change its meaning in a block: another variable has its name, or `eval`
///   may declare one;
/// - `await using`, which suspends a function where no text can be inserted;
/// - inside of `with` and of `"use asm"`, as for [`instrument`].
///
/// # Errors
///
/// As for [`instrument`].
pub fn instrument_calls(source: &str, options: &Options, calls: &Calls<'_>) -> Result<Instrumented, Problem> {
    with_tree(source, options, |program, mut collector| {
        collector.edits.retain(|edit| edit.insertion.is_fallback());
        let fallback_text = calls::fallback(&options.names);
        let fallback = collector.edits.first().map(|edit| {
            let before = if edit.insertion == edits::Insertion::FallbackAfterDirective { ";" } else { "" };
            (edit.at, [before, fallback_text.as_str(), ""])
        });
        let drafts = std::mem::take(&mut collector.drafts);
        let is_strict = program.source_type.is_module() || program.has_use_strict_directive();
        let mut tracer = calls::Tracer::new(source, &drafts, calls, is_strict);
        tracer.visit_program(program);
        let traced = tracer.finish(&options.names, calls.first_id);
        output::build_traced(source, drafts, traced, fallback)
    })
}

/// Parses a source and collects its functions.
fn with_tree(
    source: &str,
    options: &Options,
    build: impl FnOnce(&Program<'_>, walk::Collector<'_>) -> Instrumented,
) -> Result<Instrumented, Problem> {
    if source.len() > MAX_SOURCE_BYTES {
        return Err(Problem::TooLarge { bytes: source.len() });
    }
    check_depth(source, options.stack_bytes)?;
    let source_type = match options.goal {
        Goal::Unknown => SourceType::unambiguous(),
        Goal::Script => SourceType::script(),
        Goal::CommonJs => SourceType::cjs(),
        Goal::Module => SourceType::mjs(),
    };
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, source_type.with_jsx(false))
        .with_options(ParseOptions {
            allow_return_outside_function: options.goal == Goal::CommonJs,
            enable_ident_hashes: false,
            ..ParseOptions::default()
        })
        .parse();
    if let Some(diagnostic) = parsed.diagnostics.first() {
        return Err(Problem::syntax(source, diagnostic));
    }
    if parsed.panicked {
        return Err(Problem::Syntax { message: "not JavaScript".to_owned(), position: None });
    }
    let is_script = parsed.program.source_type.is_script();
    let mut collector = walk::Collector::new(source, &options.names, is_script);
    if options.has_fallback {
        collector.insert_fallback(&parsed.program);
    }
    collector.visit_program(&parsed.program);
    if let Some(offset) = collector.declaration_as_body {
        let position = Some(positions::Positions::new(source).position(offset));
        return Err(Problem::Syntax { message: "the body of a loop is a declaration".to_owned(), position });
    }
    if collector.uses_own_name {
        return Err(Problem::NameInUse);
    }
    Ok(build(&parsed.program, collector))
}

fn check_depth(source: &str, stack_bytes: usize) -> Result<(), Problem> {
    let limit = stack_bytes / BYTES_PER_LEVEL;
    // Each level takes a byte of source at least.
    if source.len() <= limit {
        return Ok(());
    }
    match nesting(source, Language::JavaScript).map(|nesting| nesting.depth) {
        Some(depth) if depth as usize <= limit => Ok(()),
        Some(depth) => Err(Problem::TooDeep { depth, limit: limit as u32 }),
        None => Err(Problem::UnknownDepth),
    }
}
