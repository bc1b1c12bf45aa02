//! Reading a file from an untrusted source.

use std::io::Read;

use selfprof_trace::foreign::{LimitExceeded, Problems};
use selfprof_trace::{CallEvent, CallEventType, Calls, Micros, Trace};
use serde_json::value::RawValue;

use crate::bounded_text::{MAX_NAME, cut};
use crate::error::ReadError;
use crate::format::Format;
use crate::json::{Loose, index};
use crate::options::ReadOptions;
use crate::samples::placed::{PlacedSample, push_placed};
use crate::samples::value_types::nanos_of;
use crate::streams::input;
use crate::symbol_tables::{Function, SymbolTables};
use crate::thread::Thread;

/// Profiles of one file.
const MAX_THREADS: usize = 1_024;

#[derive(serde::Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    shared: Shared<'a>,
    #[serde(borrow)]
    profiles: Vec<&'a RawValue>,
}

#[derive(serde::Deserialize)]
struct Shared<'a> {
    #[serde(borrow)]
    frames: Vec<Frame<'a>>,
}

#[derive(serde::Deserialize)]
struct Frame<'a> {
    #[serde(borrow, default)]
    name: Loose<'a>,
    #[serde(borrow, default)]
    file: Loose<'a>,
    #[serde(borrow, default)]
    line: Loose<'a>,
    #[serde(borrow, default)]
    col: Loose<'a>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Profile<'a> {
    #[serde(borrow, default)]
    name: Loose<'a>,
    #[serde(borrow, default)]
    unit: Loose<'a>,
    #[serde(borrow, default)]
    start_value: Loose<'a>,
    #[serde(borrow, default)]
    end_value: Loose<'a>,
    /// Of a sampled profile: the functions of each sample, the outermost first.
    samples: Option<Vec<Vec<f64>>>,
    #[serde(default)]
    weights: Vec<f64>,
    /// Of an evented profile.
    #[serde(borrow)]
    events: Option<Vec<Event<'a>>>,
}

#[derive(serde::Deserialize)]
struct Event<'a> {
    #[serde(borrow, default)]
    r#type: Loose<'a>,
    #[serde(borrow, default)]
    at: Loose<'a>,
    #[serde(borrow, default)]
    frame: Loose<'a>,
}

/// Reads a file, plain or gzipped: a thread for each profile in it.
///
/// A sample lasts as long as its weight says. Between two events of an evented profile, there is a sample of what ran
/// then. Profiles without times, such as those of memory, are left out; a file with no others is an error.
pub fn read(input: impl Read, options: &ReadOptions) -> Result<Vec<(Thread, Problems)>, ReadError> {
    read_text(&input::text(input, options.max_bytes)?, options)
}

pub(crate) fn read_text(text: &[u8], options: &ReadOptions) -> Result<Vec<(Thread, Problems)>, ReadError> {
    let json = |error| ReadError::Json(Format::Speedscope, error);
    let text = String::from_utf8_lossy(text);
    let file: File<'_> = serde_json::from_str(&text).map_err(json)?;
    let mut tables = SymbolTables::new(options.limits);
    for frame in &file.shared.frames {
        push_frame(frame, &mut tables).map_err(ReadError::Limit)?;
    }
    LimitExceeded::check("profiles", file.profiles.len(), MAX_THREADS).map_err(ReadError::Limit)?;
    let mut threads = Vec::with_capacity(file.profiles.len());
    let mut without_times: Vec<String> = Vec::new();
    let mut samples = options.limits.samples;
    for raw in &file.profiles {
        let profile: Profile<'_> = serde_json::from_str(raw.get()).map_err(json)?;
        let unit = profile.unit.text();
        let Some(nanos) = nanos_of(&unit) else {
            without_times.push(cut(&unit, MAX_NAME).to_owned());
            continue;
        };
        let micros = nanos as f64 / 1_000.0;
        let trace = thread(&profile, micros, &mut tables, &mut samples).map_err(ReadError::Limit)?;
        let name = profile.name.text();
        let name = if name.is_empty() { Thread::MAIN } else { cut(&name, MAX_NAME) };
        threads.push(Thread::named(name, trace));
    }
    if threads.is_empty() && !without_times.is_empty() {
        without_times.truncate(8);
        return Err(ReadError::NoTimes(Format::Speedscope, without_times.join(", ")));
    }
    if threads.is_empty() {
        threads.push(Thread::main(Trace::new()));
    }
    let mut problems = Some(tables.into_parts().1);
    Ok(threads.into_iter().map(|thread| (thread, problems.take().unwrap_or_default())).collect())
}

