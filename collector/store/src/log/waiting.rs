//! What of a log is not in the tables yet.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;

/// The segments of a log that are not in the tables, also the one that is being written.
#[derive(Clone, Debug, Default)]
pub struct Waiting(Arc<Mutex<BTreeMap<u64, Part>>>);

#[derive(Clone, Copy, Debug)]
struct Part {
    bytes: u64,
    since: SystemTime,
}

/// How much waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// The segments.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The age of the oldest one.
    pub oldest: Option<Duration>,
}

impl Waiting {
    /// A segment has become this large.
    pub(super) fn grew(&self, segment: u64, bytes: u64, since: SystemTime) {
        let mut parts = self.0.lock();
        parts.entry(segment).or_insert(Part { bytes, since }).bytes = bytes;
    }

    /// A segment was written to the tables.
    pub fn ended(&self, segment: u64) {
        self.0.lock().remove(&segment);
    }

    /// Whether a segment with a smaller number waits.
    pub fn has_before(&self, number: u64) -> bool {
        self.0.lock().first_key_value().is_some_and(|(&first, _)| first < number)
    }

    /// How much waits at this time.
    pub fn backlog(&self, now: SystemTime) -> Backlog {
        let parts = self.0.lock();
        let first = parts.values().map(|part| part.since).min();
        Backlog {
            segments: parts.len() as u64,
            bytes: parts.values().map(|part| part.bytes).sum(),
            oldest: first.map(|first| now.duration_since(first).unwrap_or_default()),
        }
    }
}
