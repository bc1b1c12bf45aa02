//! The recorders of a thread's marks and measures, which record each one as it is made.

use std::cell::RefCell;
use std::sync::Arc;

use selfprof_session::SessionId;
use selfprof_trace::{EntryType, Micros, Millis};

use super::store::EntryStore;

/// Where entries are recorded.
pub trait EntrySink {
    /// Adds an entry, on its thread.
    fn add_entry(self: Arc<Self>, entry_type: EntryType, name: &str, start_time: Millis, duration: Millis);

    /// Nothing is added after this time of the thread's clock.
    fn end(&self, now: Micros);
}

impl EntrySink for EntryStore {
    fn add_entry(self: Arc<Self>, entry_type: EntryType, name: &str, start_time: Millis, duration: Millis) {
        self.add(entry_type, name, start_time, duration);
    }

    fn end(&self, now: Micros) {
        Self::end(self, now);
    }
}

struct Recorder {
    /// The session that it belongs to.
    session: SessionId,
    sink: Arc<dyn EntrySink>,
}

#[derive(Default)]
struct Recorders {
    list: Vec<Recorder>,
    /// The names that JavaScript has given, by the numbers that it got for them.
    names: Vec<String>,
}

thread_local! {
    /// The recorders of this thread. Only this thread touches them; dropping them needs no live environment.
    static RECORDERS: RefCell<Recorders> = const { RefCell::new(Recorders { list: Vec::new(), names: Vec::new() }) };
}

fn with<T>(work: impl FnOnce(&mut Recorders) -> T) -> T {
    RECORDERS.with(|recorders| work(&mut recorders.borrow_mut()))
}

/// Records the entries of this thread from now on. JavaScript must be notified.
pub fn begin(session: SessionId, sink: Arc<dyn EntrySink>) {
    with(|recorders| recorders.list.push(Recorder { session, sink }));
}

/// Ends the recorder of a session at this time of the thread's clock. Returns whether there was one.
pub fn end(session: SessionId, now: Micros) -> bool {
    with(|recorders| {
        let Some(index) = recorders.list.iter().position(|recorder| recorder.session == session) else {
            return false;
        };
        recorders.list.swap_remove(index).sink.end(now);
        true
    })
}

/// Whether anyone records the entries of this thread.
pub fn is_recording() -> bool {
    with(|recorders| !recorders.list.is_empty())
}

/// Takes the name of entries to come. Returns the number that stands for it.
pub fn add_name(name: String) -> u32 {
    with(|Recorders { names, .. }| {
        names.push(name);
        names.len() as u32 - 1
    })
}

/// Forgets all names.
pub fn forget_names() {
    with(|recorders| recorders.names.clear());
}

/// Records an entry of this thread, unless the number stands for no name.
pub fn record(entry_type: EntryType, name: u32, start_time: Millis, duration: Millis) {
    with(|Recorders { list, names }| {
        let Some(name) = names.get(name as usize) else { return };
        for recorder in list {
            Arc::clone(&recorder.sink).add_entry(entry_type, name, start_time, duration);
        }
    });
}
