//! The steps of a test run, and what each needs.

use super::counts;
use crate::build::{build_addon, build_cli};
use crate::checkout::Checkout;
use crate::fuzz;
use crate::job::{self, Log, Output};
use crate::node::Node;
use crate::packages::{JSDOM, Packages, SITES, TYPESCRIPT, WPT_RUNNER};
use crate::problem::Problem;
use crate::progress::Activity;
use crate::report::{build_report, folder as report_folder};
use crate::selenium;
use crate::tools;
use anyhow::{Context as _, Result, bail};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// jsdom needs Node 22.22.2.
const FIRST_MAJOR_WITH_PAGES: u32 = 22;

/// puppeteer-core needs Node 22.12, and the program of the Firefox Profiler Node 24.
const MAJOR_THAT_DRIVES_CHROMIUM: u32 = 24;

/// What every step works with.
pub struct Context {
    /// The checkout under test.
    pub checkout: Checkout,
    /// Where Nodes come from.
    pub packages: Packages,
}

/// Does a step; gives a few words on what it did, which may be empty.
type Action = Box<dyn Fn(&Context, &Log, &Activity) -> Result<String>>;

/// One line of the report.
pub struct Step {
    /// A family, or a family and a Node major: `js-22`.
    pub name: String,
    /// For `--list`.
    pub about: String,
    /// Names of earlier steps without which this one says nothing.
    pub needs: Vec<String>,
    /// What it does.
    pub action: Action,
}

impl Step {
    fn new(
        name: impl Into<String>,
        about: impl Into<String>,
        needs: &[&str],
        action: impl Fn(&Context, &Log, &Activity) -> Result<String> + 'static,
    ) -> Self {
        let needs = needs.iter().map(|&name| name.to_owned()).collect();
        Self { name: name.into(), about: about.into(), needs, action: Box::new(action) }
    }

    fn family(&self) -> &str {
        self.name.split('-').next().unwrap_or(&self.name)
    }
}

