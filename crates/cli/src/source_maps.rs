//! Applying source maps to the functions of a trace, and inferring names from its scripts.

mod finder;
mod recorded;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::time::SystemTime;

use selfprof_formats::{ScriptMap, Thread};
use selfprof_source_maps::{Counts, Excerpt, FunctionPlace, Map, MappedFunction, apply_with_sources};
use selfprof_trace::{Frame, FrameId, ResourceId, Trace};

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

/// Gives functions their original names and locations wherever a source map is found, and prints how many it changed.
/// Infers names of the functions that remain anonymous, from scripts that have not changed since `recorded`.
pub fn apply(
    threads: Vec<Thread>,
    arguments: &SourceMapArguments,
    recorded: Option<SystemTime>,
) -> Result<Vec<ReadableThread>, Failure> {
    let traces = threads.iter().map(|thread| (&thread.trace, thread.source_maps.as_slice()));
    let Some(mut mapping) = Mapping::find(traces, arguments)? else {
        let unchanged =
            |thread| ReadableThread { thread, inferred: InferredNames::new(), snippets: Snippets::new() };
        return Ok(threads.into_iter().map(unchanged).collect());
    };
    let mut readable = Vec::with_capacity(threads.len());
    for (index, Thread { name, process, time_origin, trace, .. }) in threads.into_iter().enumerate() {
        let (trace, inferred, snippets) = mapping.apply(index, trace, recorded)?;
        let thread = Thread { process, time_origin, ..Thread::named(name, trace) };
        readable.push(ReadableThread { thread, inferred, snippets });
    }
    mapping.say_counts();
    Ok(readable)
}

/// As [`apply`], for the merged trace of several threads, with the source maps of all.
pub fn apply_to_merged(
    trace: Trace,
    source_maps: &[ScriptMap],
    arguments: &SourceMapArguments,
    recorded: Option<SystemTime>,
) -> Result<(Trace, InferredNames), Failure> {
    let Some(mut mapping) = Mapping::find([(&trace, source_maps)], arguments)? else {
        return Ok((trace, InferredNames::new()));
    };
    let (trace, inferred, _) = mapping.apply(0, trace, recorded)?;
    mapping.say_counts();
    Ok((trace, inferred))
}

/// The source maps of some traces.
struct Mapping {
    finder: Finder,
    /// By the URLs of scripts: maps that were found for them.
    maps: HashMap<String, Option<Rc<Map>>>,
    /// For each trace, the maps that the recording has: the scripts may not have come from their files.
    recorded_maps: Vec<HashMap<String, Rc<Map>>>,
    /// The number of maps.
    found: usize,
    counts: Counts,
}

impl Mapping {
    /// Finds the source maps of traces; `None` if none are wanted.
    fn find<'a>(
        traces: impl IntoIterator<Item = (&'a Trace, &'a [ScriptMap])>,
        arguments: &SourceMapArguments,
    ) -> Result<Option<Self>, Failure> {
        if arguments.no_source_maps {
            return Ok(None);
        }
        let mut finder = Finder::new(&arguments.directories)?;
        let mut recorded_maps: Vec<HashMap<String, Rc<Map>>> = Vec::new();
        let mut maps: HashMap<String, Option<Rc<Map>>> = HashMap::new();
        for (trace, source_maps) in traces {
            let usable = source_maps.iter().filter_map(|ScriptMap { resource, json }| {
                Some((resource.clone(), finder.recorded(resource, json)?))
            });
            let of_trace: HashMap<String, Rc<Map>> = usable.collect();
            for (_, url) in trace.resources().iter() {
                if !maps.contains_key(url) && !of_trace.contains_key(url) {
                    maps.insert(url.to_owned(), finder.find(url));
                }
            }
            recorded_maps.push(of_trace);
        }
        let found = maps.values().flatten().count() + recorded_maps.iter().map(HashMap::len).sum::<usize>();
        finder.warn_about_rest();
        if found == 0 && !arguments.directories.is_empty() {
            say(format_args!("source maps: none found for {} scripts", maps.len()));
        }
        Ok(Some(Self { finder, maps, recorded_maps, found, counts: Counts::default() }))
    }

    /// Applies the maps to the trace with this index.
    fn apply(
        &mut self,
        index: usize,
        trace: Trace,
        recorded: Option<SystemTime>,
    ) -> Result<(Trace, InferredNames, Snippets), Failure> {
        let Self { finder, maps, recorded_maps, found, counts } = self;
        let recorded_maps = &recorded_maps[index];
        let mut snippets = Snippets::new();
        let mut functions: HashMap<FrameId, inferred_names::MappedFunction> = HashMap::new();
        let (trace, of_trace) = match found {
            0 => (trace, Counts::default()),
            _ => apply_with_sources(
                &trace,
                |url| recorded_maps.get(url).or_else(|| maps.get(url)?.as_ref()).map(Rc::as_ref),
                |frame, MappedFunction { generated, excerpt, ahead, inferred }| {
                    let generated =
                        place(&trace, generated).filter(|(url, _)| !recorded_maps.contains_key(url));
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
        counts.with_position += of_trace.with_position;
        counts.with_map += of_trace.with_map;
        counts.mapped += of_trace.mapped;
        counts.hidden += of_trace.hidden;
        // The positions of other functions in such a script are not those in its file.
        let compiled: HashSet<ResourceId> = (trace.resources().iter())
            .filter_map(|(id, url)| recorded_maps.contains_key(url).then_some(id))
            .collect();
        let is_compiled = |frame: &Frame| frame.resource.is_some_and(|resource| compiled.contains(&resource));
        for (id, _) in trace.frames().iter().filter(|(_, frame)| is_compiled(frame)) {
            functions.entry(id).or_default();
        }
        let inferred = inferred_names::infer(&trace, &mut functions, |url| finder.code(url, recorded));
        Ok((trace, inferred, snippets))
    }

    /// Prints how many functions were mapped.
    fn say_counts(&self) {
        let Self { found, counts, .. } = self;
        if *found == 0 {
            return;
        }
        let maps = if *found == 1 { "1 source map".to_owned() } else { format!("{found} source maps") };
        let functions = if counts.mapped == 1 { "function" } else { "functions" };
        let not_in_maps = counts.with_map - counts.mapped - counts.hidden;
        let others = [(counts.hidden, "hidden"), (not_in_maps, "not in the maps")]
            .map(|(count, what)| if count == 0 { String::new() } else { format!(", {count} {what}") })
            .concat();
        say(format_args!("source maps: {} {functions} mapped by {maps}{others}", counts.mapped));
    }
}

/// The script of an anonymous function, and its place there.
fn place(trace: &Trace, id: FrameId) -> Option<(String, FunctionPlace)> {
    let frame = trace.frames()[id];
    let (resource, position) = frame.resource.zip(frame.position())?;
    let place = FunctionPlace { line: position.line.get(), column: position.column.get(), ahead: 0 };
    trace.names()[frame.name].is_empty().then(|| (trace.resources()[resource].to_owned(), place))
}
