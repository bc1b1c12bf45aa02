//! Runs a benchmark's script in all its variants and makes a table of their output.

use super::agents::MAJORS_WITH_LABELS;
use super::benchmark::{Benchmark, FOLDER, Program, Variant};
use super::statistics::{number, ratios, summary};
use crate::build::{build_addon, build_all};
use crate::checkout::Checkout;
use crate::chromium;
use crate::collector::{self, CRATES};
use crate::firefox;
use crate::job::{self, Output};
use crate::node::Node;
use crate::packages::{DATADOG_PPROF, ESBUILD, JSDOM, Packages, RXJS, TYPESCRIPT};
use crate::progress::say;
use crate::pypi::COLLECTOR_PEERS;
use crate::tools;
use crate::webkit;
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::thread;
use wait4::Wait4 as _;

/// jsdom needs Node 22.22.2.
const FIRST_MAJOR_WITH_PAGES: u32 = 22;
/// Pages are measured on this major if jsdom does not run on the `node` on PATH.
const MAJOR_FOR_PAGES: u32 = 24;

/// What the scripts need: a Node with its addon, and the packages.
pub struct Machine {
    node: PathBuf,
    /// The same, or another one that jsdom runs on.
    page_node: PathBuf,
    cli: PathBuf,
    examples: PathBuf,
    jsdom: PathBuf,
    npm: PathBuf,
    scripts: PathBuf,
    typescript: PathBuf,
    rxjs: PathBuf,
    datadog: PathBuf,
    esbuild: PathBuf,
    real_programs: PathBuf,
    /// `None` if there is no Chromium. Only the benchmark of the report needs it, and fails without.
    chromium: Option<PathBuf>,
    collector: Option<Collector>,
    agents: Option<Agents>,
    polyfill: Option<Polyfill>,
}

/// What else is prepared, because some benchmark needs it.
pub struct Needs {
    /// The collector and its peers.
    pub collector: bool,
    /// The agents, and for how many minutes their servers are loaded.
    pub agents: Option<f64>,
    /// Browsers and bundles.
    pub polyfill: bool,
}

/// What the benchmarks of the agent need.
struct Agents {
    modules: PathBuf,
    nodes: Vec<(u32, PathBuf)>,
    minutes: f64,
}

/// What the benchmarks of the polyfill need, besides Chromium.
struct Polyfill {
    modules: PathBuf,
    firefox: PathBuf,
    webkit: PathBuf,
}

/// What the benchmarks of the collector need.
struct Collector {
    program: PathBuf,
    bench: PathBuf,
    /// A Python with its peers.
    python: PathBuf,
}

/// The series of one variant, by field.
type Series = HashMap<String, Vec<f64>>;

/// The fields in a script's output.
type Answer = Map<String, Value>;

impl Machine {
    /// Builds the addon for a Node major, or for the `node` on PATH, and fetches the packages.
    pub fn prepare(checkout: &Checkout, major: Option<u32>, needs: Needs) -> Result<Self> {
        let packages = Packages::open(checkout.logs())?;
        tools::check()?;
        let node = match major {
            Some(major) => Node::of_major(major, &packages)?,
            None => Node::on_path(&packages)?,
        };
        let has_pages = node.version.split('.').next().and_then(|major| major.parse().ok())
            >= Some(FIRST_MAJOR_WITH_PAGES);
        let page_node = if has_pages { node.clone() } else { Node::of_major(MAJOR_FOR_PAGES, &packages)? };
        let nodes = [node.clone(), page_node.clone()];
        build_all(checkout, if has_pages { &nodes[..1] } else { &nodes })?;
        Ok(Self {
            node: node.executable,
            page_node: page_node.executable,
            cli: checkout.cli(),
            examples: build_examples(checkout)?,
            jsdom: packages.get(&JSDOM)?,
            npm: checkout.npm(),
            scripts: checkout.root().join("fixtures/bench"),
            typescript: packages.get(&TYPESCRIPT)?,
            rxjs: packages.get(&RXJS)?,
            datadog: packages.get(&DATADOG_PPROF)?,
            esbuild: packages.get(&ESBUILD)?,
            real_programs: packages.get_locked(&checkout.root().join("fixtures/bench/real-programs"))?,
            chromium: chromium::find(&packages).ok(),
            collector: needs.collector.then(|| Collector::prepare(checkout, &packages)).transpose()?,
            agents: needs.agents.map(|minutes| Agents::prepare(checkout, &packages, minutes)).transpose()?,
            polyfill: needs.polyfill.then(|| Polyfill::prepare(checkout, &packages)).transpose()?,
        })
    }

