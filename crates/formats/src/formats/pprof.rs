//! pprof's [profile.proto]. Its files are gzipped.
//!
//! One pprof sample holds all samples with the same stack, marker and labels: their number, their time in nanoseconds,
//! and how much of it the thread ran, if its waiting times are known. The marker is the label `marker`; the thread is
//! the label `thread` if there are several; the labels of samples keep their names. Work without a function is shown as
//! one, e.g. `(layout)`. The format cannot hold times of single samples, idle samples, marks or measures. On reading,
//! samples are placed one after the other, and labels that are numbers become text with their unit, such as
//! `512 bytes`.
//!
//! [profile.proto]: https://github.com/google/pprof/blob/main/proto/profile.proto

mod datadog;
mod proto;
mod read;

use std::collections::HashMap;
use std::io::Write;

use prost::Message;
use selfprof_trace::summary::Summary;
use selfprof_trace::{Frame, FrameId, LabelSet, Marker, Micros};

use crate::error::WriteError;
use crate::functions;
use crate::options::WriteOptions;
use crate::samples::spans::Spans;
use crate::samples::states;
use crate::samples::totals::{Total, check_depth, labelled_totals};
use crate::streams::output;
use crate::thread::Thread;
use proto::{Function, Label, Line, Location, Profile, Sample, ValueType};

pub use read::read;
pub(crate) use read::read_text;

/// Writes the samples of all threads as one profile.
pub fn write(threads: &[Thread], out: impl Write, options: WriteOptions) -> Result<(), WriteError> {
    let bytes = profile(threads)?.encode_to_vec();
    output::write(out, options, |out| Ok(out.write_all(&bytes)?))
}

fn profile(threads: &[Thread]) -> Result<Profile, WriteError> {
    let mut builder = Builder::default();
    // Index 0 must be the empty string.
    builder.string("");
    let [samples, wall, cpu] = [("samples", "count"), ("wall", "nanoseconds"), ("cpu", "nanoseconds")]
        .map(|(kind, unit)| ValueType { r#type: builder.string(kind), unit: builder.string(unit) });
    // Threads whose CPU times are not known count as running.
    let has_cpu_times = threads.iter().any(|thread| thread.trace.waiting().is_some());
    builder.profile.sample_type = if has_cpu_times { vec![samples, wall, cpu] } else { vec![samples, wall] };
    builder.profile.period_type = Some(wall);
    builder.profile.default_sample_type = wall.r#type;
    builder.profile.time_nanos = start_nanos(threads);
    let interval = threads.first().and_then(|thread| thread.trace.interval());
    builder.profile.period = nanos(interval.unwrap_or_default());
    for thread in threads {
        builder.add(thread, threads.len() > 1, has_cpu_times)?;
    }
    let Builder { mut profile, mut strings, .. } = builder;
    let mut table: Vec<(i64, String)> = strings.drain().map(|(text, index)| (index, text)).collect();
    table.sort_unstable();
    profile.string_table = table.into_iter().map(|(_, text)| text).collect();
    Ok(profile)
}

/// A profile and the index of its strings.
#[derive(Default)]
struct Builder {
    profile: Profile,
    strings: HashMap<String, i64>,
}

impl Builder {
    /// The index of a string.
    fn string(&mut self, text: &str) -> i64 {
        if let Some(&index) = self.strings.get(text) {
            return index;
        }
        let index = self.strings.len() as i64;
        self.strings.insert(text.to_owned(), index);
        index
    }

    fn add(&mut self, thread: &Thread, is_one_of_many: bool, has_cpu_times: bool) -> Result<(), WriteError> {
        let trace = &thread.trace;
        let totals: Vec<Total> =
            labelled_totals(trace).into_iter().filter(|total| !total.is_idle()).collect();
        check_depth(trace, totals.iter().map(|total| total.stack))?;
        let functions: Vec<u64> = trace
            .frames()
            .iter()
            .map(|(_, frame)| {
                let Frame { resource, line, column, .. } = frame;
                let name = functions::name(trace, &frame);
                let numbers = [line, column].map(|number| number.map_or(0, |number| number.get().into()));
                self.function(name, resource.map_or("", |id| &trace.resources()[id]), numbers)
            })
            .collect();
        let location = |frame: FrameId| functions[frame.index()];
        let mut states = HashMap::new();
        let marker_key = self.string("marker");
        let thread_labels = if is_one_of_many { self.thread_labels(thread) } else { Vec::new() };
        for Total { stack, marker, labels, time, waiting, samples } in totals {
            let location_id = match stack {
                Some(stack) => trace.path(stack).map(location).collect(),
                None => {
                    vec![
                        *states
                            .entry(marker)
                            .or_insert_with(|| self.function(states::name(marker), "", [0, 0])),
                    ]
                }
            };
            let mut label = thread_labels.clone();
            if let Some(marker) = marker {
                label.push(Label {
                    key: marker_key,
                    str: self.string(Marker::as_str(marker)),
                    num: 0,
                    num_unit: 0,
                });
            }
            let own = labels.and_then(|id| trace.labels()?.get(id));
            for (name, value) in own.into_iter().flat_map(LabelSet::iter) {
                label.push(Label { key: self.string(name), str: self.string(value), num: 0, num_unit: 0 });
            }
            let mut value = vec![samples as i64, nanos(time)];
            if has_cpu_times {
                value.push(nanos(time.saturating_sub(waiting)));
            }
            self.profile.sample.push(Sample { location_id, value, label });
        }
        let summary = Summary::of(trace);
        let time = summary.busy.time.saturating_add(summary.idle.time);
        self.profile.duration_nanos = self.profile.duration_nanos.max(nanos(time));
        Ok(())
    }

    /// The labels by which `pprof -tagfocus` and others tell threads and processes apart.
    fn thread_labels(&mut self, thread: &Thread) -> Vec<Label> {
        let mut labels =
            vec![Label { key: self.string("thread"), str: self.string(&thread.name), num: 0, num_unit: 0 }];
        if let Some(process) = &thread.process {
            labels.push(Label {
                key: self.string("process"),
                str: self.string(&process.label()),
                num: 0,
                num_unit: 0,
            });
            labels.push(Label { key: self.string("pid"), str: 0, num: process.pid.into(), num_unit: 0 });
        }
        labels
    }

    /// Adds a function and its only known location. Both have the same id.
    fn function(&mut self, name: &str, filename: &str, [line, column]: [i64; 2]) -> u64 {
        let id = self.profile.function.len() as u64 + 1;
        let (name, filename) = (self.string(name), self.string(filename));
        self.profile.function.push(Function { id, name, system_name: name, filename, start_line: line });
        let line = vec![Line { function_id: id, line, column }];
        self.profile.location.push(Location { id, line, address: 0 });
        id
    }
}

/// When the time of the first sample began, in nanoseconds since the Unix epoch; 0 if that is not known.
fn start_nanos(threads: &[Thread]) -> i64 {
    let starts = threads.iter().filter_map(|thread| {
        let start = Spans::of(&thread.trace).start()?;
        Some((thread.time_origin?, start))
    });
    let (Some(origin), start) =
        starts.fold((None, i64::MAX), |(_, first), (origin, start)| (Some(origin), first.min(start)))
    else {
        return 0;
    };
    // The fraction of a microsecond is noise.
    ((origin * 1000.0) as i64).saturating_add(start).saturating_mul(1000)
}

fn nanos(time: Micros) -> i64 {
    time.saturating_mul(1000).0.try_into().unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
