//! The marks and measures that one recorder of a thread keeps.

use std::sync::Mutex;

use selfprof_trace::{Entries, Entry, EntryType, Micros, Millis, Trace};

use crate::locks::lock;

/// How much earlier than now a mark may be that is made now, in milliseconds: the step of the coarsest clock.
const RESOLUTION_MS: f64 = 0.1;

/// How many entries more than its limit a circular store holds at least, before it lets go of the oldest.
const SLACK: usize = 64;

/// Marks and measures of one thread. The thread adds, the building thread takes; neither holds the lock for longer than
/// that.
pub struct EntryStore {
    /// How many there are at most.
    limit: u64,
    /// Whether the oldest make room.
    is_circular: bool,
    state: Mutex<State>,
}

struct State {
    entries: Entries,
    /// How many more there is room for.
    room: u64,
    /// The time that entries must overlap, in milliseconds.
    from: f64,
    until: f64,
}

impl EntryStore {
    /// For all entries from now on.
    pub fn new(limit: u64) -> Self {
        let state =
            State { entries: Entries::new(), room: limit, from: f64::NEG_INFINITY, until: f64::INFINITY };
        Self { limit, is_circular: false, state: Mutex::new(state) }
    }

    /// For the entries that overlap the time from `now` until [`end`](Self::end), on the clock of the process's
    /// `performance`: all threads have one time origin.
    pub fn of_session(limit: u64, is_circular: bool, now: Micros) -> Self {
        let store = Self { is_circular, ..Self::new(limit) };
        lock(&store.state).from = now.as_millis_f64() - RESOLUTION_MS;
        store
    }

    /// Takes an entry, or counts it as dropped when there is no room. Says how many it holds with this one, 0 when it was
    /// not taken.
    pub fn add(&self, entry_type: EntryType, name: &str, start_time: Millis, duration: Millis) -> usize {
        let mut state = lock(&self.state);
        let (start, end) = (start_time.get(), start_time.get() + duration.get());
        // A measure may end before it begins.
        if start.max(end) < state.from {
            return 0;
        }
        if state.room == 0 && !self.is_circular {
            state.entries.count_dropped(1);
            return 0;
        }
        // Interning fails only when there are more names than ids.
        let Ok(name) = state.entries.name(name) else { return 0 };
        if state.entries.push(Entry { entry_type, name, start_time, duration }).is_err() {
            return 0;
        }
        state.room = state.room.saturating_sub(1);
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        if self.is_circular && state.entries.list().len() >= limit.saturating_add((limit / 2).max(SLACK)) {
            state.entries.keep_latest(limit);
        }
        state.entries.list().len()
    }

    /// The session ends now.
    pub fn end(&self, now: Micros) {
        lock(&self.state).until = now.as_millis_f64();
    }

    /// Takes out what is there, in the order in which it came.
    pub fn take(&self) -> Entries {
        std::mem::take(&mut lock(&self.state).entries)
    }

    /// Takes out what belongs to a trace, whose session has ended, in time order.
    pub fn finish(&self, trace: &Trace) -> Entries {
        let mut entries = self.take();
        let until = lock(&self.state).until;
        let first_sample = trace.span().map_or(f64::NEG_INFINITY, |(first, _)| first.as_millis_f64());
        let from = if self.is_circular { first_sample } else { f64::NEG_INFINITY };
        if self.is_circular {
            entries.keep_latest(usize::try_from(self.limit).unwrap_or(usize::MAX));
        }
        entries.retain(|entry| {
            let (start, end) = (entry.start_time.get(), entry.start_time.get() + entry.duration.get());
            start.min(end) <= until && start.max(end) >= from
        });
        entries.sort();
        entries
    }
}
