//! `selfprof diff`: compares the functions' shares of the time in two programs.

mod of_collector;

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use selfprof_formats::Thread;
use selfprof_trace::comparison::{self, Comparison, FunctionChange, LeftOut, OneSided, SIGNIFICANCE};
use selfprof_trace::summary::{FunctionRow, Summary};
use selfprof_trace::{Clock, Frame, FrameId, Trace};
use serde_json::{Value, json};

use crate::arguments::DiffArguments;
use crate::collector::{self, Address};
use crate::failure::Failure;
use crate::files::input::{self, is_stream};
use crate::files::stdout;
use crate::labels;
use crate::program::Program;
use crate::terminal::color::Colors;
use crate::terminal::messages::warn;
use crate::terminal::names::{function_name, location};
use crate::terminal::tables::{function_column_width, gaps, write_mark_note};

/// The version of the JSON that `--json` writes.
const JSON_VERSION: u32 = 1;

/// Smaller p-values are printed as `<0.0001`.
const MIN_P_VALUE: f64 = 0.0001;

/// Runs the command.
pub fn diff(arguments: &DiffArguments) -> Result<ExitCode, Failure> {
    if is_stream(&arguments.base) && is_stream(&arguments.new) {
        return Err(Failure::usage("BASE and NEW cannot both come from stdin"));
    }
    for path in [&arguments.base, &arguments.new] {
        labels::check_input(path, &arguments.labels)?;
    }
    let addresses = (Address::of(&arguments.base)?, Address::of(&arguments.new)?);
    if let (Some(base), Some(new)) = &addresses
        && let Some((comparison, json)) = collector::compare(base, new, arguments.top)?
    {
        return of_collector::show(&comparison, &json, arguments);
    }
    let is_sum = |address: Option<Address>| address.is_some_and(|address| address.is_selection());
    if is_sum(addresses.0) || is_sum(addresses.1) {
        warn(
            "samples of one session depend on each other, so p-values are too small; the collector compares selections of one application \
             and period by sessions",
        );
    }
    let read = |path: &Path| input::labelled(path, None, (&arguments.labels, arguments.node_frames));
    let threads = [read(&arguments.base)?, read(&arguments.new)?];
    // Formats without CPU times have it as a function.
    let waits = |Thread { trace, .. }: &Thread| {
        trace.waiting().is_some() || trace.frames().iter().any(|(frame, _)| trace.is_waiting(frame))
    };
    let [base_waits, new_waits] = threads.each_ref().map(|threads| threads.iter().any(waits));
    // Waiting is compared only if both tell it apart.
    let without_waiting = (arguments.by.is_none() && base_waits != new_waits).then_some(if base_waits {
        "new"
    } else {
        "base"
    });
    let clock = match arguments.by {
        Some(by) => by.into(),
        None if without_waiting.is_some() => Clock::Wall,
        None => Clock::default(),
    };
    let program =
        |path: &Path, threads| Program::new(threads, (&arguments.source_maps, clock), input::recorded(path));
    let [of_base, of_new] = threads;
    let (base, new) = (program(&arguments.base, of_base)?, program(&arguments.new, of_new)?);
    for (path, program) in [(&arguments.base, &base), (&arguments.new, &new)] {
        if program.merged.trace.calls().is_some() {
            return Err(Failure::job(format!("{} has calls instead of samples", input::name_of(path)))
                .hint("`diff` tests differences between samples for significance; `selfprof top` shows the exact times and counts of calls"));
        }
    }
    if arguments.by.is_some() {
        for (path, program) in [(&arguments.base, &base), (&arguments.new, &new)] {
            program.warn_of_unknown_times(&input::name_of(path));
        }
    }
    let programs = Programs { base: &base, new: &new, without_waiting };
    let comparison = Comparison::of_merged(&base.merged, &new.merged);
    for (path, samples) in
        [(&arguments.base, comparison.base_samples), (&arguments.new, comparison.new_samples)]
    {
        if samples == 0 {
            return Err(Failure::job(format!("{} has no busy samples to compare", input::name_of(path)))
                .hint("record for longer: a few seconds of work at `-i 1` give thousands of samples"));
        }
    }
    stdout::write(|out| match arguments.json {
        true => writeln!(out, "{}", to_json(&programs, &comparison)),
        false => write_table(out, &programs, &comparison, arguments),
    })
}

