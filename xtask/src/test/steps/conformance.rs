//! The runner of web-platform-tests.

use super::javascript::{run, test_files};
use crate::job::{self, Log, Output};
use crate::packages::WPT_RUNNER;
use crate::progress::Activity;
use crate::test::step::Context;
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs `cargo xtask wpt` itself on a checkout that is made of our tests and testharness.js. Some of them must fail:
/// all of them ending as expected shows that failures are reported.
pub fn test(major: u32, context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let folder = context.checkout.root().join("packages/page/wpt");
    run(major, (&[], &test_files(&folder.join("test"))?), &[], context, log, activity)?;
    let suite = tempfile::tempdir()?;
    copy_folder(&folder.join("fixture/tree"), suite.path())?;
    let harness = context.packages.get(&WPT_RUNNER)?.join("testharness/testharness.js");
    fs::copy(&harness, suite.path().join("resources/testharness.js"))?;
    let mut command = Command::new(&context.program);
    // Another step has built the addon, and a further one may be building another now.
    command.args(["wpt", "runner", "--no-build", "--node", &major.to_string()]);
    command.arg("--expectations").arg(folder.join("fixture/expectations.toml"));
    command.arg("--wpt").arg(suite.path());
    job::run(&mut command, &Output::Logged(log, activity))?;
    let output = log.text();
    let Some(summary) = output.lines().rfind(|line| line.starts_with("tests: ")) else {
        bail!("cargo xtask wpt printed no summary");
    };
    Ok(summary.to_owned())
}

/// Runs the probes in the page host and in Chromium.
pub fn differential(major: u32, context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let mut command = Command::new(&context.program);
    command.args(["differential", "--no-build", "--node", &major.to_string()]);
    job::run(&mut command, &Output::Logged(log, activity))?;
    Ok(String::new())
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let copy = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &copy)?;
        } else {
            fs::copy(entry.path(), copy)?;
        }
    }
    Ok(())
}
