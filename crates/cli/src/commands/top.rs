//! `selfprof top`: prints the table of a trace.

use std::io::{self, Write};
use std::process::ExitCode;

use selfprof_trace::summary::{Code, FunctionRow, MarkRow, MeasureRow, ResourceRow, Summary, Tally};
use selfprof_trace::weigh::Gaps;
use selfprof_trace::{Clock, Entries, EntryNameId, Marker, RecommendedMark, Trace};
use serde_json::{Map, Value, json};

use crate::arguments::{Grouping, Rows, TopArguments};
use crate::failure::Failure;
use crate::files::{input, stdout};
use crate::labels::{self, LabelRow};
use crate::packages::{self, PackageRow};
use crate::program::{Program, ThreadRow};
use crate::terminal::calls::{self, CalledFunction};
use crate::terminal::color::Colors;
use crate::terminal::tables;

/// The version of the JSON that `--json` writes.
const JSON_VERSION: u32 = 1;

/// Runs the command.
pub fn top(arguments: &TopArguments) -> Result<ExitCode, Failure> {
    let (rows, clock) = arguments.rows_and_clock().ok_or_else(|| {
        Failure::usage("`--by` takes one group and one time")
            .hint("for example `--by package`, `--by cpu` or `--by package,cpu`")
    })?;
    let program = input::program(
        &arguments.file,
        arguments.from,
        (&arguments.labels, arguments.node_frames),
        (&arguments.source_maps, clock),
    )?;
    if clock != Clock::WaitingApart {
        program.warn_of_unknown_times("the trace");
    }
    let summary = Summary::of_merged(&program.merged);
    stdout::write(|out| match arguments.json {
        true => writeln!(out, "{}", to_json(&program, &summary, (arguments, &rows))),
        false => write_table(out, &program, &summary, (arguments, &rows)),
    })
}

fn write_table(
    out: &mut impl Write,
    program: &Program,
    summary: &Summary,
    (arguments, rows): (&TopArguments, &Rows),
) -> io::Result<()> {
    let table = (&program.merged.trace, summary);
    let (top, base, colors) =
        (arguments.top, std::env::current_dir().unwrap_or_default(), Colors::for_stdout());
    let grouping = match rows {
        Rows::Of(grouping) => *grouping,
        Rows::OfLabel(name) => {
            let rows = labels::rows(&program.merged, name);
            tables::write_labels(out, (name, &rows), summary, top, colors)?;
            return write_rest(out, program, summary, (top, colors));
        }
    };
    match grouping {
        Grouping::Function => match program.merged.trace.calls() {
            Some(calls) => {
                let table = (&program.merged.trace, summary, calls);
                calls::write_called_functions(out, table, &program.inferred, top, &base, colors)?
            }
            None => tables::write_functions(out, table, &program.inferred, top, &base, colors)?,
        },
        Grouping::Resource => tables::write_resources(out, table, top, &base, colors)?,
        Grouping::Package => {
            tables::write_packages(out, &packages::rows(&program.merged), summary, top, colors)?
        }
        Grouping::Marker => tables::write_marker_times(out, table, colors)?,
        Grouping::Thread => tables::write_threads(out, program, summary, top, colors)?,
        Grouping::Process => tables::write_processes(out, program, summary, top, &base, colors)?,
    }
    write_rest(out, program, summary, (top, colors))
}

/// Writes what follows the table, whatever its rows are.
fn write_rest(
    out: &mut impl Write,
    program: &Program,
    summary: &Summary,
    (top, colors): (usize, Colors),
) -> io::Result<()> {
    tables::write_entries(out, (&program.merged.trace, summary), top, colors)?;
    if let Some(calls) = program.merged.trace.calls() {
        tables::write_times(out, program, summary)?;
        return calls::write_calls(out, &program.merged.trace, calls);
    }
    tables::write_markers(out, summary)?;
    tables::write_times(out, program, summary)?;
    writeln!(out, "trace: {}", tables::extent(program, summary, None))
}

