//! The folder that recorded processes write: what is in it, and which of them live.

pub mod lock;
pub mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, FileTimes};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Deserialize;

use lock::Lock;
use names::{Name, Part, Thread};

use crate::settings;

/// The longest file about a process or a failure.
const MAX_BYTES: u64 = 1 << 16;

/// How long a journal with an end has not been written when its thread has ended. A thread that seemed to end may go on
/// before.
const ENDING: Duration = Duration::from_secs(10);

/// Where the last line of a journal is, if it is the end.
const LAST_LINE_BYTES: u64 = 256;

/// What is in a folder.
#[derive(Debug, Default)]
pub struct Listing {
    /// The processes that said that they live, and those of which there are other files.
    pub processes: BTreeMap<String, Process>,
    /// The journals that are complete.
    pub parts: BTreeSet<Part>,
    /// Why threads are not recorded: the names of files.
    pub failures: Vec<String>,
    /// Groups of parts that were sent: the processes and numbers.
    pub sent: Vec<(String, u64)>,
}

/// The files of a process.
#[derive(Debug, Default)]
pub struct Process {
    /// Whether there is the file that the process locks.
    pub has_lock: bool,
    /// The threads whose journals are being written.
    pub writing: BTreeSet<Thread>,
    /// The threads of which there are source maps.
    pub maps: BTreeSet<Thread>,
}

