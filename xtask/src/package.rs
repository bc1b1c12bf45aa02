//! `cargo xtask package`: the npm packages as tarballs.

mod glibc;
mod stage;

use crate::build::{build_addon, build_cli};
use crate::checkout::Checkout;
use crate::job::Output;
use crate::node::{MAJORS, Node};
use crate::packages::Packages;
use crate::pages::{build_agent, build_report};
use crate::progress::say;
use crate::tools;
use crate::workspace::install_workspace;
use anyhow::{Result, bail};
use clap::Args;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

/// Build everything for all Node majors and write the npm packages to target/npm: selfprof, @selfprof/native-linux-x64,
/// @selfprof/page, @selfprof/browser and @selfprof/instrument.
///
/// The native parts are stripped; their debug symbols are in target/npm/debug. Fails when a tarball is too large, or when a
/// native part needs a newer glibc than the packages promise. The last lines name each tarball with its size.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Do not build: pack what was built before
    #[arg(long)]
    no_build: bool,
}

/// The maximum size of a tarball, in bytes.
const LIMITS: [(&str, u64); 5] = [
    ("selfprof", 300_000),
    ("native-linux-x64", 12_000_000),
    ("page", 300_000),
    ("browser", 30_000),
    ("instrument", 30_000),
];

/// A tarball.
pub struct Tarball {
    /// The folder of the package in packages/.
    pub folder: &'static str,
    /// The tarball's path.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let checkout = Checkout::find()?;
    tools::check_to_package()?;
    if !arguments.no_build {
        build(&checkout)?;
    }
    for tarball in pack(&checkout, &Output::Shown)? {
        println!("{} ({} kB)", tarball.path.display(), tarball.size.div_ceil(1000));
    }
    Ok(ExitCode::SUCCESS)
}

fn build(checkout: &Checkout) -> Result<()> {
    let packages = Packages::open(checkout.logs())?;
    install_workspace(checkout, &Output::Shown)?;
    say("building the CLI");
    build_cli(checkout, &Output::Shown)?;
    say("building the report view");
    build_report(checkout, &Output::Shown)?;
    say("building the agent for pages");
    build_agent(checkout, &Output::Shown)?;
    for major in MAJORS {
        say(&format!("building the addon for Node {major}"));
        build_addon(checkout, &Node::of_major(major, &packages)?, &Output::Shown)?;
    }
    Ok(())
}

/// Packs what has been built. The tarballs are in the order in which they need each other.
pub fn pack(checkout: &Checkout, output: &Output<'_>) -> Result<Vec<Tarball>> {
    let npm = checkout.target().join("npm");
    let _ = fs::remove_dir_all(&npm);
    let mut tarballs = Vec::new();
    for (folder, limit) in LIMITS {
        let staged = stage::stage(checkout, folder, &npm, output)?;
        let path = stage::pack(&staged, &npm, output)?;
        let size = fs::metadata(&path)?.len();
        if size > limit {
            bail!("{} has {size} bytes, more than {limit}", path.display());
        }
        tarballs.push(Tarball { folder, path, size });
    }
    Ok(tarballs)
}
