//! Runs a benchmark's script in all its variants and makes a table of what they answer.

use super::statistics::{number, ratios, summary};
use super::suite::{Benchmark, Variant};
use crate::build::build_all;
use crate::checkout::Checkout;
use crate::node::Node;
use crate::packages::{DATADOG_PPROF, JSDOM, Packages, RXJS, TYPESCRIPT};
use crate::progress::say;
use crate::tools;
use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::thread;

/// jsdom needs Node 22.22.2.
const FIRST_MAJOR_WITH_PAGES: u32 = 22;
/// What pages are measured on where the `node` on PATH has none.
const MAJOR_FOR_PAGES: u32 = 24;

/// What the scripts need: a Node with its addon, and the packages.
pub struct Machine {
    node: PathBuf,
    /// The same, or another that has pages.
    page_node: PathBuf,
    cli: PathBuf,
    jsdom: PathBuf,
    npm: PathBuf,
    scripts: PathBuf,
    typescript: PathBuf,
    rxjs: PathBuf,
    datadog: PathBuf,
    /// None where there is none: the benchmark of the report alone needs it, and says so.
    chromium: Option<PathBuf>,
}

/// The series of one variant, by field.
type Series = HashMap<String, Vec<f64>>;

/// What a script answers.
type Answer = Map<String, Value>;

impl Machine {
    /// Builds the addon for a Node major, or for the `node` on PATH, and fetches the packages.
    pub fn prepare(checkout: &Checkout, major: Option<u32>) -> Result<Self> {
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
        build_all(checkout, &packages, if has_pages { &nodes[..1] } else { &nodes })?;
        Ok(Self {
            node: node.executable,
            page_node: page_node.executable,
            cli: checkout.cli(),
            jsdom: packages.get(&JSDOM)?,
            npm: checkout.npm(),
            scripts: checkout.root().join("fixtures/bench"),
            typescript: packages.get(&TYPESCRIPT)?,
            rxjs: packages.get(&RXJS)?,
            datadog: packages.get(&DATADOG_PPROF)?,
            chromium: tools::chromium().ok(),
        })
    }

    /// Runs all variants `rounds` times and gives the table.
    pub fn measure(&self, benchmark: &Benchmark, rounds: u32) -> Result<String> {
        let mut series: Vec<Series> = benchmark.variants.iter().map(|_| Series::new()).collect();
        for round in 0..rounds {
            say(&format!("{}: round {} of {rounds}", benchmark.name, round + 1));
            for (index, answer) in self.round(benchmark, round as usize)? {
                for (field, value) in answer {
                    let value = value.as_f64().with_context(|| format!("{field} is not a number"))?;
                    series[index].entry(field).or_default().push(value);
                }
            }
        }
        Ok(table(benchmark, &series, rounds))
    }

    /// Runs every variant once, and gives each one's answer with its index.
    fn round(&self, benchmark: &Benchmark, round: usize) -> Result<Vec<(usize, Answer)>> {
        let count = benchmark.variants.len();
        let run = |index: usize| Ok((index, self.run(benchmark, &benchmark.variants[index])?));
        if benchmark.side_by_side {
            return thread::scope(|scope| {
                let runs: Vec<_> = (0..count).map(|index| scope.spawn(move || run(index))).collect();
                runs.into_iter().map(|run| run.join().expect("a run does not panic")).collect()
            });
        }
        // Whoever runs first in a round finds another machine than who runs last.
        (0..count).map(|turn| run((turn + round) % count)).collect()
    }

    /// Runs the script once; its last line is a JSON object of numbers.
    fn run(&self, benchmark: &Benchmark, variant: &Variant) -> Result<Answer> {
        let journals = tempfile::tempdir()?;
        let mut command = Command::new(if benchmark.has_pages { &self.page_node } else { &self.node });
        command.arg("--expose-gc");
        if variant.recorded {
            let wishes = serde_json::json!({
                "dir": journals.path(), "interval": 1, "limit": null, "mode": "eager", "nodeFrames": "fold",
            });
            command.arg("--require").arg(self.npm.join("run.cjs")).env("SELFPROF_RUN", wishes.to_string());
        }
        command
            .arg(self.scripts.join(benchmark.script))
            .args(&variant.arguments)
            .env("TYPESCRIPT", &self.typescript)
            .env("RXJS", &self.rxjs)
            .env("DATADOG_PPROF", &self.datadog)
            .env("SELFPROF_NPM", &self.npm)
            .env("SELFPROF", &self.cli)
            .env("SELFPROF_JSDOM", &self.jsdom)
            .env("SELFPROF_TEST_CLI", &self.cli);
        if let Some(chromium) = &self.chromium {
            command.env("SELFPROF_TEST_CHROMIUM", chromium);
        }
        let output = command.output().context("cannot start node")?;
        let stdout = String::from_utf8_lossy(&output.stdout);
        let answer = stdout.lines().last().and_then(|line| serde_json::from_str(line).ok());
        match answer {
            Some(answer) if output.status.success() => Ok(answer),
            _ => bail!(
                "{} of {} ended with {}\n{}",
                variant.label,
                benchmark.script,
                output.status,
                String::from_utf8_lossy(&output.stderr).trim_end()
            ),
        }
    }
}

/// A Markdown table: a line a variant, `median (least–greatest)` a column, and ratios where a column has a reference.
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
        let _ = writeln!(text, "\nMedians of {rounds} rounds, least and greatest in brackets.");
    }
    text
}

fn series_of<'a>(benchmark: &Benchmark, series: &'a [Series], label: &str, field: &str) -> &'a [f64] {
    let index = benchmark.variants.iter().position(|variant| variant.label == label);
    index.and_then(|index| series[index].get(field)).map(Vec::as_slice).unwrap_or_default()
}

fn cell(values: &[f64]) -> String {
    match summary(values) {
        None => "–".into(),
        Some(one) if values.len() == 1 => number(one.median),
        Some(one) => format!("{} ({}–{})", number(one.median), number(one.least), number(one.greatest)),
    }
}
