//! Reading a trace from an untrusted source.

use std::fmt;
use std::io::Read;
use std::marker::PhantomData;

use selfprof_trace::Trace;
use selfprof_trace::foreign::{ForeignTrace, Problems};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::elements::{Element, Entry, Frame, Number, Sample, Stack};
use super::evaluated::ForeignEvaluated;
use super::lists::ListSeed;
use super::source_maps::ForeignMaps;
use crate::error::ReadError;
use crate::format::Format;
use crate::json::{self, Elements, Exceeded, Members, Text, list, object, stop};
use crate::options::ReadOptions;
use crate::streams::input;
use crate::thread::Thread;

/// Reads a trace with the default [`ReadOptions`]. See [`read_with`].
pub fn read(input: impl Read) -> Result<(Trace, Problems), ReadError> {
    read_with(input, &ReadOptions::default())
}

/// Reads a trace: a `ProfilerTrace`, or an object with one in its member `trace`, plain or gzipped. The trace may have
/// selfprof's extensions `entries`, `droppedEntriesCount`, `evaluated` and `sourceMaps`, the last of which is checked and left out. Other members
/// are ignored.
///
/// Invalid ids, numbers, markers and entries are repaired and listed in [`Problems`]. Text that is not JSON, does not have the
/// shape of the dictionaries, or exceeds the options is an error.
pub fn read_with(input: impl Read, options: &ReadOptions) -> Result<(Trace, Problems), ReadError> {
    let (thread, problems) = read_text(&input::text(input, options.max_bytes)?, options)?;
    Ok((thread.trace, problems))
}

/// Reads a thread from its decompressed text.
pub(crate) fn read_text(text: &[u8], options: &ReadOptions) -> Result<(Thread, Problems), ReadError> {
    let mut reading = Reading {
        trace: ForeignTrace::new(options.limits),
        source_maps: ForeignMaps::default(),
        evaluated: ForeignEvaluated::default(),
        seen: [false; List::NAMES.len()],
        is_enveloped: false,
        exceeded: None,
    };
    match json::read(text, TraceObject { reading: &mut reading, is_outermost: true }) {
        Ok(()) => {
            let Reading { mut trace, source_maps, evaluated, .. } = reading;
            let source_maps = source_maps.validate(&mut trace);
            evaluated.apply(&mut trace);
            let (trace, problems) = trace.validate();
            Ok((Thread { source_maps, ..Thread::main(trace) }, problems))
        }
        Err(error) => Err(ReadError::of_json(Format::W3c, error, reading.exceeded)),
    }
}

/// What has been read so far.
struct Reading {
    trace: ForeignTrace,
    source_maps: ForeignMaps,
    evaluated: ForeignEvaluated,
    /// Which of the lists have been read.
    seen: [bool; List::NAMES.len()],
    /// Whether the outermost object has the trace in its member `trace`.
    is_enveloped: bool,
    exceeded: Exceeded,
}

/// The lists of a trace, all of which are required.
#[derive(Clone, Copy)]
enum List {
    Frames,
    Resources,
    Samples,
    Stacks,
}

impl List {
    const NAMES: [&'static str; 4] = ["frames", "resources", "samples", "stacks"];
}

/// A member of the trace, or of the object that contains it.
#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Member {
    DroppedEntriesCount,
    Entries,
    Evaluated,
    Frames,
    Resources,
    Samples,
    SourceMaps,
    Stacks,
    Trace,
    #[serde(other)]
    Other,
}

/// Reads the trace, or the object that contains it.
struct TraceObject<'read> {
    reading: &'read mut Reading,
    is_outermost: bool,
}

impl<'de> Members<'de> for TraceObject<'_> {
    type Value = ();
    const EXPECTED: &'static str = "a ProfilerTrace";

    fn read<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { reading, is_outermost } = self;
        while let Some(member) = map.next_key()? {
            match member {
                // Unlike the required lists, these members may mean something else outside the trace.
                Member::DroppedEntriesCount | Member::Entries | Member::Evaluated | Member::SourceMaps
                    if is_outermost && reading.is_enveloped =>
                {
                    map.next_value::<IgnoredAny>()?;
                }
                Member::DroppedEntriesCount => {
                    let Number(count) = map.next_value()?;
                    reading.trace.set_dropped_entries(count);
                }
                Member::Entries => map.next_value_seed(EntriesSeed { reading })?,
                Member::Frames => {
                    map.next_value_seed(list(ElementList::<Frame>::begin(List::Frames, reading)?))?
                }
                Member::Resources => {
                    map.next_value_seed(list(ElementList::<Text>::begin(List::Resources, reading)?))?
                }
                Member::Samples => {
                    map.next_value_seed(list(ElementList::<Sample>::begin(List::Samples, reading)?))?
                }
                Member::Evaluated => {
                    let Reading { trace, evaluated, exceeded, .. } = &mut *reading;
                    map.next_value_seed(ListSeed { list: evaluated, trace, exceeded })?;
                }
                Member::SourceMaps => {
                    let Reading { trace, source_maps: maps, exceeded, .. } = &mut *reading;
                    map.next_value_seed(ListSeed { list: maps, trace, exceeded })?;
                }
                Member::Stacks => {
                    map.next_value_seed(list(ElementList::<Stack>::begin(List::Stacks, reading)?))?
                }
                // Only one level of nesting is allowed.
                Member::Trace if is_outermost => {
                    reading.is_enveloped = true;
                    reading.trace.forget_entries();
                    reading.source_maps = ForeignMaps::default();
                    reading.evaluated = ForeignEvaluated::default();
                    map.next_value_seed(object(TraceObject { reading, is_outermost: false }))?;
                }
                Member::Trace | Member::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        // A list that the inner object lacks may also be in the outer one.
        match List::NAMES.iter().zip(reading.seen).find(|(_, seen)| !seen) {
            Some((name, _)) if is_outermost => Err(Error::missing_field(name)),
            _ => Ok(()),
        }
    }
}

/// Reads one of the lists into the trace.
struct ElementList<'read, E> {
    reading: &'read mut Reading,
    elements: PhantomData<E>,
}

impl<'read, E> ElementList<'read, E> {
    fn begin<X: Error>(list: List, reading: &'read mut Reading) -> Result<Self, X> {
        if std::mem::replace(&mut reading.seen[list as usize], true) {
            return Err(Error::duplicate_field(List::NAMES[list as usize]));
        }
        Ok(Self { reading, elements: PhantomData })
    }
}

impl<'de, E: Element> Elements<'de> for ElementList<'_, E> {
    fn read<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let Reading { trace, exceeded, .. } = self.reading;
        while let Some(element) = elements.next_element::<E>()? {
            element.push_to(trace).map_err(|limit| stop(limit, exceeded))?;
        }
        Ok(())
    }
}

/// Reads the list of entries. Other programs' traces may have anything in its place.
struct EntriesSeed<'read> {
    reading: &'read mut Reading,
}

impl<'de> DeserializeSeed<'de> for EntriesSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for EntriesSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<(), A::Error> {
        self.reading.trace.begin_entries();
        ElementList::<Entry> { reading: self.reading, elements: PhantomData }.read(elements)
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        self.refuse()
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.refuse()
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.refuse()
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.refuse()
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.refuse()
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        self.refuse()
    }
}

impl EntriesSeed<'_> {
    fn refuse<E>(self) -> Result<(), E> {
        self.reading.trace.set_entries_unreadable();
        Ok(())
    }
}
