//! A folder of journals while it is exported: which processes live, which parts wait, and which of them are sent next.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use selfprof_trace::Micros;

use crate::backoff::Backoff;
use crate::batch::{self, Batch, PartError};
use crate::folder::lock::Lock;
use crate::folder::names::{self, Part, Thread};
use crate::folder::{Folder, Listing};
use crate::messages::Messages;
use crate::outputs::Output;
use crate::settings::Settings;

/// How long a part waits for those of the other threads of its process. A thread that is blocked finishes its own
/// later.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long a file may be unlocked and empty: it is about to be locked.
const LOCKING: Duration = Duration::from_secs(2);

/// How long there may be journals without a file to lock.
const STARTING: Duration = Duration::from_secs(10);

/// How long source maps are not needed before they are deleted.
const UNUSED: Duration = Duration::from_secs(60);

/// How often the files are made new.
const TOUCH: Duration = Duration::from_secs(6 * 60 * 60);

/// The most bytes of journals that are sent together, unless a single one is longer.
const MAX_BATCH_BYTES: u64 = 8 << 20;

/// A folder that is exported.
pub struct Source {
    /// The folder.
    pub folder: Folder,
    /// Its settings.
    pub settings: Arc<Settings>,
    /// Where its profiles go; `None` while the sender has it.
    pub output: Option<Box<dyn Output>>,
    /// When the next attempt may be.
    pub backoff: Backoff,
    /// Why the last attempt failed.
    pub last_failure: String,
    processes: BTreeMap<String, Process>,
    parts: BTreeMap<Part, Waiting>,
    bytes: u64,
    is_sending: bool,
    /// Whether there was ever a process.
    pub has_seen_process: bool,
    touched: Option<Instant>,
    _lock: Lock,
    _against_cleaning: Option<File>,
}

/// A process with files in the folder.
#[derive(Debug, Default)]
struct Process {
    life: Life,
    writing: Vec<Thread>,
    /// The threads of which there are source maps, and when these were last needed.
    maps: BTreeMap<Thread, Instant>,
}

/// Whether a process lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Life {
    /// It holds its lock.
    #[default]
    Alive,
    /// It does not hold its lock.
    Unlocked(Instant),
    /// It has ended.
    Ended,
}

/// A part that waits to be sent.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    bytes: u64,
    since: Instant,
    is_sent: bool,
}

impl Source {
    /// The folder, whose lock is held.
    pub fn new(folder: Folder, settings: Arc<Settings>, output: Box<dyn Output>, lock: Lock) -> Self {
        let against_cleaning = folder.lock_against_cleaning();
        Self {
            folder,
            settings,
            output: Some(output),
            backoff: Backoff::default(),
            last_failure: String::new(),
            processes: BTreeMap::new(),
            parts: BTreeMap::new(),
            bytes: 0,
            is_sending: false,
            has_seen_process: false,
            touched: None,
            _lock: lock,
            _against_cleaning: against_cleaning,
        }
    }

    /// Looks what is new in the folder.
    pub fn look(&mut self, now: Instant, messages: &mut Messages) -> io::Result<()> {
        let mut listing = self.folder.list()?;
        for (process, number) in &listing.sent {
            // What cannot be deleted now is tried again at the next look.
            let _ = self.folder.finish_deleting(process, *number);
        }
        for failure in &listing.failures {
            if let Some(failure) = self.folder.take_failure(failure) {
                messages.say(failure);
            }
        }
        if self.look_at_processes(&listing, now) {
            // What a process wrote before its end may not be in the list.
            listing = self.folder.list()?;
            self.look_at_processes(&listing, now);
        }
        if self.finish_journals(messages) || !listing.sent.is_empty() {
            listing = self.folder.list()?;
        }
        self.look_at_parts(&listing, now);
        self.forget_ended_processes();
        self.delete_unused_maps(now);
        if self.touched.is_none_or(|touched| now.duration_since(touched) >= TOUCH) {
            self.folder.touch(&listing);
            self.touched = Some(now);
        }
        Ok(())
    }

