//! `cargo xtask docs`: builds the guide in docs/ as a site, with VitePress.

use crate::checkout::Checkout;
use crate::job::{self, Output};
use crate::progress::say;
use crate::workspace::{install_workspace, modules};
use anyhow::{Context, Result};
use clap::Args;
use std::process::{Command, ExitCode};

/// Build the guide in docs/ as a site in target/docs.
///
/// Fails if a page links to a page, a heading or a file that does not exist.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Serve the guide on this machine instead, and show changes as they are made
    #[arg(long)]
    serve: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let checkout = Checkout::find()?;
    if arguments.serve {
        install_workspace(&checkout, &Output::Shown)?;
        let status = vitepress(&checkout, "dev").status().context("VitePress did not start")?;
        return Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    build(&checkout, &Output::Shown)?;
    say(&format!("the guide: {}", checkout.target().join("docs").display()));
    Ok(ExitCode::SUCCESS)
}

/// Builds the site.
pub fn build(checkout: &Checkout, output: &Output<'_>) -> Result<()> {
    install_workspace(checkout, output)?;
    job::run(&mut vitepress(checkout, "build"), output).context("the guide did not build")
}

fn vitepress(checkout: &Checkout, command: &str) -> Command {
    let mut node = Command::new("node");
    node.arg(modules(checkout).join("vitepress/bin/vitepress.js")).args([command, "docs"]);
    node.current_dir(checkout.root()).env_remove("NODE_OPTIONS");
    node
}
