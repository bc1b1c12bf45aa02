//! Who wants the marks and measures of a thread.

use std::cell::RefCell;
use std::sync::Arc;

use napi_derive::napi;
use selfprof_session::SessionId;
use selfprof_trace::{EntryType, Micros, Millis};

use super::EntryStore;
use crate::journal::Journal;

/// Somebody who records the entries of a thread.
pub enum Recorder {
    /// The journal of the thread.
    Journal(Arc<Journal>),
    /// A session on the thread that others opened.
    Session(SessionId, Arc<EntryStore>),
}

struct Recorders {
    list: Vec<Recorder>,
    /// The names that JavaScript has given, by the numbers that it got for them.
    names: Vec<String>,
}

thread_local! {
    /// The recorders of this thread. Only this thread touches them; none of them needs it to be freed.
    static RECORDERS: RefCell<Recorders> = const { RefCell::new(Recorders { list: Vec::new(), names: Vec::new() }) };
}

fn with<T>(work: impl FnOnce(&mut Recorders) -> T) -> T {
    RECORDERS.with(|recorders| work(&mut recorders.borrow_mut()))
}

/// Has the entries of this thread recorded from now on. JavaScript is to be told.
pub fn begin(recorder: Recorder) {
    with(|recorders| recorders.list.push(recorder));
}

/// Ends the recorder of a session, if it has one, at this time of the thread's clock. Says whether it had.
pub fn end(session: SessionId, now: Micros) -> bool {
    with(|recorders| {
        let is_its = |recorder: &Recorder| matches!(recorder, Recorder::Session(id, _) if *id == session);
        let Some(index) = recorders.list.iter().position(is_its) else { return false };
        if let Recorder::Session(_, store) = recorders.list.swap_remove(index) {
            store.end(now);
        }
        true
    })
}

/// Whether the marks and measures of this thread are to come to [`record_entry`].
#[napi(catch_unwind)]
pub fn entries_are_wanted() -> bool {
    with(|recorders| !recorders.list.is_empty())
}

/// Takes the name of marks and measures to come; gives the number that stands for it.
#[napi(catch_unwind)]
pub fn name_entry(name: String) -> u32 {
    with(|Recorders { names, .. }| {
        names.push(name);
        names.len() as u32 - 1
    })
}

/// Forgets all names that were taken.
#[napi(catch_unwind)]
pub fn forget_entry_names() {
    with(|recorders| recorders.names.clear());
}

/// Records a mark or a measure of this thread: the number of its name, when it began and how long it took, in
/// milliseconds. Times that are not finite make it none.
#[napi(catch_unwind)]
pub fn record_entry(is_measure: bool, name: u32, start_time: f64, duration: f64) {
    let entry_type = if is_measure { EntryType::Measure } else { EntryType::Mark };
    let (Some(start_time), Some(duration)) = (Millis::new(start_time), Millis::new(duration)) else { return };
    with(|Recorders { list, names }| {
        let Some(name) = names.get(name as usize) else { return };
        for recorder in list {
            match recorder {
                Recorder::Journal(journal) => journal.add_entry(entry_type, name, start_time, duration),
                Recorder::Session(_, store) => {
                    store.add(entry_type, name, start_time, duration);
                }
            }
        }
    });
}
