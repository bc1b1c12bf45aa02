//! `selfprof`: profiles JavaScript programs, and shows where their time went.
//!
//! Data goes to stdout and talk to stderr. The exit code is 0, or 1 when the job failed, or 2 for wrong usage;
//! `selfprof run` exits as the script did. Absent on purpose: V8 and the sampling, which happen in the
//! script's own process, in the addon.

#![forbid(unsafe_code)]

mod addon;
mod arguments;
mod convert;
mod diff;
mod failure;
mod input;
mod location;
mod node;
mod output;
mod package;
mod page;
mod pages;
mod paint;
mod report;
mod run;
mod source_maps;
mod stdout;
mod table;
mod talk;
mod top;
mod webdriver;
mod whole_file;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Top(arguments) => top::top(&arguments),
        Command::Diff(arguments) => diff::diff(&arguments),
        Command::Page(arguments) => page::page(&arguments),
        Command::Webdriver(arguments) => webdriver::webdriver(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::Convert(arguments) => convert::convert(&arguments),
    };
    result.unwrap_or_else(|failure| {
        failure.report();
        failure.exit_code()
    })
}
