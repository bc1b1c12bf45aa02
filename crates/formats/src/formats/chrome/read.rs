//! Reading trace events from an untrusted source.

use std::io::Read;

use foldhash::{HashMap, HashMapExt as _};
use selfprof_trace::foreign::{LimitExceeded, Limits, Problems};
use selfprof_trace::{CallEvent, CallEventType, Calls, Micros, Trace};
use serde::de::{IgnoredAny, MapAccess, SeqAccess};
use serde_json::value::RawValue;

use crate::bounded_text::{MAX_COMMAND, MAX_NAME, cut};
use crate::error::ReadError;
use crate::format::Format;
use crate::formats::cpuprofile::ProfileInChunks;
use crate::json::{Elements, Exceeded, Loose, Members, list, object, stop};
use crate::options::ReadOptions;
use crate::streams::input;
use crate::symbol_tables::{Function, SymbolTables};
use crate::thread::{Process, Thread};

/// Threads of one file.
const MAX_THREADS: usize = 1_024;

/// What DevTools calls the main thread of a page.
const MAIN: &str = "CrRendererMain";

/// Reads trace events, plain or gzipped: the member `traceEvents` of an object, or a list of events, whose end may be
/// missing.
///
/// If there are CPU profiles, there is a thread for each. Otherwise, events that begin and end (`B` and `E`, or `X`)
/// are functions: between each two of them, there is a sample of what ran then. Other events are ignored.
pub fn read(input: impl Read, options: &ReadOptions) -> Result<Vec<(Thread, Problems)>, ReadError> {
    read_text(&input::text(input, options.max_bytes)?, options)
}

pub(crate) fn read_text(text: &[u8], options: &ReadOptions) -> Result<Vec<(Thread, Problems)>, ReadError> {
    let text = String::from_utf8_lossy(text);
    let mut events = Events::new(options.limits);
    let is_list = text.trim_start().starts_with('[');
    let result = match is_list {
        true => crate::json::read_list(&text, EventList { events: &mut events }),
        false => crate::json::read(text.as_bytes(), EventsObject { events: &mut events }),
    };
    match result {
        Ok(()) => {}
        Err(_) if events.failed.is_some() => {}
        // Programs that are killed do not write the end of the list, and the format does not require it.
        Err(error) if is_list && error.is_eof() && events.count > 0 => {}
        Err(error) => return Err(ReadError::of_json(Format::Chrome, error, events.exceeded)),
    }
    match events.failed.take() {
        Some(error) => Err(error),
        None => events.into_threads().map_err(ReadError::Limit),
    }
}

/// An event. Programs write its members in several types.
#[derive(serde::Deserialize)]
struct Event<'a> {
    #[serde(borrow, default)]
    ph: Loose<'a>,
    #[serde(borrow, default)]
    name: Loose<'a>,
    #[serde(borrow, default)]
    ts: Loose<'a>,
    #[serde(borrow, default)]
    dur: Loose<'a>,
    #[serde(borrow, default)]
    pid: Loose<'a>,
    #[serde(borrow, default)]
    tid: Loose<'a>,
    #[serde(borrow, default)]
    id: Loose<'a>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

/// A process and a thread, as they are named in the file.
type Ids = (String, String);

/// A function that ran, in microseconds.
struct Slice {
    start: f64,
    end: f64,
    /// The index of its name.
    name: usize,
}

#[derive(Default)]
struct EventThread {
    ids: Ids,
    slices: Vec<Slice>,
    /// Slices that have not ended.
    open: Vec<usize>,
    last: f64,
}

struct Events {
    limits: Limits,
    /// The number of events.
    count: usize,
    /// The number of slices of all threads.
    slices: usize,
    tables: SymbolTables,
    names: HashMap<String, usize>,
    threads: Vec<EventThread>,
    indexes: HashMap<Ids, usize>,
    thread_names: HashMap<Ids, String>,
    process_names: HashMap<String, String>,
    /// By process and id.
    profiles: HashMap<Ids, usize>,
    /// The profiles with their threads.
    profile_list: Vec<(Ids, ProfileInChunks)>,
    exceeded: Exceeded,
    failed: Option<ReadError>,
}

impl Events {
    fn new(limits: Limits) -> Self {
        Self {
            limits,
            count: 0,
            slices: 0,
            tables: SymbolTables::new(limits),
            names: HashMap::new(),
            threads: Vec::new(),
            indexes: HashMap::new(),
            thread_names: HashMap::new(),
            process_names: HashMap::new(),
            profiles: HashMap::new(),
            profile_list: Vec::new(),
            exceeded: None,
            failed: None,
        }
    }

