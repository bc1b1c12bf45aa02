//! Reading a profile from an untrusted source: the processed format, and what the browser itself writes ("gecko
//! format").

use std::borrow::Cow;
use std::io::Read;

use foldhash::HashMap;
use selfprof_trace::foreign::{LimitExceeded, Problems};
use selfprof_trace::{Marker, StackId, Trace};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess};

use crate::bounded_text::{MAX_COMMAND, MAX_NAME, cut};
use crate::error::ReadError;
use crate::format::Format;
use crate::functions;
use crate::json::{Any, Loose, Members, any, object};
use crate::options::ReadOptions;
use crate::samples::placed::{PlacedSample, push_placed};
use crate::streams::input;
use crate::symbol_tables::{Function, SymbolTables};
use crate::thread::{Process, Thread};

/// Threads of one file.
const MAX_THREADS: usize = 1_024;

/// Reads a profile, plain or gzipped: the threads that have samples.
///
/// A sample lasts as long as its weight says, if weights are times. Otherwise it lasts until the next sample, by the
/// [rule for gaps](selfprof_trace::weigh), and the last one for one interval.
pub fn read(input: impl Read, options: &ReadOptions) -> Result<Vec<(Thread, Problems)>, ReadError> {
    read_text(&input::text(input, options.max_bytes)?, options)
}

pub(crate) fn read_text(text: &[u8], options: &ReadOptions) -> Result<Vec<(Thread, Problems)>, ReadError> {
    let text = String::from_utf8_lossy(text);
    let profile: Profile<'_> =
        serde_json::from_str(&text).map_err(|error| ReadError::Json(Format::Firefox, error))?;
    let mut reader = Reader {
        tables: SymbolTables::new(options.limits),
        samples: options.limits.samples,
        threads: Vec::new(),
    };
    reader.add_process(&profile).map_err(ReadError::Limit)?;
    Ok(reader.finish())
}

#[derive(serde::Deserialize)]
struct Profile<'a> {
    #[serde(borrow)]
    meta: Meta<'a>,
    #[serde(borrow)]
    threads: Vec<Tables<'a>>,
    /// Tables of all threads, in newer processed profiles.
    #[serde(borrow)]
    shared: Option<Tables<'a>>,
    /// Other processes, in the gecko format.
    #[serde(borrow, default)]
    processes: Vec<Profile<'a>>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta<'a> {
    #[serde(borrow, default)]
    interval: Loose<'a>,
    #[serde(borrow, default)]
    start_time: Loose<'a>,
    #[serde(borrow, default)]
    categories: Vec<Category<'a>>,
}

#[derive(serde::Deserialize)]
struct Category<'a> {
    #[serde(borrow, default)]
    name: Loose<'a>,
}

/// A thread, or what all threads share.
#[derive(Default, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tables<'a> {
    #[serde(borrow, default)]
    name: Loose<'a>,
    #[serde(borrow, default)]
    process_name: Loose<'a>,
    #[serde(borrow, default)]
    pid: Loose<'a>,
    #[serde(borrow)]
    samples: Option<Table<'a>>,
    #[serde(borrow)]
    stack_table: Option<Table<'a>>,
    #[serde(borrow)]
    frame_table: Option<Table<'a>>,
    #[serde(borrow)]
    func_table: Option<Table<'a>>,
    /// Files of functions, in newer processed profiles.
    #[serde(borrow)]
    sources: Option<Table<'a>>,
    #[serde(borrow, alias = "stringTable")]
    string_array: Option<Vec<Loose<'a>>>,
}

/// A table in columns, whatever its format has: an object of columns, or a list of rows with a schema.
#[derive(Default)]
struct Table<'a> {
    columns: HashMap<Cow<'a, str>, Vec<Loose<'a>>>,
    rows: Option<Rows<'a>>,
    weight_type: Loose<'a>,
}

#[derive(Default)]
struct Rows<'a> {
    schema: HashMap<Cow<'a, str>, usize>,
    data: Vec<Vec<Loose<'a>>>,
}

