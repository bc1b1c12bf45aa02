//! OpenTelemetry profiles, as of OTLP 1.10: the message [`ProfilesData`] of
//! `opentelemetry.proto.profiles.v1development` in its binary encoding.
//!
//! The signal is in development, so consumers must use the same version; the crate `opentelemetry-proto` pins it.
//!
//! Each thread is one profile. One OTLP sample holds all samples with the same stack, marker and labels, with their
//! timestamps and weights in nanoseconds. The marker is the attribute `selfprof.marker`, the thread's name
//! `thread.name`; labels are attributes with their own names, but `trace_id` and `span_id` are a link. The format
//! requires Unix times; a trace has only times since its time origin, so the origin is written as the Unix epoch. The
//! format cannot hold marks and measures.
//!
//! [`ProfilesData`]: https://github.com/open-telemetry/opentelemetry-proto/blob/v1.10.0/opentelemetry/proto/profiles/v1development/profiles.proto

mod attributes;
mod links;
mod read;
mod thread_samples;

use std::collections::HashMap;
use std::io::Write;

use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value};
use opentelemetry_proto::tonic::profiles::v1development::{
    Function, KeyValueAndUnit, Line, Link, Location, Mapping, Profile, ProfilesData, ProfilesDictionary,
    ResourceProfiles, Sample, ScopeProfiles, Stack, ValueType,
};
use opentelemetry_proto::tonic::resource::v1::Resource as OtlpResource;
use prost::Message;
use selfprof_trace::{Frame, LabelSet, Micros, StackId};

use crate::error::WriteError;
use crate::options::WriteOptions;
use crate::samples::spans::Spans;
use crate::samples::totals::{Total, check_depth, labelled_totals_with};
use crate::streams::output;
use crate::thread::Thread;

pub(crate) use read::read_text;
pub use read::{Export, ExportedThread, read, read_export};

/// The version of OTLP whose messages are written and read.
pub const OTLP_VERSION: &str = "1.10.0";

/// What the profiles of an export are of: attributes such as `service.name`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resource {
    /// Attributes that are texts.
    pub texts: Vec<(String, String)>,
    /// Attributes that are numbers, such as `process.pid`.
    pub numbers: Vec<(String, i64)>,
}

/// Writes the message `ExportProfilesServiceRequest`, which exporters send. Its times are those of the clock if the
/// time origin of the thread is known. Each profile has an id, which is the same for the same `seed`.
pub fn write_export(
    threads: &[Thread],
    resource: &Resource,
    seed: &str,
    out: impl Write,
    options: WriteOptions,
) -> Result<(), WriteError> {
    let mut data = data(threads)?;
    let attribute = |(key, value): (&String, any_value::Value)| KeyValue {
        key: key.clone(),
        value: Some(AnyValue { value: Some(value) }),
        ..KeyValue::default()
    };
    let texts = resource.texts.iter().map(|(key, text)| (key, any_value::Value::StringValue(text.clone())));
    let numbers = resource.numbers.iter().map(|(key, number)| (key, any_value::Value::IntValue(*number)));
    let attributes = texts.chain(numbers).map(attribute).collect();
    for profiles in &mut data.resource_profiles {
        profiles.resource =
            Some(OtlpResource { attributes: Clone::clone(&attributes), ..OtlpResource::default() });
        let profiles = profiles.scope_profiles.iter_mut().flat_map(|scope| &mut scope.profiles);
        for (index, (profile, thread)) in profiles.zip(threads).enumerate() {
            profile.profile_id = profile_id(&format!("{seed} {index}"));
            let origin = (thread.time_origin.unwrap_or_default() * 1e6) as u64;
            profile.time_unix_nano = profile.time_unix_nano.saturating_add(origin);
            let times = profile.samples.iter_mut().flat_map(|sample| &mut sample.timestamps_unix_nano);
            times.for_each(|time| *time = time.saturating_add(origin));
        }
    }
    let bytes = data.encode_to_vec();
    output::write(out, options, |out| Ok(out.write_all(&bytes)?))
}

