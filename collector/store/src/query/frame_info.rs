//! A function, as answers name it.

use std::num::NonZeroU32;

use selfprof_trace::{FrameId, Trace};

/// A function. Two frames with the same function have the same name, file, line and column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FrameInfo {
    /// Its name; empty for an anonymous one.
    pub name: String,
    /// Its file, or the URL of its script; empty for a built-in function.
    pub file: String,
    /// Its line.
    pub line: Option<i32>,
    /// Its column.
    pub column: Option<i32>,
}

impl FrameInfo {
    /// A function of a trace.
    pub(crate) fn of(trace: &Trace, id: FrameId) -> Self {
        let frame = trace.frames()[id];
        let number = |number: Option<NonZeroU32>| number.and_then(|number| i32::try_from(number.get()).ok());
        Self {
            name: trace.names()[frame.name].to_owned(),
            file: frame.resource.map_or("", |resource| &trace.resources()[resource]).to_owned(),
            line: number(frame.line),
            column: number(frame.column),
        }
    }
}
