//! `cargo xtask bench`: measures selfprof against its peers, in interleaved runs, and writes docs/benchmarks.md.

mod document;
mod files;
mod runner;
mod statistics;
mod suite;

use crate::checkout::Checkout;
use crate::node::parse_major;
use crate::progress::say;
use anyhow::Result;
use clap::Args;
use std::process::ExitCode;

/// Measure against node:inspector, @datadog/pprof and no profiler at all, and write docs/benchmarks.md.
///
/// Times are CPU time of the JS thread, or of the process where files are read and written, so that other work on the
/// machine counts as little as it can; runs of all variants take turns within each round. Close what else runs all the same.
#[derive(Args)]
pub struct Arguments {
    /// Which to run; all when none is named.
    #[arg(value_parser = suite::names())]
    names: Vec<String>,
    /// How many rounds, in place of each benchmark's own number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// A Node major to measure on, in place of the `node` on PATH.
    #[arg(long, value_name = "MAJOR", value_parser = parse_major)]
    node: Option<u32>,
    /// Print the tables only.
    #[arg(long)]
    dry_run: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let checkout = Checkout::find()?;
    let machine = runner::Machine::prepare(&checkout, arguments.node)?;
    for benchmark in suite::all() {
        if !arguments.names.is_empty() && !arguments.names.iter().any(|name| name == benchmark.name) {
            continue;
        }
        let rounds = arguments.rounds.unwrap_or(benchmark.rounds);
        let table = machine.measure(&benchmark, rounds)?;
        println!("{}\n\n{table}", benchmark.title);
        if !arguments.dry_run {
            document::replace(&checkout, benchmark.name, &table)?;
            say(&format!("written to {}, block {}", document::PATH, benchmark.name));
        }
    }
    Ok(ExitCode::SUCCESS)
}
