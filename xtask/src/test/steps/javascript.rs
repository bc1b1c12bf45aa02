//! Tests that Node's test runner runs.

use crate::job::{self, Log, Output};
use crate::node::Node;
use crate::packages::{DATADOG_PPROF, JSDOM, PAGE_LIBRARIES, TYPESCRIPT};
use crate::pages::plugin_folder;
use crate::progress::Activity;
use crate::test::counts;
use crate::test::step::Context;
use crate::workspace::modules;
use anyhow::{Context as _, Result, bail};
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How many files of tests run at a time. Most of them wait most of the time.
const CONCURRENCY: &str = "--test-concurrency=3";

/// Options of Node for the tests of pages. Each page is a thread that loads jsdom; with V8's default of 1 MB for the young
/// generation, collections take a tenth of the time.
const PAGE_OPTIONS: [&str; 1] = ["--min-semi-space-size=16"];

/// Has glibc give freed memory back at once, so that the tests see how much is in use.
const MALLOC: [(&str, &str); 2] =
    [("MALLOC_MMAP_THRESHOLD_", "131072"), ("MALLOC_TRIM_THRESHOLD_", "131072")];

/// Runs the tests of the npm package that need no pages.
pub fn package(major: u32, context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let pprof = context.packages.get(&DATADOG_PPROF)?;
    let environment = [("SELFPROF_TEST_PPROF", pprof.as_os_str())];
    let files = in_turns(script_tests(context)?, major, [22, 24], context)?;
    run(major, (&[], &files), &environment, context, log, activity)
}

/// Runs the tests of the page host.
pub fn pages(major: u32, context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let mut folders = vec![("SELFPROF_TEST_JSDOM", context.packages.get(&JSDOM)?)];
    for (variable, package) in &PAGE_LIBRARIES {
        folders.push((variable, context.packages.get(package)?));
    }
    let folders = folders.iter().map(|(variable, folder)| (*variable, folder.as_os_str()));
    let malloc = MALLOC.into_iter().map(|(variable, value)| (variable, OsStr::new(value)));
    let environment: Vec<(&str, &OsStr)> = folders.chain(malloc).collect();
    let files = in_turns(page_tests(context)?, major, [22, 26], context)?;
    run(major, (&PAGE_OPTIONS, &files), &environment, context, log, activity)
}

/// Checks the format of all JavaScript, TypeScript, CSS and JSON, and lints it: a warning fails.
pub fn lint(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let mut command = Command::new("node");
    command.arg(modules(&context.checkout).join("@biomejs/biome/bin/biome"));
    command.args(["ci", "--error-on-warnings", "--colors=off", "."]);
    command.current_dir(context.checkout.root()).env_remove("NODE_OPTIONS");
    job::run(&mut command, &Output::Logged(log, activity))?;
    Ok(String::new())
}

/// Checks the types of the JavaScript that ships: `tsc --checkJs --strict`. Then compiles the public declarations without
/// those settings, as a user's program does.
pub fn types(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let compiler = context.packages.get(&TYPESCRIPT)?.join("lib/tsc.js");
    let plugin = plugin_folder(&context.checkout);
    for package in [context.checkout.npm(), context.checkout.page_package(), plugin] {
        let mut command = Command::new("node");
        command.arg(&compiler).arg("--project").arg(package).env_remove("NODE_OPTIONS");
        job::run(&mut command, &Output::Logged(log, activity))?;
    }
    let mut files = Vec::new();
    for folder in
        [context.checkout.npm(), context.checkout.npm().join("register"), context.checkout.page_package()]
    {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
            files.extend(Some(entry?.path()).filter(|file| file.to_string_lossy().ends_with(".d.ts")));
        }
    }
    // A program for Node does not have the DOM library.
    for library in ["es2022,dom", "es2022"] {
        let mut command = Command::new("node");
        command.arg(&compiler).args(["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext"]);
        command.args(["--types", "node", "--lib", library]).args(&files);
        command.current_dir(context.checkout.root()).env_remove("NODE_OPTIONS");
        job::run(&mut command, &Output::Logged(log, activity))?;
    }
    Ok(format!("{} files", files.len()))
}

/// Makes `node` mean this Node for a child and its children, whatever the developer has set.
pub fn on_node(command: &mut Command, node: &Node) -> Result<()> {
    command.env("PATH", node.path()?).env("SELFPROF_NODE", &node.executable).env_remove("NODE_OPTIONS");
    Ok(())
}

