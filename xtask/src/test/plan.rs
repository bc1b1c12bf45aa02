//! The table of all steps: which tier each belongs to, what it needs, and what it does.

use super::schedule::{BuildFolder, Load};
use super::step::{Action, Step, Tier};
use super::steps::{
    cargo, collector, conformance, consumers, environment, fuzzing, guide, javascript, page_agent, plugin,
    publishing, report, selenium, server_agent, shop, tarballs,
};
use crate::node::{MAJOR_THAT_DRIVES_CHROMIUM, MAJORS};
use crate::problem::Problem;
use Load::{Background, Percent};
use Tier::{All, Commit, Nightly};
use anyhow::Result;
use std::collections::{BTreeSet, HashSet};

/// What is packed has an addon for each major.
const NEEDS_ALL_MAJORS: [&str; 3] = ["package", "install", "release"];

/// jsdom needs Node 22.22.2.
const FIRST_MAJOR_WITH_PAGES: u32 = 22;

/// The Node majors of a test run.
#[derive(Clone, Debug)]
pub struct Majors {
    /// In ascending order; at least one.
    all: Vec<u32>,
    /// The one on which everything runs that runs on one major only.
    main: u32,
}

impl Majors {
    /// These majors. What runs on one only runs on `main`, or on the newest if `main` is not among them.
    pub fn new(mut all: Vec<u32>, main: Option<u32>) -> Self {
        all.sort_unstable();
        all.dedup();
        let newest = all.last().copied().unwrap_or(MAJORS[0]);
        Self { main: main.filter(|main| all.contains(main)).unwrap_or(newest), all }
    }

    /// The one on which all tests of pages run: the main one, or 24, or the newest.
    fn pages(&self) -> Option<u32> {
        let with_pages: Vec<u32> =
            self.all.iter().copied().filter(|major| *major >= FIRST_MAJOR_WITH_PAGES).collect();
        [self.main, MAJOR_THAT_DRIVES_CHROMIUM]
            .into_iter()
            .find(|major| with_pages.contains(major))
            .or(with_pages.last().copied())
    }
}

/// The majors for which a row has a step.
#[derive(Clone, Copy)]
enum On {
    /// The main one; the step has the name of the row.
    Alone,
    /// The main one if it has pages; the step has the name of the row.
    AloneWithPages,
    /// The main one.
    Main,
    /// Each.
    Each,
    /// Each but the main one.
    Others,
    /// The one on which all tests of pages run.
    Pages,
    /// Each other one with pages.
    OtherPages,
}

impl On {
    fn of(self, majors: &Majors) -> Vec<u32> {
        let pages = majors.pages();
        let among =
            |is_one: &dyn Fn(u32) -> bool| majors.all.iter().copied().filter(|m| is_one(*m)).collect();
        match self {
            Self::Alone | Self::Main => vec![majors.main],
            Self::AloneWithPages => pages.filter(|major| *major == majors.main).into_iter().collect(),
            Self::Each => majors.all.clone(),
            Self::Others => among(&|major| major != majors.main),
            Self::Pages => pages.into_iter().collect(),
            Self::OtherPages => among(&|major| major >= FIRST_MAJOR_WITH_PAGES && Some(major) != pages),
        }
    }
}

/// What a row runs.
enum Runs {
    /// One step.
    Once(Action),
    /// A step for each of these majors: `js-22`.
    On(On, fn(u32) -> Action),
}

/// A row of the table. It needs rows that stand above it: a step for a major needs the step for the same major, and a
/// step for no major those for all of them.
struct Row {
    name: &'static str,
    tier: Tier,
    needs: &'static [&'static str],
    load: Load,
    exclusive: Option<BuildFolder>,
    runs: Runs,
    about: &'static str,
}

impl Row {
    /// Whether its steps are named after their majors.
    fn is_per_major(&self) -> bool {
        matches!(&self.runs, Runs::On(on, _) if !matches!(on, On::Alone | On::AloneWithPages))
    }
}

