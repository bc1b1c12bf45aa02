//! Reading a CPU profile from an untrusted source.

use std::collections::HashMap;
use std::io::Read;

use selfprof_trace::foreign::{
    ForeignFrame, ForeignSample, ForeignStack, ForeignTrace, LimitExceeded, Limits, Location, Problem,
    ProblemKind, Problems, Remedy, Vocabulary,
};
use selfprof_trace::{Marker, Micros, Trace};
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess};

use super::extension::{self, Extension};
use super::nodes::{ROOT_NAME, state_of};
use super::unescaped::escape_names;
use crate::error::ReadError;
use crate::format::Format;
use crate::json::{self, Elements, Exceeded, Members, Text, each, list, object, stop};
use crate::options::ReadOptions;
use crate::streams::input;

/// A node is both a stack and a function.
const WORDS: Vocabulary = Vocabulary {
    frames: "nodes",
    resource: "callFrame.url",
    line: "callFrame.lineNumber",
    column: "callFrame.columnNumber",
    stacks: "nodes",
    parent: "parent",
    frame: "callFrame",
    samples: "samples",
    timestamp: "time",
    stack: "",
    marker: "",
};

/// Reads a CPU profile, plain or gzipped. Unknown members are ignored.
///
/// Older profiles are read, too: those whose nodes are a tree in the member `head`, with times in `timestamps`, and
/// those that only say how often each node was hit. If there are no times of samples, samples are spread evenly from
/// the start to the end.
///
/// Invalid ids and numbers are repaired and listed in [`Problems`]. Text that is not JSON, does not have the shape of a
/// profile, or exceeds the options is an error.
pub fn read(input: impl Read, options: &ReadOptions) -> Result<(Trace, Problems), ReadError> {
    read_text(&input::text(input, options.max_bytes)?, options)
}

pub(crate) fn read_text(text: &[u8], options: &ReadOptions) -> Result<(Trace, Problems), ReadError> {
    match read_json(text, options) {
        Err(error @ ReadError::Json(..)) => match escape_names(text) {
            // A file that stays invalid gets the error with its own position.
            Some(escaped) => read_json(escaped.as_bytes(), options).map_err(|_| error),
            None => Err(error),
        },
        result => result,
    }
}

fn read_json(text: &[u8], options: &ReadOptions) -> Result<(Trace, Problems), ReadError> {
    let mut profile = Profile::new(options.limits);
    match json::read_deep(text, ProfileObject { profile: &mut profile, place: Place::File }) {
        Ok(()) => profile.into_trace().map_err(ReadError::Limit),
        Err(error) => Err(ReadError::of_json(Format::CpuProfile, error, profile.exceeded)),
    }
}

/// What has been read so far.
struct Profile {
    limits: Limits,
    trace: ForeignTrace,
    urls: HashMap<String, usize>,
    nodes: Vec<Node>,
    /// The index of a node, and the id of one of its children.
    children: Vec<(usize, f64)>,
    /// The nodes of a tree in `head`: the index of a node, and the index of one of its children.
    tree_children: Vec<(usize, usize)>,
    start: f64,
    end: Option<f64>,
    samples: Option<Vec<f64>>,
    deltas: Option<Vec<f64>>,
    /// The times of samples, in profiles with `head`.
    timestamps: Option<Vec<f64>>,
    extension: Option<Extension>,
    has_nodes: bool,
    /// Whether the nodes are a tree in `head`.
    has_tree: bool,
    /// Whether the lists are read in parts.
    is_in_chunks: bool,
    exceeded: Exceeded,
}

/// A node without its function.
#[derive(Clone, Copy)]
struct Node {
    id: f64,
    parent: Option<f64>,
    kind: Kind,
    hits: f64,
}

/// A sample as the profile has it, with its node if that exists.
#[derive(Clone, Copy)]
struct TimedSample {
    /// In microseconds, on the clock of the file.
    start: f64,
    node: Option<usize>,
    /// Its index in the file.
    index: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Function,
    /// V8's `(root)`.
    Root,
    /// Work without a function, or idleness.
    State(Option<Marker>),
}