fn push_frame(frame: &Frame<'_>, tables: &mut SymbolTables) -> Result<(), LimitExceeded> {
    let number = |value: &Loose<'_>| value.index().map_or(0, |number| number as i64);
    let (name, file) = (frame.name.text(), frame.file.text());
    let name = if name == crate::functions::ANONYMOUS { "" } else { &*name };
    let function = Function { name, file: &file, line: number(&frame.line), column: number(&frame.col) };
    tables.push_location(std::iter::once(function))
}

/// The trace of a profile. `left` is how many samples may be read.
fn thread(
    profile: &Profile<'_>,
    micros: f64,
    tables: &mut SymbolTables,
    left: &mut usize,
) -> Result<Trace, LimitExceeded> {
    let count = profile.samples.as_ref().map_or(0, Vec::len)
        + profile.events.as_ref().map_or(0, |events| events.len() + 2);
    *left = left.checked_sub(count).ok_or_else(|| LimitExceeded::new("samples", tables.limits().samples))?;
    let start = profile.start_value.number().unwrap_or(0.0);
    match (&profile.events, &profile.samples) {
        (Some(events), _) => {
            let calls = calls(events, profile, micros, tables);
            tables.push_calls(calls)?;
        }
        (None, None) => {}
        (None, Some(samples)) => {
            let mut time = start;
            let mut placed = Vec::with_capacity(samples.len());
            let mut path = Vec::new();
            for (number, (sample, &weight)) in samples.iter().zip(&profile.weights).enumerate() {
                path.clear();
                path.extend(sample.iter().rev().map(|&id| index(id)));
                let stack = tables.stack(&path, ("samples", number, ""))?;
                let weight = if weight > 0.0 { weight } else { 0.0 };
                placed.push(PlacedSample::of(&tables.trace, time * micros, weight * micros, stack));
                time += weight;
            }
            push_placed(&mut tables.trace, placed, true);
        }
    }
    Ok(tables.trace.take_narrowed())
}

fn calls(events: &[Event<'_>], profile: &Profile<'_>, micros: f64, tables: &mut SymbolTables) -> Calls {
    let start = profile.start_value.number().unwrap_or(0.0);
    let first = events.iter().filter_map(|event| event.at.number()).fold(start, f64::min).min(0.0);
    let time = |at: f64| Micros::from_millis_f64((at - first) * micros / 1_000.0);
    let mut calls = Calls::new(time(start).unwrap_or_default());
    for (number, event) in events.iter().enumerate() {
        let event_type = match &*event.r#type.text() {
            "O" => CallEventType::Enter,
            "C" => CallEventType::Exit,
            _ => continue,
        };
        let frame = event.frame.index().and_then(|index| tables.function(index));
        let (Some(frame), Some(timestamp)) = (frame, event.at.number().and_then(time)) else {
            tables.report("events", number, "frame");
            continue;
        };
        // What does not fit is fixed or left out.
        let _ = calls.push(CallEvent { event_type, frame, timestamp });
    }
    let end = profile.end_value.number().and_then(time).unwrap_or_default();
    calls.finish(end, false);
    calls
}

#[cfg(test)]
mod tests;
