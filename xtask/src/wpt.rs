//! `cargo xtask wpt`: the web-platform-tests, in the page host, or over the polyfill in a browser.

mod expectations;
mod instrumented_pages;
mod markup;
mod outcome;
mod report;
mod runner;
mod suite;

use crate::build::build_addon;
use crate::checkout::Checkout;
use crate::job::{Log, Output};
use crate::node::{Node, parse_major};
use crate::packages::{JSDOM, Packages, SELFSIGNED};
use crate::problem::Problem;
use crate::progress::{Activity, say};
use anyhow::Result;
use clap::Args;
use expectations::Expectations;
use report::Report;
use runner::Runner;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use suite::{Suite, Test};

/// Run web-platform-tests from a checkout in the page host, or over the polyfill, and compare the results with the
/// expected ones.
///
/// Prints a line for each test and, under it, the unexpected results. Tests that are known to fail, or that are
/// skipped, are listed in packages/page/wpt/expectations.toml with their reasons. The exit code is 1 when a test fails
/// that should pass, or passes that should fail. The last line is `N passed, M failed`, counted in tests as a browser
/// would load them: a `.any.js` file is one test in a window and another one in a worker.
///
/// A built-in server serves the tests for web-platform.test, not-web-platform.test and their subdomains, over http and
/// https with a certificate made for the run. No Python and no entries in /etc/hosts are needed. Of the checkout it
/// reads the folders of the tests, resources, common and interfaces. The addon is built first, and jsdom is fetched.
///
/// With --polyfill, `selfprof instrument` instruments the tests of js-self-profiling, and they run in a real browser
/// without a Profiler of its own; their expectations are in packages/page/wpt/polyfill/expectations.toml.
#[derive(Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub struct Arguments {
    /// The checkout of github.com/web-platform-tests/wpt, which may be sparse
    #[arg(long, value_name = "DIR")]
    wpt: PathBuf,
    /// Run instrumented tests in this browser, in which `Profiler` is the polyfill
    #[arg(long, value_name = "BROWSER", value_enum, conflicts_with_all = ["node", "jobs"])]
    polyfill: Option<instrumented_pages::Browser>,
    /// Folders, files, or tests as they are printed
    /// [default: js-self-profiling user-timing hr-time performance-timeline; with
    /// --polyfill, js-self-profiling]
    #[arg(value_name = "TESTS")]
    names: Vec<String>,
    /// Write the results as JSON, in the shape of wptreport.json
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the results to the expectations; reasons stay
    #[arg(long)]
    update: bool,
    /// With --update, the reason for failing tests that have none yet
    #[arg(long, value_name = "TEXT", requires = "update")]
    reason: Option<String>,
    /// Run skipped tests, too
    #[arg(long)]
    run_skipped: bool,
    /// Print the tests and do not run them
    #[arg(long)]
    list: bool,
    /// How many pages at a time [default: one for each processor, 4 at most]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    jobs: Option<u8>,
    /// Multiply the time limits of all tests by this, for slow machines
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = parse_multiplier)]
    timeout_multiplier: f64,
    /// A Node major that pages run on: 22, 24 or 26 [default: the `node` on PATH where it is new enough, else 24]
    #[arg(long, value_name = "MAJOR", value_parser = parse_major)]
    node: Option<u32>,
    /// Do not rebuild the addon, or with --polyfill the CLI and the polyfill
    #[arg(long)]
    no_build: bool,
    /// The file with the expected results
    /// [default: packages/page/wpt/expectations.toml, with --polyfill packages/page/wpt/polyfill/expectations.toml]
    #[arg(long, value_name = "FILE")]
    expectations: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask wpt --wpt ../wpt                                  the specifications that selfprof implements
  cargo xtask wpt --wpt ../wpt user-timing                      a folder
  cargo xtask wpt --wpt ../wpt user-timing/mark.any.js          a file, in a window and in a worker
  cargo xtask wpt --wpt ../wpt user-timing/mark.any.html        a test
  cargo xtask wpt --wpt ../wpt hr-time --update --reason 'no animation frames without rendering'
  cargo xtask wpt --wpt ../wpt --polyfill firefox               js-self-profiling over the polyfill, in Firefox";

const DEFAULT: [&str; 4] = ["js-self-profiling", "user-timing", "hr-time", "performance-timeline"];