impl Profile {
    fn new(limits: Limits) -> Self {
        Self {
            limits,
            trace: ForeignTrace::of(&WORDS, limits),
            urls: HashMap::new(),
            nodes: Vec::new(),
            children: Vec::new(),
            tree_children: Vec::new(),
            start: 0.0,
            end: None,
            samples: None,
            deltas: None,
            timestamps: None,
            extension: None,
            has_nodes: false,
            has_tree: false,
            is_in_chunks: false,
            exceeded: None,
        }
    }

    /// Adds a node. Its children have already been added to the list.
    fn push_node(&mut self, raw: RawNode) -> Result<(), LimitExceeded> {
        LimitExceeded::check("nodes", self.nodes.len(), self.limits.stacks)?;
        let CallFrame { function_name: Text(name), url: Text(url), line_number, column_number } =
            raw.call_frame;
        let resource_id = match self.urls.get(&url) {
            _ if url.is_empty() => None,
            Some(&index) => Some(index),
            None => {
                self.trace.push_resource(&url)?;
                self.urls.insert(url, self.urls.len());
                Some(self.urls.len() - 1)
            }
        };
        let kind = match resource_id {
            None if name == ROOT_NAME => Kind::Root,
            None => state_of(&name).map_or(Kind::Function, Kind::State),
            Some(_) => Kind::Function,
        };
        // Positions count from 0 and are -1 if unknown, as for all functions without a script.
        let position = |number: Option<f64>| {
            number.map(|number| number + 1.0).filter(|&number| number != 0.0 && resource_id.is_some())
        };
        self.trace.push_frame(&ForeignFrame {
            name: &name,
            resource_id: resource_id.map(|index| index as f64),
            line: position(line_number),
            column: position(column_number),
        })?;
        let hits = raw.hits.unwrap_or(0.0);
        self.nodes.push(Node { id: raw.id.unwrap_or(f64::NAN), parent: raw.parent, kind, hits });
        Ok(())
    }

    fn report(
        &mut self,
        list: &'static str,
        index: usize,
        member: &'static str,
        what: (f64, ProblemKind, Remedy),
    ) {
        let (value, kind, remedy) = what;
        let location = Location::Element { list, index, member };
        self.trace.report(Problem { location, value: Some(value), kind, remedy });
    }

    /// Builds the trace.
    fn into_trace(mut self) -> Result<(Trace, Problems), LimitExceeded> {
        if !self.start.is_finite() {
            self.start = 0.0;
        }
        let ids = self.index_nodes();
        let parents = self.parents(&ids);
        for (index, parent) in parents.iter().enumerate() {
            let above = parent.filter(|&parent| self.nodes[parent].kind != Kind::Root);
            let parent_id = above.map(|parent| parent as f64);
            self.trace.push_stack(ForeignStack { parent_id, frame_id: index as f64 })?;
        }
        let own = self.extension.take().filter(|extension| extension.version == extension::VERSION);
        let times = match own {
            Some(own) => self.push_own_samples(&own, &ids, &parents)?,
            None => self.push_samples(&ids, &parents)?,
        };
        let (mut trace, problems) = self.trace.validate();
        match times {
            Times::Following(start) => trace.set_start(start),
            Times::Lasting(durations) => trace.set_durations(Some(durations)),
        }
        Ok((trace.narrowed(), problems))
    }

    /// The indexes of the nodes by their ids.
    fn index_nodes(&mut self) -> HashMap<u64, usize> {
        let mut ids = HashMap::with_capacity(self.nodes.len());
        for index in 0..self.nodes.len() {
            let id = self.nodes[index].id;
            if !id.is_finite() {
                self.report("nodes", index, "id", (id, ProblemKind::Dangling, Remedy::NoMember));
            } else if *ids.entry(key(id)).or_insert(index) != index {
                self.report("nodes", index, "id", (id, ProblemKind::Duplicate, Remedy::NoMember));
            }
        }
        ids
    }

