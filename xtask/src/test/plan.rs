//! The steps of a test run, and what each needs.

use super::schedule::BuildFolder;
use super::step::{Context, Step};
use super::steps::{
    cargo, collector, conformance, consumers, environment, fuzzing, javascript, page_agent, plugin, report,
    selenium, server_agent, shop, tarballs,
};
use crate::docs;
use crate::job::{Log, Output};
use crate::node::MAJORS;
use crate::problem::Problem;
use crate::progress::Activity;
use anyhow::Result;
use std::collections::HashSet;

/// jsdom needs Node 22.22.2.
const FIRST_MAJOR_WITH_PAGES: u32 = 22;

/// All steps for these majors, of which there is at least one. Steps that can start at the same time start in this order:
/// quick ones first, so that a slip shows early, then what many others need, then the long ones: whatever is last should be
/// short, because a long last step leaves the other processors idle.
pub fn plan(majors: &[u32]) -> Vec<Step> {
    let first = majors.first().copied().unwrap_or(MAJORS[0]);
    let with_pages: Vec<u32> =
        majors.iter().copied().filter(|major| *major >= FIRST_MAJOR_WITH_PAGES).collect();
    let first_node = format!("node-{first}");
    let first_addon = format!("addon-{first}");
    let mut steps = vec![
        Step::new("tools", "the programs that the rest needs are installed", &[], environment::tools),
        Step::new("format", "cargo fmt --check", &["tools"], cargo::format).using(100),
    ];
    steps.push(
        Step::new(
            "deny",
            "the licences, versions and sources of the dependencies, against deny.toml",
            &["tools"],
            cargo::deny,
        )
        .using(50),
    );
    for &major in majors {
        steps.push(
            Step::new(
                format!("node-{major}"),
                format!("Node {major} is on PATH, or fetched"),
                &["tools"],
                move |context, log, activity| environment::node(major, context, log, activity),
            )
            .using(50),
        );
    }
    steps.push(
        Step::new("chromium", "Chromium is on PATH, or fetched", &["tools"], environment::chromium).using(50),
    );
    steps.push(Step::new("go", "Go is on PATH, or fetched", &["tools"], environment::go).using(100));
    steps.push(
        Step::new("workspace", "the npm workspaces are installed", &["tools"], environment::workspace)
            .using(50),
    );
    steps.push(
        Step::new("tidy", "the rules of the house, and xtask's own tests", &["tools"], cargo::tidy)
            .compiling(BuildFolder::Dev),
    );
    steps.push(
        Step::new("cli", "the release build of the CLI", &["tools"], cargo::cli)
            .compiling(BuildFolder::Release),
    );
    for &major in majors {
        steps.push(
            Step::new(
                format!("addon-{major}"),
                format!("the release build of the addon for Node {major}"),
                &["workspace", &format!("node-{major}")],
                move |context, log, activity| cargo::addon(major, context, log, activity),
            )
            .compiling(BuildFolder::Release),
        );
    }
    steps.push(
        Step::new(
            "clippy",
            "clippy over the whole workspace, warnings are errors",
            &[&first_node],
            move |context, log, activity| cargo::clippy(first, context, log, activity),
        )
        .compiling(BuildFolder::Dev),
    );
    steps.push(
        Step::new("compile", "the Rust tests compile", &[&first_node], move |context, log, activity| {
            cargo::compile(first, context, log, activity)
        })
        .compiling(BuildFolder::Dev),
    );
    steps.push(
        Step::new(
            "fuzz-build",
            "the fuzz targets compile, with instruments for libFuzzer",
            &["tools"],
            fuzzing::build,
        )
        .compiling(BuildFolder::Dev),
    );
    steps.push(
        Step::new(
            "page",
            "the pages of `selfprof report` and of the collector, and the agent for pages, are built",
            &["workspace"],
            report::build,
        )
        .using(100),
    );
    steps.push(
        Step::new(
            "collector",
            "the tests of the collector and its store, in the profile `collector`",
            &["tools", "page"],
            collector::test,
        )
        .compiling(BuildFolder::Collector),
    );
    steps.push(
        Step::new(
            "collector-lint",
            "clippy over the collector and its store, warnings are errors",
            &["tools"],
            collector::lint,
        )
        .compiling(BuildFolder::Collector),
    );
    steps.push(
        Step::new(
            "collector-sql",
            "a collector with the profiles of fixtures/shop: DuckDB gives the same answers, and the slower function is found",
            &["collector"],
            collector::ask,
        )
        .compiling(BuildFolder::Collector),
    );
    steps.push(
        Step::new(
            "collector-api",
            "Schemathesis attacks the collector by the description of its API",
            &["collector"],
            collector::attack,
        )
        .compiling(BuildFolder::Collector),
    );
    steps.push(
        Step::new(
            "collector-bucket",
            "collectors that write to an S3 server are killed and lose their logs: what was acknowledged is in the bucket",
            &["collector"],
            collector::lose_disks,
        )
        .compiling(BuildFolder::Collector),
    );
    steps.push(
        Step::new(
            "docs",
            "rustdoc over the whole workspace, warnings are errors",
            &[&first_node],
            move |context, log, activity| cargo::docs(first, context, log, activity),
        )
        .compiling(BuildFolder::Dev),
    );
    steps.push(
        Step::new(
            "lint",
            "the format and the lints of all JavaScript, TypeScript and CSS: biome ci",
            &["workspace"],
            javascript::lint,
        )
        .using(100),
    );
    steps.push(
        Step::new(
            "types",
            "tsc --checkJs --strict over the JavaScript that ships",
            &["workspace"],
            javascript::types,
        )
        .using(100),
    );
    steps.push(
        Step::new(
            "guide",
            "docs/ as a site, in which no link is dead",
            &["workspace"],
            |context: &Context, log: &Log, activity: &Activity| {
                docs::build(&context.checkout, &Output::Logged(log, activity))?;
                Ok(String::new())
            },
        )
        .using(100),
    );
    for &major in majors {
        steps.push(
            Step::new(
                format!("js-{major}"),
                format!("the tests of the npm package on Node {major}"),
                &[&format!("addon-{major}")],
                move |context, log, activity| javascript::package(major, context, log, activity),
            )
            .using(80),
        );
    }
    steps.push(
        Step::new(
            "fuzz",
            "the inputs in fuzz/ on instrumented readers, and a short search for new ones",
            &["fuzz-build"],
            fuzzing::run,
        )
        .using(100),
    );
    for &major in &with_pages {
        steps.push(
            Step::new(
                format!("pages-{major}"),
                format!("the tests of the page host on Node {major}, with jsdom and real sites from npm"),
                &[&format!("addon-{major}")],
                move |context, log, activity| javascript::pages(major, context, log, activity),
            )
            .using(100),
        );
    }
    steps.push(
        Step::new(
            "rust",
            format!("cargo test; where a test runs JavaScript, it is on Node {first}"),
            &["compile", &first_addon],
            move |context, log, activity| cargo::test_all(first, context, log, activity),
        )
        .using(100),
    );
    for &major in &with_pages {
        steps.push(
            Step::new(
                format!("driven-{major}"),
                format!(
                    "`selfprof page` and `selfprof webdriver` on Node {major}, with fantoccini and over the wire"
                ),
                &["compile", &format!("addon-{major}")],
                move |context, log, activity| cargo::test_driven(major, context, log, activity),
            )
            .using(60),
        );
    }
    if let Some(&major) = with_pages.last() {
        steps.push(
            Step::new(
                "selenium",
                format!("`selfprof webdriver` on Node {major}, with Selenium from PyPI"),
                &["cli", &format!("addon-{major}")],
                move |context, log, activity| selenium::test(major, context, log, activity),
            )
            .using(50),
        );
    }
    // The step `rust` has run these on the first major.
    for &major in majors.iter().skip(1) {
        steps.push(
            Step::new(
                format!("run-{major}"),
                format!("`selfprof run` end to end on Node {major}"),
                &["compile", &format!("addon-{major}")],
                move |context, log, activity| cargo::test_run(major, context, log, activity),
            )
            .using(60),
        );
    }
    if let Some(&major) = with_pages.first() {
        steps.push(
            Step::new(
                "wpt",
                format!("the runner of web-platform-tests, with tests of its own, on Node {major}"),
                &[&format!("addon-{major}")],
                move |context, log, activity| conformance::test(major, context, log, activity),
            )
            .using(60),
        );
    }
    steps.push(
        Step::new(
            "report",
            "the page of `selfprof report`, used in headless Chromium",
            &["page", "chromium", "cli"],
            report::test,
        )
        .using(100),
    );
    steps.push(
        Step::new(
            "plugin",
            "`@selfprof/instrument` with Vite, Rollup, Rolldown, webpack, Rspack and esbuild, and in headless Chromium, Firefox and WebKit",
            &["page", "chromium", "cli"],
            plugin::test,
        )
        .using(100),
    );
    steps.push(
        Step::new(
            "collector-page",
            "the page of the collector, used in headless Chromium",
            &["collector", "chromium"],
            collector::page,
        )
        .compiling(BuildFolder::Collector)
        .using(100),
    );
    steps.push(
        Step::new(
            "page-agent",
            "the agent in pages and a Vite app that send to the collector, in headless Chromium, and in Firefox and WebKit if they are installed",
            &["collector", "chromium", "cli"],
            page_agent::test,
        )
        .compiling(BuildFolder::Collector)
        .using(100),
    );
    steps.push(
        Step::new(
            "collector-senders",
            "pages with Sentry's SDK in headless Chromium, an encoder of OTLP and the exporter of servers, which send to the collector",
            &["collector", "chromium", "cli"],
            collector::senders,
        )
        .compiling(BuildFolder::Collector)
        .using(100),
    );
    if let Some(&major) = majors.last() {
        steps.push(
            Step::new(
                "collector-server-agent",
                format!("a server on Node {major} under load, whose agent sends to a collector that is killed and started again"),
                &["collector", "cli", &format!("addon-{major}")],
                move |context, log, activity| collector::agents(major, context, log, activity),
            )
            .compiling(BuildFolder::Collector)
            .using(100),
        );
    }
    for &major in majors {
        steps.push(
            Step::new(
                format!("server-agent-{major}"),
                format!("`selfprof/agent` on Node {major} in Fastify, Express, Koa, Hono and Next.js, with OpenTelemetry, under load"),
                &["cli", &format!("addon-{major}")],
                move |context, log, activity| server_agent::test(major, context, log, activity),
            )
            .using(100),
        );
    }
    steps.push(
        Step::new(
            "shop",
            "the shop page in fixtures/shop, built and profiled in headless Chromium",
            &["workspace", "chromium"],
            shop::test,
        )
        .using(100),
    );
    steps.push(
        Step::new(
            "consumers",
            "what `selfprof convert` writes and the exporter sends, read by the programs that it is for",
            &["workspace", "chromium", "go", "cli"],
            consumers::test,
        )
        .using(100),
    );
    if tarballs::can_pack(majors) {
        let addons: Vec<String> = majors.iter().map(|major| format!("addon-{major}")).collect();
        let mut needs: Vec<&str> = vec!["page", "cli"];
        needs.extend(addons.iter().map(String::as_str));
        steps.push(
            Step::new(
                "package",
                "the npm packages, packed: their sizes, and the glibc that they need",
                &needs,
                tarballs::pack,
            )
            .using(100),
        );
        for &major in majors {
            steps.push(
                Step::new(
                    format!("package-{major}"),
                    format!("the packed npm packages, installed and used on Node {major} without a compiler"),
                    &["package"],
                    move |context, log, activity| tarballs::use_them(major, context, log, activity),
                )
                .using(100),
            );
        }
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
    // Steps need earlier steps only, so one walk from the end finds them all.
    for step in steps.iter().rev() {
        if wanted.contains(&step.name) {
            wanted.extend(step.needs.iter().cloned());
        }
    }
    Ok(steps.into_iter().filter(|step| wanted.contains(&step.name)).collect())
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
        check_only(&[20, 22], &["js-22"], &["tools", "node-22", "workspace", "addon-22", "js-22"]);
        check_only(
            &[20, 22],
            &["js"],
            &["tools", "node-20", "node-22", "workspace", "addon-20", "addon-22", "js-20", "js-22"],
        );
        check_only(
            &[26],
            &["rust", "rust"],
            &["tools", "node-26", "workspace", "addon-26", "compile", "rust"],
        );
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
