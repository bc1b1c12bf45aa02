//! `cargo xtask bench`: measures selfprof against its peers, in interleaved runs, and writes docs/benchmarks.md.

mod benchmark;
mod catalogue;
mod document;
mod files;
mod machine;
mod programs;
mod statistics;

use crate::checkout::Checkout;
use crate::node::parse_major;
use crate::progress::say;
use anyhow::Result;
use clap::Args;
use std::process::ExitCode;

/// Measure against node:inspector, @datadog/pprof and no profiler at all, and write docs/benchmarks.md.
///
/// Times are CPU time of the JS thread, or of the process where files are read and written, so that other work on the
/// machine matters little; within each round, the variants run in turn. Close other programs anyway.
#[derive(Args)]
pub struct Arguments {
    /// The benchmarks to run [default: all]
    #[arg(value_parser = catalogue::names())]
    names: Vec<String>,
    /// How many rounds [default: each benchmark's own number]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// A Node major to measure on [default: the `node` on PATH]
    #[arg(long, value_name = "MAJOR", value_parser = parse_major)]
    node: Option<u32>,
    /// Print the tables, and do not change docs/benchmarks.md
    #[arg(long)]
    dry_run: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let checkout = Checkout::find()?;
    let machine = machine::Machine::prepare(&checkout, arguments.node)?;
    for benchmark in catalogue::all() {
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
