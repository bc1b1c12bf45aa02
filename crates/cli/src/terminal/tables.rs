//! The tables of functions, scripts and measures, and the summary lines below them.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use selfprof_trace::summary::{Code, Summary, Tally};
use selfprof_trace::weigh::Gaps;
use selfprof_trace::{GARBAGE_COLLECTOR, Marker, Micros, Millis, Trace, WAITING};

use crate::inferred_names::{InferredNames, MARK};
use crate::labels::LabelRow;
use crate::packages::PackageRow;
use crate::program::{Program, ThreadRow};

use super::color::Colors;
use super::names::{function_name, location, printable, script, short_command, without_script};

/// Names longer than this do not widen their column.
const MAX_NAME_WIDTH: usize = 40;

/// The width of the column `function`.
pub fn function_column_width(names: &[String]) -> usize {
    let widths = names.iter().map(|name| name.chars().count());
    let widest = widths.filter(|&width| width <= MAX_NAME_WIDTH).max();
    widest.unwrap_or(MAX_NAME_WIDTH).max("function".len())
}
/// Writes the `top` functions with the most self time, one per line.
///
/// `%` is the self time as a share of the busy time. Writes nothing if `top` is 0 or the trace has no functions.
pub fn write_functions(
    out: &mut impl Write,
    (trace, summary): (&Trace, &Summary),
    inferred: &InferredNames,
    top: usize,
    base: &Path,
    colors: Colors,
) -> io::Result<()> {
    let shown = first(&summary.functions, top);
    if shown.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = shown.iter().map(|row| function_name(trace, row.frame, inferred)).collect();
    let width = function_column_width(&names);
    let heading =
        format!("{:>10} {:>10} {:>6}  {:width$}  defined at", "self ms", "total ms", "%", "function");
    writeln!(out, "{}", colors.heading(heading))?;
    for (row, name) in shown.iter().zip(&names) {
        let (own, total) = (row.self_time.as_millis_f64(), row.total_time.as_millis_f64());
        let percent = percent(row.self_time, summary.busy.time);
        let location = location(trace, row.frame, base);
        let line = format!("{own:>10.1} {total:>10.1} {percent:>6.1}  {name:width$}  {location}");
        writeln!(out, "{}", line.trim_end())?;
    }
    write_left_out(out, summary.functions.len() - shown.len())?;
    write_mark_note(out, shown.iter().any(|row| inferred.contains_key(&row.frame)))
}

/// Writes what the mark of inferred names means, if there is one.
pub fn write_mark_note(out: &mut impl Write, is_needed: bool) -> io::Result<()> {
    if is_needed { writeln!(out, "{MARK} inferred from the source") } else { Ok(()) }
}

/// Writes the `top` scripts with the most self time, one per line. `%` is as in [`write_functions`].
pub fn write_resources(
    out: &mut impl Write,
    (trace, summary): (&Trace, &Summary),
    top: usize,
    base: &Path,
    colors: Colors,
) -> io::Result<()> {
    let shown = first(&summary.resources, top);
    if shown.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "{}",
        colors.heading(format!("{:>10} {:>10} {:>6}  {}", "self ms", "total ms", "%", "script"))
    )?;
    for row in shown {
        let (own, total) = (row.self_time.as_millis_f64(), row.total_time.as_millis_f64());
        let percent = percent(row.self_time, summary.busy.time);
        let script = match row.code {
            Code::Script(id) => script(&trace.resources()[id], base),
            Code::Native => without_script(trace).to_owned(),
            Code::Gc => GARBAGE_COLLECTOR.to_owned(),
            Code::Waiting => WAITING.to_owned(),
        };
        writeln!(out, "{own:>10.1} {total:>10.1} {percent:>6.1}  {script}")?;
    }
    write_left_out(out, summary.resources.len() - shown.len())
}

/// Writes the packages with the most self time, one per line. `%` is as in [`write_functions`].
pub fn write_packages(
    out: &mut impl Write,
    rows: &[PackageRow],
    summary: &Summary,
    top: usize,
    colors: Colors,
) -> io::Result<()> {
    let shown = first(rows, top);
    let heading = format!("{:>10} {:>10} {:>6}  package", "self ms", "total ms", "%");
    writeln!(out, "{}", colors.heading(heading))?;
    for PackageRow { name, own, total } in shown {
        let percent = percent(own.time, summary.busy.time);
        let [own, total] = [own, total].map(|tally| tally.time.as_millis_f64());
        writeln!(out, "{own:>10.1} {total:>10.1} {percent:>6.1}  {}", printable(name))?;
    }
    write_left_out(out, rows.len() - shown.len())
}

