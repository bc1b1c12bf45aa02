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
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How many files of tests run at a time. Most of them wait most of the time.
const CONCURRENCY: &str = "--test-concurrency=3";

/// Options of Node for the tests of pages. Each page is a thread that loads jsdom; with V8's default of 1 MB for the
/// young generation, collections take a tenth of the time.
const PAGE_OPTIONS: [&str; 1] = ["--min-semi-space-size=16"];

/// Has glibc give freed memory back at once, so that the tests see how much is in use.
const MALLOC: [(&str, &str); 2] =
    [("MALLOC_MMAP_THRESHOLD_", "131072"), ("MALLOC_TRIM_THRESHOLD_", "131072")];

/// Runs the tests of the npm package that need no pages.
pub fn package(major: u32, context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let pprof = context.packages.get(&DATADOG_PPROF)?;
    let environment = [("SELFPROF_TEST_PPROF", pprof.as_os_str())];
    run(major, (&[], &script_tests(context)?), &environment, context, log, activity)
}

/// Runs those tests a hundred times that look for faults of chance: programs that end in every way, and what has
/// crashed profilers of others.
pub fn repeats(major: u32, context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let pprof = context.packages.get(&DATADOG_PPROF)?;
    let environment =
        [("SELFPROF_TEST_PPROF", pprof.as_os_str()), ("SELFPROF_TEST_REPEATS", OsStr::new("100"))];
    let folder = context.checkout.npm().join("test");
    let files = ["crash-reports.test.mjs", "teardown.test.mjs"].map(|name| folder.join(name));
    run(major, (&[], &files), &environment, context, log, activity)
}

/// Runs the tests of the page host.
pub fn pages(major: u32, context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    run_pages(major, &page_tests(context)?, context, log, activity)
}

/// Runs those tests of the page host whose code asks for the version of Node, and the smoke test.
pub fn pages_by_major(major: u32, context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let mut files = page_tests(context)?;
    files.retain(|file| {
        let text = fs::read_to_string(file).unwrap_or_default();
        file.ends_with(PAGE_SMOKE_TEST) || text.contains("process.version")
    });
    run_pages(major, &files, context, log, activity)
}

/// Runs one test of the page host, that of the README's example.
pub fn page_smoke(major: u32, context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let file = context.checkout.page_package().join("test").join(PAGE_SMOKE_TEST);
    run_pages(major, &[file], context, log, activity)
}

/// The test that a page opens, can be driven and gives a profile.
const PAGE_SMOKE_TEST: &str = "readme.test.mjs";

fn run_pages(
    major: u32,
    files: &[PathBuf],
    context: &Context,
    log: &Log,
    activity: &Activity,
) -> Result<String> {
    let mut folders = vec![("SELFPROF_TEST_JSDOM", context.packages.get(&JSDOM)?)];
    for (variable, package) in &PAGE_LIBRARIES {
        folders.push((variable, context.packages.get(package)?));
    }
    let folders = folders.iter().map(|(variable, folder)| (*variable, folder.as_os_str()));
    let malloc = MALLOC.into_iter().map(|(variable, value)| (variable, OsStr::new(value)));
    let environment: Vec<(&str, &OsStr)> = folders.chain(malloc).collect();
    run(major, (&PAGE_OPTIONS, files), &environment, context, log, activity)
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

/// Checks the types of the JavaScript that ships: `tsc --checkJs --strict`. Then compiles the public declarations
/// without those settings, as a user's program does.
pub fn types(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let compiler = context.packages.get(&TYPESCRIPT)?.join("lib/tsc.js");
    let plugin = plugin_folder(&context.checkout);
    let collector = context.checkout.root().join("packages/collector");
    for package in [context.checkout.npm(), context.checkout.page_package(), plugin, collector] {
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

/// Runs the files on a Node with these options.
pub fn run(
    major: u32,
    (options, files): (&[&str], &[PathBuf]),
    environment: &[(&str, &OsStr)],
    context: &Context,
    log: &Log,
    activity: &Activity,
) -> Result<String> {
    let node = Node::of_major(major, &context.packages)?;
    let mut command = Command::new(&node.executable);
    on_node(&mut command, &node)?;
    // A test that hangs is ended by Node, which can name it.
    command.args(options).args(["--test", "--test-reporter=spec", "--test-timeout=900000", CONCURRENCY]);
    // Node 20 expands no pattern, so the files are listed.
    command.args(files).envs(environment.iter().copied()).current_dir(context.checkout.root());
    job::run(&mut command, &Output::Logged(log, activity))?;
    Ok(format!("{} tests", counts::node(&log.text())?))
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
