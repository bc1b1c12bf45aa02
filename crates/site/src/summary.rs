//! What was instrumented, what was left out and why.

use std::fmt::Display;
use std::ops::Range;

use selfprof_instrument::Position;

/// Why something is not instrumented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Patterns leave the script out.
    NotSelected,
    /// It is already instrumented.
    AlreadyInstrumented,
    /// It cannot be parsed.
    Syntax,
    /// It nests too deeply.
    TooDeep,
    /// It is too large.
    TooLarge,
    /// It is not UTF-8.
    Encoding,
    /// Another problem.
    OtherProblem,
    /// A function cannot be traced.
    Untraceable,
    /// A script for browsers without modules.
    NoModules,
    /// An inline script in a `<template>`.
    Template,
    /// A script in SVG or MathML.
    Foreign,
    /// An inline script whose checksum a Content Security Policy may name.
    PolicyWithHashes,
    /// A page with event handlers in attributes.
    EventHandler,
    /// A script that a page loads and that is not in the input.
    Missing,
    /// The source map of a plain script, not copied.
    SourceMap,
    /// A source map that cannot be read.
    BadSourceMap,
    /// A compressed copy of a file that changed, not copied.
    Compressed,
    /// A folder that an earlier run has written, not copied.
    EarlierOutput,
    /// A symbolic link that leads out of the input or to a folder, not copied.
    Link,
    /// Neither a file nor a folder, not copied.
    SpecialFile,
}

/// Why a text is not instrumented, with an explanation.
pub(crate) type Refusal = (Reason, String);

/// Something that is not instrumented.
#[derive(Clone, Debug)]
pub struct LeftOut {
    /// A file, or a script in a page: `index.html:12`.
    pub what: String,
    /// Why.
    pub reason: Reason,
    /// What explains it.
    pub detail: Option<String>,
}

impl LeftOut {
    pub(crate) fn new(what: impl Display, reason: Reason) -> Self {
        Self { what: what.to_string(), reason, detail: None }
    }

    /// A function, by where it is in a file.
    pub(crate) fn untraceable(file: &str, place: Position, name: &str) -> Self {
        let left_out = Self::new(format!("{file}:{}:{}", place.line, place.column), Reason::Untraceable);
        if name.is_empty() { left_out } else { left_out.because(name) }
    }

    pub(crate) fn because(self, detail: impl Display) -> Self {
        Self { detail: Some(detail.to_string()), ..self }
    }
}

/// Bytes of plain and of instrumented text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Growth {
    /// Of the plain text.
    pub plain: u64,
    /// Of the instrumented text.
    pub instrumented: u64,
}

impl Growth {
    pub(crate) fn add(&mut self, other: Self) {
        self.plain += other.plain;
        self.instrumented += other.instrumented;
    }
}

/// Sums of instrumented scripts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Script files.
    pub scripts: u64,
    /// Pages that load the runtime.
    pub pages: u64,
    /// Scripts in pages.
    pub inline_scripts: u64,
    /// Functions with checks, or that are traced.
    pub checked_functions: u64,
    /// All functions.
    pub functions: u64,
    /// Loops with checks.
    pub loops: u64,
    /// Calls and reads after which the clock is read, or that count as several events.
    pub slow_calls: u64,
    /// Source maps that were written.
    pub source_maps: u64,
    /// Files that were copied unchanged.
    pub copied: u64,
    /// The growth of the text.
    pub growth: Growth,
    /// The growth of the compressed text, of the first files.
    pub gzip: Growth,
    /// Whether some text was not compressed, because there is too much.
    pub is_gzip_partial: bool,
}

impl Counts {
    pub(crate) fn add(&mut self, other: &Self) {
        self.scripts += other.scripts;
        self.pages += other.pages;
        self.inline_scripts += other.inline_scripts;
        self.checked_functions += other.checked_functions;
        self.functions += other.functions;
        self.loops += other.loops;
        self.slow_calls += other.slow_calls;
        self.source_maps += other.source_maps;
        self.copied += other.copied;
        self.growth.add(other.growth);
        self.gzip.add(other.gzip);
        self.is_gzip_partial |= other.is_gzip_partial;
    }
}

/// What was done.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The sums.
    pub counts: Counts,
    /// The patterns of functions that match none.
    pub unmatched_functions: Vec<String>,
    /// What was left out.
    pub left_out: Vec<LeftOut>,
    /// The pages whose scripts can be chosen between the plain and the instrumented ones. Only if the output folder is
    /// inside of the only input.
    pub pages: Vec<Choice>,
}

/// What a chooser between the plain and the instrumented scripts of a page needs to know. Offsets count bytes of the
/// plain page.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The page, from the input folder.
    pub path: String,
    /// Where a script goes that is to run first.
    pub head: usize,
    /// The nonce that the page's scripts have.
    pub nonce: Option<String>,
    /// The URL of the runtime, as in the page.
    pub runtime: String,
    /// The elements that load instrumented scripts, in their order.
    pub scripts: Vec<ChosenScript>,
}

/// An element that loads a plain script.
#[derive(Clone, Debug)]
pub struct ChosenScript {
    /// Where it is.
    pub element: Range<usize>,
    /// The element that loads the instrumented script instead.
    pub instrumented: String,
}
