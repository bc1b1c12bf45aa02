//! Raw samples and traces as text: `0 main;work, 10 gc, 20` are samples after 0, 10 and 20 microseconds, the first with
//! two frames, the second in a garbage collection, the third idle. `work@7` is a function of the script with the id 7.

use std::collections::HashMap;

use selfprof_session::{
    Admission, AgentState, BufferPolicy, FrameAdmission, Function, FunctionKind, HostRoot, Instant, Outcome,
    RawNode, RawSample, RawSegment, Recording, RecordingOptions, Span,
};
use selfprof_trace::{Marker, Micros, Sample, StackId, Trace};

/// The admission of the tests: `[name]` is host code, `{name}` is hidden, any other name is shown.
#[derive(Debug)]
pub struct Brackets;

impl FrameAdmission for Brackets {
    fn admit(&self, _: &Function, resource: &str) -> Admission {
        match resource {
            "host.js" => Admission::Host,
            "hidden.js" => Admission::Hide,
            _ => Admission::Show,
        }
    }
}

/// As [`Brackets`], where the innermost function stands for host code that no function of the author has called.
#[derive(Debug)]
pub struct InnermostBrackets;

impl FrameAdmission for InnermostBrackets {
    fn admit(&self, function: &Function, resource: &str) -> Admission {
        Brackets.admit(function, resource)
    }

    fn host_root(&self) -> HostRoot {
        HostRoot::Innermost
    }
}

/// Records every sample at an interval of 1 µs, without a limit.
pub const EVERYTHING: RecordingOptions = RecordingOptions {
    origin: Instant(0),
    interval: Micros(1),
    limit: None,
    most_stacks: None,
    most_frame_bytes: None,
    policy: BufferPolicy::Stop,
    resolution: Micros::ZERO,
    waiting: false,
    labels: false,
};

pub const ALWAYS: &[Span] = &[Span { from: Instant(0), to: None }];

#[derive(Default)]
struct SegmentBuilder {
    segment: RawSegment,
    strings: HashMap<String, u32>,
    functions: HashMap<String, u32>,
    nodes: HashMap<(Option<u32>, u32), u32>,
}

impl SegmentBuilder {
    fn string(&mut self, text: &str) -> u32 {
        *self.strings.entry(text.to_owned()).or_insert_with(|| {
            self.segment.strings.push(text.into());
            self.segment.strings.len() as u32 - 1
        })
    }

    fn function(&mut self, notation: &str) -> u32 {
        if let Some(&function) = self.functions.get(notation) {
            return function;
        }
        let (inner, script_id) = notation.split_once('@').unwrap_or((notation, "1"));
        let (name, resource) = match inner.as_bytes() {
            [b'[', .., b']'] => (&inner[1..inner.len() - 1], "host.js"),
            [b'{', .., b'}'] => (&inner[1..inner.len() - 1], "hidden.js"),
            _ => (inner, "app.js"),
        };
        let script_id = script_id.parse().unwrap();
        let (name, resource) = (self.string(name), self.string(resource));
        let kind = FunctionKind::Script;
        self.segment.functions.push(Function { name, resource, script_id, line: 7, column: 0, kind });
        let function = self.segment.functions.len() as u32 - 1;
        self.functions.insert(notation.to_owned(), function);
        function
    }

    fn stack(&mut self, notation: &str) -> Option<u32> {
        let mut parent = None;
        for frame in notation.split(';') {
            let function = self.function(frame);
            let next = self.segment.nodes.len() as u32;
            let node = *self.nodes.entry((parent, function)).or_insert(next);
            if node == next {
                self.segment.nodes.push(RawNode { parent, function });
            }
            parent = Some(node);
        }
        parent
    }

    fn sample(&mut self, notation: &str) {
        let mut words = notation.split_whitespace();
        let at = Instant(words.next().unwrap().parse().unwrap());
        let (mut node, mut state) = (None, AgentState::Idle);
        for word in words {
            match word {
                "gc" => state = AgentState::GarbageCollection,
                stack => (node, state) = (self.stack(stack), AgentState::JavaScript),
            }
        }
        self.segment.samples.push(RawSample { at, node, state });
    }
}

pub fn segment(notation: &str) -> RawSegment {
    let mut builder = SegmentBuilder::default();
    notation.split(", ").filter(|sample| !sample.is_empty()).for_each(|sample| builder.sample(sample));
    builder.segment
}

/// A stack with its frames from root to leaf. `[name]` is a frame with only a name.
fn show_stack(trace: &Trace, stack: StackId) -> String {
    let mut frames: Vec<_> = trace
        .path(stack)
        .map(|id| {
            let frame = trace.frames()[id];
            let name = &trace.names()[frame.name];
            match (frame.resource, frame.line) {
                (None, None) => format!("[{name}]"),
                (Some(resource), Some(_)) if &trace.resources()[resource] == "app.js" => name.to_owned(),
                _ => panic!("{frame:?}"),
            }
        })
        .collect();
    frames.reverse();
    frames.join(";")
}

pub fn show_samples(trace: &Trace, samples: &[Sample]) -> String {
    let show = |sample: &Sample| {
        let mut text = sample.timestamp.0.to_string();
        if let Some(stack) = sample.stack {
            text += " ";
            text += &show_stack(trace, stack);
        }
        if let Some(marker) = sample.marker.filter(|&marker| marker != Marker::Script) {
            text += &format!(" {marker}");
        }
        text
    };
    samples.iter().map(show).collect::<Vec<_>>().join(", ")
}

pub fn show(trace: &Trace) -> String {
    show_samples(trace, trace.samples())
}

/// All stacks in the order of their ids.
pub fn show_stacks(trace: &Trace) -> Vec<String> {
    trace.stacks().iter().map(|(id, _)| show_stack(trace, id)).collect()
}

pub fn append(recording: &mut Recording, notation: &str) -> Outcome {
    recording.append(&segment(notation), ALWAYS, &[], &Brackets).unwrap()
}

/// Records the segments one after another.
pub fn record(options: RecordingOptions, segments: &[&str]) -> Trace {
    let mut recording = Recording::new(options);
    for segment in segments {
        append(&mut recording, segment);
    }
    recording.finish()
}
