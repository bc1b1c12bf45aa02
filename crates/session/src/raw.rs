//! A sampler's output: a segment of raw samples with the functions on their stacks.

use std::sync::Arc;

use selfprof_trace::{LabelSet, Micros};

use crate::{AgentState, Instant};

/// All samples between a start and a stop of the sampler, as the engine recorded them, of all scripts and all realms.
/// No [`crate::FrameAdmission`] has filtered them yet.
#[derive(Clone, Debug, Default)]
pub struct RawSegment {
    /// Names and script URLs, each once.
    pub strings: Vec<Box<str>>,
    /// Every function that is on a sampled stack.
    pub functions: Vec<Function>,
    /// Stacks as a tree. A parent precedes its children.
    pub nodes: Vec<RawNode>,
    /// The samples; a sampler may deliver them out of order.
    pub samples: Vec<RawSample>,
    /// How many samples the engine took but could not keep.
    pub lost: u64,
    /// The CPU times of the thread in order, up to the end of the segment, if they are wanted and known. Straight lines
    /// connect them.
    pub cpu_times: Option<Vec<CpuTime>>,
    /// When the labels of the sampled code changed, in order. Before the first change, they are those of the segment
    /// before.
    pub labels: Vec<RawLabels>,
}

/// The labels of samples from one moment on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawLabels {
    /// The moment.
    pub from: Instant,
    /// When the labels were read before. That was for the next sample after that time; of samples between the two,
    /// nobody knows the labels unless both are equal.
    pub before: Instant,
    /// The labels; `None` if samples have none.
    pub labels: Option<Arc<LabelSet>>,
}

/// How long a thread has run at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuTime {
    /// The moment.
    pub at: Instant,
    /// The CPU time since the thread began.
    pub cpu: Micros,
    /// Whether nothing is known of the time between this one and the one before.
    pub is_after_gap: bool,
}

/// A function as the engine knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// Index into [`RawSegment::strings`]: the function's ECMAScript name, empty when anonymous.
    pub name: u32,
    /// Index into [`RawSegment::strings`]: the URL or path of its script, empty when it has none.
    pub resource: u32,
    /// The engine's id of its script; 0 when it has none.
    pub script_id: i32,
    /// 1-based line of its definition, 0 when unknown.
    pub line: u32,
    /// 1-based column of its definition, 0 when unknown.
    pub column: u32,
    /// Who defined it.
    pub kind: FunctionKind,
}

/// Who defined a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// A script's author.
    Script,
    /// The engine or the host: a built-in function or a callback into native code.
    BuiltIn,
}

/// One node of the tree of stacks: a function called from the stack that is its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawNode {
    /// Index into [`RawSegment::nodes`] of the caller's node, below this node's own; `None` for an outermost call.
    pub parent: Option<u32>,
    /// Index into [`RawSegment::functions`].
    pub function: u32,
}

/// One sample as the engine took it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawSample {
    /// When it was taken.
    pub at: Instant,
    /// Index into [`RawSegment::nodes`] of the innermost call; `None` for an empty stack.
    pub node: Option<u32>,
    /// What the agent was doing.
    pub state: AgentState,
}
