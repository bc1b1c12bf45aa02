//! The store that a command works on.

use std::collections::HashMap;
use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use selfprof_store::tables::Location;
use selfprof_store::{Acknowledged, LIMITS, Options, STACKS_PER_HOUR};

/// The options of a store at `--data`, with its log at `--log`.
pub fn options(data: &str, log: Option<&Path>) -> Result<Options> {
    let tables = Location::parse(data, bucket_options())?;
    let log = match log {
        Some(log) => log.to_owned(),
        None if data.contains("://") => PathBuf::from("selfprof-log"),
        None => Path::new(data).join("log"),
    };
    Ok(Options {
        tables,
        log,
        limits: LIMITS,
        stacks_per_hour: STACKS_PER_HOUR,
        acknowledged: Acknowledged::InLog,
    })
}

/// The environment variables for buckets, such as `AWS_ACCESS_KEY_ID` and `AWS_ENDPOINT_URL`.
fn bucket_options() -> HashMap<String, String> {
    env::vars().filter(|(name, _)| name.starts_with("AWS_")).collect()
}

/// Opens a store, with an explanation if that fails.
pub async fn open(options: Options) -> Result<selfprof_store::Store> {
    let log = options.log.clone();
    selfprof_store::Store::open(options)
        .await
        .with_context(|| format!("cannot open the data (log in {})", log.display()))
}
