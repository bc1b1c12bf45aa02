//! `cargo xtask bench`: measures selfprof against its peers, in interleaved runs, and writes docs/benchmarks.md.

mod agents;
mod benchmark;
mod catalogue;
mod document;
mod files;
mod machine;
mod polyfill;
mod profile_store;
mod programs;
mod statistics;

use self::benchmark::Benchmark;
use self::machine::{Machine, Needs};
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
    /// For how long a server with an agent is loaded in each round of `agents` and `agent-labels`
    #[arg(long, value_name = "N", default_value_t = 2.0, value_parser = parse_minutes)]
    minutes: f64,
    /// Print the tables, and do not change docs/benchmarks.md
    #[arg(long)]
    dry_run: bool,
}

fn parse_minutes(text: &str) -> Result<f64, String> {
    let minutes = text.parse().ok().filter(|minutes: &f64| (0.1..=1440.0).contains(minutes));
    minutes.ok_or_else(|| "it must be a number from 0.1 to 1440".to_owned())
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let checkout = Checkout::find()?;
    let is_named = |benchmark: &Benchmark| {
        let has = |name: &String| match name.as_str() {
            profile_store::ALL => benchmark.has_collector,
            polyfill::ALL => benchmark.script == polyfill::SCRIPT,
            name => name == benchmark.name,
        };
        arguments.names.is_empty() || arguments.names.iter().any(has)
    };
    let benchmarks: Vec<Benchmark> = catalogue::all().into_iter().filter(is_named).collect();
    let runs = |script: &str| benchmarks.iter().any(|benchmark| benchmark.script == script);
    let needs = Needs {
        collector: benchmarks.iter().any(|benchmark| benchmark.has_collector),
        agents: runs(agents::SCRIPT).then_some(arguments.minutes),
        polyfill: runs(polyfill::SCRIPT),
    };
    let machine = Machine::prepare(&checkout, arguments.node, needs)?;
    for benchmark in benchmarks {
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
