//! Reading a trace that anybody may have written.

use std::fmt;
use std::io::Read;
use std::marker::PhantomData;

use selfprof_trace::Trace;
use selfprof_trace::foreign::{ForeignTrace, Problems};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::elements::{Element, Entry, Frame, Number, Sample, Stack};
use crate::json::{self, Elements, Exceeded, Members, Text, list, object, stop};
use crate::{Format, ReadError, ReadOptions, input};

/// Reads a trace with the default [`ReadOptions`]. See [`read_with`].
pub fn read(input: impl Read) -> Result<(Trace, Problems), ReadError> {
    read_with(input, &ReadOptions::default())
}

/// Reads a trace: a `ProfilerTrace`, or an object that holds one in its member `trace`, either of them plain or
/// compressed with gzip. The trace may have selfprof's `entries` and `droppedEntriesCount`. Other members are skipped.
///
/// Ids, numbers, markers and entries that make no sense are repaired and listed in [`Problems`]. What is not JSON, not
/// of the dictionaries' shape, or larger than the options allow is an error.
pub fn read_with(input: impl Read, options: &ReadOptions) -> Result<(Trace, Problems), ReadError> {
    read_text(&input::text(input, options.max_bytes)?, options)
}

/// Reads a trace that is text already.
pub(crate) fn read_text(text: &[u8], options: &ReadOptions) -> Result<(Trace, Problems), ReadError> {
    let mut reading = Reading {
        trace: ForeignTrace::new(options.limits),
        seen: [false; List::NAMES.len()],
        is_enveloped: false,
        exceeded: None,
    };
    match json::read(text, TraceObject { reading: &mut reading, is_outermost: true }) {
        Ok(()) => Ok(reading.trace.validate()),
        Err(error) => Err(ReadError::of_json(Format::W3c, error, reading.exceeded)),
    }
}

/// What has been read so far.
struct Reading {
    trace: ForeignTrace,
    /// Which of the lists have come.
    seen: [bool; List::NAMES.len()],
    /// Whether the outermost object turned out to hold the trace in one of its members.
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

/// A member of the trace or of the object around it.
#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Member {
    DroppedEntriesCount,
    Entries,
    Frames,
    Resources,
    Samples,
    Stacks,
    Trace,
    #[serde(other)]
    Other,
}

/// Reads the trace, or the object around it.
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
                // Unlike the lists that every trace has, these may well mean something else in an envelope.
                Member::DroppedEntriesCount | Member::Entries if is_outermost && reading.is_enveloped => {
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
                Member::Stacks => {
                    map.next_value_seed(list(ElementList::<Stack>::begin(List::Stacks, reading)?))?
                }
                // A trace within a trace would be recursion, so this member means something one level deep.
                Member::Trace if is_outermost => {
                    reading.is_enveloped = true;
                    reading.trace.forget_entries();
                    map.next_value_seed(object(TraceObject { reading, is_outermost: false }))?;
                }
                Member::Trace | Member::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        // What the inner object lacks may stand in the outer one, as far as anybody cares.
        match List::NAMES.iter().zip(reading.seen).find(|(_, seen)| !seen) {
            Some((name, _)) if is_outermost => Err(Error::missing_field(name)),
            _ => Ok(()),
        }
    }
}

/// Reads one list, and pushes each element as it comes.
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

/// Reads the list of entries, which is `null` or something else in traces by others.
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