impl<'a> Table<'a> {
    fn get(&self, column: &str, row: usize) -> &Loose<'a> {
        static OTHER: Loose<'static> = Loose::Other;
        let found = match &self.rows {
            Some(rows) => rows.data.get(row).zip(rows.schema.get(column)).and_then(|(row, &at)| row.get(at)),
            None => self.columns.get(column).and_then(|list| list.get(row)),
        };
        found.unwrap_or(&OTHER)
    }

    fn has(&self, column: &str) -> bool {
        match &self.rows {
            Some(rows) => rows.schema.contains_key(column),
            None => self.columns.contains_key(column),
        }
    }

    /// The rows of a column that all rows have.
    fn len(&self, column: &str) -> usize {
        match &self.rows {
            Some(rows) => rows.data.len(),
            None => self.columns.get(column).map_or(0, Vec::len),
        }
    }

    /// Whether weights are times.
    fn states_times(&self) -> bool {
        self.weight_type.text() == "tracing-ms"
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Table<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        object(TableObject).deserialize(deserializer)
    }
}

struct TableObject;

impl<'de> Members<'de> for TableObject {
    type Value = Table<'de>;
    const EXPECTED: &'static str = "a table";

    fn read<A: MapAccess<'de>>(self, mut map: A) -> Result<Table<'de>, A::Error> {
        let mut table = Table::default();
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            match &*name {
                "schema" => {
                    let schema: HashMap<Cow<'de, str>, Loose<'de>> = map.next_value()?;
                    let schema = schema.into_iter().filter_map(|(name, at)| Some((name, at.index()?)));
                    table.rows.get_or_insert_default().schema = schema.collect();
                }
                "data" => {
                    table.rows.get_or_insert_default().data = map.next_value()?;
                }
                "weightType" => table.weight_type = map.next_value()?,
                _ => {
                    let mut column = None;
                    map.next_value_seed(any(Column(&mut column)))?;
                    table.columns.extend(column.map(|column| (name, column)));
                }
            }
        }
        Ok(table)
    }
}

struct Column<'read, 'a>(&'read mut Option<Vec<Loose<'a>>>);

impl<'de> Any<'de> for Column<'_, 'de> {
    const EXPECTED: &'static str = "a column";

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let column = self.0.insert(Vec::new());
        while let Some(value) = list.next_element()? {
            column.push(value);
        }
        Ok(())
    }

    fn refuse(self) {}
}

/// What the category of a sample's innermost function says about the sample.
#[derive(Clone, Copy, Default)]
enum Kind {
    #[default]
    Function,
    Idle,
    Work(Marker),
}

impl Kind {
    fn of(category: &str) -> Self {
        match category {
            "Idle" => Self::Idle,
            "GC / CC" => Self::Work(Marker::Gc),
            "Parsing" => Self::Work(Marker::Parse),
            "Graphics" => Self::Work(Marker::Paint),
            "Style" => Self::Work(Marker::Style),
            "Layout" => Self::Work(Marker::Layout),
            _ => Self::Function,
        }
    }
}

struct Reader {
    tables: SymbolTables,
    /// How many samples may still be read.
    samples: usize,
    threads: Vec<ReadThread>,
}

struct ReadThread {
    name: String,
    pid: String,
    command: String,
    time_origin: Option<f64>,
    trace: Trace,
}

/// The stacks of a table, and the kinds of work that their innermost functions stand for.
type Stacks = Vec<(Option<StackId>, Kind)>;