    fn push(&mut self, event: &Event<'_>) -> Result<(), LimitExceeded> {
        self.count += 1;
        match (&*event.ph.text(), &*event.name.text()) {
            ("M", name @ ("thread_name" | "process_name")) => self.push_name(event, name == "thread_name"),
            ("P" | "I" | "X", name @ ("Profile" | "ProfileChunk" | "CpuProfile")) => {
                self.push_profile(event, name == "ProfileChunk")?;
            }
            ("B" | "E" | "X", _) => self.push_slice(event)?,
            _ => {}
        }
        Ok(())
    }

    fn push_name(&mut self, event: &Event<'_>, is_of_thread: bool) {
        #[derive(serde::Deserialize)]
        struct Arguments<'a> {
            #[serde(borrow, default)]
            name: Loose<'a>,
        }
        let Some(Ok(Arguments { name })) = event.args.map(|args| serde_json::from_str(args.get())) else {
            return;
        };
        let (pid, tid) = ids(event);
        if is_of_thread {
            self.thread_names.insert((pid, tid), cut(&name.text(), MAX_NAME).to_owned());
        } else {
            self.process_names.insert(pid, cut(&name.text(), MAX_COMMAND).to_owned());
        }
    }

    fn push_profile(&mut self, event: &Event<'_>, is_chunk: bool) -> Result<(), LimitExceeded> {
        let Some(args) = event.args else { return Ok(()) };
        let (pid, tid) = ids(event);
        let key = (pid.clone(), event.id.text().into_owned());
        let index = match self.profiles.get(&key) {
            Some(&index) => index,
            None => {
                LimitExceeded::check("profiles", self.profile_list.len(), MAX_THREADS)?;
                let profile = ProfileInChunks::new(self.limits);
                self.profile_list.push(((pid.clone(), tid.clone()), profile));
                self.profiles.insert(key, self.profile_list.len() - 1);
                self.profile_list.len() - 1
            }
        };
        let (ids, profile) = &mut self.profile_list[index];
        // Chunks come from the thread that samples.
        if !is_chunk {
            *ids = (pid, tid);
        }
        if let Err(error) = profile.read_arguments(args.get()) {
            self.failed.get_or_insert(error);
        }
        Ok(())
    }

    fn push_slice(&mut self, event: &Event<'_>) -> Result<(), LimitExceeded> {
        let Some(start) = event.ts.number().filter(|time| time.is_finite()) else { return Ok(()) };
        // There is a sample before the beginning and before the end of each slice, and one more in each thread.
        let samples = 2 * (self.slices + 1) + self.threads.len();
        LimitExceeded::check("events", samples, self.limits.samples)?;
        let key = ids(event);
        let index = match self.indexes.get(&key) {
            Some(&index) => index,
            None => {
                LimitExceeded::check("threads", self.threads.len(), MAX_THREADS)?;
                self.threads.push(EventThread { ids: key.clone(), last: start, ..EventThread::default() });
                self.indexes.insert(key, self.threads.len() - 1);
                self.threads.len() - 1
            }
        };
        let phase = event.ph.text();
        let name = if phase == "E" { 0 } else { self.name(&event.name.text())? };
        self.slices += usize::from(phase != "E");
        let thread = &mut self.threads[index];
        thread.last = thread.last.max(start);
        match &*phase {
            "B" => {
                thread.open.push(thread.slices.len());
                thread.slices.push(Slice { start, end: f64::INFINITY, name });
            }
            "E" => {
                if let Some(open) = thread.open.pop() {
                    thread.slices[open].end = start.max(thread.slices[open].start);
                }
            }
            _ => {
                let duration = event.dur.number().filter(|duration| *duration > 0.0).unwrap_or(0.0);
                thread.last = thread.last.max(start + duration);
                thread.slices.push(Slice { start, end: start + duration, name });
            }
        }
        Ok(())
    }

    fn name(&mut self, name: &str) -> Result<usize, LimitExceeded> {
        if let Some(&index) = self.names.get(name) {
            return Ok(index);
        }
        self.tables.push_location(std::iter::once(Function { name, file: "", line: 0, column: 0 }))?;
        let index = self.names.len();
        self.names.insert(name.to_owned(), index);
        Ok(index)
    }

    fn into_threads(mut self) -> Result<Vec<(Thread, Problems)>, LimitExceeded> {
        let mut threads: Vec<(Ids, Trace, Problems)> = Vec::new();
        for (ids, profile) in std::mem::take(&mut self.profile_list) {
            if profile.has_samples() {
                let (trace, problems) = profile.into_trace()?;
                threads.push((ids, trace, problems));
            }
        }
        if threads.is_empty() {
            let starts = self.threads.iter().flat_map(|thread| &thread.slices).map(|slice| slice.start);
            let first = starts.fold(0.0, f64::min);
            for mut thread in std::mem::take(&mut self.threads) {
                let calls = calls(&mut thread, first, &self.tables);
                if calls.events().is_empty() {
                    continue;
                }
                self.tables.push_calls(calls)?;
                threads.push((thread.ids, self.tables.trace.take_narrowed(), Problems::default()));
            }
        }
        let has_processes = threads.iter().any(|((pid, _), ..)| *pid != threads[0].0.0);
        let mut named: Vec<(Thread, Problems)> = threads
            .into_iter()
            .map(|(ids, trace, problems)| (self.named(ids, trace, has_processes), problems))
            .collect();
        if named.is_empty() {
            named.push((Thread::main(Trace::new()), Problems::default()));
        }
        Ok(named)
    }

    fn named(&self, ids: Ids, trace: Trace, has_processes: bool) -> Thread {
        let name = match self.thread_names.get(&ids).map(String::as_str) {
            Some(MAIN) => Thread::MAIN.to_owned(),
            Some(name) if !name.is_empty() => name.to_owned(),
            _ => format!("thread {}", cut(&ids.1, MAX_NAME)),
        };
        let process = ids
            .0
            .parse()
            .ok()
            .filter(|_| has_processes)
            .map(|pid| Process::named(pid, self.process_names.get(&ids.0).map_or("", String::as_str)));
        Thread { process, ..Thread::named(name, trace) }
    }
}

