//! Reading profiles from an untrusted source: a file, or a request of an exporter.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::io::Read;

use foldhash::{HashMap, HashMapExt as _};
use opentelemetry_proto::tonic::common::v1::{AnyValue, any_value};
use opentelemetry_proto::tonic::profiles::v1development::{
    Profile, ProfilesData, ProfilesDictionary, ResourceProfiles, ValueType,
};
use prost::Message;
use selfprof_trace::foreign::{LimitExceeded, Problems};
use selfprof_trace::{LabelSetId, StackId};

use super::attributes::{Attributes, NAMES};
use super::links;
use super::thread_samples::Threads;
use crate::bounded_text::{MAX_COMMAND, MAX_NAME, cut};
use crate::error::ReadError;
use crate::format::Format;
use crate::options::ReadOptions;
use crate::protobuf::{self, LEAF, Messages};
use crate::samples::value_types::{TimeType, nanos_of};
use crate::streams::input;
use crate::symbol_tables::{Function, SymbolTables};
use crate::thread::Thread;

const PROFILE: Messages = Messages(&[(2, &LEAF)]);
const SCOPE_PROFILES: Messages = Messages(&[(2, &PROFILE)]);
const RESOURCE: Messages = Messages(&[(1, &LEAF)]);
const RESOURCE_PROFILES: Messages = Messages(&[(1, &RESOURCE), (2, &SCOPE_PROFILES)]);
const LOCATION: Messages = Messages(&[(3, &LEAF)]);
/// Values can be nested.
const ATTRIBUTE: Messages = Messages(&[(2, &VALUE)]);
const VALUE: Messages = Messages(&[(5, &LIST), (6, &LIST)]);
const LIST: Messages = Messages(&[(1, &LEAF)]);
const DICTIONARY: Messages =
    Messages(&[(1, &LEAF), (2, &LOCATION), (3, &LEAF), (4, &LEAF), (5, &LEAF), (6, &ATTRIBUTE), (7, &LEAF)]);
const DATA: Messages = Messages(&[(1, &RESOURCE_PROFILES), (2, &DICTIONARY)]);

/// The profiles of a request, or of a file.
#[derive(Clone, Debug, Default)]
pub struct Export {
    /// Each thread of each profile.
    pub threads: Vec<ExportedThread>,
    /// The types of the profiles that have no times, which are left out.
    pub without_times: Vec<String>,
}

/// A thread of a profile.
#[derive(Clone, Debug)]
pub struct ExportedThread {
    /// The attributes of the resource, such as `service.name`, which have texts or numbers.
    pub resource: Vec<(String, String)>,
    /// The id of the profile in hexadecimal digits; of its further threads, with their numbers.
    pub id: Option<String>,
    /// The thread.
    pub thread: Thread,
    /// What was repaired.
    pub problems: Problems,
}

/// Reads a file of profiles, plain or gzipped. See [`read_export`].
pub fn read(input: impl Read, options: &ReadOptions) -> Result<Vec<(Thread, Problems)>, ReadError> {
    read_text(&input::text(input, options.max_bytes)?, options)
}

pub(crate) fn read_text(bytes: &[u8], options: &ReadOptions) -> Result<Vec<(Thread, Problems)>, ReadError> {
    let Export { threads, without_times } = read_export(bytes, options)?;
    match without_times.is_empty() {
        _ if !threads.is_empty() => {
            Ok(threads.into_iter().map(|thread| (thread.thread, thread.problems)).collect())
        }
        true => Ok(vec![(Thread::main(Default::default()), Problems::default())]),
        false => Err(ReadError::NoTimes(Format::Otlp, without_times.join(", "))),
    }
}

/// Reads the messages `ProfilesData` and `ExportProfilesServiceRequest`, which have the same fields.
///
/// If a resource has profiles of several types, those of time on the clock are read, or else of time on processors, or
/// else of samples, each of which stands for one period. Samples keep their timestamps if these explain their times;
/// else they are placed one after the other.
pub fn read_export(bytes: &[u8], options: &ReadOptions) -> Result<Export, ReadError> {
    let limits = options.limits;
    let entries = limits.samples.saturating_add(limits.stacks).saturating_add(limits.frames);
    protobuf::check_messages(bytes, &DATA, entries).map_err(ReadError::Limit)?;
    let data =
        ProfilesData::decode(bytes).map_err(|error| ReadError::Protobuf(Format::Otlp, error.into()))?;
    let dictionary = data.dictionary.unwrap_or_default();
    let mut reader = Reader::new(&dictionary, options).map_err(ReadError::Limit)?;
    let mut export = Export::default();
    for resource in &data.resource_profiles {
        reader.add(resource, &mut export).map_err(ReadError::Limit)?;
    }
    if let Some(first) = export.threads.first_mut() {
        first.problems = reader.tables.into_parts().1;
    }
    Ok(export)
}

