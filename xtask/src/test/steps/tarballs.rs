//! The npm packages, installed and used as a new user would.

use crate::job::{self, Log, Output};
use crate::node::{MAJORS, Node};
use crate::package;
use crate::packages::{JSDOM, TYPESCRIPT};
use crate::progress::Activity;
use crate::test::step::Context;
use anyhow::{Context as _, Result};
use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a user's PATH has besides Node: npm starts `sh`, and its programs are found by `env`.
const PROGRAMS: [&str; 6] = ["sh", "env", "cat", "ls", "mkdir", "rm"];

/// Packs what the steps before have built.
pub fn pack(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let output = Output::Logged(log, activity);
    let checkout = &context.checkout;
    let tarballs = package::pack(checkout, &package::PACKAGES, &package::folder(checkout), None, &output)?;
    let sizes =
        tarballs.iter().map(|tarball| format!("{} {} kB", tarball.folder, tarball.size.div_ceil(1000)));
    Ok(sizes.collect::<Vec<_>>().join(", "))
}

/// Installs the tarballs into an empty project on a Node, with no compiler on PATH, and uses them.
pub fn use_them(major: u32, context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let node = Node::of_major(major, &context.packages)?;
    let output = Output::Logged(log, activity);
    let folder = tempfile::tempdir()?;
    let (bin, project) = (folder.path().join("bin"), folder.path().join("project"));
    fs::create_dir(&bin)?;
    fs::create_dir(&project)?;
    fill_path(&bin, &node)?;
    fs::write(project.join("package.json"), r#"{ "name": "project", "private": true }"#)?;

    let has_pages = node.runs_pages();
    let mut names = vec!["selfprof", "selfprof-native-linux-x64", "selfprof-browser", "selfprof-instrument"];
    if has_pages {
        names.push("selfprof-page");
    }
    let mut npm = Command::new(bin.join("npm"));
    npm.args(["install", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel", "error"]);
    for name in names {
        npm.arg(tarball(&context.checkout.target().join("npm"), name)?);
    }
    if has_pages {
        npm.arg(format!("jsdom@{}", JSDOM.version));
    }
    job::run(npm.env("PATH", &bin).env_remove("NODE_OPTIONS").current_dir(&project), &output)
        .context("the tarballs were not installed")?;

    // The packages are found from the script's own folder.
    let script = project.join("check.mjs");
    fs::copy(context.checkout.root().join("xtask/package/check.mjs"), &script)?;
    let mut check = Command::new(&node.executable);
    check.arg(&script).arg(if has_pages { "pages" } else { "no-pages" });
    check.arg(context.packages.get(&TYPESCRIPT)?.join("lib/tsc.js"));
    check.env("PATH", &bin).env_remove("NODE_OPTIONS").env_remove("SELFPROF_NPM").current_dir(&project);
    job::run(&mut check, &output)?;
    Ok(String::new())
}

/// Links the programs of a user's PATH. npm runs on this Node, too.
pub(super) fn fill_path(bin: &Path, node: &Node) -> Result<()> {
    symlink(&node.executable, bin.join("node"))?;
    for name in PROGRAMS {
        symlink(find(name)?, bin.join(name))?;
    }
    for name in ["npm", "npx"] {
        // The real path: npm finds its own files beside it.
        let program = fs::canonicalize(find(name)?)?;
        fs::write(bin.join(name), format!("#!/bin/sh\nexec node '{}' \"$@\"\n", program.display()))?;
        fs::set_permissions(bin.join(name), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    }
    Ok(())
}

fn find(name: &str) -> Result<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
    found.with_context(|| format!("the program `{name}` is not on PATH"))
}

/// The tarball of a package: `selfprof-page-0.1.0.tgz`.
pub(super) fn tarball(npm: &Path, name: &str) -> Result<PathBuf> {
    let path = npm.join(format!("{name}-{}.tgz", env!("CARGO_PKG_VERSION")));
    fs::metadata(&path).with_context(|| format!("cannot find {}", path.display()))?;
    Ok(path)
}

/// Whether the packages can be packed: they have an addon for each major.
pub fn can_pack(majors: &[u32]) -> bool {
    MAJORS.iter().all(|major| majors.contains(major))
}
