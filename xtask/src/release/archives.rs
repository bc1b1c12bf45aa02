//! The programs as tarballs that need neither npm nor Rust.

use crate::collector;
use crate::job::{self, Output};
use crate::package::{NOTICES, staged};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The licences that a tarball carries.
const LICENCES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", NOTICES];

/// Makes a tarball of the CLI and one of the collector, of what was put together for npm. They are checked by starting
/// what is in them.
pub fn pack(work: &Path, npm: &Path, (folder, version): (&Path, &str), output: &Output<'_>) -> Result<()> {
    // The program finds the npm package in packages/ above it, and the package finds the addons in node_modules.
    let cli = work.join("selfprof");
    let native = staged(npm, "native-linux-x64");
    let addons = cli.join("node_modules/@selfprof/native-linux-x64");
    link(&staged(npm, "selfprof"), &cli.join("packages/selfprof"), output)?;
    link(&native, &addons, output)?;
    fs::rename(addons.join("bin"), cli.join("bin"))?;
    // Its README is about the npm package; the README of the project is in packages/selfprof.
    fs::rename(cli.join("packages/selfprof/README.md"), cli.join("README.md"))?;
    fs::remove_file(addons.join("README.md"))?;
    move_licences(&addons, &cli)?;
    answers(&cli.join("bin/selfprof"), version)?;
    tar(work, "selfprof", &folder.join(format!("selfprof-{version}-linux-x64.tar.gz")), output)?;

    let server = work.join(collector::NAME);
    let native = staged(npm, "collector-linux-x64");
    link(&native.join("bin"), &server, output)?;
    for licence in LICENCES {
        fs::copy(native.join(licence), server.join(licence)).with_context(|| format!("no {licence}"))?;
    }
    answers(&server.join(collector::NAME), version)?;
    let file = folder.join(format!("{}-{version}-linux-x64.tar.gz", collector::NAME));
    tar(work, collector::NAME, &file, output)?;
    fs::remove_dir_all(cli)?;
    fs::remove_dir_all(server)?;
    Ok(())
}

/// Copies a folder by hard links.
fn link(from: &Path, to: &Path, output: &Output<'_>) -> Result<()> {
    fs::create_dir_all(to.parent().context("a folder has a parent")?)?;
    job::run(Command::new("cp").arg("--archive").arg("--link").arg(from).arg(to), output)
}

fn move_licences(from: &Path, to: &Path) -> Result<()> {
    for licence in LICENCES {
        fs::rename(from.join(licence), to.join(licence)).with_context(|| format!("no {licence}"))?;
    }
    Ok(())
}

/// Fails if the program does not give this version.
fn answers(program: &Path, version: &str) -> Result<()> {
    let output = Command::new(program).arg("--version").output();
    let output = output.with_context(|| format!("cannot start {}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if text.split_whitespace().nth(1) != Some(version) {
        bail!("{} --version prints {text:?}, not {version}", program.display());
    }
    Ok(())
}

/// The same files give the same bytes.
fn tar(folder: &Path, name: &str, file: &PathBuf, output: &Output<'_>) -> Result<()> {
    let mut tar = Command::new("tar");
    tar.args([
        "--create",
        "--gzip",
        "--sort=name",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--mtime=@0",
    ]);
    tar.arg("--file").arg(file).arg("--directory").arg(folder).arg(name);
    job::run(&mut tar, output)
}
