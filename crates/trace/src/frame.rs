//! A function that was seen running.

use std::num::NonZeroU32;

use crate::{NameId, ResourceId};

/// A function, as a trace knows it ([`ProfilerFrame`]): two frames are the same function when all their
/// components are equal.
///
/// Host functions such as `appendChild` have a name alone; anonymous functions have the empty name.
///
/// [`ProfilerFrame`]: https://wicg.github.io/js-self-profiling/#the-profilerframe-dictionary
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The function instance's name.
    pub name: NameId,
    /// The script that defines the function.
    pub resource: Option<ResourceId>,
    /// The line of the definition in the script, counted from 1.
    pub line: Option<NonZeroU32>,
    /// The column of the definition in its line, counted from 1.
    pub column: Option<NonZeroU32>,
}

impl Frame {
    /// Where the function is defined, when both its line and column are known.
    pub fn position(&self) -> Option<Position> {
        Some(Position { line: self.line?, column: self.column? })
    }
}

/// Where in its script a function is defined: line and column, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, counted from 1.
    pub line: NonZeroU32,
    /// The column in the line, counted from 1, in the units of the engine (UTF-16 code units in V8).
    pub column: NonZeroU32,
}

impl Position {
    /// A position from numbers that count from 1; `None` when either is 0, which engines use for "unknown".
    pub fn new(line: u32, column: u32) -> Option<Self> {
        Some(Self { line: NonZeroU32::new(line)?, column: NonZeroU32::new(column)? })
    }
}
