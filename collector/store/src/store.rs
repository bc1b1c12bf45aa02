//! The store of one collector: its log, its tables, and the task that moves profiles from one to the other.

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::ops::AddAssign;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::ids::ProfileId;
use crate::log::{AppendError, Backlog, Log, Segment, SegmentLimits, Waiting};
use crate::profile::Profile;
use crate::recent::Recent;
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
    /// The new stacks that an application may have in an hour. The samples of further ones are counted as
    /// `(too many stacks)`, so that no sender can fill the disk with them. Each collector counts on its own.
    pub stacks_per_hour: usize,
    /// When profiles are acknowledged.
    pub acknowledged: Acknowledged,
}

/// When it is said that profiles are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acknowledged {
    /// When the log has them, on the disk.
    #[default]
    InLog,
    /// When the tables have them. The log may be lost then.
    InTables,
}

/// A part of the log is written to the tables at this age or size.
pub const LIMITS: SegmentLimits =
    SegmentLimits { bytes: 8 << 20, age: Duration::from_secs(3), in_turn: false };

/// The same, if senders wait for the tables. Those who come meanwhile share the next write.
const WAITING_LIMITS: SegmentLimits =
    SegmentLimits { age: Duration::from_millis(200), in_turn: true, ..LIMITS };

/// How long profiles may take to the tables.
const TABLES_TIME: Duration = Duration::from_secs(30);

/// An application of a megabyte of JavaScript has some ten thousand stacks.
pub const STACKS_PER_HOUR: usize = 100_000;

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

impl AddAssign for Added {
    fn add_assign(&mut self, other: Self) {
        self.new += other.new;
        self.known += other.known;
    }
}

/// A store that is open.
pub struct Store {
    log: Log,
    /// A later repetition is found in the tables.
    recent: Mutex<Recent>,
    /// The number of the last segment that is in the tables.
    in_tables: watch::Receiver<Progress>,
    mover: JoinHandle<()>,
    acknowledged: Acknowledged,
    /// Locked as long as the store is open.
    _lock: File,
}

/// What the task that writes to the tables has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The number of the last segment that is in the tables.
    pub last: u64,
    /// The segments that are in the tables.
    pub segments: u64,
    /// The profiles that are in the tables.
    pub profiles: u64,
    /// Records that could not be read. They are left out, and counted.
    pub damaged: u64,
    /// Samples whose stack was one too many.
    pub without_stack: u64,
    /// Why the last attempt failed, if it did.
    pub problem: Option<String>,
}