/// Runs the files on a Node with these options; after a failure, those in which tests failed.
pub fn run(
    major: u32,
    (options, files): (&[&str], &[PathBuf]),
    environment: &[(&str, &OsStr)],
    context: &Context,
    log: &Log,
    activity: &Activity,
) -> Result<String> {
    let node = Node::of_major(major, &context.packages)?;
    let failed = failed_files(files, log.failure());
    let files = if failed.is_empty() { files } else { &failed };
    let mut command = Command::new(&node.executable);
    on_node(&mut command, &node)?;
    // A test that hangs is ended by Node, which can name it.
    command.args(options).args(["--test", "--test-reporter=spec", "--test-timeout=900000", CONCURRENCY]);
    // Node 20 expands no pattern, so the files are listed.
    command.args(files).envs(environment.iter().copied()).current_dir(context.checkout.root());
    job::run(&mut command, &Output::Logged(log, activity))?;
    let count = counts::node(&log.text())?;
    let which = if failed.is_empty() { "" } else { " of the files with failures" };
    Ok(format!("{count} tests{which}"))
}

/// The files whose tests failed by the output of a run, where Node says `test at FILE:LINE:COLUMN`. None when it did not
/// come to that.
fn failed_files(files: &[PathBuf], output: &str) -> Vec<PathBuf> {
    let named = output.lines().filter_map(|line| line.trim().strip_prefix("test at "));
    let places: Vec<&str> = named.filter_map(|place| place.rsplitn(3, ':').nth(2)).collect();
    files.iter().filter(|file| places.iter().any(|place| file.ends_with(place))).cloned().collect()
}

/// When CI is set, two majors share the files, so that a run stays within its time: each file runs on one of them, in turns
/// from commit to commit, and on all other majors.
fn in_turns(files: Vec<PathBuf>, major: u32, sharing: [u32; 2], context: &Context) -> Result<Vec<PathBuf>> {
    let Some(which) = sharing.iter().position(|one| *one == major) else { return Ok(files) };
    if env::var_os("CI").is_none() {
        return Ok(files);
    }
    let commit = Command::new("git")
        .args(["rev-parse", "HEAD"])
        .current_dir(context.checkout.root())
        .output()
        .context("cannot start git, which says whose turn it is")?;
    Ok(every_other(files, which + turn(&String::from_utf8_lossy(&commit.stdout))))
}

/// 0 for half of the commits, and 1 for the others.
fn turn(commit: &str) -> usize {
    commit.trim().bytes().last().map_or(0, |digit| usize::from(digit % 2))
}

/// The first file and every other one from there, or from the second file on.
fn every_other(files: Vec<PathBuf>, first: usize) -> Vec<PathBuf> {
    files.into_iter().skip(first % 2).step_by(2).collect()
}

/// The files of tests in a folder.
pub fn test_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let files = files_ending_in(folder, &[".test.js", ".test.cjs", ".test.mjs"])?;
    if files.is_empty() {
        bail!("no test is in {}", folder.display());
    }
    Ok(files)
}

/// The tests that run on all majors: those of `selfprof`, and those of the realms that the page host is made of.
fn script_tests(context: &Context) -> Result<Vec<PathBuf>> {
    let mut files = test_files(&context.checkout.npm().join("test"))?;
    files.extend(test_files(&realm_folder(context))?);
    Ok(files)
}

/// The tests of the page host, which needs jsdom.
fn page_tests(context: &Context) -> Result<Vec<PathBuf>> {
    let realms = realm_folder(context);
    let mut files = test_files(&context.checkout.page_package().join("test"))?;
    files.retain(|file| !file.starts_with(&realms));
    Ok(files)
}

fn realm_folder(context: &Context) -> PathBuf {
    context.checkout.page_package().join("test/realm")
}

/// The files below a folder whose names end in one of these, in the order of their paths.
fn files_ending_in(folder: &Path, ends: &[&str]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                folders.push(path);
            } else if ends.iter().any(|end| name.ends_with(end)) {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_majors_share_all_files() {
        let files = ["/a", "/b", "/c", "/d", "/e"].map(PathBuf::from);
        for commit in ["00a0\n", "00a3"] {
            let mut all: Vec<_> =
                (0..2).flat_map(|which| every_other(files.to_vec(), which + turn(commit))).collect();
            all.sort();
            assert_eq!(all, files);
        }
        assert_eq!(
            every_other(files.to_vec(), turn("00af")),
            [files[0].clone(), files[2].clone(), files[4].clone()]
        );
        assert_eq!(every_other(files.to_vec(), turn("00a3")), [files[1].clone(), files[3].clone()]);
    }

    #[test]
    fn files_that_failed_are_named_by_node() {
        let files =
            ["/a/test/one.test.mjs", "/a/test/two.test.mjs", "/a/test/other-one.test.mjs"].map(PathBuf::from);
        let output = "✖ failing tests:\n\ntest at test/one.test.mjs:12:3\n✖ a test (1 ms)\n\ntest at /a/test/two.test.mjs:1:1\n";
        assert_eq!(failed_files(&files, output), files[..2]);
        assert!(failed_files(&files, "test at test/none.test.mjs:1:1\nℹ fail 0").is_empty());
    }
}
