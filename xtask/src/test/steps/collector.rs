//! The collector and its store.
//!
//! Their dependencies, above all DataFusion, take 45 minutes of CPU time to compile. Under CI they are compiled into a
//! folder of their own, which changes of other dependencies leave alone.

use super::consumers::otlp_messages;
use super::javascript::{run, test_files};
use crate::build_cache::{self, BuildCache, Contents};
use crate::checkout::Checkout;
use crate::chromium;
use crate::collector::{self, CRATES, Server};
use crate::job::{self, Log, Output};
use crate::node::MAJOR_THAT_DRIVES_CHROMIUM;
use crate::packages::ESBUILD;
use crate::pages::collector_folder;
use crate::progress::Activity;
use crate::pypi::{DUCKDB, MOTO, SCHEMATHESIS};
use crate::test::counts;
use crate::test::step::Context;
use anyhow::{Context as _, Result};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

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
    python.arg(checkout.root().join("collector/collector/tests/with_duckdb.py"));
    python.env("SELFPROF_COLLECTOR_PROGRAM", collector::program(&checkout));
    python.env("SELFPROF_COLLECTOR", server.url()).env("SELFPROF_DATA", &data);
    python.env_remove("SELFPROF_COLLECTOR_TOKEN");
    job::run(&mut python, &output)?;
    collector::upload_maps(&server, &checkout, &output)?;
    collector::check_difference(&server)?;
    server.stop()?;
    Ok(format!("{} tests", counts::python(&log.text())?))
}

/// Has Schemathesis attack a collector by the description of its API: with any values, then with questions about the
/// profiles that are there.
pub fn attack(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let (checkout, _cache) = checkout(context)?;
    let output = Output::Logged(log, activity);
    collector::build(&checkout, &output)?;
    let folder = tempfile::tempdir()?;
    let server = Server::start(&checkout, &folder.path().join("data"), log)?;
    collector::send_profiles(&server, &checkout, &output)?;
    let home = SCHEMATHESIS.folder(&context.packages)?;
    let attack = checkout.root().join("collector/collector/tests/attack");
    let schemathesis = |options: &[&OsStr], further: &[&str]| {
        let mut command = Command::new(home.join("bin/python"));
        command.args(["-m", "schemathesis.cli"]).args(options).arg("run");
        command.arg(format!("{}/api/v1/openapi.json", server.url()));
        command.args(["--max-examples", EXAMPLES, "--seed", "1", "--no-color"]).args(further);
        // It keeps what it has found beside itself.
        command.current_dir(folder.path()).env("SCHEMATHESIS_HOOKS", "hooks").env("PYTHONPATH", &attack);
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        job::run(&mut command, &output)
    };
    // Few texts are a condition or a time.
    schemathesis(&[], &["--exclude-checks", "positive_data_acceptance"])?;
    let settings = attack.join("schemathesis.toml");
    let questions = "^/api/v1/(functions|flamegraph|series|spans|spans/slow|diff|profiles|alerts|values)$";
    schemathesis(&[OsStr::new("--config-file"), settings.as_os_str()], &["--include-path-regex", questions])?;
    server.stop()?;
    Ok(String::new())
}

/// Requests for each operation of the API, besides those for each value at the edge of what is possible.
const EXAMPLES: &str = "40";

/// Kills collectors that write to a bucket of moto's S3 server, and deletes their logs.
pub fn lose_disks(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let (checkout, _cache) = checkout(context)?;
    let output = Output::Logged(log, activity);
    collector::build(&checkout, &output)?;
    let mut python = Command::new(MOTO.folder(&context.packages)?.join("bin/python"));
    python.arg(checkout.root().join("collector/collector/tests/with_bucket.py"));
    python.env("SELFPROF_COLLECTOR_PROGRAM", collector::program(&checkout));
    job::run(&mut python, &output)?;
    let tests = counts::python(&log.text())?;
    three_collectors(context, &checkout, &output)?;
    Ok(format!("{} tests", tests + 1))
}

/// Runs the test in which three collectors share a bucket.
fn three_collectors(context: &Context, checkout: &Checkout, output: &Output<'_>) -> Result<()> {
    let mut server = Command::new(MOTO.folder(&context.packages)?.join("bin/python"));
    server.arg(checkout.root().join("collector/collector/tests/s3_server.py"));
    let mut server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut address = String::new();
    BufReader::new(server.stdout.take().context("its stdout is a pipe")?).read_line(&mut address)?;
    let mut cargo = checkout.collector_cargo();
    cargo.arg("test").args(CRATES).args(["--test", "bucket", "--", "--ignored"]);
    cargo.env("SELFPROF_TEST_S3", address.trim());
    let result = job::run(&mut cargo, output);
    // It ends with its stdin.
    drop(server.stdin.take());
    server.wait()?;
    result
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

/// Has others send to the collector: pages in Chromium, by themselves and by Sentry's SDK, an encoder of OTLP, and the
/// exporter of servers.
pub fn senders(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let (checkout, _cache) = checkout(context)?;
    collector::build(&checkout, &Output::Logged(log, activity))?;
    let folder = checkout.root().join("collector/collector/senders");
    let (chromium, program) = (chromium::find(&context.packages)?, collector::program(&checkout));
    let (messages, cli) = (otlp_messages(context)?, context.checkout.cli());
    let (esbuild, modules) = (context.packages.get(&ESBUILD)?, context.packages.get_locked(&folder)?);
    let environment = [
        ("SELFPROF_TEST_CHROMIUM", chromium.as_os_str()),
        ("SELFPROF_TEST_COLLECTOR", program.as_os_str()),
        ("SELFPROF_TEST_CLI", cli.as_os_str()),
        ("SELFPROF_TEST_ESBUILD", esbuild.as_os_str()),
        ("SELFPROF_TEST_SENDERS", modules.as_os_str()),
        ("SELFPROF_TEST_OTLP_PROTOS", messages.as_os_str()),
    ];
    run(MAJOR_THAT_DRIVES_CHROMIUM, (&[], &test_files(&folder)?), &environment, context, log, activity)
}

/// Has a server send to a collector that is killed and started again.
pub fn agents(major: u32, context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let (checkout, _cache) = checkout(context)?;
    collector::build(&checkout, &Output::Logged(log, activity))?;
    let folder = checkout.root().join("fixtures/agents");
    let (program, modules) = (collector::program(&checkout), context.packages.get_locked(&folder)?);
    let environment =
        [("SELFPROF_TEST_COLLECTOR", program.as_os_str()), ("SELFPROF_TEST_AGENTS", modules.as_os_str())];
    run(major, (&[], &test_files(&folder.join("collector"))?), &environment, context, log, activity)
}

fn cargo(arguments: &[&str], context: &Context, log: &Log, activity: &Activity) -> Result<()> {
    let (checkout, _cache) = checkout(context)?;
    job::run(checkout.collector_cargo().args(arguments), &Output::Logged(log, activity))
}

/// The checkout with the collector's build folder, which is locked as long as the second value lives.
pub(super) fn checkout(context: &Context) -> Result<(Checkout, Option<BuildCache>)> {
    let cache =
        build_cache::open(&context.checkout, &context.packages.cache_of("build"), Contents::Collector)?;
    let checkout = match &cache {
        Some(cache) => context.checkout.clone().with_build_folder(cache.folder()),
        None => context.checkout.clone(),
    };
    Ok((checkout, cache))
}
