//! The results of a run: as lines for people, and as JSON for programs.

use super::expectations::{Expectations, Surprise};
use super::outcome::Outcome;
use super::runner::Listener;
use super::suite::Test;
use crate::progress::{self, Activity};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Raised when a member changes its meaning or is removed.
const VERSION: u32 = 1;

/// The results of one run so far.
pub struct Report<'a> {
    expectations: &'a Expectations,
    total: usize,
    begun: SystemTime,
    activity: Activity,
    outcomes: Vec<(String, Outcome)>,
    skipped: Vec<(String, String)>,
    surprising: Vec<String>,
}

impl<'a> Report<'a> {
    /// Starts the report of a run of so many tests.
    pub fn new(expectations: &'a Expectations, total: usize) -> Self {
        Self {
            expectations,
            total,
            begun: SystemTime::now(),
            activity: Activity::start("wpt"),
            outcomes: Vec::new(),
            skipped: Vec::new(),
            surprising: Vec::new(),
        }
    }

    /// Reports a test that is not run.
    pub fn skipped(&mut self, test: &Test, reason: &str) -> Result<()> {
        line(&format!("skip  {}: {reason}", test.id))?;
        self.skipped.push((test.id.clone(), reason.to_owned()));
        Ok(())
    }

    /// Whether all results were the expected ones.
    pub fn is_as_expected(&self) -> bool {
        self.surprising.is_empty()
    }

    /// The outcome of each test.
    pub fn outcomes(&self) -> &[(String, Outcome)] {
        &self.outcomes
    }

    /// Prints the summary.
    pub fn finish(&self) -> Result<()> {
        let passed = self.outcomes.iter().filter(|(_, outcome)| outcome.is_passed()).count();
        let subtests: usize = self.outcomes.iter().map(|(_, outcome)| outcome.subtests.len()).sum();
        let passed_subtests: usize = self.outcomes.iter().map(|(_, outcome)| outcome.passed()).sum();
        if !self.surprising.is_empty() {
            line(&format!("\nnot as expected: {}", self.surprising.join(", ")))?;
        }
        line(&format!("subtests: {passed_subtests} passed, {} failed", subtests - passed_subtests))?;
        line(&format!(
            "tests: {} run, {} skipped, {} not as expected",
            self.outcomes.len(),
            self.skipped.len(),
            self.surprising.len()
        ))?;
        line(&format!("{passed} passed, {} failed", self.outcomes.len() - passed))
    }

    /// Writes the run as the suite's own runner does:
    /// <https://github.com/web-platform-tests/wpt.fyi/blob/main/api/README.md>.
    pub fn write_json(&self, path: &Path, about: Value) -> Result<()> {
        let milliseconds =
            |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let results: Vec<Value> = self
            .outcomes
            .iter()
            .map(|(id, outcome)| self.result(id, outcome))
            .chain(self.skipped.iter().map(|(id, reason)| {
                json!({ "test": format!("/{id}"), "status": "SKIP", "message": reason, "subtests": [], "duration": 0 })
            }))
            .collect();
        let report = json!({
            "version": VERSION,
            "run_info": about,
            "time_start": milliseconds(self.begun),
            "time_end": milliseconds(SystemTime::now()),
            "results": results,
        });
        let text = serde_json::to_string_pretty(&report)? + "\n";
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// As in reports of the suite's own runner, `expected` is present only if it differs.
    fn result(&self, id: &str, outcome: &Outcome) -> Value {
        let subtests: Vec<Value> = outcome
            .subtests
            .iter()
            .map(|subtest| {
                let mut value =
                    json!({ "name": subtest.name, "status": subtest.status, "message": subtest.message });
                let expected = self.expectations.subtest(id, &subtest.name);
                if expected != subtest.status {
                    value["expected"] = expected.into();
                }
                value
            })
            .collect();
        let mut value = json!({
            "test": format!("/{id}"),
            "status": outcome.status,
            "message": outcome.message,
            "subtests": subtests,
            "duration": outcome.duration,
        });
        let expected = self.expectations.status(id);
        if expected != outcome.status {
            value["expected"] = expected.into();
        }
        value
    }

    fn print(&self, id: &str, outcome: &Outcome, surprises: &[Surprise]) -> Result<()> {
        let word = if outcome.is_passed() { "ok" } else { "FAIL" };
        let status = if outcome.status == "OK" { String::new() } else { format!("{}, ", outcome.status) };
        let count = format!("{} of {} passed", outcome.passed(), outcome.subtests.len());
        let known = match self.expectations.reason(id) {
            Some(reason) if surprises.is_empty() => format!(", as expected: {reason}"),
            _ => String::new(),
        };
        line(&format!("{word:<5} {id}: {status}{count}{known}"))?;
        for Surprise { subtest, status, expected, message } in surprises {
            let name = subtest.as_deref().unwrap_or("the test");
            let status = status.as_deref().unwrap_or("not there");
            line(&format!("        {status}, expected {expected}: {name}"))?;
            for text in message.iter().flat_map(|message| message.lines().take(8)) {
                line(&format!("            {text}"))?;
            }
        }
        if !surprises.is_empty() {
            for note in outcome.notes.iter().take(5) {
                line(&format!("        note: {note}"))?;
            }
        }
        Ok(())
    }
}

impl Listener for Report<'_> {
    fn ended(&mut self, id: &str, outcome: Outcome) -> Result<()> {
        let surprises = self.expectations.surprises(id, &outcome);
        progress::print(|| self.print(id, &outcome, &surprises))?;
        if !surprises.is_empty() {
            self.surprising.push(id.to_owned());
        }
        self.outcomes.push((id.to_owned(), outcome));
        Ok(())
    }

    fn progress(&mut self, running: &BTreeSet<String>) {
        self.activity.continues(|| {
            let names: Vec<&str> = running.iter().map(String::as_str).collect();
            format!("{}/{} {}", self.outcomes.len() + self.skipped.len(), self.total, names.join(", "))
        });
    }
}

/// The reader may stop reading, as `head` does.
fn line(text: &str) -> Result<()> {
    match writeln!(io::stdout().lock(), "{text}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        written => Ok(written?),
    }
}
