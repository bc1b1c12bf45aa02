//! What a release publishes besides the npm packages of `tarballs`, and how GitHub publishes it.

use super::collector::checkout;
use super::tarballs::{fill_path, tarball};
use crate::collector;
use crate::job::{self, Log, Output};
use crate::node::Node;
use crate::package::{self, COLLECTOR_PACKAGES};
use crate::progress::Activity;
use crate::pypi::ZIZMOR;
use crate::release;
use crate::test::step::Context;
use anyhow::{Context as _, Result};
use std::fs;
use std::process::Command;

/// Checks the workflows.
pub fn workflows(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let mut zizmor = Command::new(ZIZMOR.folder(&context.packages)?.join("bin/zizmor"));
    zizmor.args(["--offline", "--no-progress", "--color=never", "--strict-collection", ".github"]);
    job::run(zizmor.current_dir(context.checkout.root()), &Output::Logged(log, activity))?;
    Ok(String::new())
}

/// Packs the npm packages of the collector, installs them into an empty project with no compiler on PATH, and starts
/// the collector.
pub fn npm_collector(major: u32, context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let (checkout, _cache) = checkout(context)?;
    let output = Output::Logged(log, activity);
    collector::build(&checkout, &output)?;
    let npm = checkout.target().join("npm-collector");
    let tarballs = package::pack(&checkout, &COLLECTOR_PACKAGES, &npm, None, &output)?;

    let node = Node::of_major(major, &context.packages)?;
    let folder = tempfile::tempdir()?;
    let (bin, project) = (folder.path().join("bin"), folder.path().join("project"));
    fs::create_dir(&bin)?;
    fs::create_dir(&project)?;
    fill_path(&bin, &node)?;
    fs::write(project.join("package.json"), r#"{ "name": "project", "private": true }"#)?;
    let mut install = Command::new(bin.join("npm"));
    install.args(["install", "--no-audit", "--no-fund", "--offline", "--loglevel", "error"]);
    for name in ["selfprof-collector-linux-x64", "selfprof-collector"] {
        install.arg(tarball(&npm, name)?);
    }
    job::run(install.env("PATH", &bin).env_remove("NODE_OPTIONS").current_dir(&project), &output)
        .context("the tarballs were not installed")?;
    let script = project.join("check.mjs");
    fs::copy(checkout.root().join("xtask/package/check-collector.mjs"), &script)?;
    let mut check = Command::new(&node.executable);
    check.arg(&script).arg(env!("CARGO_PKG_VERSION")).env("PATH", &bin).env_remove("NODE_OPTIONS");
    job::run(check.current_dir(&project), &output)?;
    fs::remove_dir_all(npm.join("staged"))?;
    Ok(format!("{} kB", tarballs.iter().map(|tarball| tarball.size).sum::<u64>().div_ceil(1000)))
}

/// Makes everything that a release has.
pub fn files(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let (checkout, _cache) = checkout(context)?;
    let output = Output::Logged(log, activity);
    collector::build(&checkout, &output)?;
    let notes = "Notes of a test.";
    let files = release::make(&checkout, &context.packages, notes, &output)?;
    Ok(format!("{} files", files.len()))
}
