//! The marks and measures that one recorder of a thread keeps.

use parking_lot::Mutex;
use selfprof_trace::{Entries, Entry, EntryType, Micros, Millis, Trace};

/// How much earlier than now the start of a new mark may be, in milliseconds: the resolution of the coarsest clock.
const RESOLUTION_MS: f64 = 0.1;

/// How many entries more than its limit a circular store holds at least before it drops the oldest.
const SLACK: usize = 64;

/// Marks and measures of one thread. The thread adds, the building thread takes; neither holds the lock for longer.
pub struct EntryStore {
    /// The maximum number of entries.
    limit: u64,
    /// Whether the oldest entries make room for new ones.
    is_circular: bool,
    state: Mutex<State>,
}

struct State {
    entries: Entries,
    /// How many more entries fit.
    room: u64,
    /// Entries must overlap the time between these two, in milliseconds.
    from: f64,
    until: f64,
}

impl EntryStore {
    /// Keeps all entries from now on.
    pub fn new(limit: u64) -> Self {
        let state =
            State { entries: Entries::new(), room: limit, from: f64::NEG_INFINITY, until: f64::INFINITY };
        Self { limit, is_circular: false, state: Mutex::new(state) }
    }

    /// Keeps the entries that overlap the time from `now` until [`end`](Self::end), on the clock of the process's
    /// `performance`. All threads have the same time origin.
    pub fn of_session(limit: u64, is_circular: bool, now: Micros) -> Self {
        let store = Self { is_circular, ..Self::new(limit) };
        store.state.lock().from = now.as_millis_f64() - RESOLUTION_MS;
        store
    }

    /// Adds an entry, or counts it as dropped when there is no room. Returns how many entries are held now, 0 when this
    /// one was not added.
    pub fn add(&self, entry_type: EntryType, name: &str, start_time: Millis, duration: Millis) -> usize {
        let mut state = self.state.lock();
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
        self.state.lock().until = now.as_millis_f64();
    }

    /// Removes the entries, in the order in which they were added.
    pub fn take(&self) -> Entries {
        std::mem::take(&mut self.state.lock().entries)
    }

    /// Removes the entries of a trace whose session has ended, in time order.
    pub fn finish(&self, trace: &Trace) -> Entries {
        let mut entries = self.take();
        let until = self.state.lock().until;
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