/// Both programs.
struct Programs<'program> {
    base: &'program Program,
    new: &'program Program,
    /// Which of them does not tell waiting apart, if the other does.
    without_waiting: Option<&'static str>,
}

/// A function of one of them.
#[derive(Clone, Copy)]
struct Function<'program> {
    program: &'program Program,
    id: FrameId,
}

impl<'program> Programs<'program> {
    /// The function in the new trace, or in the base trace if it is only there.
    fn function(&self, change: &FunctionChange) -> Option<Function<'program>> {
        let function = |program: &'program Program, row: FunctionRow| Function { program, id: row.frame };
        change.new.map(|row| function(self.new, row)).or(change.base.map(|row| function(self.base, row)))
    }
}

impl<'program> Function<'program> {
    fn trace(self) -> &'program Trace {
        &self.program.merged.trace
    }

    fn frame(self) -> Frame {
        self.trace().frames()[self.id]
    }

    fn inferred_name(self) -> Option<&'program str> {
        self.program.inferred.get(&self.id).map(String::as_str)
    }

    fn shown_name(self) -> String {
        function_name(self.trace(), self.id, &self.program.inferred)
    }
}

fn write_table(
    out: &mut impl Write,
    programs: &Programs<'_>,
    comparison: &Comparison,
    arguments: &DiffArguments,
) -> io::Result<()> {
    let directory = std::env::current_dir().unwrap_or_default();
    let is_wanted = |change: &&FunctionChange| arguments.all || change.is_significant();
    let wanted: Vec<&FunctionChange> = comparison.functions.iter().filter(is_wanted).collect();
    let shown = &wanted[..arguments.top.min(wanted.len())];
    if !shown.is_empty() {
        let names: Vec<String> = shown
            .iter()
            .map(|change| programs.function(change).map_or(String::new(), Function::shown_name))
            .collect();
        let width = function_column_width(&names);
        let heading = format!(
            "{:>8} {:>8} {:>8} {:>9}  {:width$}  defined at",
            "base %", "new %", "change", "p-value", "function"
        );
        writeln!(out, "{}", Colors::for_stdout().heading(heading))?;
        for (change, name) in shown.iter().zip(names) {
            write_row(out, programs, change, (&name, width), &directory)?;
        }
        if wanted.len() > shown.len() {
            writeln!(out, "{:>8} and {} more", "...", wanted.len() - shown.len())?;
        }
        let functions = shown.iter().filter_map(|change| programs.function(change));
        write_mark_note(out, functions.filter_map(Function::inferred_name).next().is_some())?;
    }
    let significant = comparison.functions.iter().filter(|change| change.is_significant()).count();
    let rest = comparison.functions.len() - significant;
    match (significant, rest) {
        (0, _) => writeln!(out, "no function changed significantly")?,
        (_, 0) => {}
        (_, 1) => writeln!(out, "1 other function did not change significantly")?,
        (_, rest) => writeln!(out, "{rest} other functions did not change significantly")?,
    }
    for sentence in left_out(programs, comparison) {
        writeln!(out, "left out: {sentence}")?;
    }
    if have_no_script_in_common(programs) {
        writeln!(
            out,
            "no script is in both: scripts match by their whole paths, so record both in one directory"
        )?;
    }
    for (side, has_order) in [("base", comparison.base_has_order), ("new", comparison.new_has_order)] {
        if !has_order {
            writeln!(
                out,
                "the samples of {side} have no order of time: each counts by itself, so p-values may be too small"
            )?;
        }
    }
    let extent = |summary: &Summary, samples: u64, program: &Program| {
        let not_covered = gaps(program.merged.gaps).map(|gaps| format!("; not covered: {gaps}"));
        let busy = summary.busy.time.as_millis_f64();
        format!("{samples} busy samples, {busy:.1} ms{}", not_covered.unwrap_or_default())
    };
    writeln!(out, "base: {}", extent(&comparison.base, comparison.base_samples, programs.base))?;
    writeln!(out, "new: {}", extent(&comparison.new, comparison.new_samples, programs.new))
}

