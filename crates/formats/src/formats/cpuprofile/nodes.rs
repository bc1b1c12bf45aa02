//! Stacks and states as nodes of V8's call tree.

use std::io::{self, Write};

use selfprof_trace::{Frame, FrameId, Marker, Sample, StackId, Trace};

use crate::json::string;
use crate::samples::states;

/// V8's names of work without a function, and the markers that they are read as.
const V8_STATES: [(&str, Option<Marker>); 3] =
    [("(idle)", None), ("(garbage collector)", Some(Marker::Gc)), ("(program)", Some(Marker::Other))];

/// The state of a node with this name and no script; `None` if it is a function.
pub(crate) fn state_of(name: &str) -> Option<Option<Marker>> {
    let of_v8 = V8_STATES.into_iter().find(|(known, _)| *known == name).map(|(_, marker)| marker);
    of_v8.or_else(|| states::all().find(|&marker| states::name(marker) == name))
}

/// V8's name of the root node.
pub(crate) const ROOT_NAME: &str = "(root)";

/// The id of the root.
pub(crate) const ROOT: usize = 1;

/// The node ids of a trace: the root, then the stacks, then the states.
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

    /// The node of a state.
    pub(crate) fn of_state(self, marker: Option<Marker>) -> usize {
        self.stacks + ROOT + 1 + states::index(marker)
    }

    /// The node of a sample, or of a pause.
    pub(crate) fn of_sample(self, sample: Option<&Sample>) -> usize {
        match sample {
            Some(Sample { stack: Some(stack), .. }) => self.of_stack(*stack),
            Some(Sample { marker, .. }) => self.of_state(*marker),
            None => self.of_state(None),
        }
    }
}

/// Writes the call frame of a function. Lines and columns count from 0 and are -1 if unknown. The garbage collector is
/// named as in [`states`].
pub(crate) fn write_call_frame(out: &mut impl Write, trace: &Trace, frame: FrameId) -> io::Result<()> {
    if trace.is_gc(frame) {
        return write_bare_call_frame(out, states::name(Some(Marker::Gc)));
    }
    let Frame { name, resource, line, column } = trace.frames()[frame];
    out.write_all(b"{\"functionName\":")?;
    string(out, &trace.names()[name])?;
    write!(out, ",\"scriptId\":\"{}\",\"url\":", resource.map_or(0, |id| id.index() + 1))?;
    string(out, resource.map_or("", |id| &trace.resources()[id]))?;
    let [line, column] = [line, column].map(|number| number.map_or(-1, |number| i64::from(number.get()) - 1));
    write!(out, ",\"lineNumber\":{line},\"columnNumber\":{column}}}")
}

/// Writes a call frame that has only a name.
pub(crate) fn write_bare_call_frame(out: &mut impl Write, name: &str) -> io::Result<()> {
    out.write_all(b"{\"functionName\":")?;
    string(out, name)?;
    out.write_all(br#","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1}"#)
}
