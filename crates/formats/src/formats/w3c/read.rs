//! Reading a trace from an untrusted source.

use std::io::Read;
use std::marker::PhantomData;

use selfprof_trace::Trace;
use selfprof_trace::foreign::{ForeignTrace, Limits, Problems};
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess};

use super::elements::{Element, Entry, Frame, Number, Sample, Stack};
use super::threads::{Description, OtherThreads, ThreadList};
use crate::error::ReadError;
use crate::format::Format;
use crate::json::{self, Any, Elements, Exceeded, Members, Text, any, list, object, stop};
use crate::options::ReadOptions;
use crate::streams::input;
use crate::thread::Thread;

/// Reads a trace with the default [`ReadOptions`]. See [`read_with`].
pub fn read(input: impl Read) -> Result<(Trace, Problems), ReadError> {
    read_with(input, &ReadOptions::default())
}

/// Reads a trace: a `ProfilerTrace`, or an object with one in its member `trace`, plain or gzipped. The trace may have
/// selfprof's extensions `entries` and `droppedEntriesCount`. Other members are ignored.
///
/// Invalid ids, numbers, markers and entries are repaired and listed in [`Problems`]. Text that is not JSON, does not have the
/// shape of the dictionaries, or exceeds the options is an error.
pub fn read_with(input: impl Read, options: &ReadOptions) -> Result<(Trace, Problems), ReadError> {
    read_text(&input::text(input, options.max_bytes)?, options)
}

/// As [`read_with`], with the other threads of the file after the main thread.
pub fn read_threads(input: impl Read, options: &ReadOptions) -> Result<Vec<(Thread, Problems)>, ReadError> {
    read_threads_of_text(&input::text(input, options.max_bytes)?, options)
}

/// Reads a trace from its decompressed text.
fn read_text(text: &[u8], options: &ReadOptions) -> Result<(Trace, Problems), ReadError> {
    Ok(parse(text, Reading::new(options.limits, None))?.trace.validate())
}

/// Reads all threads from the decompressed text.
pub(crate) fn read_threads_of_text(
    text: &[u8],
    options: &ReadOptions,
) -> Result<Vec<(Thread, Problems)>, ReadError> {
    let mut reading = parse(text, Reading::new(options.limits, Some(OtherThreads::default())))?;
    let others = reading.others.unwrap_or_default();
    others.problems.into_iter().for_each(|problem| reading.trace.report(problem));
    let (trace, problems) = reading.trace.validate();
    let main = reading.description.thread(Thread::MAIN, trace);
    Ok(std::iter::once((main, problems)).chain(others.list).collect())
}

fn parse(text: &[u8], mut reading: Reading) -> Result<Reading, ReadError> {
    match json::read(text, TraceObject { reading: &mut reading, is_outermost: true }) {
        Ok(()) => Ok(reading),
        Err(error) => Err(ReadError::of_json(Format::W3c, error, reading.exceeded)),
    }
}

/// What has been read so far.
pub(super) struct Reading {
    pub(super) trace: ForeignTrace,
    limits: Limits,
    /// Which of the lists have been read.
    seen: [bool; List::NAMES.len()],
    /// Whether the outermost object has the trace in its member `trace`.
    is_enveloped: bool,
    pub(super) exceeded: Exceeded,
    /// What the member `thread` says.
    pub(super) description: Description,
    /// The other threads; `None` if they are not read.
    others: Option<OtherThreads>,
}

impl Reading {
    /// Nothing yet.
    pub(super) fn new(limits: Limits, others: Option<OtherThreads>) -> Self {
        Self {
            trace: ForeignTrace::new(limits),
            limits,
            seen: [false; List::NAMES.len()],
            is_enveloped: false,
            exceeded: None,
            description: Description::default(),
            others,
        }
    }

    /// Whether all required lists have been read.
    pub(super) fn is_complete(&self) -> bool {
        self.seen.iter().all(|&seen| seen)
    }

    /// Removes what was read of selfprof's own members: the object that they were read from is not the trace.
    fn forget_extensions(&mut self) {
        self.trace.forget_entries();
        self.description = Description::default();
        if let Some(others) = &mut self.others {
            *others = OtherThreads::default();
        }
    }
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
    Frames,
    Resources,
    Samples,
    Stacks,
    Thread,
    Threads,
    Trace,
    #[serde(other)]
    Other,
}

/// Reads the trace, or the object that contains it.
pub(super) struct TraceObject<'read> {
    pub(super) reading: &'read mut Reading,
    pub(super) is_outermost: bool,
}

impl<'de> Members<'de> for TraceObject<'_> {
    type Value = ();
    const EXPECTED: &'static str = "a ProfilerTrace";

    fn read<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { reading, is_outermost } = self;
        while let Some(member) = map.next_key()? {
            match member {
                // Unlike the required lists, these members may mean something else outside the trace.
                Member::DroppedEntriesCount | Member::Entries | Member::Thread | Member::Threads
                    if is_outermost && reading.is_enveloped =>
                {
                    map.next_value::<IgnoredAny>()?;
                }
                Member::DroppedEntriesCount => {
                    let Number(count) = map.next_value()?;
                    reading.trace.set_dropped_entries(count);
                }
                Member::Entries => map.next_value_seed(any(EntryList { reading }))?,
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
                Member::Thread => {
                    reading.description = map.next_value()?;
                }
                Member::Threads if reading.others.is_some() => {
                    let Reading { others: Some(threads), limits, exceeded, .. } = &mut *reading else {
                        continue;
                    };
                    map.next_value_seed(any(ThreadList { threads, limits: *limits, exceeded }))?;
                }
                // Only one level of nesting is allowed.
                Member::Trace if is_outermost => {
                    reading.is_enveloped = true;
                    reading.forget_extensions();
                    map.next_value_seed(object(TraceObject { reading, is_outermost: false }))?;
                }
                Member::Threads | Member::Trace | Member::Other => {
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
struct EntryList<'read> {
    reading: &'read mut Reading,
}

impl<'de> Any<'de> for EntryList<'_> {
    const EXPECTED: &'static str = "a list of entries";

    fn list<A: SeqAccess<'de>>(self, elements: A) -> Result<(), A::Error> {
        self.reading.trace.begin_entries();
        ElementList::<Entry> { reading: self.reading, elements: PhantomData }.read(elements)
    }

    fn refuse(self) {
        self.reading.trace.set_entries_unreadable();
    }
}