    /// Looks which processes live. Returns whether one has ended since the last time.
    fn look_at_processes(&mut self, listing: &Listing, now: Instant) -> bool {
        let mut has_ended = false;
        self.processes.retain(|name, _| listing.processes.contains_key(name));
        for (name, found) in &listing.processes {
            self.has_seen_process = true;
            let process = self.processes.entry(name.clone()).or_default();
            process.writing = found.writing.iter().copied().collect();
            let uses = |thread: &Thread| {
                found.writing.contains(thread)
                    || listing.parts.iter().any(|part| part.process == *name && part.thread == *thread)
            };
            process.maps = (found.maps.iter())
                .map(|thread| {
                    let last = process.maps.get(thread).copied().filter(|_| !uses(thread));
                    (*thread, last.unwrap_or(now))
                })
                .collect();
            if process.life == Life::Ended {
                continue;
            }
            // A process writes into the file when it has locked it. So what was written before is read first.
            let was_locked = found.has_lock && self.folder.was_locked(name);
            if found.has_lock && !self.folder.is_unlocked(name) {
                process.life = Life::Alive;
                continue;
            }
            let since = match process.life {
                Life::Unlocked(since) => since,
                _ => now,
            };
            let patience = if found.has_lock { LOCKING } else { STARTING };
            let is_absent = !found.has_lock && exists(name);
            process.life = match () {
                () if is_absent => Life::Alive,
                () if was_locked || now.duration_since(since) >= patience => Life::Ended,
                () => Life::Unlocked(since),
            };
            has_ended |= process.life == Life::Ended;
        }
        has_ended
    }

    /// Makes parts of the journals of processes and workers that have ended. Returns whether there were any.
    fn finish_journals(&mut self, messages: &mut Messages) -> bool {
        let all = self.processes.iter().flat_map(|(name, process)| {
            process.writing.iter().map(move |&thread| (name.clone(), thread, process.life == Life::Ended))
        });
        // The main thread may go on after its journal has an end.
        let has_ended = |name: &str, thread| thread != Thread::Main && self.folder.has_ended(name, thread);
        let ended = all.filter(|(name, thread, is_over)| *is_over || has_ended(name, *thread));
        let journals: Vec<(String, Thread)> = ended.map(|(name, thread, _)| (name, thread)).collect();
        for (name, thread) in &journals {
            let file = names::writing(name, *thread);
            match self.finish_journal(name, *thread) {
                Ok(()) | Err(PartError::Gone) => {}
                // At the next look.
                Err(PartError::Io(_)) => continue,
                Err(PartError::Empty) => {
                    let _ = fs::remove_file(self.folder.file(&file));
                }
                Err(PartError::Corrupt(reason)) => {
                    messages.say(format_args!("{file} cannot be read and is deleted: {reason}"));
                    let _ = fs::remove_file(self.folder.file(&file));
                }
            }
            if let Some(process) = self.processes.get_mut(name) {
                process.writing.retain(|other| other != thread);
            }
        }
        !journals.is_empty()
    }

    fn finish_journal(&self, process: &str, thread: Thread) -> Result<(), PartError> {
        let file = names::writing(process, thread);
        let recorded = batch::read(&self.folder, &file)?;
        let first = recorded.thread.trace.samples().first().map_or(Micros::ZERO, |sample| sample.timestamp);
        let origin = Micros::from_millis_f64(recorded.header.time_origin_ms).unwrap_or_default();
        let number = self.settings.period_of(origin.saturating_add(first));
        let mut part = Part { number, process: process.to_owned(), thread };
        while self.folder.size(&part).is_some() {
            part.number += 1;
        }
        fs::rename(self.folder.file(&file), self.folder.file(&part.file_name())).map_err(PartError::Io)
    }

    fn look_at_parts(&mut self, listing: &Listing, now: Instant) {
        self.parts.retain(|part, _| listing.parts.contains(part));
        for part in &listing.parts {
            if !self.parts.contains_key(part)
                && let Some(bytes) = self.folder.size(part)
            {
                self.parts.insert(part.clone(), Waiting { bytes, since: now, is_sent: false });
            }
        }
        self.count();
    }

    fn forget_ended_processes(&mut self) {
        let ended = self.processes.iter().filter(|(_, process)| process.life == Life::Ended);
        let mut done: Vec<String> = ended
            .filter(|(name, process)| {
                process.writing.is_empty() && !self.parts.keys().any(|part| part.process == **name)
            })
            .map(|(name, _)| name.clone())
            .collect();
        done.retain(|name| fs::remove_file(self.folder.file(&names::alive(name))).is_ok());
        for (name, process) in &self.processes {
            if done.contains(name) {
                process.maps.keys().for_each(|&thread| self.folder.delete_maps(name, thread));
            }
        }
        self.processes.retain(|name, _| !done.contains(name));
    }

    fn count(&mut self) {
        self.bytes = self.parts.values().filter(|part| !part.is_sent).map(|part| part.bytes).sum();
    }

    /// Deletes the source maps of workers that have ended.
    fn delete_unused_maps(&mut self, now: Instant) {
        for (name, process) in &mut self.processes {
            process.maps.retain(|&thread, last| {
                let is_needed = now.duration_since(*last) < UNUSED;
                if !is_needed {
                    self.folder.delete_maps(name, thread);
                }
                is_needed
            });
        }
    }

    /// The bytes that wait.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The parts that wait.
    pub fn waiting(&self) -> usize {
        self.parts.values().filter(|part| !part.is_sent).count()
    }