    /// The parents of the nodes, from the lists of children or from the nodes' own members.
    fn parents(&mut self, ids: &HashMap<u64, usize>) -> Vec<Option<usize>> {
        let named = |node: &Node| node.parent.and_then(|id| ids.get(&key(id)).copied());
        let mut parents: Vec<Option<usize>> = self.nodes.iter().map(named).collect();
        for (index, parent) in parents.iter().enumerate() {
            if let (Some(id), None) = (self.nodes[index].parent, parent) {
                self.report("nodes", index, "parent", (id, ProblemKind::Dangling, Remedy::Root));
            }
        }
        for (parent, child) in std::mem::take(&mut self.tree_children) {
            parents[child] = Some(parent);
        }
        for (parent, id) in std::mem::take(&mut self.children) {
            match ids.get(&key(id)) {
                None => {
                    self.report("nodes", parent, "children", (id, ProblemKind::Dangling, Remedy::NoMember));
                }
                Some(&child) if parents[child].is_some_and(|other| other != parent) => {
                    self.report(
                        "nodes",
                        parent,
                        "children",
                        (id, ProblemKind::SecondParent, Remedy::NoMember),
                    );
                }
                Some(&child) => parents[child] = Some(parent),
            }
        }
        parents
    }

    /// The indexes of the nodes of samples. Reports those that do not exist.
    fn nodes_of(&mut self, samples: &[f64], ids: &HashMap<u64, usize>) -> Vec<Option<usize>> {
        let find = |(index, &id): (usize, &f64)| {
            let node = ids.get(&key(id)).copied();
            if node.is_none() {
                self.report("samples", index, "", (id, ProblemKind::Dangling, Remedy::NoStack));
            }
            node
        };
        samples.iter().enumerate().map(find).collect()
    }

    /// The samples in time order, and when the last one ends.
    fn timed_samples(&mut self, ids: &HashMap<u64, usize>) -> Result<(Vec<TimedSample>, f64), LimitExceeded> {
        let nodes = match self.samples.take() {
            Some(samples) => self.nodes_of(&samples, ids),
            None => self.nodes_by_hits()?,
        };
        let starts = match (self.timestamps.take(), self.deltas.take()) {
            (Some(timestamps), _) => self.absolute("timestamps", &timestamps, nodes.len()),
            (None, Some(deltas)) => self.summed(&deltas, nodes.len()),
            (None, None) => return Ok(self.spread(&nodes)),
        };
        let starts = starts.into_iter().zip(&nodes).enumerate();
        let starts = starts.map(|(index, (start, &node))| TimedSample { start, node, index });
        // V8 writes samples out of order, with negative deltas. DevTools sorts them too.
        let mut samples: Vec<TimedSample> = starts.collect();
        samples.sort_by(|a, b| a.start.total_cmp(&b.start));
        let last = samples.last().map_or(self.start, |last| last.start);
        let end = self.end.filter(|&end| end >= last).unwrap_or_else(|| last + typical(&samples));
        Ok((samples, end))
    }

