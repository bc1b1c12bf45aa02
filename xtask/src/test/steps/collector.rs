//! The collector and its store.
//!
//! Their dependencies, above all DataFusion, take 45 minutes of CPU time to compile. Under CI they are compiled into a folder of their own,
//! which changes of other dependencies leave alone.

use super::javascript::{run, test_files};
use crate::build_cache::{self, BuildCache, Contents};
use crate::checkout::Checkout;
use crate::chromium;
use crate::collector::{self, CRATES, Server};
use crate::job::{self, Log, Output};
use crate::node::MAJOR_THAT_DRIVES_CHROMIUM;
use crate::pages::collector_folder;
use crate::progress::Activity;
use crate::pypi::DUCKDB;
use crate::test::counts;
use crate::test::step::Context;
use anyhow::Result;
use std::process::Command;

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

/// Builds the collector, asks it and DuckDB the same, and compares two releases as the demo does.
pub fn ask(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let (checkout, _cache) = checkout(context)?;
    let output = Output::Logged(log, activity);
    collector::build(&checkout, &output)?;
    // The page about the collector calls it `selfprof-data`.
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("selfprof-data");
    let server = Server::start(&checkout, &data, log)?;
    collector::send_profiles(&server, &checkout, &output)?;
    // Before there are source maps, whose names are not in the tables.
    let mut python = Command::new(DUCKDB.folder(&context.packages)?.join("bin/python"));
    python.arg(checkout.root().join("crates/collector/tests/with_duckdb.py"));
    python.env("SELFPROF_COLLECTOR_PROGRAM", collector::program(&checkout));
    python.env("SELFPROF_COLLECTOR", server.url()).env("SELFPROF_DATA", &data);
    python.env_remove("SELFPROF_COLLECTOR_TOKEN");
    job::run(&mut python, &output)?;
    collector::upload_maps(&server, &checkout, &output)?;
    collector::check_difference(&server)?;
    server.stop()?;
    Ok(format!("{} tests", counts::python(&log.text())?))
}

/// Runs the tests of the collector's page, which drive Chromium from Node.
pub fn page(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let (checkout, _cache) = checkout(context)?;
    collector::build(&checkout, &Output::Logged(log, activity))?;
    let (chromium, program) = (chromium::find(&context.packages)?, collector::program(&checkout));
    let environment =
        [("SELFPROF_TEST_CHROMIUM", chromium.as_os_str()), ("SELFPROF_TEST_COLLECTOR", program.as_os_str())];
    let files = test_files(&collector_folder(&checkout).join("test"))?;
    run(MAJOR_THAT_DRIVES_CHROMIUM, (&[], &files), &environment, context, log, activity)
}

fn cargo(arguments: &[&str], context: &Context, log: &Log, activity: &Activity) -> Result<()> {
    let (checkout, _cache) = checkout(context)?;
    job::run(checkout.cargo().args(arguments), &Output::Logged(log, activity))
}

/// The checkout with the collector's build folder, which is locked as long as the second value lives.
fn checkout(context: &Context) -> Result<(Checkout, Option<BuildCache>)> {
    let cache =
        build_cache::open(&context.checkout, &context.packages.cache_of("build"), Contents::Collector)?;
    let checkout = match &cache {
        Some(cache) => context.checkout.clone().with_build_folder(cache.folder()),
        None => context.checkout.clone(),
    };
    Ok((checkout, cache))
}