/// All steps for these majors, of which there is at least one, in the order in which they run: quick ones first, so
/// that a slip is told early.
pub fn plan(majors: &[u32]) -> Vec<Step> {
    let first = majors.first().copied().unwrap_or(crate::node::MAJORS[0]);
    let first_node = format!("node-{first}");
    let first_addon = format!("addon-{first}");
    let mut steps = vec![
        Step::new("tools", "the programs that the rest needs are there", &[], |_, _, _| {
            tools::check()?;
            tools::check_rust_components()?;
            Ok(String::new())
        }),
        Step::new("format", "cargo fmt --check", &["tools"], |context, log, activity| {
            cargo(context, &["fmt", "--all", "--check"], None, log, activity)?;
            Ok(String::new())
        }),
        Step::new(
            "tidy",
            "the rules of the house, and xtask's own tests",
            &["tools"],
            |context, log, activity| {
                cargo(context, &["test", "--package", "xtask"], None, log, activity)?;
                Ok(format!("{} tests", counts::cargo(&log.text())?))
            },
        ),
    ];
    for &major in majors {
        steps.push(Step::new(
            format!("node-{major}"),
            format!("Node {major} is on PATH, or fetched"),
            &["tools"],
            move |context, _, _| Ok(format!("Node {}", Node::of_major(major, &context.packages)?.version)),
        ));
    }
    steps.push(Step::new(
        "clippy",
        "clippy over the whole workspace, warnings are errors",
        &[&first_node],
        move |context, log, activity| {
            let node = Node::of_major(first, &context.packages)?;
            let arguments = ["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"];
            cargo(context, &arguments, Some(&node), log, activity)?;
            Ok(String::new())
        },
    ));
    steps.push(Step::new(
        "docs",
        "rustdoc over the whole workspace, warnings are errors",
        &[&first_node],
        move |context, log, activity| {
            let node = Node::of_major(first, &context.packages)?;
            let mut command = context.checkout.cargo();
            command.args(["doc", "--workspace", "--no-deps", "--document-private-items"]);
            // Private items are documented too, so a link to one does not break.
            let flags = "--deny warnings --allow rustdoc::private_intra_doc_links";
            command.env("RUSTDOCFLAGS", flags).env("SELFPROF_NODE_INCLUDE", &node.include);
            job::run(&mut command, &Output::Logged(log, activity))?;
            Ok(String::new())
        },
    ));
    steps.push(Step::new("types", "the npm package's types compile", &["tools"], types));
    steps.push(Step::new("cli", "the release build of the CLI", &["tools"], |context, log, activity| {
        build_cli(&context.checkout, &Output::Logged(log, activity))?;
        Ok(String::new())
    }));
    for &major in majors {
        steps.push(Step::new(
            format!("addon-{major}"),
            format!("the addon builds for Node {major}"),
            &[&format!("node-{major}")],
            move |context, log, activity| {
                let node = Node::of_major(major, &context.packages)?;
                build_addon(&context.checkout, &node, &Output::Logged(log, activity))?;
                Ok(node.addon_name())
            },
        ));
    }
    steps.push(Step::new(
        "rust",
        format!("cargo test; where a test runs JavaScript, it is on Node {first}"),
        &[&first_addon],
        move |context, log, activity| {
            // The tests of v8 and node run inside Node: see their Cargo.toml. Those of xtask are the step `tidy`.
            let arguments = ["test", "--workspace", "--exclude", "xtask"];
            let node = Node::of_major(first, &context.packages)?;
            cargo(context, &arguments, Some(&node), log, activity)?;
            Ok(format!("{} tests", counts::cargo(&log.text())?))
        },
    ));
    steps.push(Step::new(
        "fuzz",
        "the inputs in fuzz/ on readers with instruments, and a short search for worse ones",
        &["tools"],
        |context, log, activity| fuzz::briefly(&context.checkout, &context.packages, log, activity),
    ));
    for &major in majors {
        steps.push(Step::new(
            format!("js-{major}"),
            format!("the tests of the npm package on Node {major}"),
            &[&format!("addon-{major}")],
            move |context, log, activity| {
                javascript(major, &script_tests(context)?, &[], context, log, activity)
            },
        ));
    }
    for &major in majors.iter().filter(|major| **major >= FIRST_MAJOR_WITH_PAGES) {
        steps.push(Step::new(
            format!("pages-{major}"),
            format!("the tests of the page host on Node {major}, with jsdom and real sites from npm"),
            &[&format!("addon-{major}")],
            move |context, log, activity| {
                let mut folders = vec![("SELFPROF_TEST_JSDOM", context.packages.get(&JSDOM)?)];
                for (variable, package) in &SITES {
                    folders.push((variable, context.packages.get(package)?));
                }
                let environment: Vec<(&str, &Path)> =
                    folders.iter().map(|(variable, folder)| (*variable, folder.as_path())).collect();
                javascript(major, &page_tests(context)?, &environment, context, log, activity)
            },
        ));
    }
    steps.push(Step::new(
        "report",
        "the page of `selfprof report`: built, and used in headless Chromium",
        &["cli"],
        report,
    ));
    steps.push(Step::new(
        "consumers",
        "what `selfprof convert` writes, read by the programs that it is for",
        &["cli"],
        consumers,
    ));
    if let Some(&major) = majors.iter().find(|major| **major >= FIRST_MAJOR_WITH_PAGES) {
        steps.push(Step::new(
            "wpt",
            format!("the runner of web-platform-tests, with tests of its own, on Node {major}"),
            &[&format!("addon-{major}")],
            move |context, log, activity| web_platform_tests(major, context, log, activity),
        ));
    }
    for &major in majors.iter().filter(|major| **major >= FIRST_MAJOR_WITH_PAGES) {
        steps.push(Step::new(
            format!("driven-{major}"),
            format!(
                "`selfprof page` and `selfprof webdriver` on Node {major}, with fantoccini and over the wire"
            ),
            &[&format!("addon-{major}")],
            move |context, log, activity| {
                let node = Node::of_major(major, &context.packages)?;
                let mut command = context.checkout.cargo();
                command.args(["test", "--package", "selfprof", "--test", "pages"]);
                command.env("SELFPROF_TEST_JSDOM", context.packages.get(&JSDOM)?);
                on_node(&mut command, &node)?;
                job::run(&mut command, &Output::Logged(log, activity))?;
                Ok(format!("{} tests", counts::cargo(&log.text())?))
            },
        ));
    }
    if let Some(&major) = majors.iter().rfind(|major| **major >= FIRST_MAJOR_WITH_PAGES) {
        steps.push(Step::new(
            "selenium",
            format!("`selfprof webdriver` on Node {major}, with Selenium from PyPI"),
            &["cli", &format!("addon-{major}")],
            move |context, log, activity| {
                let node = Node::of_major(major, &context.packages)?;
                let mut command = Command::new(selenium::python(&context.packages)?);
                command.arg(context.checkout.root().join("crates/cli/tests/pages/with_selenium.py"));
                command.env("SELFPROF", context.checkout.cli()).env("SELFPROF_NPM", context.checkout.npm());
                command.env("SELFPROF_JSDOM", context.packages.get(&JSDOM)?);
                on_node(&mut command, &node)?;
                job::run(&mut command, &Output::Logged(log, activity))?;
                Ok(format!("{} tests", counts::python(&log.text())?))
            },
        ));
    }
    // The step `rust` has run these on the first major.
    for &major in majors.iter().skip(1) {
        steps.push(Step::new(
            format!("run-{major}"),
            format!("`selfprof run` end to end on Node {major}"),
            &[&format!("addon-{major}"), "rust"],
            move |context, log, activity| {
                let node = Node::of_major(major, &context.packages)?;
                let arguments = ["test", "--package", "selfprof", "--test", "run"];
                cargo(context, &arguments, Some(&node), log, activity)?;
                Ok(format!("{} tests", counts::cargo(&log.text())?))
            },
        ));
    }
    steps
}

