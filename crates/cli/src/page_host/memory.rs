//! Limits the memory of the page host's process. Its pages have limits of their own, but V8 does not count all that
//! they can make it allocate, and cannot be interrupted while it allocates. So the whole process ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use parking_lot::Mutex;

/// How often the memory is looked at.
const INTERVAL: Duration = Duration::from_millis(50);

/// For a system that does not say how much memory it has.
const DEFAULT: u64 = 8 << 30;

/// Half of the memory that this machine or container has, in bytes.
pub fn default_limit() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| kilobytes(&text, "MemTotal:"));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let of_group = |file: PathBuf| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let known = group_limits(&groups).into_iter().filter_map(of_group).chain(machine);
    known.min().map_or(DEFAULT, |bytes| bytes / 2)
}

/// The files with the limits of a process and of all groups around it, from its `/proc/PID/cgroup` (cgroups(7)). A
/// container may see its group as the outermost one, whatever the path says.
fn group_limits(groups: &str) -> Vec<PathBuf> {
    let of_line = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (root, name) = match parts.next()? {
            "" => ("/sys/fs/cgroup", "memory.max"),
            // Of version 1.
            kinds if kinds.split(',').any(|kind| kind == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let group = Path::new(parts.next()?);
        let files = group
            .ancestors()
            .map(|group| Path::new(root).join(group.strip_prefix("/").unwrap_or(group)).join(name));
        Some(files.collect::<Vec<_>>())
    };
    groups.lines().filter_map(of_line).flatten().collect()
}

/// Watches a process until `stop` closes, and ends it when it takes more than `limit` bytes, after it has called
/// `on_exceeded`.
pub fn watch(child: &Arc<Mutex<Child>>, limit: u64, stop: &Receiver<()>, on_exceeded: impl FnOnce()) {
    while stop.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
        // While it is locked, nobody else waits for the process, so that its id is not that of another one.
        let mut child = child.lock();
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        if resident(child.id()).is_some_and(|bytes| bytes > limit) {
            on_exceeded();
            let _ = child.kill();
            // Nobody else may ask for it for long.
            let _ = child.wait();
            return;
        }
    }
}

/// The memory of a process in bytes, also what is swapped out.
fn resident(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    Some(kilobytes(&status, "VmRSS:")? + kilobytes(&status, "VmSwap:").unwrap_or_default())
}

/// The value of a line such as `VmRSS:   1234 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_groups_are_found() {
        let files =
            |text| group_limits(text).iter().map(|file| file.display().to_string()).collect::<Vec<_>>();
        let root = "/sys/fs/cgroup";
        assert_eq!(
            files("0::/user.slice/a:b\n"),
            ["/user.slice/a:b", "/user.slice", ""].map(|group| format!("{root}{group}/memory.max"))
        );
        assert_eq!(
            files("12:cpuset:/c\n5:cpu,memory:/docker/1\n1:name=systemd:/x\n"),
            ["/docker/1", "/docker", ""].map(|group| format!("{root}/memory{group}/memory.limit_in_bytes"))
        );
        for text in ["", "\n", "0:", "0::", "memory", "5:memory", "5:memory:"] {
            assert!(files(text).len() <= 1, "{text}");
        }
    }

    #[test]
    fn sizes_are_read() {
        assert_eq!(kilobytes("Name:\tnode\nVmRSS:\t     12 kB\n", "VmRSS:"), Some(12 << 10));
        for text in ["", "VmRSS:\n", "VmRSS: 12\n", "VmRSS: 99999999999999999999 kB\n"] {
            assert_eq!(kilobytes(text, "VmRSS:"), None, "{text}");
        }
        assert!(resident(std::process::id()).unwrap() > 1 << 20);
        assert!(default_limit() > 1 << 26);
    }
}