/// Writes the busy time of each value of a label, most time first. `%` is its share of the busy time.
pub fn write_labels(
    out: &mut impl Write,
    (name, rows): (&str, &[LabelRow]),
    summary: &Summary,
    top: usize,
    colors: Colors,
) -> io::Result<()> {
    let shown = first(rows, top);
    let heading = format!("{:>10} {:>10} {:>6}  {}", "ms", "samples", "%", printable(name));
    writeln!(out, "{}", colors.heading(heading))?;
    for LabelRow { value, busy } in shown {
        let (time, percent) = (busy.time.as_millis_f64(), percent(busy.time, summary.busy.time));
        let value = value.as_deref().map_or("(none)".into(), printable);
        writeln!(out, "{time:>10.1} {:>10} {percent:>6.1}  {value}", busy.samples)?;
    }
    write_left_out(out, rows.len() - shown.len())
}

/// Writes the time of each kind of work, most time first. `%` is its share of the busy time. Traces of calls have no
/// samples to count.
pub fn write_marker_times(
    out: &mut impl Write,
    (trace, summary): (&Trace, &Summary),
    colors: Colors,
) -> io::Result<()> {
    let markers = Marker::ALL.iter().map(|&marker| (marker.as_str(), summary.marker(marker)));
    let mut rows: Vec<_> =
        markers.chain([("unmarked", summary.unmarked), ("waiting", summary.waiting)]).collect();
    rows.retain(|(_, tally)| tally.samples > 0);
    rows.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.time));
    let has_samples = trace.calls().is_none();
    let samples = |text: &dyn Display| if has_samples { format!("{text:>10} ") } else { String::new() };
    let heading = format!("{:>10} {}{:>6}  marker", "ms", samples(&"samples"), "%");
    writeln!(out, "{}", colors.heading(heading))?;
    for (name, tally) in rows {
        let (time, percent) = (tally.time.as_millis_f64(), percent(tally.time, summary.busy.time));
        writeln!(out, "{time:>10.1} {}{percent:>6.1}  {name}", samples(&tally.samples))?;
    }
    Ok(())
}

