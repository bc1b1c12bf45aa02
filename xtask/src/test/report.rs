//! What a person reads of a test run.

use super::plan::Step;
use crate::job::Log;
use crate::progress::seconds;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The outcomes so far.
pub struct Report {
    since: Instant,
    steps: usize,
    passed: usize,
    failed: Vec<String>,
}

impl Report {
    /// Of a run of so many steps.
    pub fn new(steps: usize) -> Self {
        Self { since: Instant::now(), steps, passed: 0, failed: Vec::new() }
    }

    /// Whether the step of this name failed, or could not run.
    pub fn has_failed(&self, name: &str) -> bool {
        self.failed.iter().any(|failed| failed == name)
    }

    /// One short line.
    pub fn passed(&mut self, step: &Step, took: Duration, detail: &str) {
        self.passed += 1;
        let comma = if detail.is_empty() { "" } else { ", " };
        self.line("ok", step, &format!("{}{comma}{detail}", seconds(took)));
    }

    /// All that the step said.
    pub fn failed(&mut self, step: &Step, took: Duration, error: &anyhow::Error, log: &Log) {
        let said = log.text();
        if !said.trim().is_empty() {
            eprintln!("---- {} said:\n{}\n----", step.name, said.trim_end());
        }
        self.failed.push(step.name.clone());
        self.line("FAILED", step, &format!("{}: {error:#}", seconds(took)));
    }

    /// A step that leans on a failed one counts as failed, or a broken build would look like few failures.
    pub fn not_run(&mut self, step: &Step, missing: &str) {
        self.failed.push(step.name.clone());
        self.line("FAILED", step, &format!("not run, it needs {missing}"));
    }

    /// The summary; its last line goes to stdout.
    pub fn finish(self) -> ExitCode {
        eprintln!("test took {}", seconds(self.since.elapsed()));
        if let Some(first) = self.failed.first() {
            eprintln!("failed: {}\n\nhint: cargo xtask test --only {first}", self.failed.join(", "));
        }
        println!("{} passed, {} failed", self.passed, self.failed.len());
        if self.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    fn line(&self, outcome: &str, step: &Step, detail: &str) {
        let done = self.passed + self.failed.len();
        eprintln!("{done:>3}/{} {outcome:<6} {:<10} {detail}", self.steps, step.name);
    }
}
