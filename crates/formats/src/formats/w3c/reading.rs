//! Reading the object of a trace, which may contain the objects of other threads.

use std::marker::PhantomData;

use selfprof_trace::foreign::{
    ForeignTrace, LimitExceeded, Limits, Location, Problem, ProblemKind, Problems, Remedy,
};
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess};
use serde_json::value::RawValue;

use super::calls::read_calls;
use super::durations::read_durations;
use super::elements::{Element, Entry, Frame, Number, Sample, Stack};
use super::evaluated::ForeignEvaluated;
use super::labels::ForeignLabels;
use super::lists::ListSeed;
use super::source_maps::ForeignMaps;
use super::threads::{Description, OtherThreads};
use super::waiting_times::ForeignWaitingTimes;
use crate::json::{Any, Elements, Exceeded, Members, Text, any, list, object, stop};
use crate::thread::Thread;

/// The maximum number of threads in a file.
const MAX_THREADS: usize = 1 << 16;

/// The name of a thread that has none.
const UNNAMED: &str = "thread";

/// What has been read so far.
pub(super) struct Reading {
    pub(super) trace: ForeignTrace,
    source_maps: ForeignMaps,
    evaluated: ForeignEvaluated,
    labels: ForeignLabels,
    waiting_times: ForeignWaitingTimes,
    limits: Limits,
    /// Which of the lists have been read.
    seen: [bool; List::NAMES.len()],
    /// Whether the outermost object has the trace in its member `trace`.
    is_enveloped: bool,
    pub(super) exceeded: Exceeded,
    /// What the member `thread` says.
    pub(super) description: Description,
    /// The other threads; `None` if they are not read.
    pub(super) others: Option<OtherThreads>,
}

impl Reading {
    /// Nothing yet.
    pub(super) fn new(limits: Limits, others: Option<OtherThreads>) -> Self {
        Self {
            trace: ForeignTrace::new(limits),
            source_maps: ForeignMaps::default(),
            evaluated: ForeignEvaluated::default(),
            labels: ForeignLabels::default(),
            waiting_times: ForeignWaitingTimes::default(),
            limits,
            seen: [false; List::NAMES.len()],
            is_enveloped: false,
            exceeded: None,
            description: Description::default(),
            others,
        }
    }

    /// Whether all required lists have been read.
    fn is_complete(&self) -> bool {
        self.seen.iter().all(|&seen| seen)
    }

    /// What was read. A thread without a name gets this one.
    pub(super) fn into_thread(self, default_name: &str) -> (Thread, Problems) {
        let Self { mut trace, source_maps, evaluated, labels, waiting_times, description, .. } = self;
        let source_maps = source_maps.validate(&mut trace);
        evaluated.apply(&mut trace);
        let waiting = waiting_times.validate(&mut trace);
        let labels = labels.validate(&mut trace);
        let (mut trace, problems) = trace.validate();
        trace.set_labels(labels);
        trace.set_waiting(waiting);
        (Thread { source_maps, ..description.thread(default_name, trace) }, problems)
    }

    /// Removes what was read of selfprof's own members: the object that they were read from is not the trace.
    fn forget_extensions(&mut self) {
        self.trace.forget_entries();
        self.trace.forget_calls();
        self.trace.set_durations(None);
        self.source_maps = ForeignMaps::default();
        self.evaluated = ForeignEvaluated::default();
        self.labels = ForeignLabels::default();
        self.waiting_times = ForeignWaitingTimes::default();
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
    Calls,
    DroppedEntriesCount,
    Durations,
    Entries,
    Evaluated,
    Frames,
    Labels,
    Resources,
    Samples,
    SourceMaps,
    Stacks,
    Thread,
    Threads,
    Trace,
    WaitingTimes,
    #[serde(other)]
    Other,
}

/// Reads the trace, or the object that contains it.
pub(super) struct TraceObject<'read> {
    pub(super) reading: &'read mut Reading,
    /// Whether this may be the object that contains the trace.
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
                Member::Calls
                | Member::DroppedEntriesCount
                | Member::Durations
                | Member::Entries
                | Member::Evaluated
                | Member::Labels
                | Member::SourceMaps
                | Member::Thread
                | Member::Threads
                | Member::WaitingTimes
                    if is_outermost && reading.is_enveloped =>
                {
                    map.next_value::<IgnoredAny>()?;
                }
                Member::Calls => {
                    let json: Box<RawValue> = map.next_value()?;
                    read_calls(&json, &mut reading.trace)
                        .map_err(|limit| stop(limit, &mut reading.exceeded))?;
                }
                Member::DroppedEntriesCount => {
                    let Number(count) = map.next_value()?;
                    reading.trace.set_dropped_entries(count);
                }
                Member::Durations => {
                    let json: Box<RawValue> = map.next_value()?;
                    read_durations(&json, &mut reading.trace)
                        .map_err(|limit| stop(limit, &mut reading.exceeded))?;
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
                Member::Labels => {
                    let json: Box<RawValue> = map.next_value()?;
                    let Reading { trace, labels, exceeded, .. } = &mut *reading;
                    labels.read(&json, trace).map_err(|limit| stop(limit, exceeded))?;
                }
                Member::WaitingTimes => {
                    let json: Box<RawValue> = map.next_value()?;
                    reading.waiting_times = ForeignWaitingTimes::read(&json, &reading.trace)
                        .map_err(|limit| stop(limit, &mut reading.exceeded))?;
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
        let Reading { trace, labels, exceeded, .. } = self.reading;
        while let Some(element) = elements.next_element::<E>()? {
            element.push_to(trace, labels).map_err(|limit| stop(limit, exceeded))?;
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

/// Reads the member `threads`.
struct ThreadList<'read> {
    threads: &'read mut OtherThreads,
    limits: Limits,
    exceeded: &'read mut Exceeded,
}

impl<'de> Any<'de> for ThreadList<'_> {
    const EXPECTED: &'static str = "a list of threads";

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { threads, limits, exceeded } = self;
        let mut index = 0;
        while let Some(()) =
            list.next_element_seed(any(ThreadElement { threads, limits, exceeded, index }))?
        {
            index += 1;
            LimitExceeded::check("threads", index, MAX_THREADS).map_err(|limit| stop(limit, exceeded))?;
        }
        Ok(())
    }

    fn refuse(self) {
        self.threads.problems.push(Problem {
            location: Location::Member("threads"),
            value: None,
            kind: ProblemKind::ThreadList,
            remedy: Remedy::NoMember,
        });
    }
}

/// Reads an element of the list.
struct ThreadElement<'read> {
    threads: &'read mut OtherThreads,
    limits: Limits,
    exceeded: &'read mut Exceeded,
    index: usize,
}

impl<'de> Any<'de> for ThreadElement<'_> {
    const EXPECTED: &'static str = "a thread";

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<(), A::Error> {
        let mut reading = Reading::new(self.limits, None);
        let result = TraceObject { reading: &mut reading, is_outermost: false }.read(object);
        if result.is_err() {
            *self.exceeded = reading.exceeded;
        } else if reading.is_complete() {
            self.threads.list.push(reading.into_thread(UNNAMED));
        } else {
            self.refuse();
        }
        result
    }

    fn null(self) {
        self.refuse();
    }

    fn refuse(self) {
        // The list may be long, and as many problems are listed of a trace.
        if self.threads.problems.len() < Problems::LISTED {
            self.threads.problems.push(Problem {
                location: Location::Element { list: "threads", index: self.index, member: "" },
                value: None,
                kind: ProblemKind::Thread,
                remedy: Remedy::NoThread,
            });
        }
    }
}
