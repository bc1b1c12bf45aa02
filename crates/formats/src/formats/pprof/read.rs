//! Reading a profile from an untrusted source.

use std::borrow::Cow;
use std::io::Read;

use foldhash::{HashMap, HashMapExt as _};
use prost::Message;
use selfprof_trace::foreign::{LimitExceeded, Problems};
use selfprof_trace::{GARBAGE_COLLECTOR, LabelSetId, Marker, Micros, StackTotal, Trace};

use super::datadog;
use super::proto::{self, Label, Profile, Sample};
use crate::bounded_text::{MAX_COMMAND, MAX_NAME, cut};
use crate::error::ReadError;
use crate::format::Format;
use crate::functions;
use crate::options::ReadOptions;
use crate::protobuf::{self, LEAF, Messages};
use crate::samples::states;
use crate::samples::value_types::{Kind, TimeType, nanos_of};
use crate::streams::input;
use crate::symbol_tables::{Function, SymbolTables};
use crate::thread::{Process, Thread};

const SAMPLE: Messages = Messages(&[(3, &LEAF)]);
const LOCATION: Messages = Messages(&[(4, &LEAF)]);
const PROFILE: Messages = Messages(&[(2, &SAMPLE), (4, &LOCATION), (5, &LEAF)]);

/// Threads of one profile.
const MAX_THREADS: usize = 1_024;

/// The names of labels that say the thread, from the best to the worst.
const OF_THREAD: [&str; 3] = ["thread", "thread name", "thread id"];

/// The names of other labels that are no labels of the program's work. The last one is a sample's time, so no two
/// samples share it.
const NOT_OF_WORK: [&str; 4] = ["marker", "pid", "process", "end_timestamp_ns"];

/// Reads a profile, plain or gzipped: its threads, which are told apart by the labels that selfprof and Datadog's
/// profilers write.
///
/// Of the types of values, time on the clock is read, or else time on processors, or else the number of samples times
/// the period. If there are both times, the thread waited for the rest of the time on the clock. A profile with
/// neither, such as one of memory, is an error. The format has no times of single samples, so samples are placed one
/// after the other.
pub fn read(input: impl Read, options: &ReadOptions) -> Result<Vec<(Thread, Problems)>, ReadError> {
    read_text(&input::text(input, options.max_bytes)?, options)
}

pub(crate) fn read_text(bytes: &[u8], options: &ReadOptions) -> Result<Vec<(Thread, Problems)>, ReadError> {
    let limits = options.limits;
    let entries = limits.samples.saturating_add(limits.stacks).saturating_add(limits.frames);
    protobuf::check_messages(bytes, &PROFILE, entries).map_err(ReadError::Limit)?;
    let profile = Profile::decode(bytes).map_err(|error| ReadError::Protobuf(Format::Pprof, error.into()))?;
    let times = Times::of(&profile)?;
    read_profile(&profile, times, options).map_err(ReadError::Limit)
}

fn text(profile: &Profile, index: i64) -> &str {
    usize::try_from(index).ok().and_then(|index| profile.string_table.get(index)).map_or("", String::as_str)
}

/// Which values of a sample are read.
#[derive(Clone, Copy)]
struct Times {
    /// The index of the value that is a time, and what it is.
    value: usize,
    time: TimeType,
    /// The index of the time on processors, and the nanoseconds of one, if the value is time on the clock.
    cpu: Option<(usize, u64)>,
    /// The index of the number of samples.
    samples: Option<usize>,
    period: Option<u64>,
}

