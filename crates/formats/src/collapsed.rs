//! Collapsed (or folded) stacks: a line for each stack, which [flame graphs] are drawn from.
//!
//! ```text
//! main (a.js:1:1);render (a.js:7:12);appendChild 1250
//! ```
//!
//! The functions stand root first, each with its place, so that functions of the same name stay apart. The number is the
//! time in microseconds that was spent right there. Work without a function is one of its own, e.g. `(layout)`. The
//! format has no times, so idle samples, markers, marks and measures are left out.
//!
//! [flame graphs]: https://www.brendangregg.com/flamegraphs.html

use std::io::{self, Write};

use foldhash::HashMap;
use selfprof_trace::{Frame, FrameId, Marker, Micros, StackId, Trace};

use crate::output;
use crate::spans::state;
use crate::totals::{check_depth, totals};
use crate::{WriteError, WriteOptions};

/// Writes the stacks of a trace in the order in which they came.
pub fn write(trace: &Trace, out: impl Write, options: WriteOptions) -> Result<(), WriteError> {
    // The marker of a stack has no place in a line.
    let mut lines: Vec<(Option<StackId>, Option<Marker>, Micros)> = Vec::new();
    let mut places = HashMap::default();
    for total in totals(trace).into_iter().filter(|total| !total.is_idle()) {
        let marker = total.marker.filter(|_| total.stack.is_none());
        let place = *places.entry((total.stack, marker)).or_insert_with(|| {
            lines.push((total.stack, marker, Micros::ZERO));
            lines.len() - 1
        });
        lines[place].2 = lines[place].2.saturating_add(total.time);
    }
    check_depth(trace, lines.iter().map(|(stack, ..)| *stack))?;
    let names: Vec<String> = trace.frames().iter().map(|(_, frame)| name(trace, &frame)).collect();
    output::write(out, options, |out| {
        let mut path: Vec<FrameId> = Vec::new();
        for (stack, marker, time) in lines {
            match stack {
                Some(stack) => {
                    path.clear();
                    path.extend(trace.path(stack));
                    for (index, frame) in path.iter().rev().enumerate() {
                        let separator = if index == 0 { "" } else { ";" };
                        write!(out, "{separator}{}", names[frame.index()])?;
                    }
                }
                None => out.write_all(state(marker).as_bytes())?,
            }
            writeln!(out, " {}", time.0)?;
        }
        io::Result::Ok(())
    })?;
    Ok(())
}

/// `name (resource:line:column)`, as far as it is known, without what ends a function or a line.
fn name(trace: &Trace, frame: &Frame) -> String {
    let mut text = match &trace.names()[frame.name] {
        "" => "(anonymous)".to_owned(),
        name => name.to_owned(),
    };
    if let Some(resource) = frame.resource {
        text += " (";
        text += &trace.resources()[resource];
        for number in [frame.line, frame.line.and(frame.column)].into_iter().flatten() {
            text += &format!(":{number}");
        }
        text += ")";
    }
    text.replace(';', ",").replace(char::is_control, " ")
}

#[cfg(test)]
mod tests;