struct Reader<'a> {
    dictionary: &'a ProfilesDictionary,
    tables: SymbolTables,
    /// By their indexes in the dictionary.
    stacks: Vec<Option<StackId>>,
    /// Samples that may still be read.
    samples: usize,
}

impl<'a> Reader<'a> {
    fn new(dictionary: &'a ProfilesDictionary, options: &ReadOptions) -> Result<Self, LimitExceeded> {
        let mut tables = SymbolTables::new(options.limits);
        for location in &dictionary.location_table {
            let address = format!("0x{:x}", location.address);
            let mapping = entry(&dictionary.mapping_table, location.mapping_index);
            let file = mapping.map_or("", |mapping| text(dictionary, mapping.filename_strindex));
            let unknown = Function { name: &address, file, line: 0, column: 0 };
            let lines = location.lines.iter().map(|line| {
                let Some(function) = entry(&dictionary.function_table, line.function_index) else {
                    return unknown;
                };
                Function {
                    name: text(dictionary, function.name_strindex),
                    file: text(dictionary, function.filename_strindex),
                    // Not all profilers say where a function begins.
                    line: if function.start_line > 0 { function.start_line } else { line.line },
                    column: line.column,
                }
            });
            match location.lines.is_empty() {
                true => tables.push_location(std::iter::once(unknown))?,
                false => tables.push_location(lines)?,
            }
        }
        let mut stacks = Vec::with_capacity(dictionary.stack_table.len());
        let mut path = Vec::new();
        for (index, stack) in dictionary.stack_table.iter().enumerate() {
            path.clear();
            path.extend(stack.location_indices.iter().map(|&index| usize::try_from(index).ok()));
            // The first entry of each table means that there is none.
            path.iter_mut().for_each(|location| *location = location.filter(|&location| location > 0));
            stacks.push(tables.stack(&path, ("stackTable", index, "locationIndices"))?);
        }
        Ok(Self { dictionary, tables, stacks, samples: options.limits.samples })
    }

