//! The journal of a recording: an append-only stream, written while the program runs.
//!
//! A profiled process may be killed at any moment, so nothing may depend on its last words. The journal is
//! NDJSON: each record is one line and is written by one call, so all whole lines of a dead process are good.
//!
//! The first line is the header:
//!
//! ```json
//! {"selfprofJournal":2,"pid":7,"threadId":0,"interval":1000,"mode":"eager","timeOrigin":1700000000000.5,"node":"v20.1.2","entries":true}
//! ```
//!
//! `interval` is in microseconds, `timeOrigin` in milliseconds since the Unix epoch, and `entries` says whether marks
//! and measures are recorded. Segments follow. Each holds the table entries that are new since the segment before, and
//! the samples:
//!
//! ```json
//! {"names":["main"],"resources":["file:///a.js"],"frames":[[0,0,1,1]],"stacks":[[-1,0]],"samples":[[1000,0,1]],"lost":0}
//! ```
//!
//! - a frame is `[name, resource or -1, line or 0, column or 0]`;
//! - a stack is `[parent or -1, frame]`;
//! - a sample is `[microseconds since the sample before, stack or -1, marker]`, where the marker is 0 for none
//!   and otherwise the [`Marker`](selfprof_trace::Marker)'s index + 1;
//! - `lost` counts the samples that were taken but dropped since the segment before.
//!
//! A segment that begins with `"fresh":true` starts the tables anew, so that a recording without end needs tables
//! with an end. Ids count the entries since then, from 0. The first sample counts from the time origin.
//!
//! Marks and measures come in lines of their own, between the segments, each with the names that it needs:
//!
//! ```json
//! {"entryNames":["load","parse"],"entries":[[0,0,12.5,0],[1,1,10.25,2]],"droppedEntries":0}
//! ```
//!
//! - an entry is `[type, name, start time, duration]`, where the type is the
//!   [`EntryType`](selfprof_trace::EntryType)'s index, and times are milliseconds, as the script has them;
//! - `droppedEntries` counts those for which there was no room since the line before.
//!
//! A process that ended in order leaves a last line:
//!
//! ```json
//! {"end":{"reason":"exit","full":false}}
//! ```
//!
//! A process that seemed to end and went on leaves further segments behind it, and another end.
//!
//! # Versions
//!
//! 1. as above, without marks and measures;
//! 2. with them.

mod header;
mod reader;
mod writer;

pub use header::{End, Header, Mode, UnknownMode};
pub use reader::{Flaw, Journal, JournalError, read};
pub use writer::JournalWriter;

/// The version of the format that is written, in the first member of the header. Readers refuse later ones; those
/// before they read as what they mean in this one.
pub const VERSION: u64 = 2;

#[cfg(test)]
mod tests;
