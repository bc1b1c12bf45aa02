//! What Vite builds: the agent for pages with the polyfill, the report view, which is part of the npm package, and the
//! collector's pages, which are part of its program.

use crate::checkout::Checkout;
use crate::job::{self, Output};
use crate::workspace::{install_workspace, modules};
use anyhow::{Context, Result};
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the source of the report view is.
pub fn report_folder(checkout: &Checkout) -> PathBuf {
    checkout.root().join("ui/report")
}

/// Where the source of the collector's page is.
pub fn collector_folder(checkout: &Checkout) -> PathBuf {
    checkout.collector().join("page")
}

/// Where the views are that the pages share.
pub fn views_folder(checkout: &Checkout) -> PathBuf {
    checkout.root().join("ui/views")
}

/// Where the source of the agent for pages is.
pub fn agent_folder(checkout: &Checkout) -> PathBuf {
    checkout.root().join("packages/browser")
}

/// Builds the agent for pages, a module and a script, and the polyfill's runtimes, templates that `selfprof instrument`
/// finds in the npm package.
pub fn build_agent(checkout: &Checkout, output: &Output<'_>) -> Result<()> {
    let builds = [&[][..], &["--mode", "script"], &["--mode", "polyfill"], &["--mode", "tracing"]];
    build(checkout, &agent_folder(checkout), ".", &builds, output)
        .context("the agent for pages did not build")?;
    let folder = checkout.npm().join("polyfill");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for name in ["polyfill.js", "tracing.js"] {
        let template = agent_folder(checkout).join("dist").join(name);
        fs::copy(&template, folder.join(name))
            .with_context(|| format!("cannot copy {}", template.display()))?;
    }
    Ok(())
}

/// Where the plugin for bundlers is.
pub fn plugin_folder(checkout: &Checkout) -> PathBuf {
    checkout.root().join("packages/instrument")
}

/// Builds the report view.
pub fn build_report(checkout: &Checkout, output: &Output<'_>) -> Result<()> {
    build(checkout, &report_folder(checkout), "..", &[&[]], output).context("the report view did not build")
}

/// Builds the collector's pages. The collector has them if it is built afterwards.
pub fn build_collector_page(checkout: &Checkout, output: &Output<'_>) -> Result<()> {
    let pages = [&[][..], &["--mode", "profile"]];
    build(checkout, &collector_folder(checkout), ".", &pages, output)
        .context("the pages of the collector did not build")
}

/// Checks the types of a project, whose path is from the folder, and builds the folder with each of these lists of
/// arguments.
fn build(
    checkout: &Checkout,
    folder: &Path,
    project: &str,
    pages: &[&[&str]],
    output: &Output<'_>,
) -> Result<()> {
    install_workspace(checkout, output)?;
    let types = vec!["typescript/bin/tsc", "-p", project];
    let build = ["vite/bin/vite.js", "build", "--logLevel", "warn"];
    let builds = pages.iter().map(|arguments| [&build[..], arguments].concat());
    for arguments in iter::once(types).chain(builds) {
        let [program, rest @ ..] = &arguments[..] else { continue };
        let mut node = Command::new("node");
        node.arg(modules(checkout).join(program)).args(rest);
        node.current_dir(folder).env_remove("NODE_OPTIONS");
        job::run(&mut node, output)?;
    }
    Ok(())
}