/// Keeps the steps and families named in `only`, and what they need; all when it names none.
pub fn select(steps: Vec<Step>, only: &[String]) -> Result<Vec<Step>> {
    if only.is_empty() {
        return Ok(steps);
    }
    let mut wanted = HashSet::new();
    for name in only {
        let mut named = steps.iter().filter(|step| step.name == *name || step.family() == name).peekable();
        if named.peek().is_none() {
            return Err(Problem::error(
                format!("there is no step `{name}`"),
                "cargo xtask test --list prints the steps",
            ));
        }
        wanted.extend(named.map(|step| step.name.clone()));
    }
    // Needs point to earlier steps only, so one walk from the end finds them all.
    for step in steps.iter().rev() {
        if wanted.contains(&step.name) {
            wanted.extend(step.needs.iter().cloned());
        }
    }
    Ok(steps.into_iter().filter(|step| wanted.contains(&step.name)).collect())
}

/// Cargo, with a Node that its build scripts compile for and its tests run.
fn cargo(
    context: &Context,
    arguments: &[&str],
    node: Option<&Node>,
    log: &Log,
    activity: &Activity,
) -> Result<()> {
    let mut command = context.checkout.cargo();
    command.args(arguments);
    if let Some(node) = node {
        command.env("SELFPROF_NODE_INCLUDE", &node.include);
        on_node(&mut command, node)?;
    }
    job::run(&mut command, &Output::Logged(log, activity))
}

/// Makes `node` mean this Node for a child and its children, whatever the developer has set.
fn on_node(command: &mut Command, node: &Node) -> Result<()> {
    command.env("PATH", node.path()?).env("SELFPROF_NODE", &node.executable).env_remove("NODE_OPTIONS");
    Ok(())
}

fn javascript(
    major: u32,
    files: &[PathBuf],
    environment: &[(&str, &Path)],
    context: &Context,
    log: &Log,
    activity: &Activity,
) -> Result<String> {
    let node = Node::of_major(major, &context.packages)?;
    let mut command = Command::new(&node.executable);
    on_node(&mut command, &node)?;
    // A test that hangs is ended by Node, which can name it.
    command.args(["--test", "--test-reporter=spec", "--test-timeout=300000"]);
    // Node 20 expands no pattern, so the files are listed.
    command.args(files).envs(environment.iter().copied()).current_dir(context.checkout.root());
    job::run(&mut command, &Output::Logged(log, activity))?;
    Ok(format!("{} tests", counts::node(&log.text())?))
}

/// Builds the report's page and runs its tests, which drive Chromium from Node.
fn report(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let chromium = tools::chromium()?;
    build_report(&context.checkout, &context.packages, &Output::Logged(log, activity))?;
    let cli = context.checkout.cli();
    let environment = [("SELFPROF_TEST_CHROMIUM", chromium.as_path()), ("SELFPROF_TEST_CLI", cli.as_path())];
    let files = test_files(&report_folder(&context.checkout).join("test"))?;
    javascript(MAJOR_THAT_DRIVES_CHROMIUM, &files, &environment, context, log, activity)
}

/// Has DevTools' engine, the Firefox Profiler, speedscope, pprof and a decoder of OTLP read profiles.
fn consumers(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    tools::check_go()?;
    let (chromium, cli) = (tools::chromium()?, context.checkout.cli());
    let folder = context.checkout.root().join("crates/formats/consumers");
    let modules = context.packages.get_locked(&folder)?;
    let protos = otlp_messages(context)?;
    let environment = [
        ("SELFPROF_TEST_CLI", cli.as_path()),
        ("SELFPROF_TEST_CHROMIUM", chromium.as_path()),
        ("SELFPROF_TEST_CONSUMERS", modules.as_path()),
        ("SELFPROF_TEST_OTLP_PROTOS", protos.as_path()),
    ];
    javascript(MAJOR_THAT_DRIVES_CHROMIUM, &test_files(&folder)?, &environment, context, log, activity)
}

