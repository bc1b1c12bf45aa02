//! The programs that the other steps run.

use crate::chromium;
use crate::go;
use crate::job::{self, Log, Output};
use crate::node::Node;
use crate::progress::Activity;
use crate::test::step::Context;
use crate::tools;
use crate::workspace::install_workspace;
use anyhow::Result;
use std::env;
use std::process::Command;

/// Fails if programs are missing that the steps need and that none of them fetches.
pub fn tools(_: &Context, _: &Log, _: &Activity) -> Result<String> {
    tools::check_for_tests()?;
    Ok(String::new())
}

/// Finds or fetches a Node.
pub fn node(major: u32, context: &Context, _: &Log, _: &Activity) -> Result<String> {
    Ok(format!("Node {}", Node::of_major(major, &context.packages)?.version))
}

/// Finds or fetches Chromium.
pub fn chromium(context: &Context, _: &Log, _: &Activity) -> Result<String> {
    Ok(chromium::find(&context.packages)?.display().to_string())
}

/// Finds or fetches Go. It compiles its own tools when they are first used, so pprof is used once.
pub fn go(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let path = go::on_path(&env::var_os("PATH").unwrap_or_default(), &context.packages)?;
    let mut go = Command::new("go");
    // `go tool -n` compiles the tool and prints its path.
    go.args(["tool", "-n", "pprof"]).env("PATH", path).env("GOTOOLCHAIN", "local");
    job::run(&mut go, &Output::Logged(log, activity))?;
    Ok(String::new())
}

/// Installs the npm workspaces.
pub fn workspace(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    install_workspace(&context.checkout, &Output::Logged(log, activity))?;
    Ok(String::new())
}
