//! Threads and processes that were not recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use selfprof_formats::Thread;
use serde::Deserialize;

use super::descendants::Seen;
use crate::terminal::messages::{say, warn};
use crate::terminal::names::{printable, short_command};

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

/// Warns about processes that were seen but have no recording.
pub fn warn_about_processes(seen: &BTreeMap<u32, Seen>, recorded: &BTreeSet<u32>) {
    let missing = || seen.iter().filter(|(pid, _)| !recorded.contains(pid));
    let nodes: Vec<(&u32, &Seen)> =
        missing().filter(|(_, process)| process.is_node && process.is_certain()).collect();
    for (pid, process) in nodes.iter().take(MAX_LISTED) {
        let reason = if process.has_request {
            "it ended before recording could start, or Node.js was not allowed to load the recorder"
        } else {
            "its environment lacks SELFPROF_RUN; the program that started it has removed it"
        };
        warn(format_args!("not recorded: process {pid} (`{}`): {reason}", shown(&process.command)));
    }
    if nodes.len() > MAX_LISTED {
        warn(format_args!("not recorded: {} other Node.js processes", nodes.len() - MAX_LISTED));
    }
    let mut programs: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, process) in missing().filter(|(_, process)| !process.is_node) {
        *programs.entry(&process.name).or_default() += 1;
    }
    if programs.is_empty() {
        return;
    }
    let mut names: Vec<String> = programs
        .iter()
        .take(MAX_LISTED)
        .map(|(name, &count)| {
            let name = printable(name);
            if count == 1 { name } else { format!("{name} ({count} times)") }
        })
        .collect();
    if programs.len() > MAX_LISTED {
        names.push(format!("and {} others", programs.len() - MAX_LISTED));
    }
    say(format_args!("not recorded, since they are not Node.js: {}", names.join(", ")));
}

/// Says which processes go on without being recorded. `threads` knows their commands.
pub fn say_what_goes_on(alive: &[u32], threads: &[Thread]) {
    for pid in alive.iter().take(MAX_LISTED) {
        let process = threads.iter().filter_map(|thread| thread.process.as_ref()).find(|p| p.pid == *pid);
        let command = process.map_or(String::new(), |process| format!(" (`{}`)", shown(&process.command)));
        say(format_args!("process {pid}{command} is still running; its recording has ended"));
    }
    if alive.len() > MAX_LISTED {
        say(format_args!(
            "{} other processes are still running; their recordings have ended",
            alive.len() - MAX_LISTED
        ));
    }
}

/// A command line in a message.
fn shown(command: &str) -> String {
    short_command(command, &std::env::current_dir().unwrap_or_default())
}

/// Whether the preload could not write why it cannot record a thread.
pub fn has_empty_reason(directory: &Path) -> bool {
    fs::read_dir(directory).into_iter().flatten().flatten().any(|entry| {
        entry.path().extension().is_some_and(|extension| extension == "failure")
            && entry.metadata().is_ok_and(|metadata| metadata.len() == 0)
    })
}

/// Warns about the threads whose preload could not record them. Returns their processes.
pub fn warn_about_failures(directory: &Path) -> BTreeSet<u32> {
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
            shown(&first.command),
            printable(message)
        ));
    }
    if by_message.len() > MAX_LISTED {
        warn(format_args!("not recorded for {} other reasons", by_message.len() - MAX_LISTED));
    }
    by_message.values().flatten().map(|failure| failure.pid).collect()
}
