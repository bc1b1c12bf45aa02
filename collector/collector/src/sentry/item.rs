//! The content of an item `profile`
//! ([sample format, version 1](https://develop.sentry.dev/sdk/telemetry/profiles/sample-format-v1/)) or `profile_chunk`
//! ([version 2](https://develop.sentry.dev/sdk/telemetry/profiles/sample-format-v2/)).

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

use selfprof_trace::Trace;
use selfprof_trace::foreign::{ForeignFrame, ForeignSample, ForeignStack, ForeignTrace, LimitExceeded};
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

use super::number::{Number, Seconds};
use super::stacks::Stacks;
use crate::upload::{LIMITS, Refused};

/// An item.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a profile as Sentry's SDKs send it")]
pub struct ProfileItem {
    /// The id of a `profile`.
    pub event_id: Option<String>,
    /// The id of a `profile_chunk`.
    pub chunk_id: Option<String>,
    /// What the chunks of one run of a profiler have in common.
    pub profiler_id: Option<String>,
    pub release: Option<String>,
    pub environment: Option<String>,
    /// When a `profile` began.
    #[serde(default)]
    timestamp: Option<Seconds>,
    /// The transaction of a `profile`. Some SDKs send a list of one.
    #[serde(default)]
    transaction: Option<NamedTransaction>,
    #[serde(default)]
    transactions: Vec<NamedTransaction>,
    profile: Samples,
}

/// What a profile says of its transaction.
#[derive(Debug, Deserialize)]
pub struct NamedTransaction {
    pub name: Option<String>,
    pub id: Option<String>,
    pub trace_id: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Samples {
    #[serde(deserialize_with = "frames")]
    frames: Vec<Option<Frame>>,
    stacks: Stacks,
    #[serde(deserialize_with = "samples")]
    samples: Vec<Option<Sample>>,
}

/// A function. Gaps in the list are `null`.
#[derive(Debug, Deserialize)]
struct Frame {
    function: Option<String>,
    abs_path: Option<String>,
    filename: Option<String>,
    lineno: Option<Number>,
    colno: Option<Number>,
}

#[derive(Debug, Deserialize)]
struct Sample {
    stack_id: Number,
    thread_id: Option<ThreadId>,
    /// Since the start, in version 1.
    elapsed_since_start_ns: Option<Number>,
    /// In version 2.
    timestamp: Option<Seconds>,
}

/// A number or a text.
#[derive(Debug, Deserialize, PartialEq, Eq, Hash)]
#[serde(untagged)]
enum ThreadId {
    Number(u64),
    Text(String),
}

/// Threads of a program. A page has one.
const MAX_THREADS: usize = 16;

impl ProfileItem {
    /// Its transaction.
    pub fn transaction(&self) -> Option<&NamedTransaction> {
        self.transaction.as_ref().or(self.transactions.first())
    }

    /// When its times are 0, in seconds since 1970; `None` if that is not known.
    pub fn start(&self) -> Option<f64> {
        self.first_timestamp().or(self.timestamp.map(|time| time.0))
    }

    /// The earliest time of a sample of version 2.
    fn first_timestamp(&self) -> Option<f64> {
        let times = self.profile.samples.iter().flatten().filter_map(|sample| Some(sample.timestamp?.0));
        times.min_by(f64::total_cmp)
    }

    /// The traces of the threads.
    pub fn traces(&self) -> Result<Vec<Trace>, Refused> {
        let tables = self.tables().map_err(Refused::Limit)?;
        let start = self.first_timestamp().unwrap_or(0.0);
        let mut threads: Vec<(&Option<ThreadId>, ForeignTrace)> = Vec::new();
        for sample in self.profile.samples.iter().flatten() {
            let index = threads.iter().position(|(id, _)| **id == sample.thread_id);
            let index = match index {
                Some(index) => index,
                None if threads.len() == MAX_THREADS => {
                    return Err(Refused::Limit(LimitExceeded::new("threads", MAX_THREADS)));
                }
                None => {
                    threads.push((&sample.thread_id, tables.clone()));
                    threads.len() - 1
                }
            };
            threads[index].1.push_sample(self.sample(sample, start)).map_err(Refused::Limit)?;
        }
        if threads.is_empty() {
            return Err(Refused::Empty);
        }
        let trace = |(_, foreign): (_, ForeignTrace)| {
            let (trace, _) = foreign.validate();
            trace.narrowed()
        };
        Ok(threads.into_iter().map(trace).collect())
    }

    fn sample(&self, sample: &Sample, start: f64) -> ForeignSample {
        let timestamp = match (sample.timestamp, sample.elapsed_since_start_ns) {
            (Some(Seconds(time)), _) => (time - start) * 1e3,
            (None, Some(Number(elapsed))) => elapsed / 1e6,
            (None, None) => f64::NAN,
        };
        // A number that is not an index is repaired with the others.
        let index = (sample.stack_id.0 >= 0.0).then_some(sample.stack_id.0 as usize);
        let stack_id = match index.and_then(|index| self.profile.stacks.ids.get(index)) {
            Some(id) => id.map(f64::from),
            None => Some(f64::NAN),
        };
        ForeignSample { timestamp, stack_id, marker: None }
    }

    /// A trace without samples.
    fn tables(&self) -> Result<ForeignTrace, LimitExceeded> {
        let mut foreign = ForeignTrace::new(LIMITS);
        foreign.allow_unsorted_samples();
        let mut resources: HashMap<&str, f64> = HashMap::new();
        for frame in &self.profile.frames {
            let path =
                frame.as_ref().and_then(|frame| frame.abs_path.as_deref().or(frame.filename.as_deref()));
            let path = path.filter(|path| !path.is_empty());
            let resource_id = match path.map(|path| (path, resources.get(path))) {
                None => None,
                Some((_, Some(&id))) => Some(id),
                Some((path, None)) => {
                    foreign.push_resource(path)?;
                    let id = resources.len() as f64;
                    resources.insert(path, id);
                    Some(id)
                }
            };
            let position = |number: fn(&Frame) -> Option<Number>| {
                Some(number(frame.as_ref()?)?.0).filter(|_| resource_id.is_some())
            };
            foreign.push_frame(&ForeignFrame {
                name: frame.as_ref().and_then(|frame| frame.function.as_deref()).unwrap_or_default(),
                resource_id,
                line: position(|frame| frame.lineno),
                column: position(|frame| frame.colno),
            })?;
        }
        for &(parent, frame) in &self.profile.stacks.nodes {
            foreign.push_stack(ForeignStack { parent_id: parent.map(f64::from), frame_id: frame.into() })?;
        }
        Ok(foreign)
    }
}

fn frames<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Option<Frame>>, D::Error> {
    deserializer.deserialize_seq(AtMost(LIMITS.frames, PhantomData))
}

fn samples<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Option<Sample>>, D::Error> {
    deserializer.deserialize_seq(AtMost(LIMITS.samples, PhantomData))
}

/// Reads a list of at most this many elements.
struct AtMost<T>(usize, PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for AtMost<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {}", self.0)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = list.next_element()? {
            if elements.len() == self.0 {
                return Err(A::Error::invalid_length(self.0 + 1, &self));
            }
            elements.push(element);
        }
        Ok(elements)
    }
}
