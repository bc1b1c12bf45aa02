//! The thread that writes a log.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Weak;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::{mpsc, oneshot};

use super::record;
use super::segments::{MAGIC, Segment};
use super::waiting::Waiting;
use super::{AppendError, SegmentLimits};

/// Records of one request, and who waits for them.
pub(super) struct Append {
    pub records: Vec<Vec<u8>>,
    /// Whether the segment ends afterwards.
    pub seal: bool,
    /// Gets the number of the next segment.
    pub done: oneshot::Sender<Result<u64, AppendError>>,
}

/// Bytes that are written before a sync. More records wait for the next one.
const GROUP_BYTES: usize = 4 << 20;

/// How often a segment looks whether it is its turn.
const TURN: Duration = Duration::from_millis(10);

pub(super) struct Writer {
    folder: PathBuf,
    next: u64,
    limits: SegmentLimits,
    sealed: mpsc::UnboundedSender<Segment>,
    waiting: Waiting,
    /// The last segment that was sealed, as long as somebody writes it to the tables.
    before: Weak<()>,
    open: Option<Open>,
    bytes: Vec<u8>,
}

/// The segment that is being written.
struct Open {
    segment: Segment,
    file: File,
    length: u64,
    since: Instant,
    begun: SystemTime,
}

impl Writer {
    pub(super) fn new(
        folder: PathBuf,
        next: u64,
        limits: SegmentLimits,
        sealed: mpsc::UnboundedSender<Segment>,
        waiting: Waiting,
    ) -> Self {
        let before = Weak::new();
        Self { folder, next, limits, sealed, waiting, before, open: None, bytes: Vec::new() }
    }

    /// Writes until there is no sender any more.
    pub(super) fn run(&mut self, appends: &Receiver<Append>) {
        loop {
            let first = match &self.open {
                Some(open) => appends.recv_timeout(self.time_to_seal(open)),
                None => appends.recv().map_err(RecvTimeoutError::from),
            };
            match first {
                Ok(first) => self.write_group(first, appends),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.seal_if_due();
        }
        self.seal();
    }

    fn time_to_seal(&self, open: &Open) -> Duration {
        let age = self.limits.age.saturating_sub(open.since.elapsed());
        if self.may_seal() { age } else { age.max(TURN) }
    }

    /// Whether it is the turn of a segment that is old enough.
    fn may_seal(&self) -> bool {
        !self.limits.in_turn || self.before.strong_count() == 0
    }

    /// Writes this and what else waits, syncs once, and answers.
    fn write_group(&mut self, first: Append, appends: &Receiver<Append>) {
        self.bytes.clear();
        let (mut waiting, mut seal) = (Vec::new(), false);
        let mut next = Some(first);
        while let Some(append) = next {
            seal |= append.seal;
            append.records.iter().for_each(|record| record::frame(record, &mut self.bytes));
            waiting.push(append.done);
            next = if self.bytes.len() < GROUP_BYTES { appends.try_recv().ok() } else { None };
        }
        let written = if self.bytes.is_empty() { Ok(()) } else { self.write() };
        if seal {
            self.seal();
        }
        let result = written.map(|()| self.next).map_err(|error| AppendError::from(&error));
        for done in waiting {
            // A sender that has gone does not need its answer.
            let _ = done.send(result.clone());
        }
    }

    fn write(&mut self) -> io::Result<()> {
        let open = match &mut self.open {
            Some(open) => open,
            none => {
                let opened = Open::create(&self.folder, self.next)?;
                self.waiting.grew(self.next, opened.length, opened.begun);
                self.next += 1;
                none.insert(opened)
            }
        };
        let written = open.file.write_all(&self.bytes).and_then(|()| open.file.sync_data());
        match written {
            Ok(()) => {
                open.length += self.bytes.len() as u64;
                self.waiting.grew(open.segment.number, open.length, open.begun);
            }
            Err(_) => {
                // Nobody was told that these records are there. A failed sync says nothing about what is on the disk,
                // so the segment ends.
                let _ = open.file.set_len(open.length);
                self.seal();
            }
        }
        written
    }

    fn seal_if_due(&mut self) {
        let is_due = |open: &Open| {
            open.length >= self.limits.bytes || (open.since.elapsed() >= self.limits.age && self.may_seal())
        };
        if self.open.as_ref().is_some_and(is_due) {
            self.seal();
        }
    }

    fn seal(&mut self) {
        if let Some(open) = self.open.take() {
            self.before = open.segment.use_of();
            let _ = self.sealed.send(open.segment);
        }
    }
}

impl Open {
    fn create(folder: &Path, number: u64) -> io::Result<Self> {
        let segment = Segment::new(folder, number);
        let mut file = OpenOptions::new().write(true).create_new(true).open(segment.path())?;
        let begun = file.write_all(MAGIC).and_then(|()| File::open(folder)?.sync_all());
        if let Err(error) = begun {
            // An empty segment is of no use, and its number must be free for the next attempt.
            let _ = segment.delete();
            return Err(error);
        }
        Ok(Self {
            segment,
            file,
            length: MAGIC.len() as u64,
            since: Instant::now(),
            begun: SystemTime::now(),
        })
    }
}
