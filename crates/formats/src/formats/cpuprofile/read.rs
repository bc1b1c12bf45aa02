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
use super::nodes::{ROOT_NAME, V8_STATES};
use crate::error::ReadError;
use crate::format::Format;
use crate::json::{self, Elements, Exceeded, Members, Text, each, list, object, stop};
use crate::options::ReadOptions;
use crate::samples::states;
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
/// Invalid ids and numbers are repaired and listed in [`Problems`]. Text that is not JSON, does not have the shape of a profile, or
/// exceeds the options is an error.
pub fn read(input: impl Read, options: &ReadOptions) -> Result<(Trace, Problems), ReadError> {
    read_text(&input::text(input, options.max_bytes)?, options)
}

pub(crate) fn read_text(text: &[u8], options: &ReadOptions) -> Result<(Trace, Problems), ReadError> {
    let mut profile = Profile::new(options.limits);
    match json::read(text, ProfileObject { profile: &mut profile }) {
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
    start: f64,
    samples: Option<Vec<f64>>,
    deltas: Option<Vec<f64>>,
    extension: Option<Extension>,
    exceeded: Exceeded,
}

/// A node without its function.
#[derive(Clone, Copy)]
struct Node {
    id: f64,
    parent: Option<f64>,
    kind: Kind,
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
            start: 0.0,
            samples: None,
            deltas: None,
            extension: None,
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
        self.nodes.push(Node { id: raw.id.unwrap_or(f64::NAN), parent: raw.parent, kind });
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
        let ids = self.index_nodes();
        let parents = self.parents(&ids);
        for (index, parent) in parents.iter().enumerate() {
            let above = parent.filter(|&parent| self.nodes[parent].kind != Kind::Root);
            let parent_id = above.map(|parent| parent as f64);
            self.trace.push_stack(ForeignStack { parent_id, frame_id: index as f64 })?;
        }
        self.push_samples(&ids, &parents)?;
        let (trace, problems) = self.trace.validate();
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

    /// A state below a function, e.g. a garbage collection, is the marker of a sample of that function.
    fn push_samples(
        &mut self,
        ids: &HashMap<u64, usize>,
        parents: &[Option<usize>],
    ) -> Result<(), LimitExceeded> {
        let (samples, deltas) =
            (self.samples.take().unwrap_or_default(), self.deltas.take().unwrap_or_default());
        if samples.len() != deltas.len() {
            let (kind, remedy) = (ProblemKind::Length, Remedy::Shortened);
            self.trace.report(Problem {
                location: Location::Member("timeDeltas"),
                value: None,
                kind,
                remedy,
            });
        }
        let own = self.extension.take().filter(|extension| extension.version == extension::VERSION);
        let origin = own.as_ref().map_or(0.0, |extension| extension.time_origin);
        // V8 writes samples out of order, with negative deltas. DevTools sorts them too.
        self.trace.allow_unsorted_samples();
        let mut time = self.start - origin;
        let count = samples.len().min(deltas.len());
        // In selfprof's own files, a sample ends where the next one starts, and the end is its time in the trace.
        let mut pauses = own.iter().flat_map(|extension| &extension.pauses).copied().peekable();
        let last = own.as_ref().and_then(|_| count.checked_sub(1));
        for index in 0..count {
            if deltas[index].is_finite() {
                time += deltas[index];
            } else {
                self.report(
                    "timeDeltas",
                    index,
                    "",
                    (deltas[index], ProblemKind::Timestamp, Remedy::SameTime),
                );
            }
            let node = ids.get(&key(samples[index])).copied();
            if node.is_none() {
                self.report("samples", index, "", (samples[index], ProblemKind::Dangling, Remedy::NoStack));
            }
            let kind = node.map_or(Kind::State(None), |node| self.nodes[node].kind);
            if last == Some(index) || pauses.next_if_eq(&index).is_some() {
                continue;
            }
            let end = own.as_ref().map_or(time, |extension| {
                let moved = extension.moved.get(index + 1).unwrap_or(&0.0);
                time + deltas.get(index + 1).unwrap_or(&0.0) - moved
            });
            if Micros::from_millis_f64(end / 1000.0).is_none() {
                self.trace.report(Problem {
                    location: Location::Element { list: "timeDeltas", index, member: "" },
                    value: None,
                    kind: ProblemKind::Timestamp,
                    remedy: Remedy::NoSample,
                });
                continue;
            }
            let (stack_id, marker) = match kind {
                Kind::Function => (node.map(|node| node as f64), None),
                Kind::Root => (None, None),
                Kind::State(marker) => {
                    let parent = node.and_then(|node| parents[node]);
                    let function = parent.filter(|&parent| self.nodes[parent].kind == Kind::Function);
                    (function.map(|parent| parent as f64), marker.map(Ok))
                }
            };
            self.trace.push_sample(ForeignSample { timestamp: end / 1000.0, stack_id, marker })?;
        }
        Ok(())
    }
}

/// A hashable key of an id; equal for equal numbers.
fn key(id: f64) -> u64 {
    (id + 0.0).to_bits()
}

/// The state of a node with this name and no script; `None` if it is a function.
fn state_of(name: &str) -> Option<Option<Marker>> {
    let of_v8 = V8_STATES.into_iter().find(|(known, _)| *known == name).map(|(_, marker)| marker);
    of_v8.or_else(|| states::all().find(|&marker| states::name(marker) == name))
}

/// A node without its children.
struct RawNode {
    id: Option<f64>,
    parent: Option<f64>,
    call_frame: CallFrame,
}

#[derive(serde::Deserialize)]
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
    StartTime,
    Samples,
    TimeDeltas,
    Selfprof,
    #[serde(other)]
    Other,
}

