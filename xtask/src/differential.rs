//! `cargo xtask differential`: the page host and Chromium side by side.

use crate::build::build_addon;
use crate::checkout::Checkout;
use crate::chromium;
use crate::job::{Log, Output};
use crate::node::{MAJOR_THAT_DRIVES_CHROMIUM, Node, parse_major};
use crate::packages::{JSDOM, Packages};
use crate::problem::Problem;
use crate::progress::Activity;
use crate::workspace::install_workspace;
use anyhow::{Context, Result};
use clap::Args;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Run probes in Chromium and in the page host side by side, and print what differs.
///
/// A probe is a few lines of JavaScript in packages/page/differential/probes. Each runs in three variants of a page:
/// with the policy `js-profiling`, with the policy and cross-origin isolated, and without both. Known differences are
/// listed with their reasons: intended ones in packages/page/differential/intended.json, faults of the page host in
/// packages/page/differential/not-yet.json. The exit code is 1 when a probe differs that is not listed, differs
/// otherwise than listed, or no longer differs.
///
/// The addon is built first, and jsdom and a headless Chromium are fetched.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Run only probes whose name contains this
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// The Chromium to compare with [default: as for the tests: SELFPROF_CHROMIUM, on PATH, or from npm]
    #[arg(long, value_name = "PATH")]
    browser: Option<PathBuf>,
    /// Print all results as JSON
    #[arg(long)]
    json: bool,
    /// Write the results to the lists; reasons stay, and new differences go to not-yet.json
    #[arg(long, conflicts_with = "only")]
    update: bool,
    /// A Node major that pages run on: 22, 24 or 26 [default: 24]
    #[arg(long, value_name = "MAJOR", value_parser = parse_major, default_value_t = MAJOR_THAT_DRIVES_CHROMIUM)]
    node: u32,
    /// Do not rebuild the addon
    #[arg(long)]
    no_build: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let checkout = Checkout::find()?;
    let packages = Packages::open(checkout.logs())?;
    let node = Node::of_major(arguments.node, &packages)?;
    if !node.runs_pages() {
        return Err(Problem::error(
            format!("pages do not run on Node {}", node.version),
            "use --node 22, 24 or 26",
        ));
    }
    install_workspace(&checkout, &Output::Shown)?;
    if !arguments.no_build {
        let log = Log::create(&checkout.logs(), "differential-addon")?;
        let activity = Activity::start(&format!("building the addon for Node {}", node.version));
        build_addon(&checkout, &node, &Output::Logged(&log, &activity))
            .with_context(|| log.text().trim_end().to_owned())?;
    }
    let browser = match &arguments.browser {
        Some(browser) => browser.clone(),
        None => chromium::find(&packages)?,
    };
    let mut program = Command::new(&node.executable);
    program.arg(checkout.root().join("packages/page/differential/main.mjs")).env_remove("NODE_OPTIONS");
    program.arg("--browser").arg(browser).arg("--npm").arg(checkout.npm());
    program.arg("--jsdom").arg(packages.get(&JSDOM)?);
    if let Some(only) = &arguments.only {
        program.arg("--only").arg(only);
    }
    for (wanted, option) in [(arguments.json, "--json"), (arguments.update, "--update")] {
        if wanted {
            program.arg(option);
        }
    }
    let status = program.status().with_context(|| format!("cannot start {}", node.executable.display()))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
