//! `selfprof`: profiles JavaScript programs and shows where their time went.
//!
//! Data goes to stdout, messages to stderr. The exit code is 0, 1 if the command failed, or 2 for wrong usage;
//! `selfprof run` exits as the program did. This program contains neither V8 nor a sampler: sampling happens in the
//! program's own process, in the native addon.

#![forbid(unsafe_code)]

mod arguments;
mod collector;
mod commands;
mod failure;
mod files;
mod inferred_names;
mod installation;
mod labels;
mod node_frames;
mod packages;
mod page_host;
mod program;
mod recording;
mod signals;
mod source_maps;
mod terminal;
mod urls;

use std::process::ExitCode;

use arguments::{Arguments, Command};
use commands::{
    agent_exporter, attach, convert, diff, doctor, instrument, page, recover, report, run, top, webdriver,
};

fn main() -> ExitCode {
    let result = match Arguments::of_process().command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Attach(arguments) => attach::attach(&arguments),
        Command::Top(arguments) => top::top(&arguments),
        Command::Diff(arguments) => diff::diff(&arguments),
        Command::Page(arguments) => page::page(&arguments),
        Command::Webdriver(arguments) => webdriver::webdriver(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::Doctor(arguments) => doctor::doctor(&arguments),
        Command::Instrument(arguments) => instrument::instrument(&arguments),
        Command::Collector(arguments) => commands::collector::collector(&arguments),
        Command::Recover(arguments) => recover::recover(&arguments),
        Command::AgentExporter(arguments) => agent_exporter::agent_exporter(&arguments),
        Command::Convert(arguments) => convert::convert(&arguments),
    };
    result.unwrap_or_else(|failure| {
        failure.report();
        failure.exit_code()
    })
}
