//! The page of `selfprof report`, built by Vite from `report/` into the npm package.

use crate::checkout::Checkout;
use crate::job::{self, Output};
use crate::packages::Packages;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the page's source is.
pub fn folder(checkout: &Checkout) -> PathBuf {
    checkout.root().join("report")
}

/// Checks its types and builds it.
pub fn build_report(checkout: &Checkout, packages: &Packages, output: &Output<'_>) -> Result<()> {
    let folder = folder(checkout);
    let modules = link_modules(&folder, packages)?;
    for arguments in [&["typescript/bin/tsc"][..], &["vite/bin/vite.js", "build", "--logLevel", "warn"]] {
        let [program, rest @ ..] = arguments else { continue };
        let mut node = Command::new("node");
        node.arg(modules.join(program)).args(rest).current_dir(&folder).env_remove("NODE_OPTIONS");
        job::run(&mut node, output).context("the page of `selfprof report` did not build")?;
    }
    Ok(())
}

/// Puts what the page is made with in reach of it: `report/node_modules` leads into the cache, unless a developer has
/// installed one there.
pub fn link_modules(folder: &Path, packages: &Packages) -> Result<PathBuf> {
    let modules = packages.get_locked(folder)?;
    let link = folder.join("node_modules");
    if link.is_dir() && !link.is_symlink() {
        return Ok(link);
    }
    if fs::read_link(&link).ok().as_deref() != Some(&modules) {
        let _ = fs::remove_file(&link);
        match std::os::unix::fs::symlink(&modules, &link) {
            // Another xtask was faster.
            Err(_) if link.is_dir() => {}
            linked => linked.with_context(|| format!("cannot create {}", link.display()))?,
        }
    }
    Ok(modules)
}
