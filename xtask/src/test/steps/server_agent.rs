//! The agent for Node, tried on real servers, which are in `fixtures/agents`.

use super::javascript::{run, test_files};
use crate::job::Log;
use crate::progress::Activity;
use crate::test::step::Context;
use anyhow::Result;

/// Runs the tests that need no collector.
pub fn test(major: u32, context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let folder = context.checkout.root().join("fixtures/agents");
    let modules = context.packages.get_locked(&folder)?;
    let mut files = test_files(&folder)?;
    files.retain(|file| file.parent() == Some(folder.as_path()));
    let environment = [("SELFPROF_TEST_AGENTS", modules.as_os_str())];
    run(major, (&[], &files), &environment, context, log, activity)
}
