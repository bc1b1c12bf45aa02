//! `cargo xtask build`: the CLI, and the addon for one or more Nodes.

use crate::checkout::Checkout;
use crate::job::{self, Output};
use crate::node::{Node, parse_major};
use crate::packages::Packages;
use crate::pages::build_report;
use crate::progress::say;
use crate::tools;
use crate::workspace::install_workspace;
use anyhow::{Context, Result};
use clap::Args;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Build the CLI (target/release/selfprof), the native addon (packages/native-linux-x64) and the report's page (packages/selfprof/report).
///
/// An addon works on one Node major only. Without --node, it is built for the `node` on PATH, with the headers in
/// SELFPROF_NODE_INCLUDE, or else those installed with that Node, or else fetched ones. With --node, the official build
/// of that major is fetched from npm. Afterwards, `require('<checkout>/packages/selfprof')` works.
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
    build_all(&checkout, &nodes)?;
    Ok(ExitCode::SUCCESS)
}

/// Builds the CLI and the addon for each of the Nodes, and shows the output.
pub fn build_all(checkout: &Checkout, nodes: &[Node]) -> Result<()> {
    install_workspace(checkout, &Output::Shown)?;
    say("building the CLI");
    build_cli(checkout, &Output::Shown)?;
    say("building the page of `selfprof report`");
    build_report(checkout, &Output::Shown)?;
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
    job::run(&mut cargo, output).context("the CLI did not build")?;
    replace(&checkout.cli(), &checkout.native_package().join("bin/selfprof"))
}

/// The path of the addon for this Node.
pub fn addon(checkout: &Checkout, node: &Node) -> PathBuf {
    checkout.native_package().join(node.addon_name())
}

/// The addon. All majors are built in one target folder, one after the other: switching to another major recompiles two
/// crates (10 s of CPU), whereas a folder for each would recompile all their dependencies (40 s of CPU).
pub fn build_addon(checkout: &Checkout, node: &Node, output: &Output<'_>) -> Result<()> {
    let mut cargo = checkout.cargo();
    cargo
        .args(["build", "--release", "--package", "selfprof-node"])
        .env("SELFPROF_NODE_INCLUDE", &node.include);
    job::run(&mut cargo, output)
        .with_context(|| format!("the addon for Node {} did not build", node.version))?;

    let library = checkout.target().join("release").join(format!("{DLL_PREFIX}selfprof_node{DLL_SUFFIX}"));
    replace(&library, &addon(checkout, node))
}

/// Copies a built file. A running process may have the old one mapped, so it is replaced by a rename and never written over.
fn replace(built: &Path, place: &Path) -> Result<()> {
    let fresh = place.with_extension("new");
    if let Some(folder) = place.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    fs::copy(built, &fresh).with_context(|| format!("cannot copy {}", built.display()))?;
    fs::rename(&fresh, place).with_context(|| format!("cannot create {}", place.display()))
}