    /// The nodes of a profile that says how often each was hit, one after the other.
    fn nodes_by_hits(&self) -> Result<Vec<Option<usize>>, LimitExceeded> {
        let mut nodes = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let hits = if node.hits >= 1.0 { node.hits as usize } else { 0 };
            LimitExceeded::check("samples", nodes.len().saturating_add(hits), self.limits.samples)?;
            nodes.resize(nodes.len() + hits, Some(index));
        }
        Ok(nodes)
    }

    /// Samples that are spread evenly from the start to the end.
    fn spread(&self, nodes: &[Option<usize>]) -> (Vec<TimedSample>, f64) {
        let length = self.end.map_or(0.0, |end| (end - self.start).max(0.0));
        let start = |index: usize| self.start + length * index as f64 / nodes.len() as f64;
        let sample = |(index, &node)| TimedSample { start: start(index), node, index };
        (nodes.iter().enumerate().map(sample).collect(), self.start + length)
    }

    /// The first `count` times. A number that is none stands for the time before.
    fn absolute(&mut self, list: &'static str, times: &[f64], count: usize) -> Vec<f64> {
        self.report_length(list, times.len(), count);
        let mut before = times.iter().copied().find(|time| time.is_finite()).unwrap_or(self.start);
        let mut starts = Vec::with_capacity(count.min(times.len()));
        for (index, &time) in times.iter().enumerate().take(count) {
            if !time.is_finite() {
                self.report(list, index, "", (time, ProblemKind::Timestamp, Remedy::SameTime));
            } else {
                before = time;
            }
            starts.push(before);
        }
        self.start = starts.iter().copied().fold(f64::INFINITY, f64::min);
        starts
    }

    /// The times of the first `count` samples, from the times between them.
    fn summed(&mut self, deltas: &[f64], count: usize) -> Vec<f64> {
        self.report_length("timeDeltas", deltas.len(), count);
        let mut time = self.start;
        let mut starts = Vec::with_capacity(count.min(deltas.len()));
        for (index, &delta) in deltas.iter().enumerate().take(count) {
            if delta.is_finite() {
                time += delta;
            } else {
                self.report("timeDeltas", index, "", (delta, ProblemKind::Timestamp, Remedy::SameTime));
            }
            starts.push(time);
        }
        starts
    }

    fn report_length(&mut self, list: &'static str, length: usize, count: usize) {
        if length != count {
            let (kind, remedy) = (ProblemKind::Length, Remedy::Shortened);
            self.trace.report(Problem { location: Location::Member(list), value: None, kind, remedy });
        }
    }

    /// A sample lasts until the next one. The time before the first one is idle.
    fn push_samples(
        &mut self,
        ids: &HashMap<u64, usize>,
        parents: &[Option<usize>],
    ) -> Result<Times, LimitExceeded> {
        let (samples, end) = self.timed_samples(ids)?;
        let mut begin = None;
        let ends = samples.iter().skip(1).map(|next| next.start).chain([end]);
        for (sample, end) in samples.iter().zip(ends) {
            let Some(start) = Micros::from_millis_f64(sample.start / 1_000.0) else {
                self.report_time(sample.index);
                continue;
            };
            if begin.is_none() {
                let first = Micros::from_millis_f64(self.start / 1_000.0).unwrap_or(start).min(start);
                begin = Some(first);
                if first < start {
                    let timestamp = sample.start / 1_000.0;
                    self.trace.push_sample(ForeignSample { timestamp, stack_id: None, marker: None })?;
                }
            }
            // The end may be too large.
            let end = if Micros::from_millis_f64(end / 1_000.0).is_some() { end } else { sample.start };
            self.push_sample(sample.node, end, parents)?;
        }
        Ok(Times::Following(begin.unwrap_or_default()))
    }

    /// In selfprof's own files, a sample ends where the next one starts, and the end is its time in the trace.
    fn push_own_samples(
        &mut self,
        own: &Extension,
        ids: &HashMap<u64, usize>,
        parents: &[Option<usize>],
    ) -> Result<Times, LimitExceeded> {
        let samples = self.samples.take().unwrap_or_default();
        let deltas = self.deltas.take().unwrap_or_default();
        let nodes = self.nodes_of(&samples, ids);
        let starts = self.summed(&deltas, nodes.len());
        self.trace.allow_unsorted_samples();
        let mut pauses = own.pauses.iter().copied().peekable();
        let moved = |index: usize| own.moved.get(index).unwrap_or(&0.0);
        let (mut last, mut is_sorted) = (Micros::ZERO, true);
        let mut durations = Vec::new();
        // The last one is the end.
        let last_index = starts.len().saturating_sub(1);
        for (index, &node) in nodes.iter().enumerate().take(last_index) {
            if pauses.next_if_eq(&index).is_some() {
                continue;
            }
            let time = |index: usize| starts[index] - own.time_origin - moved(index);
            let (start, end) = (time(index), time(index + 1));
            let Some(timestamp) = Micros::from_millis_f64(end / 1_000.0) else {
                self.report_time(index);
                continue;
            };
            is_sorted &= last <= timestamp;
            last = timestamp;
            durations.push(Micros::from_millis_f64((end - start).max(0.0) / 1_000.0).unwrap_or_default());
            self.push_sample(node, end, parents)?;
        }
        Ok(if is_sorted { Times::Lasting(durations) } else { Times::Following(Micros::ZERO) })
    }

    fn report_time(&mut self, index: usize) {
        self.trace.report(Problem {
            location: Location::Element { list: "timeDeltas", index, member: "" },
            value: None,
            kind: ProblemKind::Timestamp,
            remedy: Remedy::NoSample,
        });
    }

    /// A state below a function, e.g. a garbage collection, is the marker of a sample of that function.
    fn push_sample(
        &mut self,
        node: Option<usize>,
        end: f64,
        parents: &[Option<usize>],
    ) -> Result<(), LimitExceeded> {
        let kind = node.map_or(Kind::State(None), |node| self.nodes[node].kind);
        let (stack_id, marker) = match kind {
            Kind::Function => (node.map(|node| node as f64), None),
            Kind::Root => (None, None),
            Kind::State(marker) => {
                let parent = node.and_then(|node| parents[node]);
                let function = parent.filter(|&parent| self.nodes[parent].kind == Kind::Function);
                (function.map(|parent| parent as f64), marker.map(Ok))
            }
        };
        self.trace.push_sample(ForeignSample { timestamp: end / 1_000.0, stack_id, marker })
    }
}

