//! The page of `selfprof report`, built by Vite from `ui/report` into the npm package.

use crate::checkout::Checkout;
use crate::job::{self, Output};
use crate::workspace::{install_workspace, modules};
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::Command;

/// Where the page's source is.
pub fn folder(checkout: &Checkout) -> PathBuf {
    checkout.root().join("ui/report")
}

/// Where the views are that it shares with other pages.
pub fn views_folder(checkout: &Checkout) -> PathBuf {
    checkout.root().join("ui/views")
}

/// Checks the types of all of `ui`, and builds the page.
pub fn build_report(checkout: &Checkout, output: &Output<'_>) -> Result<()> {
    install_workspace(checkout, output)?;
    for arguments in
        [&["typescript/bin/tsc", "-p", ".."][..], &["vite/bin/vite.js", "build", "--logLevel", "warn"]]
    {
        let [program, rest @ ..] = arguments else { continue };
        let mut node = Command::new("node");
        node.arg(modules(checkout).join(program)).args(rest);
        node.current_dir(folder(checkout)).env_remove("NODE_OPTIONS");
        job::run(&mut node, output).context("the page of `selfprof report` did not build")?;
    }
    Ok(())
}
