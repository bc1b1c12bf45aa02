//! Finding processes and waiting for their end.

use std::fs;
use std::time::{Duration, Instant};

/// Long enough for a busy machine.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// The children of a process.
pub fn children(parent: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|&id| parent_of(id) == Some(parent))
        .collect()
}

/// Waits until a process has ended. A zombie has ended; only its parent has not reaped it yet.
pub fn await_end(id: u32) {
    let start = Instant::now();
    while stat(id).is_some_and(|fields| fields[0] != "Z") {
        assert!(start.elapsed() < TIMEOUT, "process {id} is still running");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn parent_of(id: u32) -> Option<u32> {
    stat(id)?.get(1)?.parse().ok()
}

/// The fields of `/proc/ID/stat` after the name: state, parent and so on.
fn stat(id: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}