impl Times {
    fn of(profile: &Profile) -> Result<Self, ReadError> {
        let unit = profile.period_type.and_then(|period| nanos_of(text(profile, period.unit)));
        let period = u64::try_from(profile.period).ok().filter(|&period| period > 0);
        let period = unit.zip(period).map(|(unit, period)| unit.saturating_mul(period));
        let types: Vec<(&str, &str)> = profile
            .sample_type
            .iter()
            .map(|value_type| (text(profile, value_type.r#type), text(profile, value_type.unit)))
            .collect();
        let times = || {
            let times = types.iter().enumerate();
            times.filter_map(|(index, (name, unit))| Some((TimeType::of(name, unit, period)?, index)))
        };
        let Some((time, value)) = times().min() else {
            let types: Vec<&str> = types.iter().map(|&(name, _)| name).take(8).collect();
            return Err(ReadError::NoTimes(Format::Pprof, types.join(", ")));
        };
        let samples =
            types.iter().position(|&(name, unit)| unit == "count" && matches!(name, "samples" | "sample"));
        let cpu = times().find(|(other, _)| time.kind == Kind::Wall && other.kind == Kind::Cpu);
        let cpu = cpu.map(|(time, index)| (index, time.nanos));
        Ok(Self { value, time, cpu, samples, period })
    }
}

/// What tells the threads of a profile apart: its name, and its process.
type ThreadKey<'a> = (Cow<'a, str>, i64, &'a str);

fn read_profile(
    profile: &Profile,
    times: Times,
    options: &ReadOptions,
) -> Result<Vec<(Thread, Problems)>, LimitExceeded> {
    let mut tables = SymbolTables::new(options.limits);
    let locations = push_locations(profile, &mut tables)?;
    let mut threads: Vec<(ThreadKey, Vec<StackTotal>)> = Vec::new();
    let mut indexes: HashMap<ThreadKey, usize> = HashMap::new();
    let mut label_sets: HashMap<&[Label], Option<LabelSetId>> = HashMap::new();
    let mut path = Vec::new();
    for (number, sample) in profile.sample.iter().enumerate() {
        path.clear();
        path.extend(sample.location_id.iter().map(|id| locations.get(id).copied()));
        let stack = tables.stack(&path, ("sample", number, "location_id"))?;
        let marker = label(profile, sample, "marker").and_then(|label| text(profile, label.str).parse().ok());
        let is_gc = stack.is_some_and(|stack| tables.trace.is_gc(tables.trace.stacks()[stack].frame));
        let marker = marker.or(is_gc.then_some(Marker::Gc));
        let stack = stack.filter(|&stack| !is_state(&tables.trace, stack, marker));
        let value =
            |index: usize| sample.value.get(index).map_or(0, |&value| u64::try_from(value).unwrap_or(0));
        let nanos = value(times.value).saturating_mul(times.time.nanos);
        let labels = match label_sets.get(&*sample.label) {
            Some(&labels) => labels,
            None => {
                let labels = tables.label_set(labels_of(profile, sample))?;
                label_sets.insert(&sample.label, labels);
                labels
            }
        };
        let waited = times.cpu.map(|(index, unit)| nanos.saturating_sub(value(index).saturating_mul(unit)));
        let samples = times.samples.map_or(0, value);
        let total = StackTotal { stack, marker, labels, nanos, waited, samples };
        let key = thread_of(profile, sample);
        let index = match indexes.get(&key) {
            Some(&index) => index,
            None => {
                LimitExceeded::check("threads", threads.len(), MAX_THREADS)?;
                indexes.insert(key.clone(), threads.len());
                threads.push((key, Vec::new()));
                threads.len() - 1
            }
        };
        threads[index].1.push(total);
    }
    let (mut trace, problems) = tables.into_parts();
    if threads.is_empty() {
        threads.push(((Thread::MAIN.into(), 0, ""), Vec::new()));
    }
    let time_origin = (profile.time_nanos > 0).then_some(profile.time_nanos as f64 / 1e6);
    let most = options.limits.samples / threads.len();
    let mut problems = Some(problems);
    let threads = threads.into_iter().map(|((name, pid, command), totals)| {
        trace.push_totals(&totals, times.period.map(|period| Micros(period / 1_000)), most);
        let narrow = trace.take_narrowed();
        let process = u32::try_from(pid).ok().filter(|&pid| pid > 0).map(|pid| Process {
            pid,
            tid: 0,
            // The label ends with the number.
            command: command.strip_suffix(&format!(" {pid}")).unwrap_or(command).to_owned(),
        });
        let thread = Thread { process, time_origin, ..Thread::named(name, narrow) };
        (thread, problems.take().unwrap_or_default())
    });
    Ok(threads.collect())
}

/// The indexes of the locations in the tables, by their ids.
fn push_locations(
    profile: &Profile,
    tables: &mut SymbolTables,
) -> Result<HashMap<u64, usize>, LimitExceeded> {
    let by_id: HashMap<u64, &proto::Function> =
        profile.function.iter().map(|function| (function.id, function)).collect();
    let mut indexes = HashMap::new();
    for (index, location) in profile.location.iter().enumerate() {
        indexes.insert(location.id, index);
        let address = format!("0x{:x}", location.address);
        let unknown = Function { name: &address, file: "", line: 0, column: 0 };
        let lines = location.line.iter().map(|line| {
            let Some(function) = by_id.get(&line.function_id) else { return unknown };
            let (name, file) = (text(profile, function.name), text(profile, function.filename));
            // Not all profilers say where a function begins.
            let start = if function.start_line > 0 { function.start_line } else { line.line };
            match (name, datadog::anonymous(name)) {
                (_, Some((line, column))) => Function { name: "", file, line, column },
                (functions::ANONYMOUS, _) => Function { name: "", file, line: start, column: line.column },
                _ if datadog::is_gc(name, file) => {
                    Function { name: GARBAGE_COLLECTOR, file, line: 0, column: 0 }
                }
                _ => Function { name, file, line: start, column: line.column },
            }
        });
        match location.line.is_empty() {
            true => tables.push_location(std::iter::once(unknown))?,
            false => tables.push_location(lines)?,
        }
    }
    Ok(indexes)
}

fn label<'a>(profile: &Profile, sample: &'a Sample, name: &str) -> Option<&'a Label> {
    sample.label.iter().find(|label| text(profile, label.key) == name)
}

/// The labels of the program's work.
fn labels_of<'a>(
    profile: &'a Profile,
    sample: &'a Sample,
) -> impl Iterator<Item = (&'a str, Cow<'a, str>, &'a str)> {
    sample.label.iter().filter_map(|label| {
        let name = text(profile, label.key);
        if OF_THREAD.contains(&name) || NOT_OF_WORK.contains(&name) {
            return None;
        }
        let is_number = label.str == 0 && (label.num != 0 || label.num_unit != 0);
        Some(match is_number {
            true => (name, label.num.to_string().into(), text(profile, label.num_unit)),
            false => (name, text(profile, label.str).into(), ""),
        })
    })
}

fn thread_of<'a>(profile: &'a Profile, sample: &Sample) -> ThreadKey<'a> {
    let named = OF_THREAD.iter().find_map(|name| label(profile, sample, name));
    let name = match named {
        Some(label) if !text(profile, label.str).is_empty() => cut(text(profile, label.str), MAX_NAME).into(),
        Some(label) if label.num != 0 => format!("thread {}", label.num).into(),
        _ => Thread::MAIN.into(),
    };
    let pid = label(profile, sample, "pid").map_or(0, |label| label.num);
    let process = label(profile, sample, "process").map_or("", |label| text(profile, label.str));
    (name, pid, cut(process, MAX_COMMAND))
}

/// Whether a stack is the one that stands for work without a function, such as `(layout)`.
fn is_state(trace: &Trace, stack: selfprof_trace::StackId, marker: Option<Marker>) -> bool {
    let mut path = trace.path(stack);
    let (Some(frame), None) = (path.next(), path.next()) else { return false };
    let frame = trace.frames()[frame];
    marker.is_some() && frame.resource.is_none() && &trace.names()[frame.name] == states::name(marker)
}

#[cfg(test)]
mod tests;