/// Makes rows of lines `NAME TIER [NEEDS] (LOAD) (ACTION) ABOUT;`. Before an action for a major stands on which it
/// runs.
macro_rules! table {
    (@load compiling $folder:ident) => { (Background, Some(BuildFolder::$folder)) };
    (@load using $percent:literal) => { (Percent($percent), None) };
    (@runs $action:path) => { Runs::Once(Box::new($action)) };
    (@runs $on:ident $action:path) => {
        Runs::On(On::$on, |major| Box::new(move |context, log, activity| $action(major, context, log, activity)))
    };
    ($($name:literal $tier:ident [$($need:literal)*] ($load:ident $amount:tt) ($($runs:tt)*) $about:literal;)*) => {
        vec![$({
            let (load, exclusive) = table!(@load $load $amount);
            Row {
                name: $name,
                tier: $tier,
                needs: &[$($need),*],
                load,
                exclusive,
                runs: table!(@runs $($runs)*),
                about: $about,
            }
        }),*]
    };
}

/// Steps that can start at the same time start in this order: quick ones first, so that a slip shows early, then what
/// many others need, then the long ones: a long last step would leave the other processors idle.
#[rustfmt::skip]
fn table() -> Vec<Row> {
    table! {
        "tools" Commit [] (using 10) (environment::tools) "the programs that the rest needs are installed";
        "format" Commit ["tools"] (using 100) (cargo::format) "cargo fmt --check";
        "node" Commit ["tools"] (using 50) (Each environment::node) "this Node is on PATH, or fetched";
        "workspace" Commit ["tools"] (using 50) (environment::workspace) "the npm workspaces are installed";
        "deny" All ["tools"] (using 50) (cargo::deny) "the licences, versions and sources of the dependencies, against deny.toml";
        "workflows" All ["tools"] (using 100) (publishing::workflows) "the workflows of GitHub: their syntax, permissions and use of untrusted values";
        "chromium" All ["tools"] (using 50) (environment::chromium) "Chromium is on PATH, or fetched";
        "go" All ["tools"] (using 100) (environment::go) "Go is on PATH, or fetched";
        "lint" Commit ["workspace"] (using 100) (javascript::lint) "the format and the lints of all JavaScript, TypeScript and CSS: biome ci";
        "types" Commit ["workspace"] (using 100) (javascript::types) "tsc --checkJs --strict over the JavaScript that ships";
        "tidy" Commit ["tools"] (compiling Dev) (cargo::tidy) "the rules of the house, and xtask's own tests";
        "addon" Commit ["workspace" "node"] (compiling Release) (Each cargo::addon) "the release build of the addon";
        "clippy" Commit ["node"] (compiling Dev) (Alone cargo::clippy) "clippy over the whole workspace, warnings are errors";
        "compile" Commit ["node"] (compiling Dev) (Alone cargo::compile) "the Rust tests and the CLI compile";
        "guide" Commit ["workspace"] (using 100) (guide::build) "docs/ as a site, in which no link is dead";
        "page" Commit ["workspace"] (using 100) (report::build) "the report view, the collector's page and the agent for pages are built";
        "collector" All ["page"] (compiling Collector) (collector::test) "the tests of the collector and its store";
        "collector-lint" All ["tools"] (compiling Collector) (collector::lint) "clippy over the collector and its store, warnings are errors";
        "fuzz-build" Nightly ["tools"] (compiling Dev) (fuzzing::build) "the fuzz targets compile, with instruments for libFuzzer";
        "docs" All ["node"] (compiling Dev) (Alone cargo::docs) "rustdoc over the whole workspace, warnings are errors";
        "cli" All ["tools"] (compiling Release) (cargo::cli) "the release build of the CLI";
        "js" Commit ["addon"] (using 80) (Main javascript::package) "the tests of the npm package";
        "js" All ["addon"] (using 80) (Others javascript::package) "the tests of the npm package";
        "rust" Commit ["compile" "addon" "page"] (using 100) (Alone cargo::test_all) "cargo test, with `selfprof run` end to end";
        "page-smoke" Commit ["addon"] (using 100) (AloneWithPages javascript::page_smoke) "a page of the page host, opened, driven and profiled";
        "pages" All ["addon"] (using 100) (Pages javascript::pages) "the tests of the page host, with jsdom and real sites from npm";
        "pages-by-major" All ["addon"] (using 100) (OtherPages javascript::pages_by_major) "the tests of the page host that name a major of Node, and the smoke test";
        "pages" Nightly ["addon"] (using 100) (OtherPages javascript::pages) "the tests of the page host, with jsdom and real sites from npm";
        "driven" All ["compile" "addon"] (using 60) (Pages cargo::test_driven) "`selfprof page` and `selfprof webdriver`, with fantoccini and over the wire";
        "driven" Nightly ["compile" "addon"] (using 60) (OtherPages cargo::test_driven) "`selfprof page` and `selfprof webdriver`, with fantoccini and over the wire";
        "selenium" All ["cli" "addon"] (using 50) (Pages selenium::test) "`selfprof webdriver`, with Selenium from PyPI";
        "run" All ["compile" "addon"] (using 60) (Others cargo::test_run) "`selfprof run` end to end";
        "wpt" All ["addon"] (using 60) (Pages conformance::test) "the runner of web-platform-tests, with tests of its own";
        "report" All ["page" "chromium" "cli"] (using 100) (report::test) "the report view, used in headless Chromium";
        "plugin" All ["page" "chromium" "cli"] (using 100) (plugin::test) "`@selfprof/instrument` with Vite, Rollup, Rolldown, webpack, Rspack and esbuild, and in headless Chromium, Firefox and WebKit";
        "collector-package" All ["collector"] (compiling Collector) (Pages publishing::npm_collector) "the npm packages of the collector, packed, installed and used without a compiler";
        "collector-sql" All ["collector"] (compiling Collector) (collector::ask) "a collector with the profiles of fixtures/shop: DuckDB gives the same answers, and the slower function is found";
        "collector-api" All ["collector"] (compiling Collector) (collector::attack) "Schemathesis attacks the collector by the description of its API";
        "collector-bucket" All ["collector"] (compiling Collector) (collector::lose_disks) "collectors that write to an S3 server are killed and lose their logs: what was acknowledged is in the bucket";
        "collector-page" All ["collector" "chromium"] (compiling Collector) (collector::page) "the page of the collector, used in headless Chromium";
        "collector-page-agent" All ["collector" "chromium" "cli"] (compiling Collector) (page_agent::test) "the agent in pages and a Vite app that send to the collector, in headless Chromium, and in Firefox and WebKit if they are installed";
        "collector-senders" All ["collector" "chromium" "cli"] (compiling Collector) (collector::senders) "pages with Sentry's SDK in headless Chromium, an encoder of OTLP and the exporter of servers, which send to the collector";
        "collector-server-agent" All ["collector" "cli" "addon"] (compiling Collector) (Alone collector::agents) "a server under load, whose agent sends to a collector that is killed and started again";
        "server-agent" All ["cli" "addon"] (using 100) (Main server_agent::test) "`selfprof/agent` in Fastify, Express, Koa, Hono and Next.js, with OpenTelemetry, under load";
        "server-agent" Nightly ["cli" "addon"] (using 100) (Others server_agent::test) "`selfprof/agent` in Fastify, Express, Koa, Hono and Next.js, with OpenTelemetry, under load";
        "shop" All ["workspace" "chromium"] (using 100) (shop::test) "the shop page in fixtures/shop, built and profiled in headless Chromium";
        "consumers" All ["workspace" "chromium" "go" "cli"] (using 100) (consumers::test) "what `selfprof convert` writes and the exporter sends, read by the programs that it is for";
        "package" All ["page" "cli" "addon"] (using 100) (tarballs::pack) "the npm packages, packed: their sizes, and the glibc that they need";
        "install" All ["package"] (using 100) (Each tarballs::use_them) "the packed npm packages, installed and used without a compiler";
        "repeats" Nightly ["addon"] (using 150) (Each javascript::repeats) "programs that end in every way, and what crashed other profilers, a hundred times each";
        "release" Nightly ["package" "collector"] (compiling Collector) (publishing::files) "everything that a release has: packages, programs, their licences and materials";
        "fuzz" Nightly ["fuzz-build"] (using 100) (fuzzing::run) "the inputs in fuzz/ on instrumented readers, and a search for new ones";
        "differential" Nightly ["addon" "chromium"] (using 100) (Pages conformance::differential) "the page host and Chromium side by side";
    }
}

