//! Applying source maps to the functions of a trace, and inferring names from its scripts.

mod finder;
mod recorded;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::time::SystemTime;

use selfprof_formats::{ScriptMap, Thread};
use selfprof_source_maps::{Counts, Excerpt, FunctionPlace, Map, MappedFunction, apply_with_sources};
use selfprof_trace::{FrameId, ResourceId, Trace};

use crate::arguments::SourceMapArguments;
use crate::failure::Failure;
use crate::inferred_names::{self, InferredNames};
use crate::terminal::messages::say;

use finder::Finder;

pub use recorded::recorded_maps;

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

impl Snippet {
    fn of(excerpt: Excerpt<'_>) -> Self {
        let (first, lines) = excerpt.lines(LINES_BEFORE, LINES_AFTER);
        let lines = lines.into_iter().map(|line| line.chars().take(MAX_LINE_LENGTH).collect()).collect();
        Self { first, lines }
    }
}

/// The lines at which functions begin, for functions whose source map contains the source.
pub type Snippets = HashMap<FrameId, Snippet>;

/// A thread as people see it.
#[derive(Clone, Debug)]
pub struct ReadableThread {
    /// The thread, with source maps applied.
    pub thread: Thread,
    /// Names for its anonymous functions.
    pub inferred: InferredNames,
    /// Lines of the original sources.
    pub snippets: Snippets,
}

/// Gives functions their original names and locations wherever a source map is found, and prints how many it changed. Infers names of
/// the functions that remain anonymous, from scripts that have not changed since `recorded`.
pub fn apply(
    threads: Vec<Thread>,
    arguments: &SourceMapArguments,
    recorded: Option<SystemTime>,
) -> Result<Vec<ReadableThread>, Failure> {
    if arguments.no_source_maps {
        let unchanged =
            |thread| ReadableThread { thread, inferred: InferredNames::new(), snippets: Snippets::new() };
        return Ok(threads.into_iter().map(unchanged).collect());
    }
    let mut finder = Finder::new(&arguments.directories)?;
    // The maps that the recording has: the scripts may not have come from their files.
    let mut recorded_maps: Vec<HashMap<String, Rc<Map>>> = Vec::with_capacity(threads.len());
    let mut maps: HashMap<String, Option<Rc<Map>>> = HashMap::new();
    for thread in &threads {
        let usable = thread.source_maps.iter().filter_map(|ScriptMap { resource, json }| {
            Some((resource.clone(), finder.recorded(resource, json)?))
        });
        let of_thread: HashMap<String, Rc<Map>> = usable.collect();
        for (_, url) in thread.trace.resources().iter() {
            if !maps.contains_key(url) && !of_thread.contains_key(url) {
                maps.insert(url.to_owned(), finder.find(url));
            }
        }
        recorded_maps.push(of_thread);
    }
    let found = maps.values().flatten().count() + recorded_maps.iter().map(HashMap::len).sum::<usize>();
    finder.warn_about_rest();
    if found == 0 && !arguments.directories.is_empty() {
        say(format_args!("source maps: none found for {} scripts", maps.len()));
    }
    let mut sum = Counts::default();
    let mut readable = Vec::with_capacity(threads.len());
    for (Thread { name, process, time_origin, trace, .. }, of_thread) in
        threads.into_iter().zip(&recorded_maps)
    {
        let mut snippets = Snippets::new();
        let mut functions: HashMap<FrameId, inferred_names::MappedFunction> = HashMap::new();
        let (trace, counts) = match found {
            0 => (trace, Counts::default()),
            _ => apply_with_sources(
                &trace,
                |url| of_thread.get(url).or_else(|| maps.get(url)?.as_ref()).map(Rc::as_ref),
                |frame, MappedFunction { generated, excerpt, ahead, inferred }| {
                    let generated = place(&trace, generated).filter(|(url, _)| !of_thread.contains_key(url));
                    let known = functions.entry(frame).or_default();
                    known.inferred = known.inferred.take().or(inferred.map(str::to_owned));
                    // The text in the map is the original file, or newer.
                    known.ahead = Some(ahead).filter(|_| excerpt.is_none());
                    known.generated = known.generated.take().or(generated);
                    if let Some(excerpt) = excerpt.filter(|_| snippets.len() < MAX_SNIPPETS) {
                        snippets.insert(frame, Snippet::of(excerpt));
                    }
                },
            )
            .map_err(|error| Failure::job("cannot apply the source maps").because(&error))?,
        };
        sum.with_position += counts.with_position;
        sum.with_map += counts.with_map;
        sum.mapped += counts.mapped;
        sum.hidden += counts.hidden;
        // The positions of other functions in such a script are not those in its file.
        let compiled: HashSet<ResourceId> = (trace.resources().iter())
            .filter_map(|(id, url)| of_thread.contains_key(url).then_some(id))
            .collect();
        for (id, _) in trace
            .frames()
            .iter()
            .filter(|(_, frame)| frame.resource.is_some_and(|resource| compiled.contains(&resource)))
        {
            functions.entry(id).or_default();
        }
        let inferred = inferred_names::infer(&trace, &mut functions, |url| finder.code(url, recorded));
        let thread = Thread { process, time_origin, ..Thread::named(name, trace) };
        readable.push(ReadableThread { thread, inferred, snippets });
    }
    if found > 0 {
        say_counts(found, sum);
    }
    Ok(readable)
}

/// The script of an anonymous function, and its place there.
fn place(trace: &Trace, id: FrameId) -> Option<(String, FunctionPlace)> {
    let frame = trace.frames()[id];
    let (resource, position) = frame.resource.zip(frame.position())?;
    let place = FunctionPlace { line: position.line.get(), column: position.column.get(), ahead: 0 };
    trace.names()[frame.name].is_empty().then(|| (trace.resources()[resource].to_owned(), place))
}

/// Prints how many functions were mapped.
fn say_counts(found: usize, sum: Counts) {
    let maps = if found == 1 { "1 source map".to_owned() } else { format!("{found} source maps") };
    let functions = if sum.mapped == 1 { "function" } else { "functions" };
    let others = [(sum.hidden, "hidden"), (sum.with_map - sum.mapped - sum.hidden, "not in the maps")]
        .map(|(count, what)| if count == 0 { String::new() } else { format!(", {count} {what}") })
        .concat();
    say(format_args!("source maps: {} {functions} mapped by {maps}{others}", sum.mapped));
}
