//! One step of a test run.

use super::schedule::{BuildFolder, Load};
use crate::checkout::Checkout;
use crate::job::Log;
use crate::packages::Packages;
use crate::progress::Activity;
use anyhow::Result;
use std::path::PathBuf;

/// What every step works with.
pub struct Context {
    /// The checkout under test.
    pub checkout: Checkout,
    /// The packages that are fetched: Nodes, jsdom and others.
    pub packages: Packages,
    /// This program. Its path is taken at the start: a step that builds the workspace may replace the file.
    pub program: PathBuf,
}

/// Runs a step; returns a few words on what it did, which may be empty.
pub type Action = Box<dyn Fn(&Context, &Log, &Activity) -> Result<String> + Send + Sync>;

/// When a step runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Before each commit.
    Commit,
    /// `--all`: in CI.
    All,
    /// `--nightly`.
    Nightly,
}

/// A step: one line of the report.
pub struct Step {
    /// A family, or a family and a Node major: `js-22`.
    pub name: String,
    /// For `--list`.
    pub about: &'static str,
    /// Names of earlier steps that must have passed.
    pub needs: Vec<String>,
    /// How much of the processors it uses: its CPU time as the table of a test run gives it, divided by the time that
    /// it takes when it runs alone.
    pub load: Load,
    /// What no other step uses meanwhile.
    pub exclusive: Option<BuildFolder>,
    /// What it does.
    pub action: Action,
}

impl Step {
    /// The name without the Node major.
    pub fn family(&self) -> &str {
        let is_major = |end: &str| end.bytes().all(|digit| digit.is_ascii_digit());
        self.name.rsplit_once('-').filter(|(_, end)| is_major(end)).map_or(&self.name, |(family, _)| family)
    }
}
