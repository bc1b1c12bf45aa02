//! The Firefox Profiler's [processed profile], version 55; it brings older versions up to date itself.
//!
//! Markers are categories of the samples' innermost functions, marks and measures are `UserTiming` markers. The weight of
//! a sample is the milliseconds that it stands for, so the call tree shows the sums of `selfprof top`. Samples are drawn from
//! their time on, so they stand where the time begins that they stand for; those before the time origin stand at it.
//!
//! This is not done by the crate `fxprof-processed-profile` (0.8), which has no place for the file, line and column of a function,
//! takes functions of one name for the same, and knows whole numbers alone as weights.
//!
//! [processed profile]: https://github.com/firefox-devtools/profiler/blob/main/docs-developer/processed-profile-format.md

use std::io::{self, Write};

use foldhash::HashMap;
use selfprof_trace::weigh::median_interval;
use selfprof_trace::{Entries, EntryType, FrameId, Marker, Micros, StackId, Trace};

use crate::json::{millis, number, number_or_null, string, write_list};
use crate::output::{self, Out};
use crate::spans::{self, Span, Spans};
use crate::{Thread, WriteOptions};

/// The version of the format that is written.
const PROCESSED_VERSION: u32 = 55;

/// The categories: their names and colours.
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

/// The category of functions without a script.
const NATIVE: usize = 8;

/// The category of what has no other.
const OTHER: usize = 7;

/// Writes the profiles of some threads as one process on one line of JSON.
pub fn write(threads: &[Thread], out: impl Write, options: WriteOptions) -> io::Result<()> {
    output::write(out, options, |out| write_profile(threads, out))
}

