//! The table of traced functions, with the counts of their calls.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use selfprof_trace::summary::{FunctionRow, Summary};
use selfprof_trace::{CallCounts, Calls, FrameId, Trace};

use crate::inferred_names::InferredNames;

use super::color::Colors;
use super::names::{function_name, location};
use super::tables::{first, function_column_width, percent, write_left_out, write_mark_note};

/// A function with its calls.
#[derive(Clone, Copy, Debug)]
pub struct CalledFunction {
    /// Its times, which are zero if the clock has shown none.
    pub row: FunctionRow,
    pub counts: CallCounts,
}

/// The functions that ran, most self time first, then most calls.
pub fn called_functions(trace: &Trace, summary: &Summary, calls: &Calls) -> Vec<CalledFunction> {
    let timed: HashMap<FrameId, &FunctionRow> =
        summary.functions.iter().map(|row| (row.frame, row)).collect();
    let counts = calls.counts(trace.frames().len());
    let mut rows: Vec<CalledFunction> = trace
        .frames()
        .iter()
        .zip(counts)
        .filter_map(|((frame, _), counts)| match timed.get(&frame) {
            Some(row) => Some(CalledFunction { row: **row, counts }),
            None if counts == CallCounts::default() => None,
            None => {
                let row = FunctionRow {
                    frame,
                    self_time: Default::default(),
                    total_time: Default::default(),
                    self_samples: 0,
                    total_samples: 0,
                };
                Some(CalledFunction { row, counts })
            }
        })
        .collect();
    rows.sort_by_key(|CalledFunction { row, counts }| {
        (Reverse(row.self_time), Reverse(row.total_time), Reverse(counts.calls), row.frame)
    });
    rows
}

/// Writes the `top` functions with the most self time, one per line, with the number of their calls. Resumptions of
/// suspended functions are no calls. `%` is the self time as a share of the busy time.
pub fn write_called_functions(
    out: &mut impl Write,
    (trace, summary, calls): (&Trace, &Summary, &Calls),
    inferred: &InferredNames,
    top: usize,
    base: &Path,
    colors: Colors,
) -> io::Result<()> {
    let rows = called_functions(trace, summary, calls);
    let shown = first(&rows, top);
    if shown.is_empty() {
        return Ok(());
    }
    let names: Vec<String> =
        shown.iter().map(|called| function_name(trace, called.row.frame, inferred)).collect();
    let width = function_column_width(&names);
    let has_resumptions = rows.iter().any(|called| called.counts.resumptions > 0);
    let resumed = if has_resumptions { format!("{:>10} ", "resumed") } else { String::new() };
    let heading = format!(
        "{:>10} {resumed}{:>10} {:>10} {:>6}  {:width$}  defined at",
        "calls", "self ms", "total ms", "%", "function"
    );
    writeln!(out, "{}", colors.heading(heading))?;
    for (CalledFunction { row, counts }, name) in shown.iter().zip(&names) {
        let (own, total) = (row.self_time.as_millis_f64(), row.total_time.as_millis_f64());
        let percent = percent(row.self_time, summary.busy.time);
        let location = location(trace, row.frame, base);
        let resumed = if has_resumptions { format!("{:>10} ", counts.resumptions) } else { String::new() };
        let line = format!(
            "{:>10} {resumed}{own:>10.1} {total:>10.1} {percent:>6.1}  {name:width$}  {location}",
            counts.calls
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    write_left_out(out, rows.len() - shown.len())?;
    write_mark_note(out, shown.iter().any(|called| inferred.contains_key(&called.row.frame)))
}

/// Writes what the counts are of.
pub fn write_calls(out: &mut impl Write, trace: &Trace, calls: &Calls) -> io::Result<()> {
    let (events, time) = (calls.events().len(), calls.end().saturating_sub(calls.start()));
    write!(out, "trace: {events} entries and exits of functions in {:.1} ms", time.as_millis_f64())?;
    if calls.is_truncated() {
        write!(out, "; then the buffer was full, and later calls are not counted")?;
    }
    writeln!(out)?;
    match trace.frames().iter().filter(|(_, frame)| frame.resource.is_none()).count() {
        0 => Ok(()),
        count => writeln!(
            out,
            "unknown: {count} of {} functions; the page could not load `selfprof-functions.json`, or it is not of the same run as the scripts",
            trace.frames().len(),
        ),
    }
}
