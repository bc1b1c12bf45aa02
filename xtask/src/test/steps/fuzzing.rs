//! The fuzz targets.

use crate::fuzz::{Instrumented, Scope, Session};
use crate::job::{Log, Output};
use crate::progress::Activity;
use crate::test::step::Context;
use anyhow::{Result, bail};
use std::time::Duration;

/// How long each target generates inputs. This does not replace a search of hours.
const SEARCH: Duration = Duration::from_secs(6);

/// Builds the targets.
pub fn build(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let instrumented = Instrumented::new(&context.checkout, Scope::Workspace)?;
    let targets = instrumented.targets()?;
    instrumented.build(&targets, &Output::Logged(log, activity))?;
    Ok(format!("{} targets", targets.len()))
}

/// Runs the committed inputs, then a short search, for each target.
pub fn run(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let instrumented = Instrumented::new(&context.checkout, Scope::Workspace)?;
    let targets = instrumented.targets()?;
    let mut failed = Vec::new();
    let mut runs = 0;
    for target in &targets {
        let session = Session { instrumented: &instrumented, target, log, activity };
        // Starting from everything that was ever found would take longer each time.
        let corpus = tempfile::tempdir()?;
        match session.check().and_then(|()| session.fuzz(SEARCH, corpus.path())) {
            Ok(figures) => runs += figures.runs,
            Err(error) => failed.push(format!("{target}: {error}")),
        }
    }
    if !failed.is_empty() {
        bail!("{}", failed.join("\n"));
    }
    Ok(format!("{} targets, {runs} inputs", targets.len()))
}
