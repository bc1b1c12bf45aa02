//! `cargo xtask release`: everything that a release has.

mod archives;
mod changelog;
mod container;
mod materials;
mod notices;

use crate::build::build_collector;
use crate::checkout::Checkout;
use crate::job::{self, Output};
use crate::package::{self, COLLECTOR_PACKAGES, PACKAGES};
use crate::packages::Packages;
use crate::problem::Problem;
use crate::progress::say;
use crate::tools;
use anyhow::{Context, Result, bail};
use clap::Args;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Make everything that a release has, in target/release-files.
///
/// These are the npm packages, the CLI and the collector as tarballs, the Containerfile of the collector, the licences
/// and the materials of what is in them, the notes of the release, and the checksums of all of these. The file
/// npm-packages.txt names the npm packages in the order in which they are published. Fails unless CHANGELOG.md has a
/// section with the version.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Make the files and publish nothing; a release is published by CI
    #[arg(long)]
    dry_run: bool,

    /// Do not build: take what was built before
    #[arg(long)]
    no_build: bool,

    /// Fail unless this is the tag of the version, as v0.1.0 is
    #[arg(long)]
    tag: Option<String>,

    /// Before a release: take the notes from the section Unreleased of CHANGELOG.md if the version has none
    #[arg(long, conflicts_with = "tag")]
    unreleased: bool,
}

/// The version of everything.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The npm packages in the order in which they are published, a file a line.
const NPM_PACKAGES: &str = "npm-packages.txt";

const CHECKSUMS: &str = "SHA256SUMS";

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if !arguments.dry_run {
        return Err(Problem::error(
            "a release is published by CI, not by this command",
            format!(
                "`cargo xtask release --dry-run` makes its files; `git tag v{VERSION} && git push origin v{VERSION}` has CI publish \
                 them. See Releasing in CONTRIBUTING.md"
            ),
        ));
    }
    let checkout = Checkout::find()?;
    let text = fs::read_to_string(checkout.root().join("CHANGELOG.md"))?;
    let notes = notes(&text, arguments.tag.as_deref(), arguments.unreleased)?;
    tools::check_to_release()?;
    if !arguments.no_build {
        package::build(&checkout)?;
        build_collector(&checkout)?;
    }
    let packages = Packages::open(checkout.logs())?;
    for file in make(&checkout, &packages, notes, &Output::Shown)? {
        let size = fs::metadata(&file)?.len();
        println!("{} ({} kB)", file.display(), size.div_ceil(1000));
    }
    Ok(ExitCode::SUCCESS)
}

/// The notes of the release.
fn notes<'a>(changelog: &'a str, tag: Option<&str>, unreleased: bool) -> Result<&'a str> {
    if let Some(tag) = tag.filter(|tag| *tag != format!("v{VERSION}")) {
        return Err(Problem::error(
            format!("the tag is {tag}, but the version is {VERSION}"),
            "CONTRIBUTING.md lists the files with the version",
        ));
    }
    let section = changelog::section(changelog, VERSION);
    let next = || unreleased.then(|| changelog::section(changelog, changelog::UNRELEASED)).flatten();
    section.or_else(next).ok_or_else(|| {
        Problem::error(
            format!("CHANGELOG.md has no section about the version {VERSION}"),
            format!("rename `## Unreleased` to `## {VERSION} (DATE)`, or add --unreleased to try out what will be released"),
        )
    })
}

/// Makes the files of what was built. Gives their paths.
pub fn make(
    checkout: &Checkout,
    packages: &Packages,
    notes: &str,
    output: &Output<'_>,
) -> Result<Vec<PathBuf>> {
    let folder = checkout.target().join("release-files");
    let work = checkout.target().join("release-work");
    for folder in [&folder, &work] {
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    // cargo-about and cargo-cyclonedx read the sources of all crates.
    for workspace in [checkout.root().to_owned(), checkout.collector()] {
        let mut cargo = checkout.cargo();
        job::run(cargo.args(["fetch", "--locked", "--quiet"]).current_dir(workspace), output)?;
    }
    // The libraries, which are published as crates. Their tests compile them.
    let mut cargo = checkout.cargo();
    cargo.args(["publish", "--workspace", "--dry-run", "--no-verify", "--allow-dirty", "--quiet"]);
    job::run(&mut cargo, output).context("the crates cannot be published")?;
    say("listing the licences of what the programs contain");
    let licences = work.join("licences");
    fs::create_dir(&licences)?;
    notices::write(checkout, packages, &licences, output)?;
    say("packing the npm packages");
    let all = [&PACKAGES[..], &COLLECTOR_PACKAGES].concat();
    let npm = work.join("npm");
    let tarballs = package::pack(checkout, &all, &npm, Some(&licences), output)?;
    let mut order = String::new();
    for tarball in tarballs {
        let name = tarball.path.file_name().context("a tarball has a name")?;
        fs::hard_link(&tarball.path, folder.join(name))?;
        order += &format!("{}\n", name.to_string_lossy());
    }
    fs::write(folder.join(NPM_PACKAGES), order)?;
    say("packing the programs");
    archives::pack(&work, &npm, (&folder, VERSION), output)?;
    container::make(checkout, packages, (&folder, VERSION), output)?;
    say("listing what the packages and the programs are made of");
    materials::write(checkout, packages, (&folder, VERSION), output)?;
    fs::write(folder.join("release-notes.md"), format!("{notes}\n"))?;
    checksums(&folder)
}

/// Writes the checksums of all files in the folder. Gives the paths of all.
fn checksums(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut command = Command::new("sha256sum");
    command.args(files.iter().filter_map(|file| file.file_name())).current_dir(folder);
    let output = command.output().context("cannot start sha256sum")?;
    if !output.status.success() {
        bail!("sha256sum ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    let sums = folder.join(CHECKSUMS);
    fs::write(&sums, output.stdout)?;
    files.push(sums);
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_those_of_the_version() {
        let released = format!("# Changelog\n\n## {VERSION} (2026-12-01)\n\n- A change.\n");
        let tag = format!("v{VERSION}");
        let check = |changelog: &str, tag: Option<&str>, unreleased| {
            notes(changelog, tag, unreleased).map(str::to_owned).map_err(|error| error.to_string())
        };
        assert_eq!(check(&released, None, false).as_deref(), Ok("- A change."));
        assert_eq!(check(&released, Some(&tag), false).as_deref(), Ok("- A change."));
        assert!(check(&released, Some("v9.9.9"), false).is_err_and(|error| error.contains("v9.9.9")));
        let unreleased = "# Changelog\n\n## Unreleased\n\n- A change.\n";
        assert!(check(unreleased, None, false).is_err_and(|error| error.contains("hint: rename")));
        assert_eq!(check(unreleased, None, true).as_deref(), Ok("- A change."));
    }

    #[test]
    fn checksums_are_of_all_files() {
        let Ok(folder) = tempfile::tempdir() else { panic!("no folder") };
        for name in ["b", "a"] {
            assert!(fs::write(folder.path().join(name), name).is_ok());
        }
        let Ok(files) = checksums(folder.path()) else { panic!("no checksums") };
        assert_eq!(files.len(), 3);
        let sums = fs::read_to_string(folder.path().join(CHECKSUMS)).unwrap_or_default();
        let a = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";
        assert!(sums.starts_with(&format!("{a}  a\n")), "{sums}");
        assert_eq!(sums.lines().count(), 2);
    }
}
