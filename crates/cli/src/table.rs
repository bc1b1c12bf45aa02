//! The table of functions, that of measures, and the lines about marks and about kinds of work below them.

use std::io::{self, Write};
use std::path::Path;

use selfprof_trace::summary::Summary;
use selfprof_trace::{Marker, Micros, Millis, Trace};

use crate::location::{function_name, location, printable, script};
use crate::paint::Paint;

/// Names longer than this do not widen their column.
const NAME_WIDTH: usize = 40;

/// Writes the `top` functions with the most self time, one a line.
///
/// `%` is the self time's part of the time at which anything ran. Writes nothing when `top` is 0, or when no
/// function was seen.
pub fn write_functions(
    out: &mut impl Write,
    (trace, summary): (&Trace, &Summary),
    top: usize,
    base: &Path,
    paint: Paint,
) -> io::Result<()> {
    let shown = first(&summary.functions, top);
    if shown.is_empty() {
        return Ok(());
    }
    let frames: Vec<_> = shown.iter().map(|row| trace.frames()[row.frame]).collect();
    let names: Vec<String> = frames.iter().map(|frame| function_name(trace, frame)).collect();
    let widest = names.iter().map(|name| name.chars().count()).filter(|&width| width <= NAME_WIDTH).max();
    let width = widest.unwrap_or(NAME_WIDTH).max("function".len());

    let heading =
        format!("{:>10} {:>10} {:>6}  {:width$}  defined at", "self ms", "total ms", "%", "function");
    writeln!(out, "{}", paint.heading(heading))?;
    for ((row, frame), name) in shown.iter().zip(&frames).zip(&names) {
        let (own, total) = (row.self_time.as_millis_f64(), row.total_time.as_millis_f64());
        let percent = percent(row.self_time, summary.busy.time);
        let place = location(trace, frame, base);
        writeln!(out, "{own:>10.1} {total:>10.1} {percent:>6.1}  {name:width$}  {place}")?;
    }
    write_left_out(out, summary.functions.len() - shown.len())
}

/// Writes the `top` scripts with the most self time, one a line. `%` is as in [`write_functions`].
pub fn write_resources(
    out: &mut impl Write,
    (trace, summary): (&Trace, &Summary),
    top: usize,
    base: &Path,
    paint: Paint,
) -> io::Result<()> {
    let shown = first(&summary.resources, top);
    if shown.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "{}",
        paint.heading(format!("{:>10} {:>10} {:>6}  {}", "self ms", "total ms", "%", "script"))
    )?;
    for row in shown {
        let (own, total) = (row.self_time.as_millis_f64(), row.total_time.as_millis_f64());
        let percent = percent(row.self_time, summary.busy.time);
        let script = row.resource.map_or("(native)".to_owned(), |id| script(&trace.resources()[id], base));
        writeln!(out, "{own:>10.1} {total:>10.1} {percent:>6.1}  {script}")?;
    }
    write_left_out(out, summary.resources.len() - shown.len())
}

/// Writes the time of each kind of work, most time first. `%` is its part of the time at which anything ran.
pub fn write_marker_times(out: &mut impl Write, summary: &Summary, paint: Paint) -> io::Result<()> {
    let markers = Marker::ALL.iter().map(|&marker| (marker.as_str(), summary.marker(marker)));
    let mut rows: Vec<_> = markers.chain([("unmarked", summary.unmarked)]).collect();
    rows.retain(|(_, tally)| tally.samples > 0);
    rows.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.time));
    writeln!(out, "{}", paint.heading(format!("{:>10} {:>10} {:>6}  {}", "ms", "samples", "%", "marker")))?;
    for (name, tally) in rows {
        let (time, percent) = (tally.time.as_millis_f64(), percent(tally.time, summary.busy.time));
        writeln!(out, "{time:>10.1} {:>10} {percent:>6.1}  {name}", tally.samples)?;
    }
    Ok(())
}

/// Writes the `top` measures with the most total time by name, one a line, then the recommended marks with the time of the
/// latest, then how many entries there are. Writes nothing when none were recorded.
pub fn write_entries(
    out: &mut impl Write,
    (trace, summary): (&Trace, &Summary),
    top: usize,
    paint: Paint,
) -> io::Result<()> {
    let Some(entries) = trace.entries() else { return Ok(()) };
    let shown = first(&summary.measures, top);
    if !shown.is_empty() {
        let heading = format!("{:>10} {:>10} {:>6}  {}", "total ms", "longest ms", "times", "measure");
        writeln!(out, "{}", paint.heading(heading))?;
        for row in shown {
            let (total, longest) = (millis(row.total), millis(row.longest));
            writeln!(
                out,
                "{total:>10} {longest:>10} {:>6}  {}",
                row.count,
                printable(&entries.names()[row.name])
            )?;
        }
        write_left_out(out, summary.measures.len() - shown.len())?;
    }
    let mut recommended = summary.marks.iter().filter_map(|row| Some((row, row.recommended?))).peekable();
    if recommended.peek().is_some() {
        writeln!(out, "{}", paint.heading(format!("{:>10}  mark", "at ms")))?;
    }
    for (row, mark) in recommended {
        let times = if row.count > 1 { format!(", {} times", row.count) } else { String::new() };
        writeln!(out, "{:>10}  {}: {}{times}", millis(row.last), mark.name(), mark.meaning())?;
    }
    let counts = [
        ("marks", summary.marks.iter().map(|row| row.count).sum()),
        ("measures", summary.measures.iter().map(|row| row.count).sum()),
        ("dropped", entries.dropped()),
    ];
    let counts: Vec<String> = counts
        .into_iter()
        .filter(|&(name, count)| count > 0 || name != "dropped")
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    writeln!(out, "entries: {}", counts.join(", "))
}

/// The first `top` rows, or as many as there are.
fn first<T>(rows: &[T], top: usize) -> &[T] {
    &rows[..top.min(rows.len())]
}

/// Writes how many rows there are beyond those in a table, if any.
fn write_left_out(out: &mut impl Write, count: usize) -> io::Result<()> {
    if count > 0 {
        writeln!(out, "{:>10} and {count} more", "...")?;
    }
    Ok(())
}

/// Milliseconds to a tenth, as in the other tables. A script may give times that are too large for a column.
fn millis(time: Millis) -> String {
    if time.get().abs() < 1e9 { format!("{:.1}", time.get()) } else { format!("{:.1e}", time.get()) }
}

/// Writes how many samples there are of each kind of work, most telling first, and how many idle ones.
pub fn write_markers(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    let markers = Marker::ALL.iter().map(|&marker| (marker.as_str(), summary.marker(marker)));
    let rest = [("unmarked", summary.unmarked), ("idle", summary.idle)];
    let counts: Vec<String> = markers
        .chain(rest)
        .filter(|(name, tally)| tally.samples > 0 || *name == "idle")
        .map(|(name, tally)| format!("{name} {}", tally.samples))
        .collect();
    writeln!(out, "samples: {}", counts.join(", "))
}

/// How many samples there are, and how far apart they are.
pub fn extent(summary: &Summary, interval: Option<Micros>) -> String {
    let samples = match summary.samples() {
        1 => "1 sample".to_owned(),
        count => format!("{count} samples"),
    };
    match interval {
        Some(interval) => format!("{samples}, interval {interval} ms"),
        None => samples,
    }
}

fn percent(part: Micros, whole: Micros) -> f64 {
    if whole == Micros::ZERO { 0.0 } else { 100.0 * part.0 as f64 / whole.0 as f64 }
}
