//! The collector and its store.
//!
//! Their dependencies, above all DataFusion, take 45 minutes of CPU time to compile. Under CI they are compiled into a folder of their own,
//! which changes of other dependencies leave alone.

use crate::build_cache::{self, Contents};
use crate::collector::CRATES;
use crate::job::{self, Log, Output};
use crate::progress::Activity;
use crate::test::counts;
use crate::test::step::Context;
use anyhow::Result;

/// Runs the tests.
pub fn test(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    cargo(&[&["test"], &CRATES[..]].concat(), context, log, activity)?;
    Ok(format!("{} tests", counts::cargo(&log.text())?))
}

/// Runs clippy.
pub fn lint(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let arguments = [&["clippy"], &CRATES[..], &["--all-targets", "--", "--deny", "warnings"]].concat();
    cargo(&arguments, context, log, activity)?;
    Ok(String::new())
}

fn cargo(arguments: &[&str], context: &Context, log: &Log, activity: &Activity) -> Result<()> {
    // Locked until the end of the step.
    let cache =
        build_cache::open(&context.checkout, &context.packages.cache_of("build"), Contents::Collector)?;
    let checkout = match &cache {
        Some(cache) => context.checkout.clone().with_build_folder(cache.folder()),
        None => context.checkout.clone(),
    };
    job::run(checkout.cargo().args(arguments), &Output::Logged(log, activity))
}