/// What is known of the time that samples stand for.
enum Times {
    /// They follow each other without gaps, from this time.
    Following(Micros),
    /// The time of each.
    Lasting(Vec<Micros>),
}

/// The median time between samples, in microseconds.
fn typical(samples: &[TimedSample]) -> f64 {
    let mut gaps: Vec<f64> = samples.windows(2).map(|pair| pair[1].start - pair[0].start).collect();
    let middle = gaps.len() / 2;
    if gaps.is_empty() { 0.0 } else { *gaps.select_nth_unstable_by(middle, f64::total_cmp).1 }
}

/// A hashable key of an id; equal for equal numbers.
fn key(id: f64) -> u64 {
    (id + 0.0).to_bits()
}

/// A node without its children.
struct RawNode {
    id: Option<f64>,
    parent: Option<f64>,
    call_frame: CallFrame,
    hits: Option<f64>,
}

#[derive(Default, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallFrame {
    function_name: Text,
    #[serde(default)]
    url: Text,
    line_number: Option<f64>,
    column_number: Option<f64>,
}

#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum ProfileMember {
    Nodes,
    Head,
    /// An answer of the DevTools protocol has the profile in this member.
    Profile,
    /// Trace events have the parts of a profile in these members, one in the other.
    Data,
    CpuProfile,
    StartTime,
    EndTime,
    Samples,
    TimeDeltas,
    Timestamps,
    Selfprof,
    #[serde(other)]
    Other,
}

/// Where an object is.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// It is the file.
    File,
    /// It is a member of the file, and the profile.
    Profile,
    /// It is the arguments of a trace event.
    Arguments,
    /// It is the member `data` of those.
    Data,
}

struct ProfileObject<'read> {
    profile: &'read mut Profile,
    place: Place,
}

