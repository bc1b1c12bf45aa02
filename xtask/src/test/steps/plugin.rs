//! The plugin for bundlers, `@selfprof/instrument`.

use super::javascript::{run, test_files};
use super::other_browsers::OtherBrowsers;
use super::page_agent::ENGINES;
use crate::chromium;
use crate::job::Log;
use crate::node::MAJOR_THAT_DRIVES_CHROMIUM;
use crate::pages::plugin_folder;
use crate::progress::Activity;
use crate::test::step::Context;
use anyhow::Result;

/// Builds with each bundler, runs real bundles, and opens a Vite app in Chromium, and in Firefox and WebKit if they are
/// installed.
pub fn test(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let chromium = chromium::find(&context.packages)?;
    let others = OtherBrowsers::find();
    let mut environment = vec![("SELFPROF_TEST_CHROMIUM", chromium.as_os_str())];
    environment.extend(others.environment());
    let mut files = test_files(&plugin_folder(&context.checkout).join("test"))?;
    // The step of the agent runs it, with a collector.
    files.retain(|file| !file.ends_with(ENGINES));
    let tests = run(MAJOR_THAT_DRIVES_CHROMIUM, (&[], &files), &environment, context, log, activity)?;
    Ok(tests + &others.missing())
}
