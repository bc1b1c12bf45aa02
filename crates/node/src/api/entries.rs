//! Marks and measures of the calling thread that others record.

use napi_derive::napi;
use selfprof_trace::{EntryType, Millis};

use crate::entries::recorder;

/// Whether marks and measures of this thread must be passed to [`record_entry`].
#[napi(catch_unwind)]
pub fn entries_are_wanted() -> bool {
    recorder::is_recording()
}

/// Takes the name of entries to come. Returns the number that stands for it.
#[napi(catch_unwind)]
pub fn name_entry(name: String) -> u32 {
    recorder::add_name(name)
}

/// Forgets all names.
#[napi(catch_unwind)]
pub fn forget_entry_names() {
    recorder::forget_names();
}

/// Records a mark or a measure: the number of its name, its start and its duration in milliseconds. Does nothing when a
/// time is not finite.
#[napi(catch_unwind)]
pub fn record_entry(is_measure: bool, name: u32, start_time: f64, duration: f64) {
    let entry_type = if is_measure { EntryType::Measure } else { EntryType::Mark };
    let (Some(start_time), Some(duration)) = (Millis::new(start_time), Millis::new(duration)) else { return };
    recorder::record(entry_type, name, start_time, duration);
}