    /// Runs all variants `rounds` times and returns the table.
    pub fn measure(&self, benchmark: &Benchmark, rounds: u32) -> Result<String> {
        let folder = tempfile::tempdir()?;
        if benchmark.makes_files() {
            say(&format!("{}: making its files", benchmark.name));
            let mut make = self.node(benchmark);
            make.arg(self.scripts.join(benchmark.script)).arg("make").arg(folder.path());
            let status = make.status().context("cannot start node")?;
            ensure!(status.success(), "{} made no files and ended with {status}", benchmark.script);
        }
        let mut series: Vec<Series> = benchmark.variants.iter().map(|_| Series::new()).collect();
        for round in 0..rounds {
            say(&format!("{}: round {} of {rounds}", benchmark.name, round + 1));
            for (index, answer) in self.round(benchmark, round as usize, folder.path())? {
                for (field, value) in answer {
                    let value = value.as_f64().with_context(|| format!("{field} is not a number"))?;
                    series[index].entry(field).or_default().push(value);
                }
            }
        }
        Ok(table(benchmark, &series, rounds))
    }

    /// Runs every variant once, and returns each one's output with its index.
    fn round(&self, benchmark: &Benchmark, round: usize, folder: &Path) -> Result<Vec<(usize, Answer)>> {
        let count = benchmark.variants.len();
        let run = |index: usize| Ok((index, self.run(benchmark, &benchmark.variants[index], folder)?));
        if benchmark.side_by_side {
            return thread::scope(|scope| {
                let runs: Vec<_> = (0..count).map(|index| scope.spawn(move || run(index))).collect();
                runs.into_iter().map(|run| run.join().expect("a run does not panic")).collect()
            });
        }
        // The state of the machine changes during a round, so each variant is first in some round.
        (0..count).map(|turn| run((turn + round) % count)).collect()
    }

    /// Runs a variant once.
    fn run(&self, benchmark: &Benchmark, variant: &Variant, folder: &Path) -> Result<Answer> {
        let journals = tempfile::tempdir()?;
        let mut command = match variant.program {
            Program::Script => self.node(benchmark),
            Program::Cli => Command::new(&self.cli),
            Program::Example(name) => Command::new(self.examples.join(name)),
        };
        if variant.recorded {
            let request = serde_json::json!({
                "dir": journals.path(), "interval": 1, "limit": null, "mode": "eager", "nodeFrames": "fold",
            });
            command.arg("--require").arg(self.npm.join("run.cjs")).env("SELFPROF_RUN", request.to_string());
        }
        if variant.program == Program::Script {
            command.arg(self.scripts.join(benchmark.script));
        }
        let in_folder = folder.display().to_string();
        command.args(variant.arguments.iter().map(|argument| argument.replace(FOLDER, &in_folder)));
        let Run { stdout, stderr, status, cpu, peak } = Run::of(command)?;
        let last_line = || stdout.lines().last().and_then(|line| serde_json::from_str::<Answer>(line).ok());
        let answer = if variant.program == Program::Script { last_line() } else { Some(Answer::new()) };
        let Some(mut answer) = answer.filter(|_| status.success()) else {
            bail!("{} of {} ended with {status}\n{}", variant.label, benchmark.name, stderr.trim_end())
        };
        let cpu = answer.entry("cpu").or_insert(cpu.into()).as_f64().unwrap_or(cpu);
        answer.entry("peak").or_insert((peak / MIB).into());
        if let Ok(input) = fs::metadata(folder.join("trace.json")) {
            answer.insert("rate".to_owned(), (input.len() as f64 / 1e6 / (cpu / 1e3)).into());
            answer.insert("share".to_owned(), (peak / input.len() as f64).into());
        }
        Ok(answer)
    }

    /// The Node that a benchmark runs on, with what its script needs to know.
    fn node(&self, benchmark: &Benchmark) -> Command {
        let mut command = Command::new(if benchmark.has_pages { &self.page_node } else { &self.node });
        command
            .arg("--expose-gc")
            .env("TYPESCRIPT", &self.typescript)
            .env("RXJS", &self.rxjs)
            .env("DATADOG_PPROF", &self.datadog)
            .env("ESBUILD", &self.esbuild)
            .env("MODULES", &self.real_programs)
            .env("SELFPROF_NPM", &self.npm)
            .env("SELFPROF", &self.cli)
            .env("SELFPROF_JSDOM", &self.jsdom)
            .env("SELFPROF_TEST_CLI", &self.cli);
        if let Some(collector) = &self.collector {
            command
                .env("COLLECTOR", &collector.program)
                .env("COLLECTOR_BENCH", &collector.bench)
                .env("COLLECTOR_PEERS", &collector.python);
        }
        if let Some(Agents { modules, nodes, minutes }) = &self.agents {
            command.env("SELFPROF_TEST_AGENTS", modules).env("AGENTS_MINUTES", minutes.to_string());
            command.envs(nodes.iter().map(|(major, node)| (format!("AGENTS_NODE_{major}"), node)));
        }
        if let Some(Polyfill { modules, firefox, webkit }) = &self.polyfill {
            command.env("SELFPROF_TEST_POLYFILL", modules);
            command.env("SELFPROF_TEST_FIREFOX", firefox).env("SELFPROF_TEST_WEBKIT", webkit);
        }
        if let Some(chromium) = &self.chromium {
            command.env("SELFPROF_TEST_CHROMIUM", chromium);
        }
        command
    }
}

