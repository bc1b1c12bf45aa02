//! The upkeep of the tables, on a separate thread beside the server.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result};
use parking_lot::Mutex;
use selfprof_store::tables::Location;
use selfprof_store::upkeep::{Amount, Deleted, Report, Settings, Upkeep, UpkeepError};
use tokio::runtime;
use tokio::sync::{mpsc, oneshot};

use crate::arguments::now;

/// Plans of queries are nested deeply.
const STACK: usize = 32 << 20;

/// The upkeep that runs. It ends when this is closed.
pub struct Keeper {
    requests: mpsc::Sender<Request>,
    done: Arc<Mutex<Done>>,
    thread: std::thread::JoinHandle<()>,
}

/// What has been done since the start.
#[derive(Clone, Debug, Default)]
pub struct Done {
    pub runs: u64,
    pub failed_runs: u64,
    /// When a run last ended without a problem.
    pub last_success: Option<SystemTime>,
    /// The files that were merged, and those into which they were merged.
    pub merged: Amount,
    pub written: Amount,
    /// Files that were deleted, and days that were removed from all tables.
    pub deleted_files: u64,
    pub removed_days: u64,
}

/// The deletion of a session.
struct Request {
    app: String,
    session: String,
    done: oneshot::Sender<Result<Deleted, UpkeepError>>,
}

/// Sessions that wait for their deletion.
const QUEUE: usize = 16;

impl Keeper {
    /// Begins the upkeep of tables, again and again after about this time.
    pub async fn start(location: &Location, settings: Settings, every: Duration) -> Result<Self> {
        let upkeep = Upkeep::open(location, settings).await.context("cannot open the tables")?;
        let (requests, received) = mpsc::channel(QUEUE);
        let done = Arc::new(Mutex::new(Done::default()));
        let runtime = runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .thread_name("upkeep")
            .thread_stack_size(STACK)
            .build()?;
        let told = Arc::clone(&done);
        // Merging takes long calculations, which must not hold up the tasks of requests.
        let thread = std::thread::Builder::new()
            .name("upkeep".into())
            .stack_size(STACK)
            .spawn(move || runtime.block_on(keep(upkeep, received, every, &told)))?;
        Ok(Self { requests, done, thread })
    }

    /// Deletes a session from the tables; `None` if the collector is stopping.
    pub async fn delete_session(&self, app: &str, session: &str) -> Option<Result<Deleted, UpkeepError>> {
        let (done, answer) = oneshot::channel();
        let request = Request { app: app.to_owned(), session: session.to_owned(), done };
        self.requests.send(request).await.ok()?;
        answer.await.ok()
    }

    /// What has been done.
    pub fn done(&self) -> Done {
        self.done.lock().clone()
    }

    /// Ends it at once. What it was doing is done by a later run.
    pub async fn close(self) {
        let Self { requests, thread, .. } = self;
        drop(requests);
        let _ = tokio::task::spawn_blocking(move || thread.join()).await;
    }
}

/// Runs until nobody can send requests any more.
async fn keep(
    mut upkeep: Upkeep,
    mut requests: mpsc::Receiver<Request>,
    every: Duration,
    done: &Mutex<Done>,
) {
    let mut next = Instant::now() + pause(every);
    loop {
        let run = async {
            tokio::time::sleep_until(next.into()).await;
            upkeep.run(now()).await
        };
        tokio::select! {
            biased;
            // A run may be dropped at any moment, and somebody waits for this.
            request = requests.recv() => {
                let Some(Request { app, session, done }) = request else { return };
                let _ = done.send(upkeep.delete_session(&app, &session).await);
            }
            report = run => {
                next = Instant::now() + pause(every);
                tell(&report);
                done.lock().add(&report);
            }
        }
    }
}

/// Collectors that were started together do not work together.
fn pause(every: Duration) -> Duration {
    let random = RandomState::new().build_hasher().finish() % 1_000;
    every.mul_f64(0.75 + random as f64 / 2_000.0)
}

fn tell(report: &Report) {
    let Report { merged, written, deleted, days, maps, .. } = report;
    if merged.files > 0 || *deleted > 0 {
        let (bytes, into_bytes) = (merged.bytes, written.bytes);
        tracing::debug!(merged = merged.files, bytes, into = written.files, into_bytes, deleted, "files");
    }
    if *days > 0 {
        tracing::info!(days, maps, "days that are too old were removed, with source maps that are not used");
    }
    for (step, problem) in &report.problems {
        tracing::warn!(?step, "a part of the tables' upkeep failed, and is tried again: {problem}");
    }
}

impl Done {
    fn add(&mut self, report: &Report) {
        self.runs += 1;
        self.failed_runs += u64::from(!report.problems.is_empty());
        if report.problems.is_empty() {
            self.last_success = Some(SystemTime::now());
        }
        for (sum, part) in [(&mut self.merged, report.merged), (&mut self.written, report.written)] {
            sum.files += part.files;
            sum.bytes += part.bytes;
        }
        self.deleted_files += report.deleted;
        self.removed_days += report.days;
    }
}
