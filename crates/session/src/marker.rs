//! What the agent was doing when a sample was taken.

use selfprof_trace::Marker;

/// The state of an agent's engine, as its sampler reports it. The names are V8's `StateTag`s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AgentState {
    /// Executing JavaScript.
    JavaScript,
    /// Collecting garbage. V8 reports no stack in this state.
    GarbageCollection,
    /// Parsing source text.
    Parser,
    /// Generating bytecode.
    BytecodeCompiler,
    /// Generating or optimising machine code.
    Compiler,
    /// Inside the engine's own runtime.
    Other,
    /// Inside a host function that JavaScript called, or inside the host itself.
    External,
    /// Blocked in `Atomics.wait`.
    AtomicsWait,
    /// Waiting for events.
    Idle,
}

impl AgentState {
    /// The sample's [marker](https://github.com/WICG/js-self-profiling/blob/main/markers.md), `None` when idle.
    ///
    /// `script` and `gc` are the states with these names. All other work is `other`: the parser, the compilers, the
    /// engine's runtime, and host functions. (Chromium sets no marker for compiling and host functions. A sample
    /// without a marker would wrongly read as idle.) A thread that is blocked in `Atomics.wait` is idle.
    #[must_use]
    pub fn marker(self) -> Option<Marker> {
        match self {
            Self::JavaScript => Some(Marker::Script),
            Self::GarbageCollection => Some(Marker::Gc),
            Self::Parser | Self::BytecodeCompiler | Self::Compiler | Self::Other | Self::External => {
                Some(Marker::Other)
            }
            Self::AtomicsWait | Self::Idle => None,
        }
    }
}
