//! The shop page in `fixtures/shop`, whose profiles the collector's demo and tests read.

use super::javascript::{run, test_files};
use crate::chromium;
use crate::job::{self, Log, Output};
use crate::node::MAJOR_THAT_DRIVES_CHROMIUM;
use crate::packages::ESBUILD;
use crate::progress::Activity;
use crate::test::step::Context;
use crate::workspace::modules;
use anyhow::Result;
use std::process::Command;

/// Checks the types of the page, builds it, and has it profile itself in Chromium.
pub fn test(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let folder = context.checkout.root().join("fixtures/shop");
    let mut compiler = Command::new("node");
    compiler.arg(modules(&context.checkout).join("typescript/bin/tsc")).arg("--project").arg(&folder);
    job::run(compiler.env_remove("NODE_OPTIONS"), &Output::Logged(log, activity))?;

    let (chromium, esbuild) = (chromium::find(&context.packages)?, context.packages.get(&ESBUILD)?);
    let environment =
        [("SELFPROF_TEST_CHROMIUM", chromium.as_os_str()), ("SELFPROF_TEST_ESBUILD", esbuild.as_os_str())];
    run(MAJOR_THAT_DRIVES_CHROMIUM, (&[], &test_files(&folder)?), &environment, context, log, activity)
}
