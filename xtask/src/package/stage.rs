//! Puts together what a package consists of, and packs it.

use super::glibc;
use crate::checkout::Checkout;
use crate::collector;
use crate::job::{self, Output};
use crate::node::MAJORS;
use crate::problem::Problem;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is not part of a package.
const LEFT_OUT: [&str; 6] =
    ["differential", "node_modules", "test", "tsconfig.json", "vite.config.ts", "wpt"];

/// The licences of what a native file contains, in a package and in a tarball of a program.
pub const NOTICES: &str = "THIRD-PARTY-NOTICES.txt";

/// Copies a package to a separate folder, with licences and a README, and native files stripped. `notices` is the
/// folder of the notices, each file named after its package. Gives the package's folder.
pub fn stage(
    checkout: &Checkout,
    folder: &str,
    npm: &Path,
    notices: Option<&Path>,
    output: &Output<'_>,
) -> Result<PathBuf> {
    let source = checkout.root().join("packages").join(folder);
    let staged = super::staged(npm, folder);
    copy(&source, &staged)?;
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(checkout.root().join(licence), staged.join(licence))?;
    }
    if !staged.join("README.md").is_file() {
        fs::copy(checkout.root().join("README.md"), staged.join("README.md"))?;
    }
    match folder {
        "selfprof" => {
            require(&staged.join("report"), "the report view is not built")?;
            require(&staged.join("polyfill/polyfill.js"), "the polyfill is not built")?;
            require(&staged.join("polyfill/tracing.js"), "the polyfill is not built")?;
        }
        "browser" => {
            require(&staged.join("dist/selfprof.js"), "the agent for pages is not built")?;
            // Its users get what was built.
            fs::remove_dir_all(staged.join("src"))?;
        }
        "native-linux-x64" => strip_native(&staged, npm, output)?,
        "collector-linux-x64" => {
            let built = collector::program(checkout);
            require(&built, "the collector is not built")?;
            let program = staged.join("bin").join(collector::NAME);
            fs::create_dir_all(staged.join("bin"))?;
            fs::copy(&built, &program).with_context(|| format!("cannot copy {}", built.display()))?;
            strip(&program, glibc::PROMISED_BY_COLLECTOR, npm, output)?;
        }
        _ => {}
    }
    if let Some(file) = notices.map(|notices| notices.join(format!("{folder}.txt")))
        && file.is_file()
    {
        fs::copy(&file, staged.join(NOTICES))?;
    }
    Ok(staged)
}

/// Packs a staged package. Gives the tarball.
pub fn pack(staged: &Path, npm: &Path, output: &Output<'_>) -> Result<PathBuf> {
    let before = tarballs(npm)?;
    let mut command = Command::new("npm");
    command.args(["pack", "--ignore-scripts", "--loglevel", "error", "--pack-destination"]).arg(npm);
    command.current_dir(staged);
    job::run(&mut command, output).with_context(|| format!("{} was not packed", staged.display()))?;
    let new = tarballs(npm)?.into_iter().find(|tarball| !before.contains(tarball));
    new.with_context(|| format!("npm packed no tarball of {}", staged.display()))
}

fn tarballs(npm: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(npm).with_context(|| format!("cannot read {}", npm.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    Ok(paths.filter(|path| path.extension().is_some_and(|extension| extension == "tgz")).collect())
}

fn require(path: &Path, problem: &str) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    Err(Problem::error(format!("{problem}: {} does not exist", path.display()), "leave out --no-build"))
}

/// Strips the addons and the program.
fn strip_native(staged: &Path, npm: &Path, output: &Output<'_>) -> Result<()> {
    let program = staged.join("bin/selfprof");
    require(&program, "the CLI is not built")?;
    let mut files = vec![program];
    let entries = fs::read_dir(staged)?.flatten().map(|entry| entry.path());
    files.extend(entries.filter(|path| path.extension().is_some_and(|extension| extension == "node")));
    if files.len() != 1 + MAJORS.len() {
        return Err(Problem::error(
            format!(
                "{} has {} addons, not one for each of Node {MAJORS:?}",
                staged.display(),
                files.len() - 1
            ),
            "leave out --no-build, and remove addons of other versions",
        ));
    }
    files.iter().try_for_each(|file| strip(file, glibc::PROMISED, npm, output))
}

/// Strips a native file. Its debug symbols go to `debug/` beside the tarballs, where debuggers look for them by the
/// name and the checksum that stay in the stripped file. Fails if it needs a newer glibc than the promised one.
fn strip(file: &Path, promised: (u32, u32), npm: &Path, output: &Output<'_>) -> Result<()> {
    let debug = npm.join("debug");
    fs::create_dir_all(&debug)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let symbols = debug.join(format!("{name}.debug"));
    objcopy(&["--only-keep-debug"], &[file, &symbols], output)?;
    objcopy(&["--strip-unneeded"], &[file], output)?;
    objcopy(&[&format!("--add-gnu-debuglink={}", symbols.display())], &[file], output)?;
    let needed = glibc::needed(file)?;
    if needed > promised {
        bail!("{name} needs glibc {needed:?}, newer than the promised {promised:?}");
    }
    Ok(())
}

fn objcopy(options: &[&str], files: &[&Path], output: &Output<'_>) -> Result<()> {
    let mut command = Command::new("objcopy");
    command.args(options).args(files);
    job::run(&mut command, output)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        if LEFT_OUT.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readmes_name_the_promised_glibc() {
        for (readme, (major, minor)) in [
            (include_str!("../../../packages/native-linux-x64/README.md"), glibc::PROMISED),
            (include_str!("../../../packages/collector-linux-x64/README.md"), glibc::PROMISED_BY_COLLECTOR),
            (include_str!("../../../packages/collector/README.md"), glibc::PROMISED_BY_COLLECTOR),
        ] {
            assert!(readme.contains(&format!("glibc {major}.{minor}")), "{readme}");
        }
    }
}
