//! The store of one collector: its log, its tables, and the task that moves profiles from one to the other.

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::ids::ProfileId;
use crate::log::{AppendError, Log, Segment, SegmentLimits};
use crate::profile::{Damaged, Profile};
use crate::tables::{Location, TableError, Tables};

/// Where a store is, and how it writes.
#[derive(Clone, Debug)]
pub struct Options {
    /// The tables.
    pub tables: Location,
    /// The folder of the log, which is on a disk.
    pub log: PathBuf,
    /// When a part of the log is written to the tables. Profiles can be asked for afterwards.
    pub limits: SegmentLimits,
}

/// A part of the log is written to the tables at this age or size.
pub const LIMITS: SegmentLimits = SegmentLimits { bytes: 16 << 20, age: Duration::from_secs(3) };

/// A store cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it open.
    #[error("the log in {} is in use by another collector, which can take in profiles over HTTP", .0.display())]
    InUse(PathBuf),
    /// The log.
    #[error("the log cannot be used: {0}")]
    Log(#[from] std::io::Error),
    /// The tables.
    #[error(transparent)]
    Tables(#[from] TableError),
}

/// How many of the profiles of a request are new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// They are on the disk now.
    pub new: usize,
    /// They were there already.
    pub known: usize,
}

/// A store that is open.
pub struct Store {
    log: Log,
    recent: Mutex<Recent>,
    /// The number of the last segment that is in the tables.
    in_tables: watch::Receiver<Progress>,
    mover: JoinHandle<()>,
    /// Locked as long as the store is open.
    _lock: File,
}

/// What the task that writes to the tables has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The segments that are in the tables.
    pub segments: u64,
    /// The profiles that are in the tables.
    pub profiles: u64,
    /// Records that could not be read. They are left out, and counted.
    pub damaged: u64,
    /// Why the last attempt failed, if it did.
    pub problem: Option<String>,
}

/// The ids of the last profiles, by which a repeated one is recognised at once. A later repetition is found in the tables.
#[derive(Debug, Default)]
struct Recent {
    younger: HashSet<ProfileId>,
    older: HashSet<ProfileId>,
}

/// Ids that are kept in each of two sets: some 20 MB each.
const MAX_RECENT: usize = 1 << 20;

impl Recent {
    fn contains(&self, id: ProfileId) -> bool {
        self.younger.contains(&id) || self.older.contains(&id)
    }

    fn insert(&mut self, id: ProfileId) {
        if self.younger.len() == MAX_RECENT {
            self.older = std::mem::take(&mut self.younger);
        }
        self.younger.insert(id);
    }
}

impl Store {
    /// Opens a store. What an earlier process has accepted and not written to the tables is written first, beside new profiles.
    pub async fn open(options: Options) -> Result<Self, OpenError> {
        std::fs::create_dir_all(&options.log)?;
        let lock = File::create(options.log.join("lock"))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => OpenError::InUse(options.log.clone()),
            TryLockError::Error(error) => OpenError::Log(error),
        })?;
        let name = writer_name(&options.log)?;
        let mut tables = Tables::open(&options.tables, &name).await?;
        let next = tables.last_segment().await?.map_or(1, |last| last + 1);
        let (sender, mut sealed) = mpsc::unbounded_channel();
        let log = Log::open(&options.log, next, options.limits, sender)?;
        let (told, in_tables) = watch::channel(Progress::default());
        let mover = tokio::spawn(async move {
            while let Some(segment) = sealed.recv().await {
                write_segment(&mut tables, &segment, &told).await;
            }
        });
        Ok(Self { log, recent: Mutex::default(), in_tables, mover, _lock: lock })
    }

    /// Adds profiles; returns when they are on the disk. Those that are there already count once.
    pub async fn add(&self, profiles: &[Profile]) -> Result<Added, AppendError> {
        let new: Vec<&Profile> = {
            let recent = self.recent.lock();
            profiles.iter().filter(|profile| !recent.contains(profile.id)).collect()
        };
        let added = Added { new: new.len(), known: profiles.len() - new.len() };
        if !new.is_empty() {
            let records = new.iter().map(|profile| profile.to_record()).collect();
            self.log.append(records).await?;
            // Only now, because another request with the same profile must not be told that it is there when it may not be.
            let mut recent = self.recent.lock();
            new.iter().for_each(|profile| recent.insert(profile.id));
        }
        Ok(added)
    }

    /// What is in the tables.
    pub fn progress(&self) -> Progress {
        self.in_tables.borrow().clone()
    }

    /// Writes everything to the tables, and ends.
    pub async fn close(self) {
        let Self { log, mover, _lock, .. } = self;
        // The thread of the log ends after its last record, which must not hold up the tasks of this thread.
        let _ = tokio::task::spawn_blocking(move || log.close()).await;
        let _ = mover.await;
    }
}

/// How long the tables rest after a failure.
const RETRY: Duration = Duration::from_secs(1);

/// Writes a segment to the tables, and deletes it. Tries until it succeeds: nothing that was accepted is given up.
async fn write_segment(tables: &mut Tables, segment: &Segment, told: &watch::Sender<Progress>) {
    loop {
        match move_segment(tables, segment).await {
            Ok((profiles, damaged)) => {
                told.send_modify(|progress| {
                    progress.segments += 1;
                    progress.profiles += profiles;
                    progress.damaged += damaged;
                    progress.problem = None;
                });
                return;
            }
            Err(error) => {
                tracing::warn!(segment = segment.number, %error, "profiles stay in the log, next attempt in a second");
                told.send_modify(|progress| progress.problem = Some(error.to_string()));
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

/// Returns how many profiles were written, and how many records could not be read.
async fn move_segment(tables: &mut Tables, segment: &Segment) -> Result<(u64, u64), TableError> {
    let read = segment.clone();
    let records = tokio::task::spawn_blocking(move || read.records()).await.expect("it does not panic")?;
    let mut profiles = Vec::with_capacity(records.len());
    let mut known = HashSet::new();
    let mut damaged = 0;
    for record in &records {
        match Profile::from_record(record) {
            // Two requests with the same profile may have come at the same time. Which are left out depends on the segment alone, so that each
            // table gets the same profiles when only some have the segment.
            Ok(profile) => profiles.extend(known.insert(profile.id).then_some(profile)),
            Err(error) => {
                damaged += 1;
                let error: &Damaged = &error;
                tracing::error!(segment = segment.number, %error, "a record of the log is left out");
            }
        }
    }
    tables.write(segment.number, &profiles).await?;
    segment.delete()?;
    Ok((profiles.len() as u64, damaged))
}

/// The name by which the tables know this collector. It stays with the log.
fn writer_name(log: &std::path::Path) -> std::io::Result<String> {
    let path = log.join("writer");
    match std::fs::read_to_string(&path) {
        Ok(name) if !name.trim().is_empty() => return Ok(name.trim().to_owned()),
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let name = format!("selfprof-collector-{}", uuid::Uuid::new_v4());
    let new = log.join("writer.new");
    std::fs::write(&new, &name)?;
    File::open(&new)?.sync_all()?;
    std::fs::rename(&new, &path)?;
    File::open(log)?.sync_all()?;
    Ok(name)
}
