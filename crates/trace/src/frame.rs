//! Frames: the functions of a trace.

use std::num::NonZeroU32;

use crate::id::{NameId, ResourceId};

/// A function ([`ProfilerFrame`]). Frames with equal components are the same function.
///
/// Native functions such as `appendChild` have only a name; anonymous functions have the empty name.
///
/// [`ProfilerFrame`]: https://wicg.github.io/js-self-profiling/#the-profilerframe-dictionary
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The name of the function instance.
    pub name: NameId,
    /// The script that defines the function.
    pub resource: Option<ResourceId>,
    /// The 1-based line of the definition in the script.
    pub line: Option<NonZeroU32>,
    /// The 1-based column of the definition in its line.
    pub column: Option<NonZeroU32>,
}

impl Frame {
    /// The position of the definition, if both line and column are known.
    pub fn position(&self) -> Option<Position> {
        Some(Position { line: self.line?, column: self.column? })
    }
}

/// A position in a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The 1-based line.
    pub line: NonZeroU32,
    /// The 1-based column, in the units of the engine (UTF-16 code units in V8).
    pub column: NonZeroU32,
}

impl Position {
    /// A position from 1-based numbers; `None` if either is 0, which engines use for "unknown".
    pub fn new(line: u32, column: u32) -> Option<Self> {
        Some(Self { line: NonZeroU32::new(line)?, column: NonZeroU32::new(column)? })
    }
}
