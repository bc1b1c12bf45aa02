//! The write-ahead log: what has been accepted is durable before it is acknowledged.
//!
//! A log is a folder of numbered segments. One thread writes: it takes all records that wait, writes them, syncs the
//! file once, and answers all. A segment that is large or old enough is sealed and handed on; whoever writes it to the
//! tables deletes it. After a crash, the segments that are still there are handed on again.

mod record;
mod segments;
mod waiting;
mod writer;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

pub use segments::Segment;
pub use waiting::{Backlog, Waiting};

use writer::{Append, Writer};

/// How much of a log is one segment.
#[derive(Clone, Copy, Debug)]
pub struct SegmentLimits {
    /// A segment of this many bytes is sealed.
    pub bytes: u64,
    /// A segment with records is sealed at this age.
    pub age: Duration,
    /// At this age, a segment waits until the one before it is in the tables, so that those who wait for the tables
    /// share their writes.
    pub in_turn: bool,
}

/// A record was not written, and will not be there after a crash.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AppendError {
    /// There is no room on the disk.
    #[error("the disk of the log is full")]
    Full,
    /// More records wait for the disk than may.
    #[error("more profiles arrive than the disk can take")]
    Busy,
    /// They are in the log, but were to be in the tables.
    #[error("the profiles are kept, but did not get into the bucket in time")]
    Late,
    /// Something else.
    #[error("the log cannot be written: {0}")]
    Io(String),
    /// The log is closed.
    #[error("the collector is stopping")]
    Closed,
}

impl From<&io::Error> for AppendError {
    fn from(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full,
            _ => Self::Io(error.to_string()),
        }
    }
}

/// Records that may wait for the disk.
const QUEUE: usize = 4_096;

/// A log that is open. Dropping it writes what waits, and ends its thread.
pub struct Log {
    /// `None` once the log is closed.
    queue: Option<SyncSender<Append>>,
    thread: Option<std::thread::JoinHandle<()>>,
    waiting: Waiting,
}

impl Log {
    /// Opens the log in a folder. Sealed segments go to `sealed`, first those of earlier runs. New segments have
    /// numbers from `next` on, or after those that are there.
    pub fn open(
        folder: &Path,
        next: u64,
        limits: SegmentLimits,
        sealed: mpsc::UnboundedSender<Segment>,
    ) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let waiting = Waiting::default();
        let earlier = segments::list(folder)?;
        let next = earlier.last().map_or(next, |last| next.max(last.number + 1));
        for segment in earlier {
            let file = segment.path().metadata()?;
            waiting.grew(segment.number, file.len(), file.modified()?);
            // The receiver lives as long as the log's owner.
            let _ = sealed.send(segment);
        }
        let (queue, appends) = sync_channel(QUEUE);
        let mut writer = Writer::new(PathBuf::from(folder), next, limits, sealed, waiting.clone());
        let thread = std::thread::Builder::new().name("log".into()).spawn(move || writer.run(&appends))?;
        Ok(Self { queue: Some(queue), thread: Some(thread), waiting })
    }

    /// Writes records; returns when they are on the disk, with the number of the segment that has them all.
    pub async fn append(&self, records: Vec<Vec<u8>>) -> Result<u64, AppendError> {
        self.send(records, false).await.map(|next| next.saturating_sub(1))
    }

    /// Seals the segment. Returns the number that the next one will have.
    pub async fn seal(&self) -> Result<u64, AppendError> {
        self.send(Vec::new(), true).await
    }

    /// The segments that have not been deleted.
    pub fn waiting(&self) -> &Waiting {
        &self.waiting
    }

    async fn send(&self, records: Vec<Vec<u8>>, seal: bool) -> Result<u64, AppendError> {
        let (done, answer) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or(AppendError::Closed)?;
        queue.try_send(Append { records, seal, done }).map_err(|error| match error {
            TrySendError::Full(_) => AppendError::Busy,
            TrySendError::Disconnected(_) => AppendError::Closed,
        })?;
        answer.await.unwrap_or(Err(AppendError::Closed))
    }

    /// Writes what waits, seals the segment, and ends the thread.
    pub fn close(mut self) {
        self.end();
    }

    fn end(&mut self) {
        // Without a sender, the thread ends after the last record.
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests;