    /// Whether no process lives, as far as is known.
    pub fn has_ended(&self) -> bool {
        self.processes.values().all(|process| process.life == Life::Ended)
    }

    /// Whether there is nothing left to do: no process, no journal, no part.
    pub fn is_done(&self) -> bool {
        self.has_ended()
            && self.waiting() == 0
            && self.processes.values().all(|process| process.writing.is_empty())
    }

    /// Whether the sender has a batch of this folder.
    pub fn is_sending(&self) -> bool {
        self.is_sending
    }

    /// The next batch, the oldest first. With `all`, parts do not wait for those of other threads.
    pub fn next_batch(&mut self, now: Instant, all: bool) -> Option<Batch> {
        let waiting: Vec<(&Part, &Waiting)> =
            self.parts.iter().filter(|(_, waiting)| !waiting.is_sent).collect();
        let group = waiting
            .chunk_by(|(a, _), (b, _)| (a.number, &a.process) == (b.number, &b.process))
            .find(|group| all || self.is_ready(group, now))?;
        let mut bytes = 0;
        let parts = group.iter().take_while(|(_, waiting)| {
            bytes += waiting.bytes;
            bytes <= MAX_BATCH_BYTES || bytes == waiting.bytes
        });
        let parts: Vec<Part> = parts.map(|(part, _)| (*part).clone()).collect();
        self.is_sending = true;
        Some(Batch { folder: self.folder.clone(), parts })
    }

    /// Whether the parts of a process and a period are all there.
    fn is_ready(&self, group: &[(&Part, &Waiting)], now: Instant) -> bool {
        let Some((first, _)) = group.first() else { return false };
        let is_there = |thread: &Thread| group.iter().any(|(part, _)| part.thread == *thread);
        let process = self.processes.get(&first.process);
        process.is_none_or(|process| process.life == Life::Ended || process.writing.iter().all(is_there))
            || group.iter().any(|(_, waiting)| now.duration_since(waiting.since) >= PATIENCE)
    }

    /// Takes note that the sender has given the batch back.
    pub fn end_sending(&mut self, output: Box<dyn Output>) {
        self.is_sending = false;
        self.output = Some(output);
    }

    /// Deletes parts that need not be sent any more.
    pub fn delete(&mut self, parts: &[Part]) -> io::Result<()> {
        for part in parts {
            // Whether or not it can be deleted, it is not sent again by this exporter.
            if let Some(waiting) = self.parts.get_mut(part) {
                waiting.is_sent = true;
            }
        }
        self.count();
        self.folder.delete_sent(parts)
    }

    /// Deletes the oldest part that is not being sent. Returns its bytes.
    pub fn drop_oldest(&mut self, sending: &[Part]) -> Option<u64> {
        let mut waiting =
            self.parts.iter().filter(|(part, waiting)| !waiting.is_sent && !sending.contains(part));
        let (part, bytes) = waiting.next().map(|(part, waiting)| (part.clone(), waiting.bytes))?;
        let _ = self.folder.delete(&part);
        self.parts.remove(&part);
        self.count();
        Some(bytes)
    }

    /// When the oldest part that waits was recorded, in seconds since 1970.
    pub fn oldest(&self) -> Option<u64> {
        let mut waiting = self.parts.iter().filter(|(_, waiting)| !waiting.is_sent);
        waiting.next().map(|(part, _)| self.settings.start_of(part.number))
    }

    /// Deletes the folder, if it can be deleted, unless a process has come. Returns whether one has.
    pub fn remove(&mut self) -> bool {
        let path = self.folder.path();
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return false };
        let ending = parent.join(format!(".{}.ended", name.to_string_lossy()));
        // In one step, so that no process can begin to use it in between.
        if fs::rename(path, &ending).is_err() {
            return false;
        }
        // Fails if there is a new folder of this name.
        if has_lock_files(&ending, &self.processes) && fs::rename(&ending, path).is_ok() {
            return true;
        }
        let _ = fs::remove_dir_all(&ending);
        false
    }
}

/// Whether there is the file of a process that has not ended.
fn has_lock_files(folder: &Path, known: &BTreeMap<String, Process>) -> bool {
    fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        let name = entry.file_name();
        match name.to_str().and_then(names::Name::parse) {
            Some(names::Name::Alive { process }) => {
                known.get(&process).is_none_or(|process| process.life != Life::Ended)
            }
            _ => false,
        }
    })
}

/// Whether there is a process with the id that this name begins with, which has not ended: one that its parent has not
/// waited for has.
fn exists(process: &str) -> bool {
    let pid = process.split('.').next().unwrap_or_default();
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    !matches!(state, Some('Z' | 'X'))
}