impl Store {
    /// Opens a store. What an earlier process has accepted and not written to the tables is written first, beside new
    /// profiles.
    pub async fn open(options: Options) -> Result<Self, OpenError> {
        std::fs::create_dir_all(&options.log)?;
        let lock = File::create(options.log.join("lock"))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => OpenError::InUse(options.log.clone()),
            TryLockError::Error(error) => OpenError::Log(error),
        })?;
        let name = writer_name(&options.log)?;
        let mut tables = Tables::open(&options.tables, &name, options.stacks_per_hour).await?;
        let next = tables.last_segment().await?.map_or(1, |last| last + 1);
        let (sender, mut sealed) = mpsc::unbounded_channel();
        let limits = match options.acknowledged {
            Acknowledged::InLog => options.limits,
            Acknowledged::InTables => WAITING_LIMITS,
        };
        let log = Log::open(&options.log, next, limits, sender)?;
        let (told, in_tables) = watch::channel(Progress::default());
        let waiting = log.waiting().clone();
        let mover = tokio::spawn(async move {
            while let Some(segment) = sealed.recv().await {
                write_segment(&mut tables, &segment, &waiting, &told).await;
            }
        });
        Ok(Self {
            log,
            recent: Mutex::default(),
            in_tables,
            mover,
            acknowledged: options.acknowledged,
            _lock: lock,
        })
    }

    /// Adds profiles; returns when they are on the disk, or in the tables, as the options say. Those that are there
    /// already count once.
    pub async fn add(&self, profiles: &[Profile]) -> Result<Added, AppendError> {
        let new: Vec<&Profile> = {
            let recent = self.recent.lock();
            profiles.iter().filter(|profile| !recent.contains(profile.id)).collect()
        };
        let added = Added { new: new.len(), known: profiles.len() - new.len() };
        if !new.is_empty() {
            let records = new.iter().map(|profile| profile.to_record()).collect();
            let segment = self.log.append(records).await?;
            if self.acknowledged == Acknowledged::InTables {
                self.wait_for_tables(segment).await?;
            }
            // Only now, because another request with the same profile must not be told that it is there when it may not
            // be.
            let mut recent = self.recent.lock();
            new.iter().for_each(|profile| recent.insert(profile.id));
        }
        Ok(added)
    }

    /// Writes everything to the tables that was added before; returns when it is there. It takes as long as the tables
    /// cannot be written.
    pub async fn flush(&self) -> Result<(), AppendError> {
        let next = self.log.seal().await?;
        let mut in_tables = self.in_tables.clone();
        while self.log.waiting().has_before(next) {
            in_tables.changed().await.map_err(|_| AppendError::Closed)?;
        }
        Ok(())
    }

    /// Forgets that profiles are there, because they were deleted.
    pub fn forget(&self, profiles: &[ProfileId]) {
        let mut recent = self.recent.lock();
        profiles.iter().for_each(|&profile| recent.remove(profile));
    }

    /// How much is not in the tables yet.
    pub fn backlog(&self) -> Backlog {
        self.log.waiting().backlog(SystemTime::now())
    }

    async fn wait_for_tables(&self, segment: u64) -> Result<(), AppendError> {
        let mut in_tables = self.in_tables.clone();
        let written = in_tables.wait_for(|progress| progress.last >= segment);
        match tokio::time::timeout(TABLES_TIME, written).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => Err(AppendError::Closed),
            Err(_) => Err(AppendError::Late),
        }
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

/// How often a lasting failure is reported.
const TELL: Duration = Duration::from_secs(60);

/// Writes a segment to the tables, and deletes it. Tries until it succeeds: nothing that was accepted is given up.
async fn write_segment(
    tables: &mut Tables,
    segment: &Segment,
    waiting: &Waiting,
    told: &watch::Sender<Progress>,
) {
    let mut failures = 0_u64;
    let mut last_told: Option<Instant> = None;
    loop {
        match move_segment(tables, segment).await {
            Ok(moved) => {
                if failures > 0 {
                    tracing::info!(segment = segment.number, failures, "the tables can be written again");
                }
                waiting.ended(segment.number);
                told.send_modify(|progress| {
                    progress.last = segment.number;
                    progress.segments += 1;
                    progress.profiles += moved.profiles;
                    progress.damaged += moved.damaged;
                    progress.without_stack += moved.without_stack;
                    progress.problem = None;
                });
                return;
            }
            Err(error) => {
                failures += 1;
                if last_told.is_none_or(|last| last.elapsed() >= TELL) {
                    last_told = Some(Instant::now());
                    let text = "the tables cannot be written, so profiles stay in the log; tried each second";
                    tracing::warn!(segment = segment.number, failures, %error, "{text}");
                }
                told.send_modify(|progress| progress.problem = Some(error.to_string()));
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

/// Writes a segment to the tables, and deletes it.
async fn move_segment(tables: &mut Tables, segment: &Segment) -> Result<Progress, TableError> {
    let read = segment.clone();
    let records = tokio::task::spawn_blocking(move || read.records()).await.expect("it does not panic")?;
    let mut profiles = Vec::with_capacity(records.len());
    let mut known = HashSet::new();
    let mut damaged = 0;
    for record in &records {
        match Profile::from_record(record) {
            // Two requests with the same profile may have come at the same time. Which are left out depends on the
            // segment alone, so that each table gets the same profiles when only some have the segment.
            Ok(profile) => profiles.extend(known.insert(profile.id).then_some(profile)),
            Err(error) => {
                damaged += 1;
                tracing::error!(segment = segment.number, %error, "a record of the log is left out");
            }
        }
    }
    let without_stack = tables.write(segment.number, &profiles).await?;
    segment.delete()?;
    Ok(Progress { profiles: profiles.len() as u64, damaged, without_stack, ..Progress::default() })
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
