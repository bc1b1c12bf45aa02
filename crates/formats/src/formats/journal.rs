//! The journal of a recording: an append-only stream, written while the program runs.
//!
//! A profiled process may be killed at any moment. The journal is NDJSON, and each line is written by one call, so
//! every complete line of a killed process is valid.
//!
//! The first line is the header:
//!
//! ```json
//! {"selfprofJournal":6,"pid":7,"threadId":0,"interval":1000,"mode":"eager","timeOrigin":1700000000000.5,"node":"v20.1.2","entries":true,"origin":5000000,"threadName":"main-thread","command":"node a.js"}
//! ```
//!
//! `interval` is in microseconds, `timeOrigin` in milliseconds since the Unix epoch, and `entries` says whether marks
//! and measures are recorded. `origin` is the time origin in microseconds of the system's monotonic clock, which all
//! processes share. The next line reserves bytes for the reason why the file could not be written further, since a full
//! disk has no others. They are spaces unless that happens:
//!
//! ```json
//! {"failed":"        "}
//! ```
//!
//! Segments follow. Each has the table entries that are new since the previous segment, and
//! the samples:
//!
//! ```json
//! {"names":["main"],"resources":["file:///a.js"],"frames":[[0,0,1,1]],"stacks":[[-1,0]],"samples":[[1000,0,1]],"lost":0}
//! ```
//!
//! - a frame is `[name, resource or -1, line or 0, column or 0]`;
//! - a stack is `[parent or -1, frame]`;
//! - a sample is `[microseconds since the previous sample, stack or -1, marker]`, where the marker is 0 for none
//!   and otherwise the [`Marker`](selfprof_trace::Marker)'s index + 1;
//! - a run of idle samples is
//!   `[microseconds since the previous sample, -1, 0, count, microseconds from its first sample to its last]`. Readers
//!   space the samples between these two evenly;
//! - `lost` counts the samples that were taken but dropped since the previous segment.
//!
//! A segment that begins with `"fresh":true` clears the tables, which bounds their size in an endless recording. Ids
//! count the entries since then, from 0. The time of the first sample is relative to the time origin.
//!
//! Marks and measures are on lines of their own between the segments, each with the names that it uses:
//!
//! ```json
//! {"entryNames":["load","parse"],"entries":[[0,0,12.5,0],[1,1,10.25,2]],"droppedEntries":0}
//! ```
//!
//! - an entry is `[type, name, start time, duration]`, where the type is the
//!   [`EntryType`](selfprof_trace::EntryType)'s index, and times are milliseconds, as the script has them;
//! - `droppedEntries` counts the entries that were dropped since the previous line.
//!
//! So are the source mapping URLs of scripts that occur in samples, which may be `data:` URLs, and the number of those
//! that are left out because they are too long or too many:
//!
//! ```json
//! {"sourceMaps":[["file:///a.ts","data:application/json;base64,e30="]]}
//! {"leftOutSourceMaps":1}
//! ```
//!
//! So is how long the thread has [waited](selfprof_trace::WaitingTimes), as a line through points:
//!
//! ```json
//! {"waiting":[[1000,0],[500000,498200]]}
//! ```
//!
//! - a point is `[microseconds since the previous point, microseconds of waiting since then]`. The first one is
//!   relative to the time origin, and is there even if the thread never waits: then the waiting time is known.
//!
//! So are the [labels](selfprof_trace::Labels) of samples, with the sets that the line uses:
//!
//! ```json
//! {"labelSets":[{"http.route":"/cart"}],"labels":[[1000,0],[2500,-1]]}
//! ```
//!
//! - a change is `[microseconds since the time origin, set or -1]`: samples have these labels from then on.
//!
//! A process that exits normally writes a last line:
//!
//! ```json
//! {"end":{"reason":"exit","full":false}}
//! ```
//!
//! If the process goes on after that, it writes further segments and another end.
//!
//! # Versions
//!
//! 1. without marks and measures;
//! 2. with marks and measures;
//! 3. with the origin, the name of the thread and the command in the header, runs of idle samples, and source maps;
//! 4. with waiting times;
//! 5. with bytes reserved for a reason;
//! 6. with labels.

mod files;
mod header;
mod reader;
mod writer;

pub use files::{JournalFiles, Retention};
pub use header::{End, Header, Mode, UnknownMode, VERSION};
pub use reader::{Flaw, Journal, JournalError, read, read_with};
pub use writer::JournalWriter;

#[cfg(test)]
mod tests;