fn ids(event: &Event<'_>) -> Ids {
    (cut(&event.pid.text(), MAX_NAME).to_owned(), cut(&event.tid.text(), MAX_NAME).to_owned())
}

/// The slices of a thread as calls. A slice ends with the one that it began in.
fn calls(thread: &mut EventThread, first: f64, tables: &SymbolTables) -> Calls {
    for slice in &mut thread.slices {
        slice.end = slice.end.min(thread.last);
    }
    // Of slices that begin together, the longest one contains the others. The sort is stable.
    thread.slices.sort_by(|a, b| a.start.total_cmp(&b.start).then(b.end.total_cmp(&a.end)));
    let micros = |time: f64| Micros::from_millis_f64((time - first) / 1_000.0).unwrap_or_default();
    let mut calls = Calls::new(thread.slices.first().map_or(Micros::ZERO, |slice| micros(slice.start)));
    let mut push = |event_type, name: usize, time: f64| {
        if let Some(frame) = tables.function(name) {
            // Events nest by construction.
            let _ = calls.push(CallEvent { event_type, frame, timestamp: micros(time) });
        }
    };
    let mut running: Vec<(usize, f64)> = Vec::new();
    for slice in &thread.slices {
        while let Some((name, end)) = running.pop_if(|(_, end)| *end <= slice.start) {
            push(CallEventType::Exit, name, end);
        }
        push(CallEventType::Enter, slice.name, slice.start);
        let end = running.last().map_or(slice.end, |(_, end)| slice.end.min(*end));
        running.push((slice.name, end));
    }
    while let Some((name, end)) = running.pop() {
        push(CallEventType::Exit, name, end);
    }
    let end = calls.end();
    calls.finish(end, false);
    calls
}

/// Reads the object that contains the events.
struct EventsObject<'read> {
    events: &'read mut Events,
}

impl<'de> Members<'de> for EventsObject<'_> {
    type Value = ();
    const EXPECTED: &'static str = "an object with trace events";

    fn read<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut has_events = false;
        while let Some(member) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            if member == "traceEvents" {
                has_events = true;
                map.next_value_seed(list(EventList { events: self.events }))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        if has_events { Ok(()) } else { Err(serde::de::Error::missing_field("traceEvents")) }
    }
}

/// Reads the list of events.
struct EventList<'read> {
    events: &'read mut Events,
}

impl<'de> Elements<'de> for EventList<'_> {
    const EXPECTED: &'static str = "a list of trace events";

    fn read<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { events } = self;
        while list.next_element_seed(object(EventObject { events }))?.is_some() {}
        Ok(())
    }
}

/// Reads an event.
struct EventObject<'read> {
    events: &'read mut Events,
}

impl<'de> Members<'de> for EventObject<'_> {
    type Value = ();
    const EXPECTED: &'static str = "a trace event";

    fn read<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let event: Event<'de> =
            serde::Deserialize::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
        self.events.push(&event).map_err(|limit| stop(limit, &mut self.events.exceeded))?;
        match self.events.failed {
            Some(_) => Err(serde::de::Error::custom("a profile in the events cannot be read")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
