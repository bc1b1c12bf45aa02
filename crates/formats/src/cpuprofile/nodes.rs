//! Stacks and states as nodes of a call tree, which is how V8 has them.

use std::io::{self, Write};

use selfprof_trace::{Frame, Marker, Sample, StackId, Trace};

use crate::json::string;
use crate::spans;

/// The names that V8 gives to work without a function, and how a sample of it is marked.
pub(super) const STATES_OF_V8: [(&str, Option<Marker>); 3] =
    [("(idle)", None), ("(garbage collector)", Some(Marker::Gc)), ("(program)", Some(Marker::Other))];

/// The name that V8 gives to what calls everything else.
pub(crate) const ROOT_NAME: &str = "(root)";

/// The id of the root.
pub(crate) const ROOT: usize = 1;

/// The ids of a trace's nodes: the root's, then the stacks', then the states'.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nodes {
    stacks: usize,
}

impl Nodes {
    pub(crate) fn of(trace: &Trace) -> Self {
        Self { stacks: trace.stacks().len() }
    }

    /// The node of a stack.
    pub(crate) fn of_stack(self, stack: StackId) -> usize {
        stack.index() + ROOT + 1
    }

    /// The node of work without a function, or of none.
    pub(crate) fn of_state(self, marker: Option<Marker>) -> usize {
        self.stacks + ROOT + 1 + spans::state_index(marker)
    }

    /// The node of what a sample found; of none for a pause.
    pub(crate) fn of_sample(self, sample: Option<&Sample>) -> usize {
        match sample {
            Some(Sample { stack: Some(stack), .. }) => self.of_stack(*stack),
            Some(Sample { marker, .. }) => self.of_state(*marker),
            None => self.of_state(None),
        }
    }
}

/// Writes the call frame of a function. Its lines and columns count from 0, and are -1 when they are not known.
pub(crate) fn write_call_frame(out: &mut impl Write, trace: &Trace, frame: &Frame) -> io::Result<()> {
    let Frame { name, resource, line, column } = *frame;
    out.write_all(b"{\"functionName\":")?;
    string(out, &trace.names()[name])?;
    write!(out, ",\"scriptId\":\"{}\",\"url\":", resource.map_or(0, |id| id.index() + 1))?;
    string(out, resource.map_or("", |id| &trace.resources()[id]))?;
    let [line, column] = [line, column].map(|number| number.map_or(-1, |number| i64::from(number.get()) - 1));
    write!(out, ",\"lineNumber\":{line},\"columnNumber\":{column}}}")
}

/// Writes the call frame of something that has a name alone.
pub(crate) fn write_bare_call_frame(out: &mut impl Write, name: &str) -> io::Result<()> {
    out.write_all(b"{\"functionName\":")?;
    string(out, name)?;
    out.write_all(br#","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1}"#)
}
