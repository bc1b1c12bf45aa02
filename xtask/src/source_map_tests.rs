//! `cargo xtask source-map-tests`: the suite of tests of TC39 for readers of source maps.

use crate::checkout::Checkout;
use anyhow::{Context, Result};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Run TC39's tests of source maps, of a checkout of https://github.com/tc39/source-map-tests.
///
/// Prints how many pass. Those that do not are listed with their reasons in
/// crates/source-maps/tests/source-map-tests.txt. The exit code is 1 when a test fails that is not listed, or one
/// passes that is.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The checkout
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let checkout = Checkout::find()?;
    let folder = std::path::absolute(&arguments.dir).context("the folder has no path")?;
    let status = checkout
        .cargo()
        .args(["run", "--quiet", "--package", "selfprof-source-maps", "--example", "source_map_tests", "--"])
        .arg(folder)
        .status()
        .context("cargo did not start")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