fn parse_multiplier(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.1..=100.0).contains(&value) => Ok(value),
        _ => Err("a number from 0.1 to 100 is expected".to_owned()),
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let suite = Suite::open(&arguments.wpt)?;
    let tests = find(&suite, arguments)?;
    if arguments.list {
        let mut stdout = std::io::stdout().lock();
        for test in &tests {
            if writeln!(stdout, "{}", test.id).is_err() {
                break;
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let checkout = Checkout::find()?;
    let path = match &arguments.expectations {
        Some(path) => path.clone(),
        None if arguments.polyfill.is_some() => {
            checkout.root().join("packages/page/wpt/polyfill/expectations.toml")
        }
        None => checkout.root().join("packages/page/wpt/expectations.toml"),
    };
    let mut expectations = Expectations::read(&path)?;
    let packages = Packages::open(checkout.logs())?;
    let (runner, mut about) = match arguments.polyfill {
        Some(browser) => instrumented_pages::runner(browser, &checkout, &packages, arguments)?,
        None => page_host(&checkout, &packages, arguments)?,
    };
    say(&format!("{} tests, {} at a time", tests.len(), runner.jobs));

    let log = Log::create(&checkout.logs(), "wpt")?;
    let mut report = Report::new(&expectations, tests.len());
    let mut wanted = Vec::new();
    for test in tests {
        let skip = if arguments.run_skipped { None } else { expectations.skip(&test.id) };
        match test.unsupported.or(skip) {
            Some(reason) => report.skipped(&test, reason)?,
            None => wanted.push(Test { slow: expectations.is_slow(&test.id), ..test }),
        }
    }
    runner.run(suite.root(), wanted, &log, &mut report)?;
    report.finish()?;
    if let Some(path) = &arguments.json {
        about["os"] = std::env::consts::OS.into();
        about["processor"] = std::env::consts::ARCH.into();
        report.write_json(path, about)?;
    }
    let is_as_expected = report.is_as_expected();
    if arguments.update {
        let outcomes = report.outcomes().to_vec();
        drop(report);
        expectations.update(&outcomes, arguments.reason.as_deref())?;
        expectations.write()?;
        say(&format!("written to {}", expectations.path().display()));
        return Ok(ExitCode::SUCCESS);
    }
    if !is_as_expected {
        let what = if arguments.polyfill.is_some() { "polyfill" } else { "page host" };
        eprintln!("\nhint: change the {what}, or {} (--update rewrites it)", expectations.path().display());
    }
    Ok(if is_as_expected { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The tests with these names, each once.
fn find(suite: &Suite, arguments: &Arguments) -> Result<Vec<Test>> {
    let default = DEFAULT.map(str::to_owned);
    let names = match (&arguments.names[..], arguments.polyfill) {
        ([], Some(_)) => &default[..1],
        ([], None) => &default[..],
        (names, _) => names,
    };
    let mut seen = BTreeSet::new();
    let mut tests = Vec::new();
    for name in names {
        tests.extend(suite.tests(name)?.into_iter().filter(|test| seen.insert(test.id.clone())));
    }
    Ok(tests)
}

fn build(checkout: &Checkout, node: &Node) -> Result<()> {
    let log = Log::create(&checkout.logs(), "wpt-addon")?;
    let activity = Activity::start(&format!("building the addon for Node {}", node.version));
    let built = build_addon(checkout, node, &Output::Logged(&log, &activity));
    drop(activity);
    if built.is_err() {
        eprintln!("{}", log.text().trim_end());
    }
    built
}

/// Runs tests in the page host. Also gives what a report says of it.
fn page_host(checkout: &Checkout, packages: &Packages, arguments: &Arguments) -> Result<(Runner, Value)> {
    let node = match arguments.node {
        Some(major) => Node::of_major(major, packages)?,
        None => Node::for_pages(packages)?,
    };
    if !node.runs_pages() {
        return Err(Problem::error(
            format!("pages do not run on Node {}", node.version),
            "omit --node, or use --node 22, 24 or 26",
        ));
    }
    if !arguments.no_build {
        build(checkout, &node)?;
    }
    let mut needs = Map::new();
    needs.insert("npm".to_owned(), json!(checkout.npm()));
    needs.insert("jsdom".to_owned(), json!(packages.get(&JSDOM)?));
    needs.insert("selfsigned".to_owned(), json!(packages.get(&SELFSIGNED)?));
    let processors = thread::available_parallelism().map_or(1, |count| count.get().min(4));
    let about = json!({
        "product": "selfprof",
        "browser_version": env!("CARGO_PKG_VERSION"),
        "jsdom": JSDOM.version,
        "node": node.version,
    });
    let runner = Runner {
        node: node.executable,
        program: checkout.root().join("packages/page/wpt/main.mjs"),
        environment: &[],
        needs,
        jobs: arguments.jobs.map_or(processors, usize::from),
        multiplier: arguments.timeout_multiplier,
        silence: runner::SILENCE,
    };
    Ok((runner, about))
}
