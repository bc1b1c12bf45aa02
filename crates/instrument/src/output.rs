//! The instrumented text, and its table of functions.

use crate::Options;
use crate::calls::Traced;
use crate::edits::{self, Edit, Inserted, Parts, Texts};
use crate::positions::{Position, Positions};
use crate::walk::{Collector, Draft};
use std::ops::Range;

/// A source with checks in it.
#[derive(Clone, Debug)]
pub struct Instrumented {
    /// The instrumented text.
    pub text: String,
    /// All functions in the order of their starts. The first is the script itself: it has no name and is at 1:1.
    pub functions: Vec<Function>,
    /// Loops that have a check.
    pub loops: u32,
    /// Calls and reads after which the clock is read.
    pub forced: u32,
    /// Calls that count as several events.
    pub charged: u32,
    /// The indexes of functions that were chosen to be traced and cannot be. See
    /// [`instrument_calls`](crate::instrument_calls).
    pub untraceable: Vec<u32>,
    pub(crate) inserted: Vec<Inserted>,
}

/// A function of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The name that V8 gives it in profiles with `kStandardNaming`: its own, or that of what it is assigned to. Empty
    /// if it has none.
    pub name: String,
    /// Where V8 says that it is, in the source: at the parenthesis of its parameters, or at the start of an arrow
    /// function. Counts from 1.
    pub line: u32,
    /// The column, in UTF-16 units. Counts from 1.
    pub column: u32,
    /// Where it begins in the instrumented text.
    pub start: Position,
    /// The position after its end in the instrumented text.
    pub end: Position,
    /// The index of the function around it. `None` for the script.
    pub parent: Option<u32>,
    /// Whether its entry and exits have checks, or are traced.
    pub is_checked: bool,
}

impl Instrumented {
    /// The index of the innermost function at a position of the instrumented text, as it is in a stack trace.
    ///
    /// Field initialisers and static blocks of classes belong to the function around the class.
    pub fn function_at(&self, line: u32, column: u32) -> Option<usize> {
        let position = Position { line, column };
        let mut index =
            self.functions.partition_point(|function| function.start <= position).checked_sub(1)?;
        while self.functions[index].end <= position {
            // A position after the end of the text belongs to the script.
            let Some(parent) = self.functions[index].parent else { break };
            index = parent as usize;
        }
        Some(index)
    }

    /// What was inserted, as byte ranges of the text. Without them it is the source.
    pub fn insertions(&self) -> impl Iterator<Item = Range<usize>> {
        let before = std::iter::once(0).chain(self.inserted.iter().map(|inserted| inserted.sum));
        self.inserted.iter().zip(before).map(|(inserted, before)| {
            let at = inserted.at as usize;
            at + before as usize..at + inserted.sum as usize
        })
    }

    /// How many functions have checks.
    pub fn checked_functions(&self) -> usize {
        self.functions.iter().filter(|function| function.is_checked).count()
    }
}

/// By how much exits may make a source larger that all other checks have not: a part of it, and bytes that small
/// sources may grow in any case.
const GROWTH_PERCENT: usize = 7;
const GROWTH_BYTES: usize = 2_000;

/// Exits after less work than this are not worth a check.
const LEAST_WORK: u16 = 6;

/// The work before an exit from which on it has a check: those with the most work come first, until the text has grown
/// enough.
fn least_work_of_exits(length: usize, edits: &[Edit], texts: &Texts) -> u16 {
    let mut left = (length / 100 * GROWTH_PERCENT).max(GROWTH_BYTES);
    let mut by_work = [0; 1 << 8];
    let most = by_work.len() - 1;
    for edit in edits {
        let bytes = texts.length_of(edit);
        if edit.is_exit() {
            by_work[usize::from(edit.work).min(most)] += bytes;
        } else {
            left = left.saturating_sub(bytes);
        }
    }
    let mut least = most + 1;
    while least > usize::from(LEAST_WORK) && by_work[least - 1] <= left {
        least -= 1;
        left -= by_work[least];
    }
    // All that do more work than is told apart are alike.
    if least > most { u16::MAX } else { least as u16 }
}

pub(crate) fn build(source: &str, collector: Collector<'_>, options: &Options) -> Instrumented {
    let Collector { mut edits, mut drafts, counts, .. } = collector;
    // Functions come after those around them.
    for index in 1..drafts.len() {
        let parent = drafts[index].parent.unwrap_or_default() as usize;
        drafts[index].is_left_alone |= drafts[parent].is_left_alone;
    }
    edits.retain(|edit| !drafts[edit.function as usize].is_left_alone);
    let checked: Vec<bool> = std::iter::once(false)
        .chain(drafts.iter().skip(1).map(|draft| draft.is_worth_checking(options.min_statements)))
        .collect();
    edits.retain(|edit| !edit.is_omitted_from_small_functions() || checked[edit.function as usize]);
    let texts = Texts::new(&options.names);
    let is_complete = options.min_statements == 0;
    let least_work = if is_complete { 0 } else { least_work_of_exits(source.len(), &edits, &texts) };
    edits.retain(|edit| !edit.is_exit() || edit.work >= least_work);
    // Stable: at one offset, what was visited first comes first.
    edits.sort_by_key(|edit| edit.at);
    let spliced = edits::splice(source, edits.iter().map(|edit| (edit.at, texts.of(edit))));
    Instrumented {
        loops: counts.loops,
        forced: counts.force,
        charged: counts.medium,
        ..assemble(source, drafts, &checked, spliced)
    }
}

/// The same for tracing.
pub(crate) fn build_traced(
    source: &str,
    drafts: Vec<Draft>,
    traced: Traced,
    fallback: Option<(u32, Parts<'_>)>,
) -> Instrumented {
    let edits = traced.edits.iter().map(|(at, text)| (*at, ["", text, ""]));
    let spliced = edits::splice(source, fallback.into_iter().chain(edits));
    Instrumented { untraceable: traced.refused, ..assemble(source, drafts, &traced.is_traced, spliced) }
}

fn assemble(
    source: &str,
    drafts: Vec<Draft>,
    checked: &[bool],
    (text, inserted): (String, Vec<Inserted>),
) -> Instrumented {
    let positions = Positions::new(source);
    // Insertions have no line ends and no characters outside of ASCII.
    let moved = |offset: u32, shift: u32| {
        let Position { line, column } = positions.position(offset);
        let before_line = edits::shift_of_end(&inserted, positions.line_start(line as usize - 1));
        Position { line, column: column + shift - before_line }
    };
    let functions = drafts
        .into_iter()
        .zip(checked)
        .map(|(draft, &is_checked)| {
            let Position { line, column } = positions.position(draft.at);
            let start = if draft.parent.is_some() {
                moved(draft.at, edits::shift(&inserted, draft.at))
            } else {
                Position { line: 1, column: 1 }
            };
            let end = moved(draft.end, edits::shift_of_end(&inserted, draft.end));
            Function { name: draft.name, line, column, start, end, parent: draft.parent, is_checked }
        })
        .collect();
    Instrumented { text, functions, loops: 0, forced: 0, charged: 0, untraceable: Vec::new(), inserted }
}