fn write_profile(threads: &[Thread], out: &mut Out<'_>) -> io::Result<()> {
    let interval = threads.iter().find_map(|thread| median_interval(thread.trace.samples()));
    write!(out, "{{\"meta\":{{\"interval\":{},\"startTime\":0,", interval.unwrap_or(Micros(1000)))?;
    write!(out, "\"preprocessedProfileVersion\":{PROCESSED_VERSION},\"version\":24,\"processType\":0,")?;
    out.write_all(br#""product":"selfprof","stackwalk":1,"debug":false,"symbolicated":true,"usesOnlyOneStackType":true,"#)?;
    out.write_all(
        br#""sourceCodeIsNotOnSearchfox":true,"doesNotUseFrameImplementation":true,"pausedRanges":[],"#,
    )?;
    out.write_all(br#""extensions":{"length":0,"baseURL":[],"id":[],"name":[]},"#)?;
    out.write_all(br#""sampleUnits":{"time":"ms","eventDelay":"ms","threadCPUDelta":"ns"},"#)?;
    out.write_all(br#""markerSchema":[{"name":"UserTiming","display":["marker-chart","marker-table","timeline-overview"],"tooltipLabel":"{marker.data.name}","tableLabel":"{marker.data.name}","chartLabel":"{marker.data.name}","fields":[{"key":"name","label":"Name","format":"string"},{"key":"entryType","label":"Entry Type","format":"string"}]}],"#)?;
    write_list(out, "\"categories\":[", CATEGORIES.iter(), |out, (name, color)| {
        write!(out, "{{\"name\":\"{name}\",\"color\":\"{color}\",\"subcategories\":[\"Other\"]}}")
    })?;
    out.write_all(b"]},\"libs\":[],\"pages\":[],\"profilerOverhead\":[],\"counters\":[]")?;
    let threads = (1..).zip(threads);
    write_list(out, ",\"threads\":[", threads, |out, (tid, thread)| Writing::of(thread).write(tid, out))?;
    out.write_all(b"]}")
}

/// A thread, whose tables the format has in columns.
struct Writing<'thread> {
    name: &'thread str,
    trace: &'thread Trace,
    spans: Spans<'thread>,
    strings: Strings<'thread>,
    /// Functions: the trace's, then those that stand for work without one.
    functions: Vec<Function<'thread>>,
    /// A function with a category.
    frames: Vec<(usize, usize)>,
    /// A stack: that of its caller, and its innermost frame. The first are those of the trace.
    stacks: Vec<(Option<usize>, usize)>,
    /// The stacks of samples that are none of the trace's.
    placed: HashMap<(Option<StackId>, Option<Marker>), usize>,
    /// The frames of those stacks: functions of the trace with another category.
    categorised: HashMap<(FrameId, usize), usize>,
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
    fn of(Thread { name, trace }: &'thread Thread) -> Self {
        let mut strings = Strings::default();
        let functions: Vec<Function<'_>> = trace
            .frames()
            .iter()
            .map(|(_, frame)| Function {
                name: match &trace.names()[frame.name] {
                    "" => strings.number("(anonymous)"),
                    name => strings.number(name),
                },
                file: frame.resource.map(|id| &trace.resources()[id]),
                line: frame.line.map(Into::into),
                column: frame.column.map(Into::into),
            })
            .collect();
        let category = |function: &Function<'_>| if function.file.is_some() { 1 } else { NATIVE };
        let frames =
            functions.iter().enumerate().map(|(index, function)| (index, category(function))).collect();
        let stacks = trace
            .stacks()
            .iter()
            .map(|(_, stack)| (stack.parent.map(StackId::index), stack.frame.index()))
            .collect();
        Self {
            name,
            trace,
            spans: Spans::of(trace),
            strings,
            functions,
            frames,
            stacks,
            placed: HashMap::default(),
            categorised: HashMap::default(),
        }
    }

    /// The stack of what a sample found: a stack of the trace, or a new one whose innermost frame has another category.
    fn stack_of(&mut self, span: &Span<'_>) -> Option<usize> {
        let sample = span.sample.filter(|_| !span.is_idle())?;
        let key @ (stack, marker) = (sample.stack, sample.marker);
        if let (Some(stack), None | Some(Marker::Script)) = key {
            return Some(stack.index());
        }
        if let Some(&placed) = self.placed.get(&key) {
            return Some(placed);
        }
        let category = marker.map_or(OTHER, |marker| spans::state_index(Some(marker)));
        let (parent, frame) = match stack.map(|id| self.trace.stacks()[id]) {
            Some(stack) => {
                let frame = *self.categorised.entry((stack.frame, category)).or_insert_with(|| {
                    self.frames.push((stack.frame.index(), category));
                    self.frames.len() - 1
                });
                (stack.parent.map(StackId::index), frame)
            }
            None => {
                let name = self.strings.number(spans::state(marker));
                self.functions.push(Function { name, file: None, line: None, column: None });
                self.frames.push((self.functions.len() - 1, category));
                (None, self.frames.len() - 1)
            }
        };
        self.stacks.push((parent, frame));
        self.placed.insert(key, self.stacks.len() - 1);
        Some(self.stacks.len() - 1)
    }

    fn write(mut self, tid: usize, out: &mut Out<'_>) -> io::Result<()> {
        out.write_all(b"{\"name\":")?;
        string(out, if tid == 1 { "GeckoMain" } else { self.name })?;
        write!(
            out,
            ",\"isMainThread\":{},\"pid\":\"1\",\"tid\":{tid},\"processName\":\"selfprof\",",
            tid == 1
        )?;
        out.write_all(
            br#""processType":"default","processStartupTime":0,"processShutdownTime":null,"registerTime":0,"#,
        )?;
        out.write_all(br#""unregisterTime":null,"pausedRanges":[],"showMarkersInTimeline":true,"#)?;
        out.write_all(
            br#""nativeSymbols":{"length":0,"address":[],"functionSize":[],"libIndex":[],"name":[]},"#,
        )?;
        self.write_samples(out)?;
        let user_timing = self.strings.number("UserTiming");
        self.write_markers(user_timing, out)?;
        self.write_stacks(out)?;
        self.write_functions(out)?;
        write_list(out, ",\"stringArray\":[", self.strings.list.iter(), |out, text| string(out, text))?;
        out.write_all(b"]}")
    }

    /// Writes the samples, which adds to functions, frames and stacks.
    fn write_samples(&mut self, out: &mut Out<'_>) -> io::Result<()> {
        let spans = std::mem::take(&mut self.spans);
        write!(out, "\"samples\":{{\"length\":{},\"weightType\":\"tracing-ms\"", spans.count())?;
        write_list(out, ",\"stack\":[", spans.iter(), |out, span| number_or_null(out, self.stack_of(&span)))?;
        let start = |span: &Span<'_>| Micros(u64::try_from(span.start).unwrap_or(0));
        write_list(out, "],\"time\":[", spans.iter(), |out, span| millis(out, start(&span)))?;
        write_list(out, "],\"weight\":[", spans.iter(), |out, span| millis(out, span.length))?;
        out.write_all(b"]}")
    }

    fn write_markers(&self, name: usize, out: &mut Out<'_>) -> io::Result<()> {
        let none = Entries::new();
        let entries = self.trace.entries().unwrap_or(&none);
        let all = || entries.list().iter();
        write!(out, ",\"markers\":{{\"length\":{}", entries.list().len())?;
        write_list(out, ",\"category\":[", all(), |out, _| write!(out, "{OTHER}"))?;
        write_list(out, "],\"name\":[", all(), |out, _| write!(out, "{name}"))?;
        // Phases: 0 is a moment, 1 a span.
        write_list(out, "],\"phase\":[", all(), |out, entry| write!(out, "{}", entry.entry_type.index()))?;
        write_list(out, "],\"startTime\":[", all(), |out, entry| {
            let end = entry.start_time.saturating_add(entry.duration);
            write!(out, "{}", entry.start_time.min(end))
        })?;
        write_list(out, "],\"endTime\":[", all(), |out, entry| match entry.entry_type {
            EntryType::Mark => out.write_all(b"null"),
            EntryType::Measure => {
                let end = entry.start_time.saturating_add(entry.duration);
                write!(out, "{}", entry.start_time.max(end))
            }
        })?;
        write_list(out, "],\"data\":[", all(), |out, entry| {
            write!(out, "{{\"type\":\"UserTiming\",\"entryType\":\"{}\",\"name\":", entry.entry_type)?;
            string(out, &entries.names()[entry.name])?;
            out.write_all(b"}")
        })?;
        out.write_all(b"]}")
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
        // A resource is a script. Its kind is 5, which is a URL.
        let mut resources: Vec<usize> = Vec::new();
        let mut resource_of: HashMap<&str, usize> = HashMap::default();
        let mut places = Vec::with_capacity(functions.len());
        for function in functions.iter() {
            places.push(function.file.map(|file| {
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
        write_list(out, "],\"isJS\":[", places.iter(), |out, place| write!(out, "{}", place.is_some()))?;
        write_list(out, "],\"relevantForJS\":[", places.iter(), |out, place| {
            write!(out, "{}", place.is_none())
        })?;
        write_list(out, "],\"resource\":[", places.iter(), |out, place| match place {
            Some((resource, _)) => write!(out, "{resource}"),
            None => out.write_all(b"-1"),
        })?;
        let file = |place: &Option<(usize, usize)>| place.map(|(_, file)| file);
        write_list(out, "],\"fileName\":[", places.iter(), |out, place| number_or_null(out, file(place)))?;
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
