//! The Firefox Profiler's [processed profile], version 55. The Firefox Profiler upgrades older versions when it loads
//! them.
//!
//! Markers become categories of the samples' innermost functions; marks and measures become `UserTiming` markers, and
//! calls `Call` markers, besides the samples that stand for them. A sample's weight
//! is the time in milliseconds that it stands for, so the call tree shows the times of `selfprof top`. A sample is
//! placed at the start of its span, or at the time origin if that is later. If the waiting times are known, waiting is
//! a function, and samples have the CPU time since the sample before.
//!
//! On reading, profiles that the browser itself writes ("gecko format") are accepted, too. The category of a sample's
//! innermost function becomes its marker, or makes it idle. Markers are left out.
//!
//! The crate `fxprof-processed-profile` (0.8) is not used: it has no file, line or column of a function, merges
//! functions of the same name, and only supports integer weights.
//!
//! [processed profile]: https://github.com/firefox-devtools/profiler/blob/main/docs-developer/processed-profile-format.md

mod markers;
mod read;

use std::borrow::Cow;
use std::io::{self, Write};

use foldhash::HashMap;
use selfprof_trace::{FrameId, Marker, Micros, StackId, Trace};

use crate::functions;
use crate::json::{millis, number, number_or_null, string, write_list};
use crate::options::WriteOptions;
use crate::samples::spans::{Span, Spans};
use crate::samples::states;
use crate::streams::output::{self, Out};
use crate::thread::{Process, Thread};

pub use read::read;
pub(crate) use read::read_text;

/// The version of the format that is written.
const PROCESSED_VERSION: u32 = 55;

/// The names and colors of the categories.
const CATEGORIES: [(&str, &str); 9] = [
    ("Idle", "transparent"),
    ("JavaScript", "yellow"),
    ("GC / CC", "orange"),
    ("Parsing", "lightblue"),
    ("Graphics", "green"),
    ("Style", "lightgreen"),
    ("Layout", "purple"),
    ("Other", "grey"),
    ("Native", "blue"),
];

/// The category of functions with a script.
const JAVASCRIPT: usize = 1;

/// The category of functions without a script.
const NATIVE: usize = 8;

/// The category of everything else.
const OTHER: usize = 7;

/// Writes the threads of one process, as one line of JSON.
pub fn write(threads: &[Thread], out: impl Write, options: WriteOptions) -> io::Result<()> {
    let threads: Vec<Shown<'_>> = threads.iter().map(Shown::of).collect();
    output::write(out, options, |out| write_profile(&threads, out))
}

/// A thread with waiting as a function, if it is known.
struct Shown<'thread> {
    thread: Cow<'thread, Thread>,
    has_cpu_times: bool,
}

impl<'thread> Shown<'thread> {
    fn of(thread: &'thread Thread) -> Self {
        let has_cpu_times = thread.trace.waiting().is_some();
        let mut thread = Cow::Borrowed(thread);
        if has_cpu_times {
            thread.to_mut().trace.add_waiting_frames();
        }
        Self { thread, has_cpu_times }
    }
}