impl Reader {
    fn add_process(&mut self, profile: &Profile<'_>) -> Result<(), LimitExceeded> {
        let none = Tables::default();
        let shared = profile.shared.as_ref().unwrap_or(&none);
        let kinds: Vec<Kind> =
            profile.meta.categories.iter().map(|category| Kind::of(&category.name.text())).collect();
        // Tables that all threads share are read once.
        let mut of_all: Option<Stacks> = None;
        for thread in &profile.threads {
            let Some(samples) = thread.samples.as_ref().filter(|samples| samples.len("stack") > 0) else {
                continue;
            };
            LimitExceeded::check("threads", self.threads.len(), MAX_THREADS)?;
            let own;
            let stacks = match (&thread.stack_table, &of_all) {
                (None, Some(stacks)) => stacks,
                (None, None) => of_all.insert(self.stacks(thread, shared, &kinds)?),
                (Some(_), _) => {
                    own = self.stacks(thread, shared, &kinds)?;
                    &own
                }
            };
            let placed = self.placed(samples, stacks, &profile.meta)?;
            push_placed(&mut self.tables.trace, placed, samples.states_times());
            let trace = self.tables.trace.take_narrowed();
            let name = thread.name.text();
            self.threads.push(ReadThread {
                name: if name == "GeckoMain" { Thread::MAIN } else { cut(&name, MAX_NAME) }.to_owned(),
                pid: cut(&thread.pid.text(), MAX_NAME).to_owned(),
                command: cut(&thread.process_name.text(), MAX_COMMAND).to_owned(),
                time_origin: profile.meta.start_time.number().filter(|&start| start > 0.0),
                trace,
            });
        }
        profile.processes.iter().try_for_each(|process| self.add_process(process))
    }