impl<'de> Members<'de> for ProfileObject<'_> {
    type Value = ();
    const EXPECTED: &'static str = "a CPU profile";

    fn read<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { profile, place } = self;
        while let Some(member) = map.next_key()? {
            let place_of_member = match (&member, place) {
                (ProfileMember::Profile, Place::File) | (ProfileMember::CpuProfile, Place::Data) => {
                    Some(Place::Profile)
                }
                (ProfileMember::Data, Place::Arguments) => Some(Place::Data),
                _ => None,
            };
            if let Some(place) = place_of_member {
                map.next_value_seed(object(ProfileObject { profile, place }))?;
                continue;
            }
            match member {
                ProfileMember::Nodes | ProfileMember::Head if profile.has_nodes && !profile.is_in_chunks => {
                    return Err(A::Error::duplicate_field("nodes"));
                }
                ProfileMember::Head => {
                    (profile.has_nodes, profile.has_tree) = (true, true);
                    map.next_value_seed(object(TreeNode { profile, depth: 0 }))?;
                }
                ProfileMember::Nodes => {
                    profile.has_nodes = true;
                    map.next_value_seed(list(NodeList { profile }))?;
                }
                ProfileMember::StartTime => {
                    profile.start = map.next_value::<Option<f64>>()?.unwrap_or(f64::NAN)
                }
                ProfileMember::EndTime => profile.end = map.next_value()?,
                ProfileMember::Samples => {
                    let Profile { samples, limits, exceeded, .. } = &mut *profile;
                    numbers(&mut map, samples, limits.samples, exceeded)?;
                }
                ProfileMember::TimeDeltas => {
                    let Profile { deltas, limits, exceeded, .. } = &mut *profile;
                    numbers(&mut map, deltas, limits.samples, exceeded)?;
                }
                ProfileMember::Timestamps => {
                    let Profile { timestamps, limits, exceeded, .. } = &mut *profile;
                    numbers(&mut map, timestamps, limits.samples, exceeded)?;
                }
                ProfileMember::Selfprof => profile.extension = Some(map.next_value()?),
                ProfileMember::Profile
                | ProfileMember::Data
                | ProfileMember::CpuProfile
                | ProfileMember::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if place != Place::File {
            return Ok(());
        }
        if !profile.has_nodes {
            return Err(A::Error::missing_field("nodes"));
        }
        if profile.samples.is_none() && profile.nodes.iter().all(|node| node.hits < 1.0) {
            return Err(A::Error::missing_field("samples"));
        }
        if profile.has_tree {
            // In seconds, and on another clock than the times of samples.
            (profile.start, profile.end) = (profile.start * 1e6, profile.end.map(|end| end * 1e6));
            if profile.timestamps.is_some() {
                profile.end = None;
            }
        }
        Ok(())
    }
}

/// A profile that trace events contain in parts.
pub(crate) struct ProfileInChunks(Profile);

impl ProfileInChunks {
    pub(crate) fn new(limits: Limits) -> Self {
        Self(Profile { is_in_chunks: true, ..Profile::new(limits) })
    }

    /// Adds what the arguments of an event have of the profile.
    pub(crate) fn read_arguments(&mut self, json: &str) -> Result<(), ReadError> {
        let place = Place::Arguments;
        json::read(json.as_bytes(), ProfileObject { profile: &mut self.0, place })
            .map_err(|error| ReadError::of_json(Format::Chrome, error, self.0.exceeded.take()))
    }

    pub(crate) fn has_samples(&self) -> bool {
        self.0.samples.as_ref().is_some_and(|samples| !samples.is_empty())
    }

    pub(crate) fn into_trace(self) -> Result<(Trace, Problems), LimitExceeded> {
        self.0.into_trace()
    }
}

/// Appends a list of numbers, with `null` as NaN.
fn numbers<'de, A: MapAccess<'de>>(
    map: &mut A,
    numbers: &mut Option<Vec<f64>>,
    limit: usize,
    exceeded: &mut Exceeded,
) -> Result<(), A::Error> {
    let numbers = numbers.get_or_insert_default();
    map.next_value_seed(each(exceeded, |number: Option<f64>| {
        LimitExceeded::check("samples", numbers.len(), limit)?;
        numbers.push(number.unwrap_or(f64::NAN));
        Ok(())
    }))
}

/// Reads the list of nodes.
struct NodeList<'read> {
    profile: &'read mut Profile,
}

impl<'de> Elements<'de> for NodeList<'_> {
    const EXPECTED: &'static str = "a list of nodes";

    fn read<A: SeqAccess<'de>>(self, mut nodes: A) -> Result<(), A::Error> {
        while let Some(node) = nodes.next_element_seed(object(NodeObject { profile: self.profile }))? {
            if let Err(limit) = self.profile.push_node(node) {
                return Err(stop(limit, &mut self.profile.exceeded));
            }
        }
        Ok(())
    }
}

/// Reads a node, and adds its children to the list.
struct NodeObject<'read> {
    profile: &'read mut Profile,
}