    fn add(&mut self, resource: &ResourceProfiles, export: &mut Export) -> Result<(), LimitExceeded> {
        let profiles = || resource.scope_profiles.iter().flat_map(|scope| &scope.profiles);
        let best = profiles().filter_map(|profile| Some(self.time_type(profile)?.kind)).min();
        let attributes = resource.resource.iter().flat_map(|resource| &resource.attributes);
        let attributes: Vec<(String, String)> = attributes
            .filter_map(|attribute| {
                Some((attribute.key.clone(), shown(attribute.value.as_ref()?)?.into_owned()))
            })
            .collect();
        for profile in profiles() {
            match self.time_type(profile) {
                None => {
                    let name =
                        profile.sample_type.map_or("", |kind| text(self.dictionary, kind.type_strindex));
                    export.without_times.push(if name.is_empty() { "no type" } else { name }.to_owned());
                }
                Some(time) if Some(time.kind) == best => {
                    let id = id_of(profile);
                    for (number, thread) in self.threads(profile, time)?.into_iter().enumerate() {
                        let id = id.as_ref().map(|id| match number {
                            0 => id.clone(),
                            _ => format!("{id}/{number}"),
                        });
                        let (resource, problems) = (attributes.clone(), Problems::default());
                        export.threads.push(ExportedThread { resource, id, thread, problems });
                    }
                }
                // The same time in another way.
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn value_type(&self, kind: Option<ValueType>) -> (&'a str, &'a str) {
        let index = |index: fn(&ValueType) -> i32| kind.as_ref().map_or(0, index);
        (
            text(self.dictionary, index(|kind| kind.type_strindex)),
            text(self.dictionary, index(|kind| kind.unit_strindex)),
        )
    }

    fn period(&self, profile: &Profile) -> Option<u64> {
        let unit = nanos_of(self.value_type(profile.period_type).1)?;
        let period = u64::try_from(profile.period).ok().filter(|&period| period > 0)?;
        Some(period.saturating_mul(unit))
    }

    fn time_type(&self, profile: &Profile) -> Option<TimeType> {
        let (name, unit) = self.value_type(profile.sample_type);
        TimeType::of(name, unit, self.period(profile))
    }

    fn threads(&mut self, profile: &Profile, time: TimeType) -> Result<Vec<Thread>, LimitExceeded> {
        let of_profile = self.attributes(&profile.attribute_indices, &Attributes::default());
        let mut threads = Threads::new(profile.time_unix_nano, self.period(profile), time);
        // Most samples of a profile have the same attributes.
        let mut known: HashMap<(&[i32], i32), Attributes> = HashMap::new();
        for (index, sample) in profile.samples.iter().enumerate() {
            let stack =
                usize::try_from(sample.stack_index).ok().and_then(|index| self.stacks.get(index)).copied();
            if stack.is_none() {
                self.tables.report("samples", index, "stackIndex");
            }
            let count = sample.timestamps_unix_nano.len().max(1);
            self.samples = self
                .samples
                .checked_sub(count)
                .ok_or_else(|| LimitExceeded::new("samples", self.tables.limits().samples))?;
            let indices = sample.attribute_indices.as_slice();
            let key = (indices, sample.link_index);
            let attributes = match known.entry(key) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => {
                    let labels = self.labels(indices, sample.link_index)?;
                    entry.insert(Attributes { labels, ..self.attributes(indices, &of_profile) })
                }
            };
            threads.push(stack.flatten(), attributes, sample)?;
        }
        let most = self.tables.limits().samples;
        Ok(threads.finish(&mut self.tables.trace, most))
    }

    fn attributes(&self, indices: &[i32], default: &Attributes) -> Attributes {
        let mut attributes = default.clone();
        for &index in indices {
            let Some(attribute) = entry(&self.dictionary.attribute_table, index) else { continue };
            let Some(value) = attribute.value.as_ref().and_then(shown) else { continue };
            match text(self.dictionary, attribute.key_strindex) {
                "thread.name" => attributes.thread = Some(cut(&value, MAX_NAME).to_owned()),
                "thread.id" if attributes.thread.is_none() => {
                    attributes.thread = Some(format!("thread {}", cut(&value, MAX_NAME)));
                }
                "process.pid" => attributes.pid = value.parse().ok(),
                "process.command_line" => attributes.command = Some(cut(&value, MAX_COMMAND).to_owned()),
                "selfprof.marker" => attributes.marker = value.parse().ok(),
                _ => {}
            }
        }
        attributes
    }

    /// The labels of a sample: its attributes that say nothing else, and the ids of its link.
    fn labels(&mut self, indices: &[i32], link: i32) -> Result<Option<LabelSetId>, LimitExceeded> {
        let dictionary = self.dictionary;
        let ids = entry(&dictionary.link_table, link).and_then(links::labels_of);
        let ids = ids.into_iter().flatten().map(|(name, id)| (name, Cow::Owned(id), ""));
        self.tables.label_set(ids.chain(indices.iter().filter_map(|&index| {
            let attribute = entry(&dictionary.attribute_table, index)?;
            let name = text(dictionary, attribute.key_strindex);
            let value = shown(attribute.value.as_ref()?)?;
            (!NAMES.contains(&name)).then(|| (name, value, text(dictionary, attribute.unit_strindex)))
        })))
    }
}

fn entry<T>(table: &[T], index: i32) -> Option<&T> {
    table.get(usize::try_from(index).ok().filter(|&index| index > 0)?)
}

fn text(dictionary: &ProfilesDictionary, index: i32) -> &str {
    entry(&dictionary.string_table, index).map_or("", String::as_str)
}

/// A text or a number.
fn shown(value: &AnyValue) -> Option<Cow<'_, str>> {
    Some(match value.value.as_ref()? {
        any_value::Value::StringValue(text) => text.into(),
        any_value::Value::IntValue(number) => number.to_string().into(),
        any_value::Value::BoolValue(value) => value.to_string().into(),
        any_value::Value::DoubleValue(number) => number.to_string().into(),
        _ => return None,
    })
}

fn id_of(profile: &Profile) -> Option<String> {
    let id = &profile.profile_id;
    let is_id = id.len() == 16 && id.iter().any(|&byte| byte != 0);
    is_id.then(|| id.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests;
