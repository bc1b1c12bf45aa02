//! Stacks, stored as the innermost frame and the calling stack.

use crate::id::{FrameId, StackId};

/// A stack ([`ProfilerStack`]): the innermost frame, and the id of the calling stack.
///
/// Stacks with the same callers share their parents, so the table of stacks is the call tree of the trace.
///
/// [`ProfilerStack`]: https://wicg.github.io/js-self-profiling/#the-profilerstack-dictionary
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stack {
    /// The calling stack; `None` if the frame is the outermost.
    pub parent: Option<StackId>,
    /// The innermost frame.
    pub frame: FrameId,
}