impl Agents {
    fn prepare(checkout: &Checkout, packages: &Packages, minutes: f64) -> Result<Self> {
        let mut nodes = Vec::new();
        for major in MAJORS_WITH_LABELS {
            let node = Node::of_major(major, packages)?;
            build_addon(checkout, &node, &Output::Shown)?;
            nodes.push((major, node.executable));
        }
        let modules = packages.get_locked(&checkout.root().join("fixtures/agents"))?;
        Ok(Self { modules, nodes, minutes })
    }
}

impl Polyfill {
    fn prepare(checkout: &Checkout, packages: &Packages) -> Result<Self> {
        let firefox = firefox::find()
            .context("there is no Firefox: install it, or set SELFPROF_FIREFOX to its executable")?;
        let webkit = webkit::find().with_context(|| format!("there is no WebKit: {}", webkit::HINT))?;
        let modules = packages.get_locked(&checkout.root().join("fixtures/polyfill"))?;
        Ok(Self { modules, firefox, webkit })
    }
}

impl Collector {
    fn prepare(checkout: &Checkout, packages: &Packages) -> Result<Self> {
        let mut cargo = checkout.cargo();
        cargo.arg("build").args(CRATES).args(["--bins", "--example", "collector-bench"]);
        job::run(&mut cargo, &Output::Shown).context("the collector did not build")?;
        Ok(Self {
            program: collector::program(checkout),
            bench: checkout.target().join("collector/examples/collector-bench"),
            python: COLLECTOR_PEERS.folder(packages)?.join("bin/python"),
        })
    }
}

/// Builds the examples of `crates/formats`, and returns their folder.
fn build_examples(checkout: &Checkout) -> Result<PathBuf> {
    let mut cargo = checkout.cargo();
    cargo.args(["build", "--release", "--package", "selfprof-formats", "--examples"]);
    job::run(&mut cargo, &Output::Shown).context("the examples of selfprof-formats did not build")?;
    Ok(checkout.target().join("release/examples"))
}

const MIB: f64 = (1_u64 << 20) as f64;

/// A program that has ended.
struct Run {
    stdout: String,
    stderr: String,
    status: ExitStatus,
    /// Milliseconds of all its threads.
    cpu: f64,
    /// Bytes.
    peak: f64,
}

impl Run {
    /// Runs a program to its end. Its output goes to files, so that no pipe has to be read meanwhile.
    fn of(mut command: Command) -> Result<Self> {
        let [mut stdout, mut stderr] = [tempfile::tempfile()?, tempfile::tempfile()?];
        let name = command.get_program().display().to_string();
        let mut child = command
            .stdout(stdout.try_clone()?)
            .stderr(stderr.try_clone()?)
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        let used = child.wait4().with_context(|| format!("cannot wait for {name}"))?;
        let cpu = (used.rusage.utime + used.rusage.stime).as_secs_f64() * 1e3;
        let peak = used.rusage.maxrss as f64;
        let (stdout, stderr) = (text(&mut stdout)?, text(&mut stderr)?);
        Ok(Self { stdout, stderr, status: used.status, cpu, peak })
    }
}

fn text(file: &mut File) -> Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A Markdown table: a line for each variant, `median (least–greatest)` in each column, and ratios for columns that
/// compare.
fn table(benchmark: &Benchmark, series: &[Series], rounds: u32) -> String {
    let mut text = String::from("| |");
    for column in &benchmark.columns {
        let _ = write!(text, " {} |", column.heading);
        for reference in &column.relative_to {
            let _ = write!(text, " of {reference} |");
        }
    }
    text.push_str("\n|---|");
    for column in &benchmark.columns {
        text.push_str(&"---:|".repeat(1 + column.relative_to.len()));
    }
    text.push('\n');
    for (variant, own) in benchmark.variants.iter().zip(series) {
        let _ = write!(text, "| {} |", variant.label);
        for column in &benchmark.columns {
            let values = own.get(column.field).map_or(&[][..], Vec::as_slice);
            let _ = write!(text, " {} |", cell(values));
            for reference in &column.relative_to {
                let reference = series_of(benchmark, series, reference, column.field);
                let _ = write!(text, " {} |", cell(&ratios(values, reference)));
            }
        }
        text.push('\n');
    }
    if rounds > 1 {
        let _ = writeln!(text, "\n{rounds} rounds.");
    }
    text
}

fn series_of<'a>(benchmark: &Benchmark, series: &'a [Series], label: &str, field: &str) -> &'a [f64] {
    let index = benchmark.variants.iter().position(|variant| variant.label == label);
    index.and_then(|index| series[index].get(field)).map(Vec::as_slice).unwrap_or_default()
}

/// The median, and the least and the greatest value if they are shown as different numbers.
fn cell(values: &[f64]) -> String {
    let Some(one) = summary(values) else { return "–".into() };
    let (median, least, greatest) = (number(one.median), number(one.least), number(one.greatest));
    if least == greatest { median } else { format!("{median} ({least}–{greatest})") }
}