    fn stacks(
        &mut self,
        own: &Tables<'_>,
        shared: &Tables<'_>,
        kinds: &[Kind],
    ) -> Result<Stacks, LimitExceeded> {
        let none = Table::default();
        let pick = |of: for<'t, 'a> fn(&'t Tables<'a>) -> &'t Option<Table<'a>>| {
            of(own).as_ref().or(of(shared).as_ref()).unwrap_or(&none)
        };
        let stack_table = pick(|tables| &tables.stack_table);
        let frame_table = pick(|tables| &tables.frame_table);
        let func_table = pick(|tables| &tables.func_table);
        let sources = pick(|tables| &tables.sources);
        let strings = own.string_array.as_ref().or(shared.string_array.as_ref());
        let string = |index: &Loose<'_>| match index.index() {
            Some(index) => strings.and_then(|strings| strings.get(index)).map_or("".into(), Loose::text),
            None => Cow::Borrowed(""),
        };
        let number = |value: &Loose<'_>| value.index().map_or(0, |number| number as i64);
        // The frames of a table are at the end of the locations.
        let base = self.tables.locations();
        let is_gecko = frame_table.has("location");
        let mut kind_of_frame = Vec::new();
        for frame in 0..frame_table.len(if is_gecko { "location" } else { "func" }) {
            let category = frame_table.get("category", frame).index();
            kind_of_frame.push(category.and_then(|index| kinds.get(index)).copied().unwrap_or_default());
            if is_gecko {
                let location = string(frame_table.get("location", frame));
                let function = function_of(&location);
                self.tables.push_location(std::iter::once(function))?;
                continue;
            }
            let func = frame_table.get("func", frame).index().unwrap_or(usize::MAX);
            let name = string(func_table.get("name", func));
            let source = func_table.get("source", func).index();
            let file = match source {
                Some(source) => string(sources.get("filename", source)),
                None => string(func_table.get("fileName", func)),
            };
            let function = Function {
                name: if name == functions::ANONYMOUS { "" } else { &name },
                file: &file,
                line: number(func_table.get("lineNumber", func)),
                column: number(func_table.get("columnNumber", func)),
            };
            self.tables.push_location(std::iter::once(function))?;
        }
        let mut stacks: Stacks = Vec::new();
        for row in 0..stack_table.len("frame") {
            let prefix = stack_table.get("prefix", row).index();
            let caller = prefix.and_then(|prefix| stacks.get(prefix));
            let frame = stack_table.get("frame", row).index().filter(|&frame| frame < kind_of_frame.len());
            if frame.is_none() || prefix.is_some() && caller.is_none() {
                self.tables.report("stackTable", row, if frame.is_none() { "frame" } else { "prefix" });
            }
            let caller = caller.and_then(|(stack, _)| *stack);
            let stack = match frame {
                Some(frame) => self.tables.callee(caller, base + frame)?,
                None => caller,
            };
            let kind = frame.map_or(Kind::Function, |frame| kind_of_frame[frame]);
            stacks.push((stack, kind));
        }
        Ok(stacks)
    }

    fn placed(
        &mut self,
        samples: &Table<'_>,
        stacks: &Stacks,
        meta: &Meta<'_>,
    ) -> Result<Vec<PlacedSample>, LimitExceeded> {
        let count = samples.len("stack");
        let limit = self.tables.limits().samples;
        self.samples = self.samples.checked_sub(count).ok_or_else(|| LimitExceeded::new("samples", limit))?;
        let micros =
            |value: &Loose<'_>| value.number().filter(|time| time.is_finite()).map(|time| time * 1_000.0);
        let mut time = 0.0;
        let mut starts = Vec::with_capacity(count);
        for row in 0..count {
            time = match micros(samples.get("timeDeltas", row)) {
                Some(delta) => time + delta,
                None => micros(samples.get("time", row)).unwrap_or(time),
            };
            starts.push(time);
        }
        let interval = micros(&meta.interval).unwrap_or(0.0).max(0.0);
        let weight = |row| micros(samples.get("weight", row)).unwrap_or(0.0).max(0.0);
        let is_stated = samples.states_times();
        let mut placed = Vec::with_capacity(count);
        for (row, &start) in starts.iter().enumerate() {
            let length = match starts.get(row + 1) {
                _ if is_stated => weight(row),
                Some(next) => (next - start).max(0.0),
                None => interval,
            };
            let id = samples.get("stack", row).index();
            let found = id.and_then(|id| stacks.get(id)).copied();
            if id.is_some() && found.is_none() {
                self.tables.report("samples", row, "stack");
            }
            let (stack, kind) = found.unwrap_or_default();
            let mut sample = PlacedSample::of(&self.tables.trace, start, length, stack);
            match kind {
                Kind::Function => {}
                Kind::Idle => (sample.stack, sample.marker) = (None, None),
                Kind::Work(marker) => sample.marker = Some(marker),
            }
            placed.push(sample);
        }
        Ok(placed)
    }

    fn finish(self) -> Vec<(Thread, Problems)> {
        let Self { tables, mut threads, .. } = self;
        let has_processes = threads.iter().any(|thread| thread.pid != threads[0].pid);
        let mut problems = Some(tables.into_parts().1);
        let mut named: Vec<(Thread, Problems)> = threads
            .drain(..)
            .map(|thread| {
                let ReadThread { name, pid, command, time_origin, trace } = thread;
                let process = pid.parse().ok().filter(|_| has_processes);
                let process = process.map(|pid| Process::named(pid, &command));
                let thread = Thread { process, time_origin, ..Thread::named(name, trace) };
                (thread, problems.take().unwrap_or_default())
            })
            .collect();
        if named.is_empty() {
            named.push((Thread::main(Trace::new()), problems.take().unwrap_or_default()));
        }
        named
    }
}

/// A function as the browser writes it: `name (file:line:column)`.
fn function_of(location: &str) -> Function<'_> {
    let whole = Function { name: location, file: "", line: 0, column: 0 };
    let parts = || {
        let (name, rest) = location.strip_suffix(')')?.rsplit_once(" (")?;
        let (rest, last) = rest.rsplit_once(':')?;
        let last = last.parse().ok()?;
        let function = match rest.rsplit_once(':').map(|(file, line)| (file, line.parse())) {
            Some((file, Ok(line))) => Function { name, file, line, column: last },
            _ => Function { name, file: rest, line: last, column: 0 },
        };
        Some(function)
    };
    parts().unwrap_or(whole)
}

#[cfg(test)]
mod tests;
