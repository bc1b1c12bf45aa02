//! Collapsed (or folded) stacks: one line per stack, the input of [flame graphs].
//!
//! ```text
//! main (a.js:1:1);render (a.js:7:12);appendChild 1250
//! ```
//!
//! Functions are listed root first, with their locations, so that functions of the same name stay distinct. The number
//! is the self time in microseconds. Work without a function is shown as one, e.g. `(layout)`. The format cannot hold
//! times, idle samples, markers, marks or measures.
//!
//! [flame graphs]: https://www.brendangregg.com/flamegraphs.html

use std::io::{self, Write};

use foldhash::HashMap;
use selfprof_trace::{Frame, FrameId, Marker, Micros, StackId, Trace};

use crate::error::WriteError;
use crate::functions;
use crate::options::WriteOptions;
use crate::samples::states;
use crate::samples::totals::{check_depth, totals};
use crate::streams::output;

/// Writes the stacks of a trace, in the order of their first samples.
pub fn write(trace: &Trace, out: impl Write, options: WriteOptions) -> Result<(), WriteError> {
    // Samples that differ only in their markers share a line.
    let mut lines: Vec<(Option<StackId>, Option<Marker>, Micros)> = Vec::new();
    let mut indexes = HashMap::default();
    for total in totals(trace).into_iter().filter(|total| !total.is_idle()) {
        let marker = total.marker.filter(|_| total.stack.is_none());
        let index = *indexes.entry((total.stack, marker)).or_insert_with(|| {
            lines.push((total.stack, marker, Micros::ZERO));
            lines.len() - 1
        });
        lines[index].2 = lines[index].2.saturating_add(total.time);
    }
    check_depth(trace, lines.iter().map(|(stack, ..)| *stack))?;
    let names: Vec<String> = trace.frames().iter().map(|(_, frame)| function(trace, &frame)).collect();
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
                None => out.write_all(states::name(marker).as_bytes())?,
            }
            writeln!(out, " {}", time.0)?;
        }
        io::Result::Ok(())
    })?;
    Ok(())
}

/// `name (resource:line:column)`, as far as it is known, without the separators of functions and lines.
fn function(trace: &Trace, frame: &Frame) -> String {
    let name = functions::name(trace, frame);
    let text = match functions::location(trace, frame) {
        Some(location) => format!("{name} ({location})"),
        None => name.to_owned(),
    };
    text.replace(';', ",").replace(char::is_control, " ")
}

#[cfg(test)]
mod tests;