struct ProfileObject<'read> {
    profile: &'read mut Profile,
}

impl<'de> Members<'de> for ProfileObject<'_> {
    type Value = ();
    const EXPECTED: &'static str = "a CPU profile";

    fn read<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let profile = self.profile;
        let mut has_nodes = false;
        while let Some(member) = map.next_key()? {
            match member {
                ProfileMember::Nodes if has_nodes => return Err(A::Error::duplicate_field("nodes")),
                ProfileMember::Nodes => {
                    has_nodes = true;
                    map.next_value_seed(list(NodeList { profile }))?;
                }
                ProfileMember::StartTime => {
                    profile.start = map.next_value::<Option<f64>>()?.unwrap_or(f64::NAN)
                }
                ProfileMember::Samples => {
                    let numbers = numbers(&mut map, profile.limits.samples, &mut profile.exceeded)?;
                    profile.samples = Some(numbers);
                }
                ProfileMember::TimeDeltas => {
                    let numbers = numbers(&mut map, profile.limits.samples, &mut profile.exceeded)?;
                    profile.deltas = Some(numbers);
                }
                ProfileMember::Selfprof => profile.extension = Some(map.next_value()?),
                ProfileMember::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let seen = [
            ("nodes", has_nodes),
            ("samples", profile.samples.is_some()),
            ("timeDeltas", profile.deltas.is_some()),
        ];
        match seen.into_iter().find(|(_, seen)| !seen) {
            Some((name, _)) => Err(A::Error::missing_field(name)),
            None => Ok(()),
        }
    }
}

/// Reads a list of numbers, with `null` as NaN.
fn numbers<'de, A: MapAccess<'de>>(
    map: &mut A,
    limit: usize,
    exceeded: &mut Exceeded,
) -> Result<Vec<f64>, A::Error> {
    let mut numbers = Vec::new();
    map.next_value_seed(each(exceeded, |number: Option<f64>| {
        LimitExceeded::check("samples", numbers.len(), limit)?;
        numbers.push(number.unwrap_or(f64::NAN));
        Ok(())
    }))?;
    Ok(numbers)
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
    Parent,
    #[serde(other)]
    Other,
}

impl<'de> Members<'de> for NodeObject<'_> {
    type Value = RawNode;
    const EXPECTED: &'static str = "a node";

    fn read<A: MapAccess<'de>>(self, mut map: A) -> Result<RawNode, A::Error> {
        let Profile { nodes, children, limits, exceeded, .. } = self.profile;
        let (mut id, mut parent, mut call_frame) = (None, None, None);
        while let Some(member) = map.next_key()? {
            match member {
                NodeMember::Id => id = map.next_value()?,
                NodeMember::Parent => parent = map.next_value()?,
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
        Ok(RawNode { id, parent, call_frame })
    }
}
