//! The project's own commands, run as `cargo xtask COMMAND`. Each command is a module with its arguments and a `run`.

#![forbid(unsafe_code)]

mod bench;
mod build;
mod build_cache;
mod checkout;
mod chromium;
mod collector;
mod crates_io;
mod demo;
mod differential;
mod docs;
mod firefox;
mod fuzz;
mod go;
mod job;
mod node;
mod package;
mod packages;
mod pages;
mod problem;
mod progress;
mod pypi;
mod release;
mod source_map_tests;
mod test;
mod tools;
mod webkit;
mod workspace;
mod wpt;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The project's own commands.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", after_help = EXAMPLES)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask build                  the CLI, and the addon for the `node` on PATH
  cargo xtask build --node 22        the CLI, and the addon for Node 22
  cargo xtask build collector        the collector with its page
  cargo xtask demo                   profile a real type-check and print where its time went
  cargo xtask demo collector         find the slower function in real profiles of two releases of a page
  cargo xtask test                   the tests to pass before each commit
  cargo xtask test --all             everything that CI runs
  cargo xtask test --nightly         everything
  cargo xtask test --only tidy       one step, with the steps that it needs
  cargo xtask test --list            the steps
  cargo xtask fuzz w3c               fuzz one of the readers
  cargo xtask docs                   the guide in docs/, as a site in target/docs
  cargo xtask package                the npm packages, as tarballs in target/npm
  cargo xtask release --dry-run      everything that a release has, in target/release-files
  cargo xtask bench                  measure against other profilers (on an otherwise idle machine)
  cargo xtask wpt --wpt DIR          web-platform-tests of a checkout, in the page host
  cargo xtask source-map-tests --dir DIR   TC39's tests of source maps
  cargo xtask differential           the page host and Chromium side by side

Requirements: cargo, a C++20 compiler, Node.js 20 or newer with npm; for `test` and `release`, Python 3.11 or newer with venv. The first
line of output names everything that is missing, with the commands that install it. Other programs are downloaded from
npm, PyPI and crates.io if they are not installed, and kept outside the checkout: in $SELFPROF_CACHE, else in selfprof/ of
$XDG_CACHE_HOME or ~/.cache.";

#[derive(Subcommand)]
enum Command {
    Bench(bench::Arguments),
    Build(build::Arguments),
    Demo(demo::Arguments),
    Differential(differential::Arguments),
    Docs(docs::Arguments),
    Fuzz(fuzz::Arguments),
    Package(package::Arguments),
    Release(release::Arguments),
    SourceMapTests(source_map_tests::Arguments),
    Test(test::Arguments),
    Wpt(wpt::Arguments),
}

fn main() -> ExitCode {
    let done = match CommandLine::parse().command {
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Build(arguments) => build::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Differential(arguments) => differential::run(&arguments),
        Command::Docs(arguments) => docs::run(&arguments),
        Command::Fuzz(arguments) => fuzz::run(&arguments),
        Command::Package(arguments) => package::run(&arguments),
        Command::Release(arguments) => release::run(&arguments),
        Command::SourceMapTests(arguments) => source_map_tests::run(&arguments),
        Command::Test(arguments) => test::run(&arguments),
        Command::Wpt(arguments) => wpt::run(&arguments),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
