//! `cargo xtask demo`: profiles a real program.

mod collector;

use crate::build::build_all;
use crate::checkout::Checkout;
use crate::job::{self, Output};
use crate::node::Node;
use crate::packages::{Packages, RXJS, TYPESCRIPT};
use crate::progress::say;
use crate::tools;
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use std::fs;
use std::process::{Command, ExitCode};

/// Profile the TypeScript compiler while it type-checks RxJS, and print where the time went.
///
/// Builds the CLI and the addon for the `node` on PATH, fetches TypeScript and RxJS, runs
/// fixtures/demo/typecheck.mjs with `new Profiler({ sampleInterval: 1, ... })`, and shows the trace with
/// `selfprof top`.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    #[command(subcommand)]
    demo: Option<Demo>,
}

/// Another demo.
#[derive(Subcommand)]
enum Demo {
    Collector(collector::Arguments),
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    match &arguments.demo {
        None => type_check(),
        Some(Demo::Collector(arguments)) => collector::run(arguments),
    }
}

fn type_check() -> Result<ExitCode> {
    let checkout = Checkout::find()?;
    let packages = Packages::open(checkout.logs())?;
    tools::check()?;
    let node = Node::on_path(&packages)?;
    build_all(&checkout, std::slice::from_ref(&node))?;
    let typescript = packages.get(&TYPESCRIPT)?;
    let rxjs = packages.get(&RXJS)?;

    let folder = checkout.target().join("demo");
    let trace = folder.join("typecheck.trace.json");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    say(&format!("type-checking RxJS {} with TypeScript {}, profiled", RXJS.version, TYPESCRIPT.version));
    let mut job = Command::new(&node.executable);
    job.arg(checkout.root().join("fixtures/demo/typecheck.mjs"))
        .arg("--typescript")
        .arg(&typescript)
        .arg("--rxjs")
        .arg(&rxjs)
        .arg("--npm")
        .arg(checkout.npm())
        .arg("--out")
        .arg(folder.join("out"))
        .arg("--trace")
        .arg(&trace)
        .current_dir(&folder);
    job::run(&mut job, &Output::Shown).context("the type-check failed")?;

    say(&format!("selfprof top {}", trace.display()));
    let mut top = Command::new(checkout.cli());
    // Paths are shown relative to the working folder: in the cache they start with the package's name.
    top.arg("top").arg(&trace).current_dir(typescript.parent().unwrap_or(&typescript));
    job::run(&mut top, &Output::Shown).context("the trace could not be shown")?;

    say("selfprof report: open the page in a browser");
    let mut report = Command::new(checkout.cli());
    report.arg("report").arg(&trace).current_dir(&folder);
    job::run(&mut report, &Output::Shown).context("the report could not be made")?;
    Ok(ExitCode::SUCCESS)
}