fn write_profile(threads: &[Shown<'_>], out: &mut Out<'_>) -> io::Result<()> {
    let interval = threads.iter().find_map(|shown| shown.thread.trace.interval());
    let start = threads.iter().find_map(|shown| shown.thread.time_origin).unwrap_or(0.0);
    write!(out, "{{\"meta\":{{\"interval\":{},\"startTime\":{start},", interval.unwrap_or(Micros(1000)))?;
    write!(out, "\"preprocessedProfileVersion\":{PROCESSED_VERSION},\"version\":24,\"processType\":0,")?;
    out.write_all(br#""product":"selfprof","stackwalk":1,"debug":false,"symbolicated":true,"usesOnlyOneStackType":true,"#)?;
    out.write_all(
        br#""sourceCodeIsNotOnSearchfox":true,"doesNotUseFrameImplementation":true,"pausedRanges":[],"#,
    )?;
    out.write_all(br#""extensions":{"length":0,"baseURL":[],"id":[],"name":[]},"#)?;
    out.write_all(br#""sampleUnits":{"time":"ms","eventDelay":"ms","threadCPUDelta":"ns"},"#)?;
    out.write_all(markers::SCHEMA.as_bytes())?;
    write_list(out, "\"categories\":[", CATEGORIES.iter(), |out, (name, color)| {
        write!(out, "{{\"name\":\"{name}\",\"color\":\"{color}\",\"subcategories\":[\"Other\"]}}")
    })?;
    out.write_all(b"]},\"libs\":[],\"pages\":[],\"profilerOverhead\":[],\"counters\":[]")?;
    let threads = (1..).zip(threads);
    write_list(out, ",\"threads\":[", threads, |out, (tid, shown)| Writing::of(shown).write(tid, out))?;
    out.write_all(b"]}")
}

/// A thread's tables, which the format stores in columns.
struct Writing<'thread> {
    thread: &'thread Thread,
    has_cpu_times: bool,
    trace: &'thread Trace,
    spans: Spans<'thread>,
    strings: Strings<'thread>,
    /// The functions of the trace, then those that stand for states.
    functions: Vec<Function<'thread>>,
    /// Frames: a function and a category.
    frames: Vec<(usize, usize)>,
    /// Stacks: the parent and the innermost frame. The first ones are the stacks of the trace.
    stacks: Vec<(Option<usize>, usize)>,
    /// Stacks that were added for samples with a marker.
    marked_stacks: HashMap<(Option<StackId>, Option<Marker>), usize>,
    /// The frames of those stacks: functions of the trace with another category.
    marked_frames: HashMap<(FrameId, usize), usize>,
}

struct Function<'thread> {
    name: usize,
    file: Option<&'thread str>,
    line: Option<u32>,
    column: Option<u32>,
}

/// A thread's strings with their numbers.
#[derive(Default)]
struct Strings<'thread> {
    list: Vec<&'thread str>,
    numbers: HashMap<&'thread str, usize>,
}

impl<'thread> Strings<'thread> {
    fn number(&mut self, text: &'thread str) -> usize {
        *self.numbers.entry(text).or_insert_with(|| {
            self.list.push(text);
            self.list.len() - 1
        })
    }
}

impl<'thread> Writing<'thread> {
    fn of(shown: &'thread Shown<'_>) -> Self {
        let thread = &*shown.thread;
        let trace = &thread.trace;
        let mut strings = Strings::default();
        let functions: Vec<Function<'_>> = trace
            .frames()
            .iter()
            .map(|(_, frame)| Function {
                name: strings.number(functions::name(trace, &frame)),
                file: frame.resource.map(|id| &trace.resources()[id]),
                line: frame.line.map(Into::into),
                column: frame.column.map(Into::into),
            })
            .collect();
        // Native functions are not traced.
        let is_javascript = |function: &Function<'_>| function.file.is_some() || trace.calls().is_some();
        let category = |function: &Function<'_>| if is_javascript(function) { JAVASCRIPT } else { NATIVE };
        let frames =
            functions.iter().enumerate().map(|(index, function)| (index, category(function))).collect();
        let stacks = trace
            .stacks()
            .iter()
            .map(|(_, stack)| (stack.parent.map(StackId::index), stack.frame.index()))
            .collect();
        Self {
            thread,
            has_cpu_times: shown.has_cpu_times,
            trace,
            spans: Spans::of(trace),
            strings,
            functions,
            frames,
            stacks,
            marked_stacks: HashMap::default(),
            marked_frames: HashMap::default(),
        }
    }

    /// The stack of a sample: a stack of the trace, or an added one whose innermost frame has the category of the
    /// marker.
    fn stack_of(&mut self, span: &Span<'_>) -> Option<usize> {
        let sample = span.sample.filter(|_| !span.is_idle())?;
        let key @ (stack, marker) = (sample.stack, sample.marker);
        if let (Some(stack), None | Some(Marker::Script)) = key {
            return Some(stack.index());
        }
        if let Some(&stack) = self.marked_stacks.get(&key) {
            return Some(stack);
        }
        let category = marker.map_or(OTHER, |marker| states::index(Some(marker)));
        let (parent, frame) = match stack.map(|id| self.trace.stacks()[id]) {
            Some(stack) => {
                let frame = *self.marked_frames.entry((stack.frame, category)).or_insert_with(|| {
                    self.frames.push((stack.frame.index(), category));
                    self.frames.len() - 1
                });
                (stack.parent.map(StackId::index), frame)
            }
            None => {
                let name = self.strings.number(states::name(marker));
                self.functions.push(Function { name, file: None, line: None, column: None });
                self.frames.push((self.functions.len() - 1, category));
                (None, self.frames.len() - 1)
            }
        };
        self.stacks.push((parent, frame));
        self.marked_stacks.insert(key, self.stacks.len() - 1);
        Some(self.stacks.len() - 1)
    }

    fn write(mut self, tid: usize, out: &mut Out<'_>) -> io::Result<()> {
        out.write_all(b"{\"name\":")?;
        // The Firefox Profiler knows main threads by this name, and groups threads by their process.
        let is_main = self.thread.name == Thread::MAIN || tid == 1;
        string(out, if is_main { "GeckoMain" } else { &self.thread.name })?;
        let process = self.thread.process.as_ref();
        let pid = process.map_or(1, |process| process.pid);
        write!(out, ",\"isMainThread\":{is_main},\"pid\":\"{pid}\",\"tid\":{tid},\"processName\":")?;
        string(out, process.map_or("selfprof", Process::program))?;
        out.write_all(b",")?;
        out.write_all(
            br#""processType":"default","processStartupTime":0,"processShutdownTime":null,"registerTime":0,"#,
        )?;
        out.write_all(br#""unregisterTime":null,"pausedRanges":[],"showMarkersInTimeline":true,"#)?;
        out.write_all(
            br#""nativeSymbols":{"length":0,"address":[],"functionSize":[],"libIndex":[],"name":[]},"#,
        )?;
        self.write_samples(out)?;
        let names = markers::NAMES.map(|name| self.strings.number(name));
        markers::write_markers(self.trace, names, out)?;
        self.write_stacks(out)?;
        self.write_functions(out)?;
        write_list(out, ",\"stringArray\":[", self.strings.list.iter(), |out, text| string(out, text))?;
        out.write_all(b"]}")
    }

    /// Writes the samples, which may add functions, frames and stacks.
    fn write_samples(&mut self, out: &mut Out<'_>) -> io::Result<()> {
        let spans = std::mem::take(&mut self.spans);
        write!(out, "\"samples\":{{\"length\":{},\"weightType\":\"tracing-ms\"", spans.count())?;
        write_list(out, ",\"stack\":[", spans.iter(), |out, span| number_or_null(out, self.stack_of(&span)))?;
        let start = |span: &Span<'_>| Micros(u64::try_from(span.start).unwrap_or(0));
        write_list(out, "],\"time\":[", spans.iter(), |out, span| millis(out, start(&span)))?;
        if self.has_cpu_times {
            // A sample has the CPU time since the one before, which is that of the span before.
            let before = std::iter::once(None).chain(spans.iter().map(Some));
            let deltas = before.take(spans.count()).map(|span| span.map_or(0, |span| self.cpu_nanos(&span)));
            write_list(out, "],\"threadCPUDelta\":[", deltas, |out, nanos| write!(out, "{nanos}"))?;
        }
        write_list(out, "],\"weight\":[", spans.iter(), |out, span| millis(out, span.length))?;
        out.write_all(b"]}")
    }

    fn cpu_nanos(&self, span: &Span<'_>) -> u64 {
        let stack = span.sample.and_then(|sample| sample.stack);
        let waits = stack.is_some_and(|stack| self.trace.is_waiting(self.trace.stacks()[stack].frame));
        if waits || span.is_idle() { 0 } else { span.length.saturating_mul(1000).0 }
    }

    fn write_stacks(&self, out: &mut Out<'_>) -> io::Result<()> {
        write!(out, ",\"stackTable\":{{\"length\":{}", self.stacks.len())?;
        write_list(out, ",\"prefix\":[", self.stacks.iter(), |out, (prefix, _)| {
            number_or_null(out, *prefix)
        })?;
        write_list(out, "],\"frame\":[", self.stacks.iter(), |out, (_, frame)| number(out, *frame))?;
        write!(out, "]}},\"frameTable\":{{\"length\":{}", self.frames.len())?;
        let all = || self.frames.iter();
        write_list(out, ",\"address\":[", all(), |out, _| out.write_all(b"-1"))?;
        write_list(out, "],\"inlineDepth\":[", all(), |out, _| out.write_all(b"0"))?;
        write_list(out, "],\"category\":[", all(), |out, (_, category)| write!(out, "{category}"))?;
        write_list(out, "],\"subcategory\":[", all(), |out, _| out.write_all(b"0"))?;
        write_list(out, "],\"func\":[", all(), |out, (function, _)| write!(out, "{function}"))?;
        write_list(out, "],\"nativeSymbol\":[", all(), |out, _| out.write_all(b"null"))?;
        write_list(out, "],\"innerWindowID\":[", all(), |out, _| out.write_all(b"0"))?;
        let line = |function: usize| self.functions[function].line;
        write_list(out, "],\"line\":[", all(), |out, (function, _)| number_or_null(out, line(*function)))?;
        let column = |function: usize| self.functions[function].column;
        write_list(out, "],\"column\":[", all(), |out, (function, _)| {
            number_or_null(out, column(*function))
        })?;
        out.write_all(b"]}")
    }

    fn write_functions(&mut self, out: &mut Out<'_>) -> io::Result<()> {
        let Self { functions, strings, .. } = self;
        // A resource is a script, of type 5 (URL).
        let mut resources: Vec<usize> = Vec::new();
        let mut resource_of: HashMap<&str, usize> = HashMap::default();
        let mut locations = Vec::with_capacity(functions.len());
        for function in functions.iter() {
            locations.push(function.file.map(|file| {
                let number = strings.number(file);
                let resource = *resource_of.entry(file).or_insert_with(|| {
                    resources.push(number);
                    resources.len() - 1
                });
                (resource, number)
            }));
        }
        write!(out, ",\"funcTable\":{{\"length\":{}", functions.len())?;
        write_list(out, ",\"name\":[", functions.iter(), |out, function| write!(out, "{}", function.name))?;
        write_list(out, "],\"isJS\":[", locations.iter(), |out, location| {
            write!(out, "{}", location.is_some())
        })?;
        write_list(out, "],\"relevantForJS\":[", locations.iter(), |out, location| {
            write!(out, "{}", location.is_none())
        })?;
        write_list(out, "],\"resource\":[", locations.iter(), |out, location| match location {
            Some((resource, _)) => write!(out, "{resource}"),
            None => out.write_all(b"-1"),
        })?;
        let file = |location: &Option<(usize, usize)>| location.map(|(_, file)| file);
        write_list(out, "],\"fileName\":[", locations.iter(), |out, location| {
            number_or_null(out, file(location))
        })?;
        write_list(out, "],\"lineNumber\":[", functions.iter(), |out, function| {
            number_or_null(out, function.line)
        })?;
        write_list(out, "],\"columnNumber\":[", functions.iter(), |out, function| {
            number_or_null(out, function.column)
        })?;
        write!(out, "]}},\"resourceTable\":{{\"length\":{}", resources.len())?;
        write_list(out, ",\"lib\":[", resources.iter(), |out, _| out.write_all(b"null"))?;
        write_list(out, "],\"name\":[", resources.iter(), |out, name| write!(out, "{name}"))?;
        write_list(out, "],\"host\":[", resources.iter(), |out, _| out.write_all(b"null"))?;
        write_list(out, "],\"type\":[", resources.iter(), |out, _| out.write_all(b"5"))?;
        out.write_all(b"]}")
    }
}

#[cfg(test)]
mod tests;
