//! pprof's [profile.proto], compressed with gzip as its files are.
//!
//! A sample there is all samples of one stack and marker: how many they are, and the nanoseconds that they stand for. The
//! marker is a label, `marker`, and so is the thread where there are several. Work without a function is one of its own, e.g.
//! `(layout)`. The format has no time of each sample, so idle samples, marks and measures are left out.
//!
//! [profile.proto]: https://github.com/google/pprof/blob/main/proto/profile.proto

mod proto;

use std::collections::HashMap;
use std::io::Write;

use prost::Message;
use selfprof_trace::summary::Summary;
use selfprof_trace::weigh::median_interval;
use selfprof_trace::{Frame, FrameId, Marker, Micros};

use crate::output;
use crate::spans::state;
use crate::totals::{Total, check_depth, totals};
use crate::{Thread, WriteError, WriteOptions};
use proto::{Function, Label, Line, Location, Profile, Sample, ValueType};

/// Writes the profiles of some threads as one.
pub fn write(threads: &[Thread], out: impl Write, options: WriteOptions) -> Result<(), WriteError> {
    let bytes = profile(threads)?.encode_to_vec();
    output::write(out, options, |out| Ok(out.write_all(&bytes)?))
}

fn profile(threads: &[Thread]) -> Result<Profile, WriteError> {
    let mut building = Building::default();
    // Number 0 is the empty string.
    building.string("");
    let [samples, count] = [("samples", "count"), ("wall", "nanoseconds")]
        .map(|(kind, unit)| ValueType { r#type: building.string(kind), unit: building.string(unit) });
    building.profile.sample_type = vec![samples, count];
    building.profile.period_type = Some(count);
    building.profile.default_sample_type = count.r#type;
    let interval = threads.first().and_then(|thread| median_interval(thread.trace.samples()));
    building.profile.period = nanos(interval.unwrap_or_default());
    for thread in threads {
        building.add(thread, threads.len() > 1)?;
    }
    let Building { mut profile, mut strings, .. } = building;
    let mut table: Vec<(i64, String)> = strings.drain().map(|(text, index)| (index, text)).collect();
    table.sort_unstable();
    profile.string_table = table.into_iter().map(|(_, text)| text).collect();
    Ok(profile)
}

/// A profile while its tables grow.
#[derive(Default)]
struct Building {
    profile: Profile,
    strings: HashMap<String, i64>,
}

impl Building {
    /// The number of a string.
    fn string(&mut self, text: &str) -> i64 {
        if let Some(&index) = self.strings.get(text) {
            return index;
        }
        let index = self.strings.len() as i64;
        self.strings.insert(text.to_owned(), index);
        index
    }

    fn add(&mut self, Thread { name, trace }: &Thread, is_one_of_many: bool) -> Result<(), WriteError> {
        let totals: Vec<Total> = totals(trace).into_iter().filter(|total| !total.is_idle()).collect();
        check_depth(trace, totals.iter().map(|total| total.stack))?;
        let functions: Vec<u64> = trace
            .frames()
            .iter()
            .map(|(_, frame)| {
                let Frame { name, resource, line, column } = frame;
                let name = match &trace.names()[name] {
                    "" => "(anonymous)",
                    name => name,
                };
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
                    vec![*states.entry(marker).or_insert_with(|| self.function(state(marker), "", [0, 0]))]
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

    /// Adds a function, and the one place in it that is known. Both have the same number.
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
