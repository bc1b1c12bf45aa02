//! The pages in `ui`, built by Vite into one HTML file each: that of `selfprof report`, which is part of the npm package, and that of the
//! collector, which is part of the program.

use crate::checkout::Checkout;
use crate::job::{self, Output};
use crate::workspace::{install_workspace, modules};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the source of the page of `selfprof report` is.
pub fn report_folder(checkout: &Checkout) -> PathBuf {
    checkout.root().join("ui/report")
}

/// Where the source of the collector's page is.
pub fn collector_folder(checkout: &Checkout) -> PathBuf {
    checkout.root().join("ui/collector")
}

/// Where the views are that the pages share.
pub fn views_folder(checkout: &Checkout) -> PathBuf {
    checkout.root().join("ui/views")
}

/// Builds the page of `selfprof report`.
pub fn build_report(checkout: &Checkout, output: &Output<'_>) -> Result<()> {
    build(checkout, &report_folder(checkout), output).context("the page of `selfprof report` did not build")
}

/// Builds the collector's page. The collector has it if it is built afterwards.
pub fn build_collector_page(checkout: &Checkout, output: &Output<'_>) -> Result<()> {
    build(checkout, &collector_folder(checkout), output).context("the page of the collector did not build")
}

/// Checks the types of all of `ui`, and builds a page.
fn build(checkout: &Checkout, folder: &Path, output: &Output<'_>) -> Result<()> {
    install_workspace(checkout, output)?;
    for arguments in
        [&["typescript/bin/tsc", "-p", ".."][..], &["vite/bin/vite.js", "build", "--logLevel", "warn"]]
    {
        let [program, rest @ ..] = arguments else { continue };
        let mut node = Command::new("node");
        node.arg(modules(checkout).join(program)).args(rest);
        node.current_dir(folder).env_remove("NODE_OPTIONS");
        job::run(&mut node, output)?;
    }
    Ok(())
}
