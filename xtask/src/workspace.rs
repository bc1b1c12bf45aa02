//! The npm workspaces of the checkout: what they need is installed into `node_modules`, where they also find each
//! other.

use crate::checkout::Checkout;
use crate::job::{self, Output};
use crate::problem::Problem;
use crate::progress::say;
use anyhow::Result;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Where npm puts the packages.
pub fn modules(checkout: &Checkout) -> PathBuf {
    checkout.root().join("node_modules")
}

/// Runs `npm ci` unless it has run for this package-lock.json.
pub fn install_workspace(checkout: &Checkout, output: &Output<'_>) -> Result<()> {
    let lock = fs::read(checkout.root().join("package-lock.json"))?;
    let installed = modules(checkout).join(".selfprof-installed.json");
    if fs::read(&installed).is_ok_and(|known| known == lock) {
        return Ok(());
    }
    if matches!(output, Output::Shown) {
        say("installing the packages of the npm workspaces");
    }
    let mut npm = Command::new("npm");
    npm.args([
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--prefer-offline",
        "--loglevel",
        "error",
    ])
    .current_dir(checkout.root());
    job::run(&mut npm, output).map_err(|error| {
        Problem::error(
            format!("the packages of the npm workspaces were not installed: {error:#}"),
            "it needs the npm registry (or a mirror set in npm's configuration)",
        )
    })?;
    fs::write(installed, lock)?;
    Ok(())
}
