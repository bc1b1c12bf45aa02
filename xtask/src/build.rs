//! `cargo xtask build`: the CLI, the addon for one or more Nodes, and the agent for pages; or the collector.

use crate::checkout::Checkout;
use crate::collector;
use crate::job::{self, Output};
use crate::node::{Node, parse_major};
use crate::packages::Packages;
use crate::pages::{agent_folder, build_agent, build_collector_page, build_report};
use crate::progress::say;
use crate::tools;
use crate::workspace::install_workspace;
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Build the CLI (target/release/selfprof), the native addon (packages/native-linux-x64), the report's page
/// (packages/selfprof/report), the agent for pages (packages/browser/dist) and the polyfill
/// (packages/selfprof/polyfill).
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

    #[command(subcommand)]
    product: Option<Product>,
}

/// Another product.
#[derive(Subcommand)]
enum Product {
    /// Build the collector (target/release/selfprof-collector), with its page, and the agent for pages
    ///
    /// The first time takes some 25 minutes on 2 processors, because of the query engine that it contains.
    Collector,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let checkout = Checkout::find()?;
    if let Some(Product::Collector) = arguments.product {
        tools::check()?;
        build_collector(&checkout)?;
        return Ok(ExitCode::SUCCESS);
    }
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
    say("building the report view");
    build_report(checkout, &Output::Shown)?;
    say("building the agent for pages");
    build_agent(checkout, &Output::Shown)?;
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

/// Builds the collector with its page, and the agent for pages, which sends to it.
pub fn build_collector(checkout: &Checkout) -> Result<()> {
    say("building the agent for pages and the page of the collector");
    build_agent(checkout, &Output::Shown)?;
    build_collector_page(checkout, &Output::Shown)?;
    say(collector::building(checkout));
    collector::build(checkout, &Output::Shown)?;
    let program = checkout.cli().with_file_name(collector::NAME);
    replace(&collector::program(checkout), &program)?;
    say(&format!("built {}", agent_folder(checkout).join("dist/selfprof.js").display()));
    say(&format!("built {}", program.display()));
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

/// Copies a built file. A running process may have the old one mapped, so it is replaced by a rename and never written
/// over.
fn replace(built: &Path, place: &Path) -> Result<()> {
    let fresh = place.with_extension("new");
    if let Some(folder) = place.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    fs::copy(built, &fresh).with_context(|| format!("cannot copy {}", built.display()))?;
    fs::rename(&fresh, place).with_context(|| format!("cannot create {}", place.display()))
}
