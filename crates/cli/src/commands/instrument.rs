//! `selfprof instrument`: copies scripts and pages with checks, so that browsers without the API can profile them.

mod failures;
mod summary;

use std::fs;
use std::io::Write;
use std::process::ExitCode;

use selfprof_site::{Mode, Options, Reason, Summary};

use crate::arguments::{InstrumentArguments, InstrumentMode};
use crate::failure::Failure;
use crate::files::stdout;
use crate::installation::package::Package;
use crate::terminal::color::Colors;

use summary::PrintedSummary;

/// Functions with fewer statements are not sampled, unless the command line says another number.
const MIN_STATEMENTS: u32 = 4;

/// Runs the command.
pub fn instrument(arguments: &InstrumentArguments) -> Result<ExitCode, Failure> {
    let options = Options {
        inputs: arguments.inputs.clone(),
        output: arguments.output.clone(),
        has_source_maps: arguments.source_map,
        include: arguments.include.clone(),
        exclude: arguments.exclude.clone(),
        mode: mode(arguments)?,
    };
    let is_trace = options.mode.is_trace();
    let path = Package::find()?.polyfill(if is_trace { "tracing.js" } else { "polyfill.js" });
    let template = fs::read_to_string(&path).map_err(|error| {
        Failure::job(format!("cannot read the polyfill {}", path.display()))
            .because(&error)
            .hint(failures::BUILD_POLYFILL)
    })?;
    let summary =
        selfprof_site::instrument(&options, &template).map_err(|error| failures::of(&error, &path))?;
    let output = arguments.output.display().to_string();
    let printed = PrintedSummary { summary: &summary, output: &output, is_trace };
    if arguments.json {
        let json = printed.json();
        stdout::write(|out| {
            serde_json::to_writer_pretty(&mut *out, &json)?;
            out.write_all(b"\n")
        })?;
    } else {
        // A closed stderr is no failure, as for other messages.
        let _ = printed.write(&mut std::io::stderr().lock(), Colors::for_stderr());
    }
    check(&summary, is_trace, arguments)?;
    Ok(ExitCode::SUCCESS)
}

fn mode(arguments: &InstrumentArguments) -> Result<Mode, Failure> {
    match arguments.mode {
        InstrumentMode::Sample if !arguments.functions.is_empty() => {
            Err(Failure::usage("`--functions` is for `--mode trace`")
                .hint("`--include` and `--exclude` choose scripts"))
        }
        InstrumentMode::Sample => {
            Ok(Mode::Sample { min_statements: arguments.min_statements.unwrap_or(MIN_STATEMENTS) })
        }
        InstrumentMode::Trace if arguments.min_statements.is_some() => {
            Err(Failure::usage("`--min-statements` is for `--mode sample`")
                .hint("`--functions GLOB` chooses functions by their names"))
        }
        InstrumentMode::Trace => Ok(Mode::Trace { functions: arguments.functions.clone() }),
    }
}

/// Fails if nothing was instrumented, although files were copied.
fn check(summary: &Summary, is_trace: bool, arguments: &InstrumentArguments) -> Result<(), Failure> {
    let counts = &summary.counts;
    if counts.scripts + counts.inline_scripts == 0 {
        let has_instrumented_inputs =
            summary.left_out.iter().any(|left_out| left_out.reason == Reason::AlreadyInstrumented);
        return Err(Failure::job("nothing was instrumented").hint(if has_instrumented_inputs {
            "give the plain files, as the build writes them"
        } else {
            "the summary says why"
        }));
    }
    if is_trace && counts.checked_functions == 0 {
        return Err(Failure::job("no function is traced").hint(if arguments.functions.is_empty() {
            "the scripts have no functions, or the summary says why they cannot be traced"
        } else {
            "`--functions GLOB` takes patterns of whole names, such as `parse*`"
        }));
    }
    Ok(())
}
