//! pprof's [profile.proto]. Its files are gzipped.
//!
//! One pprof sample holds all samples with the same stack and marker: their number, and their time in nanoseconds. The marker is the
//! label `marker`; the thread is the label `thread` if there are several. Work without a function is shown as one, e.g. `(layout)`. The
//! format cannot hold times of single samples, idle samples, marks or measures.
//!
//! [profile.proto]: https://github.com/google/pprof/blob/main/proto/profile.proto

mod proto;

use std::collections::HashMap;
use std::io::Write;

use prost::Message;
use selfprof_trace::summary::Summary;
use selfprof_trace::weigh::median_interval;
use selfprof_trace::{Frame, FrameId, Marker, Micros};

use crate::error::WriteError;
use crate::functions;
use crate::options::WriteOptions;
use crate::samples::states;
use crate::samples::totals::{Total, check_depth, totals};
use crate::streams::output;
use crate::thread::Thread;
use proto::{Function, Label, Line, Location, Profile, Sample, ValueType};

/// Writes the samples of all threads as one profile.
pub fn write(threads: &[Thread], out: impl Write, options: WriteOptions) -> Result<(), WriteError> {
    let bytes = profile(threads)?.encode_to_vec();
    output::write(out, options, |out| Ok(out.write_all(&bytes)?))
}

fn profile(threads: &[Thread]) -> Result<Profile, WriteError> {
    let mut builder = Builder::default();
    // Index 0 must be the empty string.
    builder.string("");
    let [samples, count] = [("samples", "count"), ("wall", "nanoseconds")]
        .map(|(kind, unit)| ValueType { r#type: builder.string(kind), unit: builder.string(unit) });
    builder.profile.sample_type = vec![samples, count];
    builder.profile.period_type = Some(count);
    builder.profile.default_sample_type = count.r#type;
    let interval = threads.first().and_then(|thread| median_interval(thread.trace.samples()));
    builder.profile.period = nanos(interval.unwrap_or_default());
    for thread in threads {
        builder.add(thread, threads.len() > 1)?;
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

    fn add(&mut self, Thread { name, trace, .. }: &Thread, is_one_of_many: bool) -> Result<(), WriteError> {
        let totals: Vec<Total> = totals(trace).into_iter().filter(|total| !total.is_idle()).collect();
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
        let (marker_key, thread_key) = (self.string("marker"), self.string("thread"));
        let thread_name = if is_one_of_many { Some(self.string(name)) } else { None };
        for Total { stack, marker, time, samples } in totals {
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
            let mut label: Vec<Label> = Vec::new();
            if let Some(marker) = marker {
                label.push(Label { key: marker_key, str: self.string(Marker::as_str(marker)) });
            }
            label.extend(thread_name.map(|str| Label { key: thread_key, str }));
            let value = vec![samples as i64, nanos(time)];
            self.profile.sample.push(Sample { location_id, value, label });
        }
        let summary = Summary::of(trace);
        let time = summary.busy.time.saturating_add(summary.idle.time);
        self.profile.duration_nanos = self.profile.duration_nanos.max(nanos(time));
        Ok(())
    }

    /// Adds a function and its only known location. Both have the same id.
    fn function(&mut self, name: &str, filename: &str, [line, column]: [i64; 2]) -> u64 {
        let id = self.profile.function.len() as u64 + 1;
        let (name, filename) = (self.string(name), self.string(filename));
        self.profile.function.push(Function { id, name, system_name: name, filename, start_line: line });
        let line = vec![Line { function_id: id, line, column }];
        self.profile.location.push(Location { id, line });
        id
    }
}

fn nanos(time: Micros) -> i64 {
    time.saturating_mul(1000).0.try_into().unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