#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum NodeMember {
    Id,
    CallFrame,
    Children,
    HitCount,
    Parent,
    #[serde(other)]
    Other,
}

impl<'de> Members<'de> for NodeObject<'_> {
    type Value = RawNode;
    const EXPECTED: &'static str = "a node";

    fn read<A: MapAccess<'de>>(self, mut map: A) -> Result<RawNode, A::Error> {
        let Profile { nodes, children, limits, exceeded, .. } = self.profile;
        let (mut id, mut parent, mut call_frame, mut hits) = (None, None, None, None);
        while let Some(member) = map.next_key()? {
            match member {
                NodeMember::Id => id = map.next_value()?,
                NodeMember::Parent => parent = map.next_value()?,
                NodeMember::HitCount => hits = map.next_value()?,
                NodeMember::CallFrame => call_frame = Some(map.next_value()?),
                NodeMember::Children => {
                    map.next_value_seed(each(exceeded, |child: Option<f64>| {
                        LimitExceeded::check("children", children.len(), limits.stacks)?;
                        children.push((nodes.len(), child.unwrap_or(f64::NAN)));
                        Ok(())
                    }))?;
                }
                NodeMember::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let call_frame = call_frame.ok_or_else(|| A::Error::missing_field("callFrame"))?;
        Ok(RawNode { id, parent, call_frame, hits })
    }
}

/// The deepest tree that is read. V8 captures about 255 functions of a stack.
const MAX_DEPTH: usize = 512;

/// Reads a node of a tree, and adds its children before it.
struct TreeNode<'read> {
    profile: &'read mut Profile,
    depth: usize,
}

#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum TreeMember {
    Id,
    FunctionName,
    Url,
    LineNumber,
    ColumnNumber,
    Children,
    HitCount,
    #[serde(other)]
    Other,
}

impl<'de> Members<'de> for TreeNode<'_> {
    type Value = usize;
    const EXPECTED: &'static str = "a node of a tree";

    fn read<A: MapAccess<'de>>(self, mut map: A) -> Result<usize, A::Error> {
        let Self { profile, depth } = self;
        let mut node = RawNode { id: None, parent: None, call_frame: CallFrame::default(), hits: None };
        let mut children = Vec::new();
        // These count from 1, and are 0 if unknown.
        let from_zero = |number: Option<f64>| number.map(|number| number - 1.0);
        while let Some(member) = map.next_key()? {
            match member {
                TreeMember::Id => node.id = map.next_value()?,
                TreeMember::FunctionName => node.call_frame.function_name = map.next_value()?,
                TreeMember::Url => node.call_frame.url = map.next_value()?,
                TreeMember::LineNumber => node.call_frame.line_number = from_zero(map.next_value()?),
                TreeMember::ColumnNumber => node.call_frame.column_number = from_zero(map.next_value()?),
                TreeMember::HitCount => node.hits = map.next_value()?,
                TreeMember::Children => {
                    if depth == MAX_DEPTH {
                        let limit = LimitExceeded::new("levels of nodes", MAX_DEPTH);
                        return Err(stop(limit, &mut profile.exceeded));
                    }
                    map.next_value_seed(list(TreeNodes { profile, depth, children: &mut children }))?;
                }
                TreeMember::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let index = profile.nodes.len();
        if let Err(limit) = profile.push_node(node) {
            return Err(stop(limit, &mut profile.exceeded));
        }
        profile.tree_children.extend(children.into_iter().map(|child| (index, child)));
        Ok(index)
    }
}

/// Reads the children of a node.
struct TreeNodes<'read> {
    profile: &'read mut Profile,
    depth: usize,
    children: &'read mut Vec<usize>,
}

impl<'de> Elements<'de> for TreeNodes<'_> {
    const EXPECTED: &'static str = "a list of nodes";

    fn read<A: SeqAccess<'de>>(self, mut nodes: A) -> Result<(), A::Error> {
        let Self { profile, depth, children } = self;
        while let Some(child) = nodes.next_element_seed(object(TreeNode { profile, depth: depth + 1 }))? {
            children.push(child);
        }
        Ok(())
    }
}
