//! Applying source maps to the functions of a trace.

mod finder;

use std::collections::HashMap;

use selfprof_formats::Thread;
use selfprof_source_maps::{Counts, Excerpt, Map, apply_with_excerpts};
use selfprof_trace::{FrameId, Trace};

use crate::arguments::SourceMapArguments;
use crate::failure::Failure;
use crate::terminal::messages::say;

use finder::Finder;

/// At most this many functions of a thread get a snippet of their source.
const MAX_SNIPPETS: usize = 20_000;

/// A snippet has this many lines before and after the first line of its function.
const LINES_BEFORE: u32 = 2;
const LINES_AFTER: u32 = 9;

/// Longer lines of a snippet are cut.
const MAX_LINE_LENGTH: usize = 200;

/// Some lines of an original source.
#[derive(Clone, Debug)]
pub struct Snippet {
    /// The 1-based number of the first line.
    pub first: u32,
    /// The lines; long ones are cut.
    pub lines: Vec<String>,
}

/// The lines at which functions begin, for functions whose source map contains the source.
pub type Snippets = HashMap<FrameId, Snippet>;

/// Gives functions their original names and locations wherever a source map is found, and prints how many it changed.
pub fn apply(threads: Vec<Thread>, arguments: &SourceMapArguments) -> Result<Vec<Thread>, Failure> {
    Ok(apply_with_snippets(threads, arguments)?.into_iter().map(|(thread, _)| thread).collect())
}

/// A recording as tables show it: with original names and locations if source maps can be applied, and with the garbage collector as a
/// function of its own. The recording itself keeps the locations of the code that ran.
pub fn as_shown(trace: &Trace, arguments: &SourceMapArguments) -> Trace {
    let mapped =
        apply(vec![Thread::main(trace.clone())], arguments).ok().and_then(|mut threads| threads.pop());
    let mut shown = mapped.map_or_else(|| trace.clone(), |thread| thread.trace);
    shown.add_collector_frames();
    shown
}

/// Like [`apply`], but also returns lines of the original sources.
pub fn apply_with_snippets(
    threads: Vec<Thread>,
    arguments: &SourceMapArguments,
) -> Result<Vec<(Thread, Snippets)>, Failure> {
    let without =
        |threads: Vec<Thread>| threads.into_iter().map(|thread| (thread, Snippets::new())).collect();
    if arguments.no_source_maps {
        return Ok(without(threads));
    }
    let mut finder = Finder::new(&arguments.directories)?;
    let mut maps: HashMap<String, Option<Map>> = HashMap::new();
    for (_, url) in threads.iter().flat_map(|thread| thread.trace.resources().iter()) {
        if !maps.contains_key(url) {
            maps.insert(url.to_owned(), finder.find(url));
        }
    }
    let found = maps.values().flatten().count();
    finder.warn_about_rest();
    if found == 0 {
        if !arguments.directories.is_empty() {
            say(format_args!("source maps: none found for {} scripts", maps.len()));
        }
        return Ok(without(threads));
    }
    let mut sum = Counts::default();
    let mut mapped = Vec::with_capacity(threads.len());
    for Thread { name, trace } in threads {
        let mut snippets = Snippets::new();
        let add_snippet = |frame, excerpt: Excerpt<'_>| {
            if snippets.len() < MAX_SNIPPETS {
                let (first, lines) = excerpt.lines(LINES_BEFORE, LINES_AFTER);
                let lines =
                    lines.into_iter().map(|line| line.chars().take(MAX_LINE_LENGTH).collect()).collect();
                snippets.insert(frame, Snippet { first, lines });
            }
        };
        let (trace, counts) = apply_with_excerpts(&trace, |url| maps.get(url)?.as_ref(), add_snippet)
            .map_err(|error| Failure::job("cannot apply the source maps").because(&error))?;
        sum.with_position += counts.with_position;
        sum.with_map += counts.with_map;
        sum.mapped += counts.mapped;
        sum.hidden += counts.hidden;
        mapped.push((Thread { name, trace }, snippets));
    }
    let maps = if found == 1 { "1 source map".to_owned() } else { format!("{found} source maps") };
    let unmapped = sum.with_map - sum.mapped - sum.hidden;
    let without = sum.with_position - sum.with_map;
    let hidden = match sum.hidden {
        0 => String::new(),
        hidden => format!(", {hidden} hidden"),
    };
    say(format_args!(
        "source maps: {} functions mapped by {maps}{hidden}, {unmapped} not in the maps, {without} in scripts without a map",
        sum.mapped
    ));
    Ok(mapped)
}
