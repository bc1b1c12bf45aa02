//! `cargo xtask package`: the npm packages as tarballs.

mod glibc;
mod stage;

pub use stage::NOTICES;

use crate::build::{build_addon, build_cli, build_collector};
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
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Build everything for all Node majors and write the npm packages to target/npm: selfprof, @selfprof/native-linux-x64,
/// @selfprof/page, @selfprof/browser and @selfprof/instrument; with --collector, also @selfprof/collector-linux-x64 and
/// @selfprof/collector.
///
/// The native parts are stripped; their debug symbols are in target/npm/debug. Fails when a tarball is too large, or
/// when a native part needs a newer glibc than the packages promise. The last lines name each tarball with its size.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Do not build: pack what was built before
    #[arg(long)]
    no_build: bool,

    /// Also build and pack the collector: the first time takes some 25 minutes
    #[arg(long)]
    collector: bool,
}

/// A package: its folder in packages/, and the maximum size of its tarball in bytes.
pub type Package = (&'static str, u64);

/// Each comes after those that it depends on.
pub const PACKAGES: [Package; 5] = [
    ("native-linux-x64", 12_000_000),
    ("selfprof", 300_000),
    ("page", 300_000),
    ("browser", 30_000),
    ("instrument", 30_000),
];

/// The packages of the collector, in the same order.
pub const COLLECTOR_PACKAGES: [Package; 2] = [("collector-linux-x64", 58_000_000), ("collector", 12_000)];

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
    let mut packages = PACKAGES.to_vec();
    if arguments.collector {
        packages.extend(COLLECTOR_PACKAGES);
    }
    if !arguments.no_build {
        build(&checkout)?;
        if arguments.collector {
            build_collector(&checkout)?;
        }
    }
    for tarball in pack(&checkout, &packages, &folder(&checkout), None, &Output::Shown)? {
        println!("{} ({} kB)", tarball.path.display(), tarball.size.div_ceil(1000));
    }
    Ok(ExitCode::SUCCESS)
}

/// Where the tarballs are.
pub fn folder(checkout: &Checkout) -> PathBuf {
    checkout.target().join("npm")
}

/// Builds everything but the collector.
pub fn build(checkout: &Checkout) -> Result<()> {
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

/// Packs what has been built, in the order of `packages`, into the folder `npm`, which is emptied first. `notices` is
/// the folder of the licences of what native files contain.
pub fn pack(
    checkout: &Checkout,
    packages: &[Package],
    npm: &Path,
    notices: Option<&Path>,
    output: &Output<'_>,
) -> Result<Vec<Tarball>> {
    let _ = fs::remove_dir_all(npm);
    let mut tarballs = Vec::new();
    for &(folder, limit) in packages {
        let staged = stage::stage(checkout, folder, npm, notices, output)?;
        let path = stage::pack(&staged, npm, output)?;
        let size = fs::metadata(&path)?.len();
        if size > limit {
            bail!("{} has {size} bytes, more than {limit}", path.display());
        }
        tarballs.push(Tarball { folder, path, size });
    }
    Ok(tarballs)
}

/// Where a package is put together before it is packed.
pub fn staged(npm: &Path, folder: &str) -> PathBuf {
    npm.join("staged").join(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::collections::BTreeMap;

    /// The packages with what package.json says of them.
    fn manifests() -> Vec<(&'static str, Value)> {
        let Ok(checkout) = Checkout::find() else { panic!("no checkout") };
        let manifest = |folder: &'static str| {
            let path = checkout.root().join("packages").join(folder).join("package.json");
            let text = fs::read(&path).unwrap_or_default();
            let Ok(manifest) = serde_json::from_slice(&text) else { panic!("{}", path.display()) };
            (folder, manifest)
        };
        PACKAGES.into_iter().chain(COLLECTOR_PACKAGES).map(|(folder, _)| manifest(folder)).collect()
    }

    #[test]
    fn packages_have_one_version_and_come_after_what_they_need() {
        let version = Value::from(env!("CARGO_PKG_VERSION"));
        let mut earlier = BTreeMap::new();
        for (folder, manifest) in manifests() {
            assert_eq!(manifest["version"], version, "{folder}");
            for kind in ["dependencies", "optionalDependencies"] {
                for (name, wanted) in manifest[kind].as_object().into_iter().flatten() {
                    if name.contains("selfprof") {
                        assert_eq!(*wanted, version, "{folder} needs {name}");
                        assert!(earlier.contains_key(name.as_str()), "{folder} is packed before {name}");
                    }
                }
            }
            earlier.insert(manifest["name"].as_str().unwrap_or_default().to_owned(), folder);
        }
        let Ok(checkout) = Checkout::find() else { panic!("no checkout") };
        let folders = fs::read_dir(checkout.root().join("packages")).into_iter().flatten().flatten();
        assert_eq!(folders.count(), earlier.len(), "a folder in packages/ is not packed");
    }

    #[test]
    fn both_workspaces_have_the_version() {
        let version = env!("CARGO_PKG_VERSION");
        for text in [
            include_str!("../../collector/Cargo.toml"),
            include_str!("../../package.json"),
            include_str!("../../collector/page/package.json"),
            include_str!("../../ui/report/package.json"),
            include_str!("../../ui/views/package.json"),
        ] {
            let line = text
                .lines()
                .map(str::trim_start)
                .find(|line| line.starts_with("version = ") || line.starts_with("\"version\": "));
            assert!(line.is_some_and(|line| line.contains(&format!("\"{version}\""))), "{line:?}: {text}");
        }
    }

    #[test]
    fn packages_with_native_files_ship_their_notices() {
        for (folder, manifest) in manifests().into_iter().filter(|(_, manifest)| manifest["libc"].is_array())
        {
            let files = manifest["files"].as_array();
            assert!(files.is_some_and(|files| files.contains(&NOTICES.into())), "{folder}");
        }
    }
}
