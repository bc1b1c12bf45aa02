//! The agent for pages, `@selfprof/browser`, and the runtime of instrumented pages.

use super::collector::checkout;
use super::javascript::{run, test_files};
use super::other_browsers::OtherBrowsers;
use crate::chromium;
use crate::collector;
use crate::job::{self, Log, Output};
use crate::node::MAJOR_THAT_DRIVES_CHROMIUM;
use crate::pages::{agent_folder, plugin_folder};
use crate::progress::Activity;
use crate::test::step::Context;
use anyhow::{Context as _, Result};

/// The example of crates/instrument that the tests instrument their pages with.
const INSTRUMENT: &str = "instrument";

/// The test of the plugin that needs a collector.
pub const ENGINES: &str = "engines.test.mjs";

/// Has pages with the agent send to a collector, and profiles instrumented pages, in Chromium, and in Firefox and
/// WebKit if they are installed.
pub fn test(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let (checkout, _cache) = checkout(context)?;
    collector::build(&checkout, &Output::Logged(log, activity))?;
    let (chromium, program) = (chromium::find(&context.packages)?, collector::program(&checkout));
    let others = OtherBrowsers::find();
    let mut cargo = checkout.cargo();
    cargo.args(["build", "--release", "--package", "selfprof-instrument", "--example", INSTRUMENT]);
    job::run(&mut cargo, &Output::Logged(log, activity)).context("the instrumenter did not build")?;
    let instrument = checkout.target().join("release/examples").join(INSTRUMENT);
    let mut environment = vec![
        ("SELFPROF_TEST_CHROMIUM", chromium.as_os_str()),
        ("SELFPROF_TEST_COLLECTOR", program.as_os_str()),
        ("SELFPROF_TEST_INSTRUMENT", instrument.as_os_str()),
    ];
    environment.extend(others.environment());
    let mut files = test_files(&agent_folder(&context.checkout).join("test"))?;
    files.push(plugin_folder(&context.checkout).join("test").join(ENGINES));
    let tests = run(MAJOR_THAT_DRIVES_CHROMIUM, (&[], &files), &environment, context, log, activity)?;
    Ok(tests + &others.missing())
}
