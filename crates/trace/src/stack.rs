//! A stack, stored as its last call and the stack that made it.

use crate::{FrameId, StackId};

/// A stack ([`ProfilerStack`]): the innermost frame, and the rest of the stack by its id.
///
/// Stacks with the same callers share them, so the table of stacks is the call tree of the trace.
///
/// [`ProfilerStack`]: https://wicg.github.io/js-self-profiling/#the-profilerstack-dictionary
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stack {
    /// The stack that called the frame; `None` for an outermost frame.
    pub parent: Option<StackId>,
    /// The innermost frame.
    pub frame: FrameId,
}
