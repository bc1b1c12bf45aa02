//! Threads and processes that were not recorded.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::terminal::messages::warn;
use crate::terminal::names::printable;

/// At most this many reasons are listed.
const MAX_LISTED: usize = 10;

/// The longest file that the preload writes about a failure.
const MAX_BYTES: u64 = 1 << 16;

/// What the preload writes about a thread that it cannot record.
#[derive(Deserialize)]
struct PreloadFailure {
    pid: u32,
    command: String,
    message: String,
}

/// Warns about the threads whose preload could not record them.
pub fn warn_about_failures(directory: &Path) {
    let mut by_message: BTreeMap<String, Vec<PreloadFailure>> = BTreeMap::new();
    for path in fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let is_failure = path.extension().is_some_and(|extension| extension == "failure");
        let is_small = fs::metadata(&path).is_ok_and(|metadata| metadata.len() <= MAX_BYTES);
        if !is_failure || !is_small {
            continue;
        }
        let failure =
            fs::read(&path).ok().and_then(|text| serde_json::from_slice::<PreloadFailure>(&text).ok());
        if let Some(failure) = failure {
            let message = failure.message.trim_start_matches("selfprof: ").to_owned();
            by_message.entry(message).or_default().push(failure);
        }
    }
    for (message, failures) in by_message.iter().take(MAX_LISTED) {
        let Some(first) = failures.first() else { continue };
        let others = match failures.len() - 1 {
            0 => String::new(),
            1 => " and 1 other thread".to_owned(),
            others => format!(" and {others} other threads"),
        };
        warn(format_args!(
            "not recorded: process {} (`{}`){others}: {}",
            first.pid,
            printable(&first.command),
            printable(message)
        ));
    }
    if by_message.len() > MAX_LISTED {
        warn(format_args!("not recorded for {} other reasons", by_message.len() - MAX_LISTED));
    }
}
