//! `cargo xtask build`: the CLI, and the addon for one or more Nodes.

use crate::checkout::Checkout;
use crate::job::{self, Output};
use crate::node::{Node, parse_major};
use crate::packages::Packages;
use crate::progress::say;
use crate::report::build_report;
use crate::tools;
use anyhow::{Context, Result};
use clap::Args;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

/// Build the CLI (target/release/selfprof), the native addon (npm/native) and the report's page (npm/report).
///
/// An addon serves one Node major alone. Without --node it is built for the `node` on PATH, against the headers beside
/// it: SELFPROF_NODE_INCLUDE names other ones, and where there are none they are fetched. Another major's official
/// build is fetched from npm. When it is done, `require('<checkout>/npm')` works as it stands.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Build the addon for this major instead: 20, 22, 24 or 26; may be repeated
    #[arg(long, value_name = "MAJOR", value_parser = parse_major)]
    node: Vec<u32>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let checkout = Checkout::find()?;
    let packages = Packages::open(checkout.logs())?;
    tools::check()?;
    let nodes = if arguments.node.is_empty() {
        vec![Node::on_path(&packages)?]
    } else {
        arguments.node.iter().map(|&major| Node::of_major(major, &packages)).collect::<Result<_>>()?
    };
    build_all(&checkout, &packages, &nodes)?;
    Ok(ExitCode::SUCCESS)
}

/// Builds the CLI and the addon for each of the Nodes, in sight.
pub fn build_all(checkout: &Checkout, packages: &Packages, nodes: &[Node]) -> Result<()> {
    say("building the CLI");
    build_cli(checkout, &Output::Shown)?;
    say("building the page of `selfprof report`");
    build_report(checkout, packages, &Output::Shown)?;
    for node in nodes {
        say(&format!("building the addon for Node {} ({})", node.version, node.addon_name()));
        build_addon(checkout, node, &Output::Shown)?;
    }
    say(&format!("built {}", checkout.cli().display()));
    for node in nodes {
        say(&format!("built {}", addon(checkout, node).display()));
    }
    Ok(())
}

/// The CLI, as users get it.
pub fn build_cli(checkout: &Checkout, output: &Output<'_>) -> Result<()> {
    let mut cargo = checkout.cargo();
    cargo.args(["build", "--release", "--package", "selfprof"]);
    job::run(&mut cargo, output).context("the CLI did not build")
}

/// Where the addon for this Node lies.
pub fn addon(checkout: &Checkout, node: &Node) -> PathBuf {
    checkout.npm().join("native").join(node.addon_name())
}

/// The addon. All majors are built in one target folder, one after the other: going from one to the next compiles two
/// crates again (10 s of CPU), where a folder for each would compile all that lies below them each time (40 s of CPU).
pub fn build_addon(checkout: &Checkout, node: &Node, output: &Output<'_>) -> Result<()> {
    let mut cargo = checkout.cargo();
    cargo
        .args(["build", "--release", "--package", "selfprof-node"])
        .env("SELFPROF_NODE_INCLUDE", &node.include);
    job::run(&mut cargo, output)
        .with_context(|| format!("the addon for Node {} did not build", node.version))?;

    // A process that runs may have the old addon mapped: it is replaced by a rename, never written over.
    let library = checkout.target().join("release").join(format!("{DLL_PREFIX}selfprof_node{DLL_SUFFIX}"));
    let place = addon(checkout, node);
    let fresh = place.with_extension("node.new");
    fs::create_dir_all(checkout.npm().join("native"))?;
    fs::copy(&library, &fresh).with_context(|| format!("cannot copy {}", library.display()))?;
    fs::rename(&fresh, &place).with_context(|| format!("cannot create {}", place.display()))
}