/// 16 bytes that are the same for the same text: its hash by FNV-1a, <https://datatracker.ietf.org/doc/rfc9923/>.
fn profile_id(text: &str) -> Vec<u8> {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let hash = text.bytes().fold(OFFSET, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME));
    hash.to_be_bytes().to_vec()
}

/// Writes the profiles of all threads.
pub fn write(threads: &[Thread], out: impl Write, options: WriteOptions) -> Result<(), WriteError> {
    let bytes = data(threads)?.encode_to_vec();
    output::write(out, options, |out| Ok(out.write_all(&bytes)?))
}

fn data(threads: &[Thread]) -> Result<ProfilesData, WriteError> {
    let mut builder = Builder::new();
    let profiles = threads.iter().map(|thread| builder.profile(thread)).collect::<Result<_, _>>()?;
    let scope = InstrumentationScope { name: "selfprof".to_owned(), ..InstrumentationScope::default() };
    let scope_profiles = ScopeProfiles { scope: Some(scope), profiles, ..ScopeProfiles::default() };
    let resource_profiles =
        ResourceProfiles { scope_profiles: vec![scope_profiles], ..ResourceProfiles::default() };
    Ok(ProfilesData { resource_profiles: vec![resource_profiles], dictionary: Some(builder.dictionary) })
}

/// The tables shared by all profiles. Index 0 of each is an empty entry that means "none".
struct Builder {
    dictionary: ProfilesDictionary,
    strings: HashMap<String, i32>,
    attributes: HashMap<(i32, String), i32>,
    /// By the bytes of their ids.
    links: HashMap<(Vec<u8>, Vec<u8>), i32>,
}

impl Builder {
    fn new() -> Self {
        let dictionary = ProfilesDictionary {
            mapping_table: vec![Mapping::default()],
            location_table: vec![Location::default()],
            function_table: vec![Function::default()],
            link_table: vec![Link::default()],
            string_table: vec![String::new()],
            attribute_table: vec![KeyValueAndUnit::default()],
            stack_table: vec![Stack::default()],
        };
        let strings = HashMap::from([(String::new(), 0)]);
        Self { dictionary, strings, attributes: HashMap::new(), links: HashMap::new() }
    }

    fn string(&mut self, text: &str) -> i32 {
        if let Some(&index) = self.strings.get(text) {
            return index;
        }
        let index = push(&mut self.dictionary.string_table, text.to_owned());
        self.strings.insert(text.to_owned(), index);
        index
    }

    /// The thread and its process, by the names of OpenTelemetry's semantic conventions.
    fn thread_attributes(&mut self, thread: &Thread) -> Vec<i32> {
        let mut attributes = vec![self.attribute("thread.name", &thread.name)];
        if let Some(process) = &thread.process {
            attributes.push(self.attribute("process.command_line", &process.command));
            let pid = any_value::Value::IntValue(process.pid.into());
            attributes.push(self.attribute_of("process.pid", &process.pid.to_string(), pid));
        }
        attributes
    }

    /// The index of an attribute with a string value.
    fn attribute(&mut self, key: &str, value: &str) -> i32 {
        self.attribute_of(key, value, any_value::Value::StringValue(value.to_owned()))
    }

    /// The index of an attribute whose value has this text.
    fn attribute_of(&mut self, key: &str, text: &str, value: any_value::Value) -> i32 {
        let key_strindex = self.string(key);
        let table = &mut self.dictionary.attribute_table;
        *self.attributes.entry((key_strindex, text.to_owned())).or_insert_with(|| {
            let value = Some(AnyValue { value: Some(value) });
            push(table, KeyValueAndUnit { key_strindex, value, unit_strindex: 0 })
        })
    }

    /// The index of a link.
    fn link(&mut self, link: Link) -> i32 {
        let table = &mut self.dictionary.link_table;
        let key = (link.trace_id.clone(), link.span_id.clone());
        *self.links.entry(key).or_insert_with(|| push(table, link))
    }

