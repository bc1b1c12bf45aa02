//! The processes below a program, for saying which of them were not recorded.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;

/// How often to look. A process that ends sooner may be missed; Node.js takes longer to start.
const POLL: Duration = Duration::from_millis(50);

/// Every how many times to look at the children of all threads. Processes are usually started by the main thread.
const POLLS_BETWEEN_THREADS: u64 = 10;

/// At most this many processes are remembered.
const MAX_PROCESSES: usize = 10_000;

/// A process that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The name of its executable.
    pub name: String,
    /// Whether the executable is Node.js.
    pub is_node: bool,
    /// Whether its environment asked it to record itself.
    pub has_request: bool,
    /// Its command line.
    pub command: String,
    executable: PathBuf,
    /// How often it was seen with this executable.
    polls: u32,
}

impl Seen {
    /// Whether it was seen long enough ago that its recording must have begun.
    pub fn is_old(&self) -> bool {
        self.polls > 10
    }

    /// Whether it is certain that this executable ran in the process. A process that is being started looks like its
    /// parent, which has the request.
    pub fn is_certain(&self) -> bool {
        !self.has_request || self.polls > 1
    }
}

/// Watches the processes below a program, on a thread that runs until this is dropped.
#[derive(Debug)]
pub struct Descendants {
    seen: Arc<Mutex<BTreeMap<u32, Seen>>>,
    is_over: Arc<AtomicBool>,
    /// Those that were there before.
    earlier: BTreeMap<u32, Seen>,
}

impl Descendants {
    /// Watches this process and all below it.
    pub fn watch(root: u32) -> Self {
        Self::watch_except(root, BTreeMap::new())
    }

    /// Watches the processes that start below this process from now on.
    pub fn watch_later(root: u32) -> Self {
        let mut earlier = BTreeMap::new();
        look(root, true, &mut earlier);
        Self::watch_except(root, earlier)
    }

    fn watch_except(root: u32, earlier: BTreeMap<u32, Seen>) -> Self {
        let (seen, is_over) = (Arc::default(), Arc::default());
        let (shared, over): (Arc<Mutex<BTreeMap<u32, Seen>>>, Arc<AtomicBool>) =
            (Arc::clone(&seen), Arc::clone(&is_over));
        thread::spawn(move || {
            for poll in 0_u64.. {
                if over.load(Ordering::Acquire) {
                    return;
                }
                look(root, poll.is_multiple_of(POLLS_BETWEEN_THREADS), &mut shared.lock());
                thread::sleep(POLL);
            }
        });
        Self { seen, is_over, earlier }
    }

    /// The processes seen so far, by their ids.
    pub fn seen(&self) -> BTreeMap<u32, Seen> {
        let mut seen = self.seen.lock().clone();
        seen.retain(|pid, _| !self.earlier.contains_key(pid));
        seen
    }

    /// The processes that were there before, by their ids.
    pub fn earlier(&self) -> &BTreeMap<u32, Seen> {
        &self.earlier
    }
}

impl Drop for Descendants {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
    }
}

fn look(root: u32, of_all_threads: bool, seen: &mut BTreeMap<u32, Seen>) {
    let mut rest = vec![root];
    while let Some(pid) = rest.pop() {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        rest.extend(children(&folder, pid, of_all_threads));
        // Fails if the process has just ended, or belongs to another user.
        let Ok(executable) = fs::read_link(folder.join("exe")) else { continue };
        let is_full = seen.len() >= MAX_PROCESSES;
        match seen.get_mut(&pid) {
            Some(known) if known.executable == executable => known.polls = known.polls.saturating_add(1),
            // A process that was Node.js counts as that, whatever it becomes.
            Some(known) if known.is_node && known.is_certain() => {}
            None if is_full => {}
            _ => {
                seen.insert(pid, describe(&folder, executable));
            }
        }
    }
}

/// The child processes of a process.
fn children(folder: &Path, pid: u32, of_all_threads: bool) -> Vec<u32> {
    let tasks = folder.join("task");
    let threads: Vec<PathBuf> = if of_all_threads {
        fs::read_dir(&tasks).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    } else {
        vec![tasks.join(pid.to_string())]
    };
    let lists = threads.iter().filter_map(|thread| fs::read_to_string(thread.join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>())
        .collect()
}

fn describe(folder: &Path, executable: PathBuf) -> Seen {
    let name = executable.file_name().unwrap_or_default().to_string_lossy();
    // The executable of a running process may have been replaced.
    let name = name.trim_end_matches(" (deleted)").to_owned();
    let command = command_line(folder);
    let environment = fs::read(folder.join("environ")).unwrap_or_default();
    let has_request = environment.split(|&byte| byte == 0).any(|pair| pair.starts_with(b"SELFPROF_RUN="));
    let is_node = name == "node" || name == "nodejs";
    Seen { name, is_node, has_request, command, executable, polls: 1 }
}

/// The command line of a process, for people to read. Empty if it has ended.
pub fn command_line(folder: &Path) -> String {
    let words = fs::read(folder.join("cmdline")).unwrap_or_default();
    let words: Vec<_> =
        words.split(|&byte| byte == 0).map(String::from_utf8_lossy).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn processes_are_seen_with_what_they_became() {
        // Not replaced by `cat`, so that there are two processes. The pipe ends them.
        let mut child = Command::new("sh")
            .args(["-c", "env -i cat; true"])
            .env("SELFPROF_RUN", "{}")
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let descendants = Descendants::watch(child.id());
        let found = loop {
            let seen = descendants.seen();
            if seen.values().any(|seen| seen.name.ends_with("cat") || seen.command == "cat") {
                break seen;
            }
            thread::sleep(Duration::from_millis(5));
        };
        let root = &found[&child.id()];
        assert_eq!((root.has_request, root.is_node), (true, false));
        assert_eq!(root.command, "sh -c env -i cat; true");
        let cat = found.values().find(|seen| seen.command == "cat").unwrap();
        assert!(!cat.has_request && cat.is_certain());
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
