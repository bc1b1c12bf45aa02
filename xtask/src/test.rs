//! `cargo xtask test`: everything that CI runs.

mod counts;
mod plan;
mod run;
mod schedule;
mod step;
mod steps;
mod summary;

use crate::build_cache::{self, Contents};
use crate::checkout::Checkout;
use crate::node::{MAJORS, parse_major};
use crate::packages::Packages;
use anyhow::Result;
use clap::Args;
use plan::{plan, select};
use std::env;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::thread::available_parallelism;
use step::Context;
use summary::Report;

/// Run every test of the project: what CI runs.
///
/// Steps run in parallel on the available processors. One that fails does not stop the others, except those that need
/// it. A step that passes prints one line; a step that fails prints all its output. A table of where the time went
/// follows, and the last line is `N passed, M failed`, counted in steps. The output of each step is kept in target/xtask.
///
/// A step that fails and then passes when it is run again is marked FLAKY, with the output of its failure above. A step
/// of JavaScript runs only its files with failures again.
///
/// The CLI and the addons are built without link-time optimisation, which `cargo xtask build` and `cargo xtask package` do.
///
/// When CI is set, each file of `pages` runs on Node 24 and on 22 or 26, in turns from commit to commit, and each file of
/// `js` on 20 and 26 and on 22 or 24.
///
/// When CI is set, compiled dependencies are kept in build/ of the cache, for each Cargo.lock and toolchain; when
/// SELFPROF_BUILD_CACHE names a folder, they are kept there.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Run on these Node majors only; may be repeated [default: 20, 22, 24 and 26]
    #[arg(long, value_name = "MAJOR", value_parser = parse_major)]
    node: Vec<u32>,
    /// Run one step (`js-22`) or a family of them (`js`), with the steps that it needs; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Use this many processors; with 1, one step runs after the other [default: all processors]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Run steps that fail again, up to N times, when all others have ended [default: 0, or 2 when CI is set]
    #[arg(long, value_name = "N")]
    retries: Option<u32>,
    /// Print the names of the steps, and what each does
    #[arg(long)]
    list: bool,
}

impl Arguments {
    /// One flaky test must not fail a run that nobody watches.
    fn retries(&self) -> u32 {
        self.retries.unwrap_or(if env::var_os("CI").is_some() { 2 } else { 0 })
    }
}

/// Runs the command. The exit code is 1 when a step failed.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut majors = if arguments.node.is_empty() { MAJORS.to_vec() } else { arguments.node.clone() };
    majors.sort_unstable();
    majors.dedup();
    let steps = select(plan(&majors), &arguments.only)?;
    if arguments.list {
        let mut stdout = io::stdout().lock();
        for step in &steps {
            // The reader may stop reading, as `head` does.
            if writeln!(stdout, "{:<12} {}", step.name, step.about).is_err() {
                break;
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let program = env::current_exe()?;
    let jobs = arguments.jobs.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let checkout = Checkout::find()?.without_link_time_optimisation();
    let packages = Packages::open(checkout.logs())?;
    // Locked until the end.
    let build_cache = build_cache::open(&checkout, &packages.cache_of("build"), Contents::Workspace)?;
    let checkout = match &build_cache {
        Some(cache) => checkout.with_build_folder(cache.folder()),
        None => checkout,
    };
    let context = Context { packages, checkout, program };
    let mut report = Report::new(steps.len(), jobs);
    run::run(&steps, jobs, arguments.retries(), &context, &mut report);
    Ok(report.finish())
}