/// The steps of this tier and of those below, for these majors.
pub fn plan(majors: &Majors, tier: Tier) -> Vec<Step> {
    let table = table();
    let per_major: HashSet<&str> =
        table.iter().filter(|row| row.is_per_major()).map(|row| row.name).collect();
    let can_pack = tarballs::can_pack(&majors.all);
    let name_on = |name: &str, major: u32| {
        if per_major.contains(name) { format!("{name}-{major}") } else { name.to_owned() }
    };
    let mut steps = Vec::new();
    for Row { name, tier: own, needs, load, exclusive, runs, about } in table {
        if own > tier || (NEEDS_ALL_MAJORS.contains(&name) && !can_pack) {
            continue;
        }
        let mut add = |name: String, needs: Vec<String>, action| {
            steps.push(Step { name, about, needs, load, exclusive, action });
        };
        match runs {
            Runs::Once(action) => {
                let needs =
                    needs.iter().flat_map(|need| majors.all.iter().map(|major| name_on(need, *major)));
                let needs: BTreeSet<String> = needs.collect();
                add(name.to_owned(), needs.into_iter().collect(), action);
            }
            Runs::On(on, action) => {
                for major in on.of(majors) {
                    let needs = needs.iter().map(|need| name_on(need, major)).collect();
                    add(name_on(name, major), needs, action(major));
                }
            }
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
                "cargo xtask test --nightly --list prints the steps",
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

    fn majors(all: &[u32]) -> Majors {
        Majors::new(all.to_vec(), None)
    }

    fn check_only(all: &[u32], only: &[&str], expected: &[&str]) {
        let only: Vec<String> = only.iter().map(|&name| name.to_owned()).collect();
        let Ok(steps) = select(plan(&majors(all), Nightly), &only) else {
            panic!("{only:?} selects nothing")
        };
        let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(names, expected, "{only:?}");
    }

    #[test]
    fn a_step_brings_what_it_needs() {
        check_only(&[20, 22], &["tidy"], &["tools", "tidy"]);
        check_only(&[20, 22], &["js-20"], &["tools", "node-20", "workspace", "addon-20", "js-20"]);
        check_only(
            &[20, 22],
            &["js"],
            &["tools", "node-20", "node-22", "workspace", "addon-20", "addon-22", "js-22", "js-20"],
        );
        check_only(
            &[26],
            &["rust", "rust"],
            &["tools", "node-26", "workspace", "addon-26", "compile", "page", "rust"],
        );
        check_only(
            &[26],
            &["server-agent"],
            &["tools", "node-26", "workspace", "addon-26", "cli", "server-agent-26"],
        );
        assert!(select(plan(&majors(&[20]), Nightly), &["js-22".to_owned()]).is_err());
    }

    #[test]
    fn needs_are_earlier_steps_of_the_same_tier() {
        for all in [&[20, 22, 24, 26][..], &[24], &[20]] {
            for tier in [Commit, All, Nightly] {
                let steps = plan(&majors(all), tier);
                for (index, step) in steps.iter().enumerate() {
                    for needed in &step.needs {
                        let place = steps.iter().position(|earlier| earlier.name == *needed);
                        assert!(place.is_some_and(|place| place < index), "{} needs {needed}", step.name);
                    }
                }
                let names: HashSet<&String> = steps.iter().map(|step| &step.name).collect();
                assert_eq!(names.len(), steps.len(), "{all:?} {tier:?}: two steps have one name");
            }
        }
    }

    #[test]
    fn pages_run_on_one_major_of_a_whole_test() {
        let steps = plan(&Majors::new(vec![20, 22, 24, 26], Some(20)), All);
        let of = |family: &str| -> Vec<&str> {
            steps.iter().filter(|step| step.family() == family).map(|step| step.name.as_str()).collect()
        };
        assert_eq!(of("pages"), ["pages-24"]);
        assert_eq!(of("pages-by-major"), ["pages-by-major-22", "pages-by-major-26"]);
        assert_eq!(of("js"), ["js-20", "js-22", "js-24", "js-26"]);
        assert!(of("page-smoke").is_empty());
    }
}
