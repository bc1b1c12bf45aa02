//! The report view. The collector's page is built with it.

use super::javascript::{run, test_files};
use crate::chromium;
use crate::job::{Log, Output};
use crate::node::MAJOR_THAT_DRIVES_CHROMIUM;
use crate::pages::{build_agent, build_collector_page, build_report, report_folder, views_folder};
use crate::progress::Activity;
use crate::test::step::Context;
use anyhow::Result;

/// Builds the pages, and the agent for pages of others.
pub fn build(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    build_report(&context.checkout, &Output::Logged(log, activity))?;
    build_collector_page(&context.checkout, &Output::Logged(log, activity))?;
    build_agent(&context.checkout, &Output::Logged(log, activity))?;
    Ok(String::new())
}

/// Runs the tests of the page, which drive Chromium from Node, and those of the views.
pub fn test(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let (chromium, cli) = (chromium::find(&context.packages)?, context.checkout.cli());
    let environment =
        [("SELFPROF_TEST_CHROMIUM", chromium.as_os_str()), ("SELFPROF_TEST_CLI", cli.as_os_str())];
    let mut files = test_files(&report_folder(&context.checkout).join("test"))?;
    files.extend(test_files(&views_folder(&context.checkout).join("test"))?);
    run(MAJOR_THAT_DRIVES_CHROMIUM, (&[], &files), &environment, context, log, activity)
}