    /// Adds a function and its only known location; returns the index of the location.
    fn location(&mut self, name: &str, filename: &str, [line, column]: [i64; 2]) -> i32 {
        let (name_strindex, filename_strindex) = (self.string(name), self.string(filename));
        let function =
            Function { name_strindex, system_name_strindex: 0, filename_strindex, start_line: line };
        let function_index = push(&mut self.dictionary.function_table, function);
        let lines = vec![Line { function_index, line, column }];
        push(&mut self.dictionary.location_table, Location { lines, ..Location::default() })
    }

    fn profile(&mut self, thread: &Thread) -> Result<Profile, WriteError> {
        let trace = &thread.trace;
        // The timestamps and weights of the samples of each total.
        let mut members: Vec<(Vec<u64>, Vec<i64>)> = Vec::new();
        let totals = labelled_totals_with(trace, |total, sample, weight| {
            if total == members.len() {
                members.push(Default::default());
            }
            members[total].0.push(nanos(sample.timestamp) as u64);
            members[total].1.push(nanos(weight));
        });
        check_depth(trace, totals.iter().map(|total| total.stack))?;
        let locations: Vec<i32> = trace
            .frames()
            .iter()
            .map(|(_, frame)| {
                let Frame { name, resource, line, column } = frame;
                let numbers = [line, column].map(|number| number.map_or(0, |number| number.get().into()));
                self.location(&trace.names()[name], resource.map_or("", |id| &trace.resources()[id]), numbers)
            })
            .collect();
        let mut stacks: HashMap<StackId, i32> = HashMap::new();
        let mut samples = Vec::with_capacity(totals.len());
        for (Total { stack, marker, labels, .. }, (times, weights)) in totals.into_iter().zip(members) {
            let stack_index = stack.map_or(0, |stack| {
                *stacks.entry(stack).or_insert_with(|| {
                    let location_indices = trace.path(stack).map(|frame| locations[frame.index()]).collect();
                    push(&mut self.dictionary.stack_table, Stack { location_indices })
                })
            });
            let marker = marker.map(|marker| self.attribute("selfprof.marker", marker.as_str()));
            let labels = labels.and_then(|id| trace.labels()?.get(id));
            let link = labels.and_then(links::link_of);
            let labels = labels.into_iter().flat_map(LabelSet::iter);
            let labels = labels.filter(|(name, _)| link.is_none() || !links::NAMES.contains(name));
            let labels: Vec<i32> = labels.map(|(name, value)| self.attribute(name, value)).collect();
            samples.push(Sample {
                stack_index,
                attribute_indices: marker.into_iter().chain(labels).collect(),
                link_index: link.map_or(0, |link| self.link(link)),
                values: weights,
                timestamps_unix_nano: times,
            });
        }
        let sample_type =
            Some(ValueType { type_strindex: self.string("wall"), unit_strindex: self.string("nanoseconds") });
        let start = Spans::of(trace).start().map_or(0, |start| nanos(Micros(start.try_into().unwrap_or(0))));
        // The end is exclusive, and the last sample must lie within the profile.
        let end = trace.samples().last().map_or(0, |last| nanos(last.timestamp).saturating_add(1));
        Ok(Profile {
            sample_type,
            samples,
            time_unix_nano: start as u64,
            duration_nano: end.saturating_sub(start) as u64,
            period_type: sample_type,
            period: nanos(trace.interval().unwrap_or_default()),
            attribute_indices: self.thread_attributes(thread),
            ..Profile::default()
        })
    }
}

/// Appends to a table and returns the entry's index. The limits of a trace keep indexes in range.
fn push<T>(table: &mut Vec<T>, entry: T) -> i32 {
    table.push(entry);
    i32::try_from(table.len() - 1).unwrap_or(0)
}

fn nanos(time: Micros) -> i64 {
    time.saturating_mul(1000).0.try_into().unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