/// A folder of journals.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder at this path. Fails unless it belongs to this user and nobody else can write to it.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let metadata = fs::symlink_metadata(&path)?;
        if !metadata.is_dir() {
            return Err(io::Error::other("it is not a folder"));
        }
        let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
        if !is_own || metadata.mode() & 0o022 != 0 {
            return Err(io::Error::other("other users can write to it"));
        }
        Ok(Self { path })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Lists the files.
    pub fn list(&self) -> io::Result<Listing> {
        let mut listing = Listing::default();
        for entry in fs::read_dir(&self.path)? {
            let Ok(name) = entry?.file_name().into_string() else { continue };
            match Name::parse(&name) {
                Some(Name::Alive { process }) => {
                    listing.processes.entry(process).or_default().has_lock = true;
                }
                Some(Name::Writing { process, thread }) => {
                    listing.processes.entry(process).or_default().writing.insert(thread);
                }
                Some(Name::Maps { process, thread }) => {
                    listing.processes.entry(process).or_default().maps.insert(thread);
                }
                Some(Name::Finished(part)) => {
                    listing.processes.entry(part.process.clone()).or_default();
                    listing.parts.insert(part);
                }
                Some(Name::Sent { process, number }) => listing.sent.push((process, number)),
                Some(Name::Failure) => listing.failures.push(name),
                None => {}
            }
        }
        Ok(listing)
    }

    /// Whether nobody holds the lock of the process. It has ended then, unless it is about to lock the file.
    pub fn is_unlocked(&self, process: &str) -> bool {
        matches!(Lock::try_existing(&self.file(&names::alive(process))), Ok(Some(_)))
    }

    /// Whether the process has written into its file, which it does when it has locked it.
    pub fn was_locked(&self, process: &str) -> bool {
        fs::metadata(self.file(&names::alive(process))).is_ok_and(|metadata| metadata.len() > 0)
    }

    /// The size of a part in bytes; `None` if it is not a file any more.
    pub fn size(&self, part: &Part) -> Option<u64> {
        let metadata = fs::symlink_metadata(self.file(&part.file_name())).ok()?;
        metadata.is_file().then_some(metadata.len())
    }

    /// Reads why a thread is not recorded, and deletes the file.
    pub fn take_failure(&self, name: &str) -> Option<String> {
        #[derive(Deserialize)]
        struct Failure {
            pid: u32,
            #[serde(default)]
            command: String,
            message: String,
        }
        let path = self.file(name);
        let text = read_short(&path);
        fs::remove_file(&path).ok()?;
        let Failure { pid, command, message } = serde_json::from_slice(&text.ok()?).ok()?;
        let message = message.trim_start_matches("selfprof: ");
        Some(format!("not recorded: process {pid} (`{command}`): {message}"))
    }

    /// Deletes parts that were sent together, so that after a kill in between, none is sent alone.
    pub fn delete_sent(&self, parts: &[Part]) -> io::Result<()> {
        let (Some(first), true) = (parts.first(), parts.len() > 1) else {
            return parts.iter().try_for_each(|part| self.delete(part));
        };
        match self.write_sent(first, parts) {
            Ok(()) => self.finish_deleting(&first.process, first.number),
            // The disk may be full.
            Err(_) => parts.iter().try_for_each(|part| self.delete(part)),
        }
    }

    fn write_sent(&self, first: &Part, parts: &[Part]) -> io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(".").tempfile_in(&self.path)?;
        let threads: Vec<String> = parts.iter().map(|part| part.thread.to_string()).collect();
        file.write_all(threads.join("\n").as_bytes())?;
        file.persist(self.file(&names::sent(&first.process, first.number))).map_err(|error| error.error)?;
        Ok(())
    }

    /// Whether the thread has written the last line of its journal, some time ago.
    pub fn has_ended(&self, process: &str, thread: Thread) -> bool {
        let read = || -> io::Result<bool> {
            let mut file = File::open(self.file(&names::writing(process, thread)))?;
            let metadata = file.metadata()?;
            if metadata.modified()?.elapsed().unwrap_or_default() < ENDING {
                return Ok(false);
            }
            file.seek(SeekFrom::Start(metadata.len().saturating_sub(LAST_LINE_BYTES)))?;
            let mut end = Vec::new();
            file.take(LAST_LINE_BYTES).read_to_end(&mut end)?;
            let last = end.strip_suffix(b"\n").and_then(|lines| lines.rsplit(|byte| *byte == b'\n').next());
            Ok(last.is_some_and(|line| line.starts_with(b"{\"end\":")))
        };
        read().unwrap_or(false)
    }

    /// Deletes the source maps of a thread.
    pub fn delete_maps(&self, process: &str, thread: Thread) {
        // Nobody needs them any more, whether or not they can be deleted.
        let _ = fs::remove_file(self.file(&names::maps(process, thread)));
    }

    /// Makes the files new, which programs that tidy up folders for temporary files would delete after some days.
    pub fn touch(&self, listing: &Listing) {
        let now = FileTimes::new().set_accessed(SystemTime::now()).set_modified(SystemTime::now());
        let alive = listing.processes.keys().map(|process| names::alive(process));
        let files = alive.chain([settings::FILE.to_owned(), names::EXPORTER_LOCK.to_owned()]);
        for file in files {
            let _ = File::open(self.file(&file)).and_then(|file| file.set_times(now));
        }
    }

    /// Locks the folder against `systemd-tmpfiles`, which leaves locked folders alone. Others do not see the lock.
    pub fn lock_against_cleaning(&self) -> Option<File> {
        let folder = File::open(&self.path).ok()?;
        folder.try_lock_shared().ok()?;
        Some(folder)
    }

    /// Deletes what is left of parts that were sent together.
    pub fn finish_deleting(&self, process: &str, number: u64) -> io::Result<()> {
        let path = self.file(&names::sent(process, number));
        let threads = String::from_utf8(read_short(&path)?).unwrap_or_default();
        for thread in threads.lines().filter_map(Thread::parse) {
            self.delete(&Part { process: process.to_owned(), number, thread })?;
        }
        fs::remove_file(path)
    }

    /// Deletes a part.
    pub fn delete(&self, part: &Part) -> io::Result<()> {
        match fs::remove_file(self.file(&part.file_name())) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// Reads a file that must not be long.
fn read_short(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)?.take(MAX_BYTES).read_to_end(&mut text)?;
    Ok(text)
}
