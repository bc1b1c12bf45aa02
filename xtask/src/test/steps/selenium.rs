//! Selenium, which drives `selfprof webdriver`.

use super::javascript::on_node;
use crate::job::{self, Log, Output};
use crate::node::Node;
use crate::packages::JSDOM;
use crate::progress::Activity;
use crate::pypi::SELENIUM;
use crate::test::counts;
use crate::test::step::Context;
use anyhow::Result;
use std::process::Command;

/// Runs the Python tests on one Node.
pub fn test(major: u32, context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let node = Node::of_major(major, &context.packages)?;
    let mut command = Command::new(SELENIUM.folder(&context.packages)?.join("bin/python"));
    command.arg(context.checkout.root().join("crates/cli/tests/pages/with_selenium.py"));
    command.env("SELFPROF", context.checkout.cli()).env("SELFPROF_NPM", context.checkout.npm());
    command.env("SELFPROF_JSDOM", context.packages.get(&JSDOM)?);
    on_node(&mut command, &node)?;
    job::run(&mut command, &Output::Logged(log, activity))?;
    Ok(format!("{} tests", counts::python(&log.text())?))
}
