//! Functions as text, for formats that have no tables of names and scripts.

use selfprof_trace::{Frame, Trace};

/// The name of a function without one.
pub(crate) const ANONYMOUS: &str = "(anonymous)";

/// The function's name, or [`ANONYMOUS`].
#[cfg(feature = "conversion")]
pub(crate) fn name<'trace>(trace: &'trace Trace, frame: &Frame) -> &'trace str {
    match &trace.names()[frame.name] {
        "" => ANONYMOUS,
        name => name,
    }
}

/// The function's location, `resource:line:column`, as far as it is known.
pub(crate) fn location(trace: &Trace, frame: &Frame) -> Option<String> {
    let mut text = trace.resources()[frame.resource?].to_owned();
    for number in [frame.line, frame.line.and(frame.column)].into_iter().flatten() {
        text += &format!(":{number}");
    }
    Some(text)
}