/// Whether both programs have scripts, and none is in both. Those of Node.js and evaluated ones do not count.
fn have_no_script_in_common(programs: &Programs<'_>) -> bool {
    let is_file = |script: &Cow<'_, str>| !script.starts_with("node:") && script != comparison::EVALUATED;
    let [base, new] = [programs.base, programs.new].map(|program| -> HashSet<Cow<'_, str>> {
        let resources = program.merged.trace.resources().iter();
        resources.map(|(_, url)| comparison::script(url)).filter(is_file).collect()
    });
    !base.is_empty() && !new.is_empty() && base.is_disjoint(&new)
}

/// What only one of the programs can have.
fn left_out(programs: &Programs<'_>, comparison: &Comparison) -> Vec<String> {
    let waiting = programs.without_waiting.map(|side| {
        format!("(waiting), which {side} does not distinguish; it counts as time of the functions that wait")
    });
    let rows = comparison.left_out.iter().map(|&LeftOut { what, is_base_without, rows }| {
        let side = if is_base_without { "base" } else { "new" };
        match what {
            OneSided::NodeFunctions => {
                let functions = if rows == 1 { "1 function".to_owned() } else { format!("{rows} functions") };
                format!("{functions} of Node.js, whose own scripts {side} does not distinguish")
            }
            OneSided::Collector => format!("(garbage collector), which {side} does not distinguish"),
        }
    });
    waiting.into_iter().chain(rows).collect()
}

fn write_row(
    out: &mut impl Write,
    programs: &Programs<'_>,
    change: &FunctionChange,
    (name, width): (&str, usize),
    directory: &Path,
) -> io::Result<()> {
    let share = |row: Option<FunctionRow>, share: f64| match row {
        Some(_) => format!("{:.1}", 100.0 * share),
        None => "-".to_owned(),
    };
    let (base, new) = (share(change.base, change.base_share), share(change.new, change.new_share));
    let p_value = match change.probability {
        p if p < MIN_P_VALUE => format!("<{MIN_P_VALUE}"),
        p => format!("{p:.4}"),
    };
    let location = programs
        .function(change)
        .map_or(String::new(), |function| location(function.trace(), function.id, directory));
    let grown = 100.0 * change.change();
    let line = format!("{base:>8} {new:>8} {grown:>+8.1} {p_value:>9}  {name:width$}  {location}");
    writeln!(out, "{}", line.trim_end())
}

fn to_json(programs: &Programs<'_>, comparison: &Comparison) -> Value {
    let side = |summary: &Summary, program: &Program, busy_samples: u64| {
        json!({
            "samples": program.merged.recorded,
            "busySamples": busy_samples,
            "busyTime": summary.busy.time.as_millis_f64(),
            "interval": summary.interval.map(|interval| interval.as_millis_f64()),
        })
    };
    let functions: Vec<Value> =
        comparison.functions.iter().map(|change| change_json(programs, change)).collect();
    let left_out = left_out(programs, comparison);
    let mut json = json!({
        "version": JSON_VERSION,
        "significance": SIGNIFICANCE,
        "base": side(&comparison.base, programs.base, comparison.base_samples),
        "new": side(&comparison.new, programs.new, comparison.new_samples),
        "functions": functions,
    });
    if !left_out.is_empty() {
        json["leftOut"] = left_out.into();
    }
    json
}

fn change_json(programs: &Programs<'_>, change: &FunctionChange) -> Value {
    let side = |trace: &Trace, row: Option<FunctionRow>, share: f64| {
        row.map(|row| {
            let frame = trace.frames()[row.frame];
            json!({
                "line": frame.line,
                "column": frame.column,
                "share": share,
                "selfTime": row.self_time.as_millis_f64(),
                "totalTime": row.total_time.as_millis_f64(),
                "selfSamples": row.self_samples,
                "totalSamples": row.total_samples,
            })
        })
    };
    let function = programs.function(change);
    json!({
        "name": function.map(|function| &function.trace().names()[function.frame().name]),
        "inferredName": function.and_then(Function::inferred_name),
        "resource": function.and_then(|function| Some(&function.trace().resources()[function.frame().resource?])),
        "base": side(&programs.base.merged.trace, change.base, change.base_share),
        "new": side(&programs.new.merged.trace, change.new, change.new_share),
        "change": change.change(),
        "probability": change.probability,
        "significant": change.is_significant(),
    })
}