/// Writes the `top` measures with the most total time by name, one per line, then the time of the latest of each
/// recommended mark, then the number of entries. Writes nothing if the trace has no entries.
pub fn write_entries(
    out: &mut impl Write,
    (trace, summary): (&Trace, &Summary),
    top: usize,
    colors: Colors,
) -> io::Result<()> {
    let Some(entries) = trace.entries() else { return Ok(()) };
    let shown = first(&summary.measures, top);
    if !shown.is_empty() {
        let heading = format!("{:>10} {:>10} {:>6}  {}", "total ms", "longest ms", "times", "measure");
        writeln!(out, "{}", colors.heading(heading))?;
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
        writeln!(out, "{}", colors.heading(format!("{:>10}  mark", "at ms")))?;
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
pub(super) fn first<T>(rows: &[T], top: usize) -> &[T] {
    &rows[..top.min(rows.len())]
}

/// Writes how many rows were left out, if any.
pub(super) fn write_left_out(out: &mut impl Write, count: usize) -> io::Result<()> {
    if count > 0 {
        writeln!(out, "{:>10} and {count} more", "...")?;
    }
    Ok(())
}

/// Milliseconds with one decimal, as in the other tables. A script may pass times that are too large for the column.
fn millis(time: Millis) -> String {
    if time.get().abs() < 1e9 { format!("{:.1}", time.get()) } else { format!("{:.1e}", time.get()) }
}

/// Writes the number of samples of each kind of work, and of idle samples.
pub fn write_markers(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    let markers = Marker::ALL.iter().map(|&marker| (marker.as_str(), summary.marker(marker)));
    let rest = [("unmarked", summary.unmarked), ("waiting", summary.waiting), ("idle", summary.idle)];
    let counts: Vec<String> = markers
        .chain(rest)
        .filter(|(name, tally)| tally.samples > 0 || *name == "idle")
        .map(|(name, tally)| format!("{name} {}", tally.samples))
        .collect();
    writeln!(out, "samples: {}", counts.join(", "))
}

/// Writes the times of the trace; `%` in the tables is a share of the busy time, without waiting if that was left out.
///
/// The covered time is that of all samples. What is left out of gaps between samples follows. The garbage collector
/// must be [a function](Trace::add_gc_frames), or its samples without a stack would count twice.
pub fn write_times(out: &mut impl Write, program: &Program, summary: &Summary) -> io::Result<()> {
    let millis = |tally: Tally| tally.time.as_millis_f64();
    let [busy, waiting, idle] = [summary.busy, summary.waiting, summary.idle].map(millis);
    let left_out = program.merged.left_out.map(Micros::as_millis_f64);
    let covered = busy + left_out.unwrap_or_default() + idle;
    if let Some(reason) = no_times(program, covered) {
        return writeln!(out, "time: {reason}");
    }
    write!(out, "time: covered {covered:.1} ms, idle {idle:.1} ms, ")?;
    match left_out {
        Some(left_out) => write!(out, "waiting {left_out:.1} ms, running {busy:.1} ms = 100 %")?,
        None if program.knows_waiting() => {
            let running = millis(summary.running());
            write!(out, "waiting {waiting:.1} ms, running {running:.1} ms; waiting and running = 100 %")?;
        }
        None => write!(out, "busy {busy:.1} ms = 100 %")?,
    }
    let [gc, without_stack] = [summary.marker(Marker::Gc), summary.without_stack].map(millis);
    writeln!(out, ", of which gc {gc:.1} ms, without a stack {without_stack:.1} ms")?;
    match gaps(program.merged.gaps) {
        Some(gaps) => writeln!(out, "not covered: {gaps}"),
        None => Ok(()),
    }
}

/// Why there is no time, if there is none.
fn no_times(program: &Program, covered: f64) -> Option<&'static str> {
    if covered > 0.0 || program.merged.trace.calls().is_some() {
        return None;
    }
    match program.merged.recorded {
        0 => Some(
            "none, because there is no sample: the recording ended before the first one was taken, or before it was written",
        ),
        1 => Some(
            "none, because there is only one sample, and a sample stands for the time since the one before",
        ),
        _ => None,
    }
}

/// How much of the time between samples no sample stands for, if any.
pub fn gaps(gaps: Gaps) -> Option<String> {
    let Gaps { count, left_out } = gaps;
    let plural = if count == 1 { "gap" } else { "gaps" };
    let millis = left_out.as_millis_f64();
    (count > 0).then(|| format!("{millis:.1} ms of {count} {plural} between samples (a sample stands for at most 100 intervals or 100 ms)"))
}

/// Writes the processes with the most busy time, one per line. `%` is their share of the busy time.
pub fn write_processes(
    out: &mut impl Write,
    program: &Program,
    summary: &Summary,
    top: usize,
    base: &Path,
    colors: Colors,
) -> io::Result<()> {
    write_thread_groups(out, program, &program.process_rows(), "process", (summary, top, base, colors))
}

/// Writes the threads with the most busy time, as [`write_processes`].
pub fn write_threads(
    out: &mut impl Write,
    program: &Program,
    summary: &Summary,
    top: usize,
    colors: Colors,
) -> io::Result<()> {
    write_thread_groups(out, program, &program.thread_rows(), "thread", (summary, top, Path::new(""), colors))
}

fn write_thread_groups(
    out: &mut impl Write,
    program: &Program,
    rows: &[ThreadRow],
    kind: &str,
    (summary, top, base, colors): (&Summary, usize, &Path, Colors),
) -> io::Result<()> {
    let shown = first(rows, top);
    let tells_waiting = rows.iter().any(|row| row.waiting.is_some());
    let busy_columns = if tells_waiting {
        format!("{:>10} {:>10}", "running ms", "waiting ms")
    } else {
        let is_running = program.merged.left_out.is_some();
        format!("{:>10}", if is_running { "running ms" } else { "busy ms" })
    };
    let heading = format!("{busy_columns} {:>10} {:>6}  {kind}", "idle ms", "%");
    writeln!(out, "{}", colors.heading(heading))?;
    for ThreadRow { name, command, threads, busy, waiting, idle } in shown {
        let percent = percent(busy.time, summary.busy.time);
        let times = match waiting {
            Some(waiting) => vec![busy.time.saturating_sub(waiting.time), waiting.time, idle.time],
            None => vec![busy.time, idle.time],
        };
        let times: Vec<String> = times.iter().map(|time| format!("{:>10.1}", time.as_millis_f64())).collect();
        let times = times.join(" ");
        let threads = if *threads > 1 { format!(", {threads} threads") } else { String::new() };
        let command =
            if command.is_empty() { String::new() } else { format!("  {}", short_command(command, base)) };
        let name = printable(name);
        writeln!(out, "{times} {percent:>6.1}  {name}{threads}{command}")?;
    }
    write_left_out(out, rows.len() - shown.len())
}

/// The number of threads if there are several, the number of samples, the requested interval if it is known, and the
/// median interval.
pub fn extent(program: &Program, summary: &Summary, requested: Option<Micros>) -> String {
    let threads = match (program.threads.len(), program.processes()) {
        (1, _) => None,
        (threads, None | Some(1)) => Some(format!("{threads} threads")),
        (threads, Some(processes)) => Some(format!("{threads} threads in {processes} processes")),
    };
    let samples = match program.merged.recorded {
        1 => "1 sample".to_owned(),
        count => format!("{count} samples"),
    };
    let requested = requested.map(|interval| format!("requested interval {interval} ms"));
    let median = summary.interval.map(|interval| format!("median interval {interval} ms"));
    [threads, Some(samples), requested, median].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

pub(super) fn percent(part: Micros, whole: Micros) -> f64 {
    if whole == Micros::ZERO { 0.0 } else { 100.0 * part.0 as f64 / whole.0 as f64 }
}
