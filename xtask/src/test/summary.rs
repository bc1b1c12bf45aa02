//! The lines that a test run prints: one for each step when it ends, and a table of where the time went.

use super::step::Step;
use crate::job::Log;
use crate::progress::{print, seconds};
use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// When a step ran, and how long.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// When it started.
    pub started: Instant,
    /// How long it ran.
    pub took: Duration,
    /// The CPU time of its child processes.
    pub cpu: Duration,
}

/// One line of the table.
struct Row {
    name: String,
    /// Since the run started.
    started: Duration,
    took: Duration,
    cpu: Duration,
}

/// The outcomes so far.
pub struct Report {
    since: Instant,
    jobs: usize,
    steps: usize,
    passed: usize,
    failed: Vec<String>,
    rows: Vec<Row>,
}

impl Report {
    /// Of a run of so many steps on so many processors.
    pub fn new(steps: usize, jobs: usize) -> Self {
        Self { since: Instant::now(), jobs, steps, passed: 0, failed: Vec::new(), rows: Vec::new() }
    }

    /// Prints one short line.
    pub fn passed(&mut self, step: &Step, times: Times, detail: &str) {
        self.passed += 1;
        self.add_row(step, times);
        let comma = if detail.is_empty() { "" } else { ", " };
        self.line("ok", step, &format!("{}{comma}{detail}", seconds(times.took)));
    }

    /// Prints the whole output of the step.
    pub fn failed(&mut self, step: &Step, times: Times, error: &anyhow::Error, log: Option<&Log>) {
        let output = log.map(Log::text).unwrap_or_default();
        if !output.trim().is_empty() {
            print(|| {
                eprintln!("---- output of {}:\n{}\n---- end of {0}", step.name, output.trim_end());
            });
        }
        self.failed.push(step.name.clone());
        self.add_row(step, times);
        self.line("FAILED", step, &format!("{}: {error:#}", seconds(times.took)));
    }

    /// A step that needs a failed one counts as failed, or a broken build would look like few failures.
    pub fn skipped(&mut self, step: &Step, needed: &Step) {
        self.failed.push(step.name.clone());
        self.line("FAILED", step, &format!("not run, it needs {}", needed.name));
    }

    /// Prints the table and the summary, whose last line goes to stdout. Writes the table to this file if all passed.
    pub fn finish(mut self, record: Option<&Path>) -> Result<ExitCode> {
        let took = self.since.elapsed();
        self.rows.sort_by_key(|row| row.started);
        eprint!("\n{}", table(&self.rows));
        let cpu: Duration = self.rows.iter().map(|row| row.cpu).sum();
        let processors =
            if self.jobs == 1 { "1 processor".to_owned() } else { format!("{} processors", self.jobs) };
        let total = format!("test took {}, with {} of CPU time on {processors}", seconds(took), seconds(cpu));
        eprintln!("\n{total}");
        if let Some(first) = self.failed.first() {
            eprintln!("failed: {}\n\nhint: cargo xtask test --only {first}", self.failed.join(", "));
        } else if let Some(file) = record {
            fs::write(file, format!("{}\n{total}\n", table(&self.rows)))
                .with_context(|| format!("cannot write {}", file.display()))?;
        }
        println!("{} passed, {} failed", self.passed, self.failed.len());
        Ok(if self.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn add_row(&mut self, step: &Step, times: Times) {
        let Times { started, took, cpu } = times;
        let started = started.duration_since(self.since);
        self.rows.push(Row { name: step.name.clone(), started, took, cpu });
    }

    fn line(&self, outcome: &str, step: &Step, detail: &str) {
        let done = self.passed + self.failed.len();
        print(|| eprintln!("{done:>3}/{} {outcome:<6} {:<22} {detail}", self.steps, step.name));
    }
}

/// Where the time went, in the order in which the steps started; all in seconds.
fn table(rows: &[Row]) -> String {
    let mut text = format!("{:<22} {:>8} {:>8} {:>8}\n", "step", "started", "took", "CPU");
    for row in rows {
        let [started, took, cpu] = [row.started, row.took, row.cpu].map(|time| time.as_secs_f64());
        let _ = writeln!(text, "{:<22} {started:>8.1} {took:>8.1} {cpu:>8.1}", row.name);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_line_a_step() {
        let row = |name: &str, [started, took, cpu]: [u64; 3]| Row {
            name: name.to_owned(),
            started: Duration::from_millis(started),
            took: Duration::from_millis(took),
            cpu: Duration::from_millis(cpu),
        };
        let expected = "\
step                    started     took      CPU
tools                       0.0      0.4      0.3
js-22                      12.4    130.0     85.1
";
        assert_eq!(table(&[row("tools", [0, 420, 310]), row("js-22", [12_420, 130_040, 85_060])]), expected);
    }
}
