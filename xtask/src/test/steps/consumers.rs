//! The programs that read what `selfprof convert` writes.

use super::javascript::{run, test_files};
use crate::chromium;
use crate::go;
use crate::job::Log;
use crate::node::{MAJOR_THAT_DRIVES_CHROMIUM, Node};
use crate::progress::Activity;
use crate::test::step::Context;
use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};

/// Has DevTools' engine, the Firefox Profiler, speedscope, pprof and a decoder of OTLP read profiles.
pub fn test(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    let node = Node::of_major(MAJOR_THAT_DRIVES_CHROMIUM, &context.packages)?;
    let path = go::on_path(&node.path()?, &context.packages)?;
    let (chromium, cli) = (chromium::find(&context.packages)?, context.checkout.cli());
    let folder = context.checkout.root().join("crates/formats/consumers");
    let modules = context.packages.get_locked(&folder)?;
    let messages = otlp_messages(context)?;
    let environment = [
        ("PATH", Path::new(&path)),
        ("SELFPROF_TEST_CLI", cli.as_path()),
        ("SELFPROF_TEST_CHROMIUM", chromium.as_path()),
        ("SELFPROF_TEST_CONSUMERS", modules.as_path()),
        ("SELFPROF_TEST_OTLP_PROTOS", messages.as_path()),
    ];
    let environment = environment.map(|(variable, path)| (variable, path.as_os_str()));
    run(MAJOR_THAT_DRIVES_CHROMIUM, (&[], &test_files(&folder)?), &environment, context, log, activity)
}

/// OpenTelemetry's definition of its messages, which is a part of the crate that writes them.
pub fn otlp_messages(context: &Context) -> Result<PathBuf> {
    let metadata = cargo_metadata::MetadataCommand::new()
        .current_dir(context.checkout.root())
        .exec()
        .context("cargo metadata failed")?;
    let package = metadata.packages.iter().find(|package| package.name.as_str() == "opentelemetry-proto");
    let folder = package.and_then(|package| package.manifest_path.parent());
    let folder = folder.context("the workspace does not use the crate opentelemetry-proto")?;
    Ok(folder.join("src/proto/opentelemetry-proto").into())
}