fn to_json(program: &Program, summary: &Summary, (arguments, rows): (&TopArguments, &Rows)) -> Value {
    let (trace, top) = (&program.merged.trace, arguments.top);
    let markers: Map<String, Value> = Marker::ALL
        .into_iter()
        .map(|marker| (marker.as_str().to_owned(), tally_json(summary.marker(marker))))
        .collect();
    // The kinds of work are always included.
    let rows = match rows {
        Rows::OfLabel(name) => {
            let rows = labels::rows(&program.merged, name);
            Some(("labels", rows.iter().take(top).map(|row| label_json(name, row)).collect()))
        }
        Rows::Of(Grouping::Function) => {
            let rows = match trace.calls() {
                Some(calls) => {
                    let rows = calls::called_functions(trace, summary, calls);
                    rows.iter().take(top).map(|row| called_json(program, row)).collect()
                }
                None => summary.functions.iter().take(top).map(|row| function_json(program, row)).collect(),
            };
            Some(("functions", rows))
        }
        Rows::Of(Grouping::Resource) => {
            let rows = summary.resources.iter().take(top).map(|row| resource_json(trace, row));
            Some(("resources", rows.collect()))
        }
        Rows::Of(Grouping::Package) => {
            let rows = packages::rows(&program.merged);
            Some(("packages", rows.iter().take(top).map(package_json).collect()))
        }
        Rows::Of(Grouping::Marker) => None,
        Rows::Of(Grouping::Thread) => Some(("threads", thread_rows_json(&program.thread_rows(), top))),
        Rows::Of(Grouping::Process) => Some(("processes", thread_rows_json(&program.process_rows(), top))),
    };
    let name = |id: EntryNameId| trace.entries().map(|entries| &entries.names()[id]);
    // Marks with a recommended name come first, so that `--top` does not cut them.
    let (recommended, others): (Vec<&MarkRow>, Vec<&MarkRow>) =
        summary.marks.iter().partition(|row| row.recommended.is_some());
    let marks: Vec<Value> =
        recommended.into_iter().chain(others).take(top).map(|row| mark_json(name(row.name), row)).collect();
    let measures: Vec<Value> =
        summary.measures.iter().take(top).map(|row| measure_json(name(row.name), row)).collect();
    let mut json = json!({
        "version": JSON_VERSION,
        "interval": summary.interval.map(|interval| interval.as_millis_f64()),
        "samples": program.merged.recorded,
        "busy": tally_json(summary.busy),
        "idle": tally_json(summary.idle),
        "unmarked": tally_json(summary.unmarked),
        "markers": markers,
        "marks": marks,
        "measures": measures,
        "droppedEntries": trace.entries().map_or(0, Entries::dropped),
    });
    if let Some((name, rows)) = rows {
        json[name] = rows;
    }
    let Gaps { count, left_out } = program.merged.gaps;
    if count > 0 {
        json["gaps"] = json!({ "count": count, "leftOut": left_out.as_millis_f64() });
    }
    if let Some(calls) = trace.calls() {
        json["calls"] = json!({
            "events": calls.events().len(),
            "start": calls.start().as_millis_f64(),
            "end": calls.end().as_millis_f64(),
            "truncated": calls.is_truncated(),
        });
    }
    if program.knows_waiting() {
        json["running"] = tally_json(summary.running());
        json["waiting"] = match program.merged.left_out {
            Some(left_out) => json!({ "time": left_out.as_millis_f64() }),
            None => tally_json(summary.waiting),
        };
    }
    json
}

fn thread_rows_json(rows: &[ThreadRow], top: usize) -> Value {
    let row = |ThreadRow { name, command, threads, busy, waiting, idle }: &ThreadRow| {
        json!({
            "name": name,
            "command": command,
            "threads": threads,
            "busy": tally_json(*busy),
            "waiting": waiting.map(tally_json),
            "idle": tally_json(*idle),
        })
    };
    rows.iter().take(top).map(row).collect()
}

fn label_json(name: &str, row: &LabelRow) -> Value {
    json!({ "label": name, "value": row.value, "time": row.busy.time.as_millis_f64(), "samples": row.busy.samples })
}

fn package_json(row: &PackageRow) -> Value {
    json!({
        "package": row.name,
        "selfTime": row.own.time.as_millis_f64(),
        "totalTime": row.total.time.as_millis_f64(),
        "selfSamples": row.own.samples,
        "totalSamples": row.total.samples,
    })
}

fn tally_json(tally: Tally) -> Value {
    json!({ "samples": tally.samples, "time": tally.time.as_millis_f64() })
}

fn function_json(program: &Program, row: &FunctionRow) -> Value {
    let trace = &program.merged.trace;
    let frame = trace.frames()[row.frame];
    json!({
        "name": &trace.names()[frame.name],
        "inferredName": program.inferred.get(&row.frame),
        "resource": frame.resource.map(|id| &trace.resources()[id]),
        "line": frame.line,
        "column": frame.column,
        "selfTime": row.self_time.as_millis_f64(),
        "totalTime": row.total_time.as_millis_f64(),
        "selfSamples": row.self_samples,
        "totalSamples": row.total_samples,
    })
}

fn called_json(program: &Program, called: &CalledFunction) -> Value {
    let mut json = function_json(program, &called.row);
    json["calls"] = called.counts.calls.into();
    json["resumptions"] = called.counts.resumptions.into();
    json
}

fn resource_json(trace: &Trace, row: &ResourceRow) -> Value {
    let (resource, kind) = match row.code {
        Code::Script(id) => (Some(&trace.resources()[id]), "script"),
        Code::Native if trace.calls().is_some() => (None, "unknown"),
        Code::Native => (None, "native"),
        Code::Gc => (None, "garbage collector"),
        Code::Waiting => (None, "waiting"),
    };
    json!({
        "resource": resource,
        "kind": kind,
        "selfTime": row.self_time.as_millis_f64(),
        "totalTime": row.total_time.as_millis_f64(),
        "selfSamples": row.self_samples,
        "totalSamples": row.total_samples,
    })
}

fn mark_json(name: Option<&str>, row: &MarkRow) -> Value {
    json!({
        "name": name,
        "meaning": row.recommended.map(RecommendedMark::meaning),
        "count": row.count,
        "first": row.first.get(),
        "last": row.last.get(),
    })
}

fn measure_json(name: Option<&str>, row: &MeasureRow) -> Value {
    json!({
        "name": name,
        "count": row.count,
        "totalTime": row.total.get(),
        "longestTime": row.longest.get(),
    })
}
