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

/// A step: one line of the report.
pub struct Step {
    /// A family, or a family and a Node major: `js-22`.
    pub name: String,
    /// For `--list`.
    pub about: String,
    /// Names of earlier steps that must have passed.
    pub needs: Vec<String>,
    /// How much of the processors it uses.
    pub load: Load,
    /// What no other step uses meanwhile.
    pub exclusive: Option<BuildFolder>,
    /// What it does.
    pub action: Action,
}

impl Step {
    /// A step that takes little, until [`Step::using`] or [`Step::compiling`] says otherwise.
    pub fn new(
        name: impl Into<String>,
        about: impl Into<String>,
        needs: &[&str],
        action: impl Fn(&Context, &Log, &Activity) -> Result<String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            about: about.into(),
            needs: needs.iter().map(|&name| name.to_owned()).collect(),
            load: Load::Percent(10),
            exclusive: None,
            action: Box::new(action),
        }
    }

    /// This step keeps so many hundredths of a processor busy: its CPU time as the table of a test run gives it, divided by
    /// the time that it takes when it runs alone.
    pub fn using(self, percent: u32) -> Self {
        Self { load: Load::Percent(percent), ..self }
    }

    /// This step compiles in one of cargo's build folders.
    pub fn compiling(self, folder: BuildFolder) -> Self {
        Self { load: Load::Background, exclusive: Some(folder), ..self }
    }

    /// The name without the Node major.
    pub fn family(&self) -> &str {
        self.name.split('-').next().unwrap_or(&self.name)
    }
}
