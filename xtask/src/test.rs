//! `cargo xtask test`: the steps of three tiers.

mod counts;
mod plan;
mod run;
mod schedule;
mod step;
mod steps;
mod summary;

use crate::build_cache::{self, Contents};
use crate::checkout::Checkout;
use crate::node::{MAJORS, Node, parse_major};
use crate::packages::Packages;
use anyhow::Result;
use clap::Args;
use plan::{Majors, plan, select};
use std::env;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::thread::available_parallelism;
use step::{Context, Tier};
use summary::Report;

/// Run the tests: before each commit, or with --all what CI runs
///
/// Without options, runs the checks, the Rust tests, the JavaScript tests on the Node of PATH, `selfprof run` and one
/// page: a few minutes. --all adds the other Node majors, all tests of pages, WebDriver, the runner of
/// web-platform-tests, bundlers, browsers, the collector, the packages and the programs that read our formats.
/// --nightly adds all pages on all majors, a search by fuzzing, the comparison with Chromium, a hundred repeats of
/// programs that end, and the files of a release.
///
/// Steps run in parallel on the available processors. One that fails does not stop the others, except those that need
/// it. A step that passes prints one line; a step that fails prints all its output. A table of where the time went
/// follows, and the last line is `N passed, M failed`, counted in steps. The output of each step is kept in
/// target/xtask.
///
/// The CLI and the addons are built without link-time optimisation, which `cargo xtask build` and `cargo xtask package`
/// do.
///
/// When CI is set, compiled dependencies are kept in build/ of the cache, for each Cargo.lock and toolchain; when
/// SELFPROF_BUILD_CACHE names a folder, they are kept there.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Run everything that CI runs
    #[arg(long, conflicts_with = "nightly")]
    all: bool,
    /// Run everything
    #[arg(long)]
    nightly: bool,
    /// Run on these Node majors only; may be repeated [default: all; without --all, --nightly and --only, that of the
    /// Node on PATH]
    #[arg(long, value_name = "MAJOR", value_parser = parse_major)]
    node: Vec<u32>,
    /// Run one step of any tier (`js-22`) or a family of them (`js`), with the steps that it needs; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with_all = ["all", "nightly"])]
    only: Vec<String>,
    /// Use this many processors; with 1, one step runs after the other [default: all processors]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Write the table of times to xtask/test-times.txt if all steps pass
    #[arg(long, requires = "all")]
    record: bool,
    /// Print the names of the steps, and what each does
    #[arg(long)]
    list: bool,
}

impl Arguments {
    fn tier(&self) -> Tier {
        match (self.nightly || !self.only.is_empty(), self.all) {
            (true, _) => Tier::Nightly,
            (false, true) => Tier::All,
            (false, false) => Tier::Commit,
        }
    }

    fn majors(&self) -> Majors {
        let on_path = Node::major_on_path().filter(|major| MAJORS.contains(major));
        let all = match (&self.node[..], self.tier(), on_path) {
            ([], Tier::Commit, Some(major)) => vec![major],
            ([], ..) => MAJORS.to_vec(),
            (named, ..) => named.to_vec(),
        };
        Majors::new(all, on_path)
    }
}

/// Runs the command. The exit code is 1 when a step failed.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let steps = select(plan(&arguments.majors(), arguments.tier()), &arguments.only)?;
    if arguments.list {
        let mut stdout = io::stdout().lock();
        for step in &steps {
            // The reader may stop reading, as `head` does.
            if writeln!(stdout, "{:<22} {}", step.name, step.about).is_err() {
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
    run::run(&steps, jobs, &context, &mut report);
    let times = context.checkout.root().join("xtask/test-times.txt");
    report.finish(arguments.record.then_some(&times))
}
