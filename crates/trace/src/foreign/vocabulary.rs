//! A format's names of the lists and members of a trace.

/// The names that problems are reported with, so that users find them in their file. An empty name stands for the
/// element itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    /// The list of functions.
    pub frames: &'static str,
    /// A function's resource.
    pub resource: &'static str,
    /// The line of a function's definition.
    pub line: &'static str,
    /// The column of a function's definition.
    pub column: &'static str,
    /// The list of stacks.
    pub stacks: &'static str,
    /// A stack's parent.
    pub parent: &'static str,
    /// A stack's innermost function.
    pub frame: &'static str,
    /// The list of samples.
    pub samples: &'static str,
    /// A sample's time.
    pub timestamp: &'static str,
    /// A sample's stack.
    pub stack: &'static str,
    /// A sample's marker.
    pub marker: &'static str,
}

impl Vocabulary {
    /// The names in a [`ProfilerTrace`](https://wicg.github.io/js-self-profiling/#the-profilertrace-dictionary).
    pub const W3C: Self = Self {
        frames: "frames",
        resource: "resourceId",
        line: "line",
        column: "column",
        stacks: "stacks",
        parent: "parentId",
        frame: "frameId",
        samples: "samples",
        timestamp: "timestamp",
        stack: "stackId",
        marker: "marker",
    };
}