/// OpenTelemetry's definition of its messages, which the crate that they are written with brings along.
fn otlp_messages(context: &Context) -> Result<PathBuf> {
    let metadata = cargo_metadata::MetadataCommand::new()
        .current_dir(context.checkout.root())
        .exec()
        .context("cargo metadata does not tell where the crates are")?;
    let package = metadata.packages.iter().find(|package| package.name.as_str() == "opentelemetry-proto");
    let folder = package.and_then(|package| package.manifest_path.parent());
    let folder = folder.context("the crate opentelemetry-proto is not there")?;
    Ok(folder.join("src/proto/opentelemetry-proto").into())
}

/// Runs `cargo xtask wpt` itself on a checkout that is made of our tests and testharness.js. Some of them must fail: all of
/// them as expected shows that failures are told.
fn web_platform_tests(major: u32, context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let folder = context.checkout.root().join("xtask/wpt");
    javascript(major, &test_files(&folder.join("test"))?, &[], context, log, activity)?;
    let suite = tempfile::tempdir()?;
    copy_folder(&folder.join("fixture/tree"), suite.path())?;
    let harness = context.packages.get(&WPT_RUNNER)?.join("testharness/testharness.js");
    fs::copy(&harness, suite.path().join("resources/testharness.js"))?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["wpt", "runner", "--node", &major.to_string()]);
    command.arg("--expectations").arg(folder.join("fixture/expectations.toml"));
    command.arg("--wpt").arg(suite.path());
    job::run(&mut command, &Output::Logged(log, activity))?;
    let said = log.text();
    let Some(summary) = said.lines().rfind(|line| line.starts_with("tests: ")) else {
        bail!("cargo xtask wpt printed no summary");
    };
    Ok(summary.to_owned())
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let copy = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &copy)?;
        } else {
            fs::copy(entry.path(), copy)?;
        }
    }
    Ok(())
}

/// The tests that run on all majors.
fn script_tests(context: &Context) -> Result<Vec<PathBuf>> {
    let pages = page_folder(context);
    let mut files = test_files(&context.checkout.npm().join("test"))?;
    files.retain(|file| !file.starts_with(&pages));
    Ok(files)
}

/// Those of the page host, which needs jsdom.
fn page_tests(context: &Context) -> Result<Vec<PathBuf>> {
    test_files(&page_folder(context))
}

fn page_folder(context: &Context) -> PathBuf {
    context.checkout.npm().join("test").join("page")
}

fn test_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let files = files_ending_in(folder, &[".test.js", ".test.cjs", ".test.mjs"])?;
    if files.is_empty() {
        bail!("no test is in {}", folder.display());
    }
    Ok(files)
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

fn types(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let compiler = context.packages.get(&TYPESCRIPT)?.join("lib/tsc.js");
    // Declarations, and tests that are there to be compiled.
    let files = files_ending_in(&context.checkout.npm(), &[".d.ts", ".types.ts"])?;
    let mut command = Command::new("node");
    command.arg(compiler).args(["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext"]);
    command.args(["--lib", "es2022,dom"]).args(&files).env_remove("NODE_OPTIONS");
    job::run(&mut command, &Output::Logged(log, activity))?;
    Ok(format!("{} files", files.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(steps: &[Step]) -> Vec<&str> {
        steps.iter().map(|step| step.name.as_str()).collect()
    }

    fn check_only(majors: &[u32], only: &[&str], expected: &[&str]) {
        let only: Vec<String> = only.iter().map(|&name| name.to_owned()).collect();
        let Ok(steps) = select(plan(majors), &only) else { panic!("{only:?} selects nothing") };
        assert_eq!(names(&steps), expected, "{only:?}");
    }

    #[test]
    fn a_step_brings_what_it_needs() {
        check_only(&[20, 22], &["tidy"], &["tools", "tidy"]);
        check_only(&[20, 22], &["js-22"], &["tools", "node-22", "addon-22", "js-22"]);
        check_only(
            &[20, 22],
            &["js"],
            &["tools", "node-20", "node-22", "addon-20", "addon-22", "js-20", "js-22"],
        );
        check_only(&[26], &["rust", "rust"], &["tools", "node-26", "addon-26", "rust"]);
        assert!(select(plan(&[20]), &["js-22".to_owned()]).is_err());
    }

    #[test]
    fn needs_are_earlier_steps() {
        for majors in [&[20, 22, 24, 26][..], &[24]] {
            let steps = plan(majors);
            for (index, step) in steps.iter().enumerate() {
                for needed in &step.needs {
                    let place = steps.iter().position(|earlier| earlier.name == *needed);
                    assert!(place.is_some_and(|place| place < index), "{} needs {needed}", step.name);
                }
            }
        }
    }
}
