//! V8's CPU profile, as written by `node --cpu-prof` and DevTools: the [`Profile`] of the DevTools protocol as JSON.
//!
//! ```
//! use selfprof_formats::{ReadOptions, cpuprofile};
//!
//! let json = br#"{
//!     "nodes": [
//!         {"id": 1, "callFrame": {"functionName": "(root)", "scriptId": "0", "url": "", "lineNumber": -1, "columnNumber": -1},
//!          "children": [2]},
//!         {"id": 2, "callFrame": {"functionName": "main", "scriptId": "7", "url": "file:///a.js", "lineNumber": 0, "columnNumber": 9}}
//!     ],
//!     "startTime": 1000, "endTime": 3000, "samples": [2, 2], "timeDeltas": [500, 1000]
//! }"#;
//! let (trace, problems) = cpuprofile::read(&json[..], &ReadOptions::default())?;
//! assert!(problems.is_empty());
//! assert_eq!(trace.samples()[1].timestamp.as_millis_f64(), 2.5);
//! assert_eq!(trace.weights()[1].as_millis_f64(), 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! On reading, V8's `(root)` is removed. A sample of `(idle)` gets neither stack nor marker, one of
//! `(garbage collector)` the marker `gc`, one of `(program)` the marker `other`. Times stay on the clock of the file,
//! which has an arbitrary zero. Samples are sorted by time: V8 writes negative deltas. A sample lasts until the next
//! one, the last one until the end of the profile, and the time before the first one is idle. The time of a sample in
//! the trace is its end.
//!
//! Written profiles show the times of `selfprof top` in DevTools: samples are placed at the start of the span that they
//! stand for (DevTools draws each until the next one), pauses are `(idle)`, and work without a function is shown as
//! one, e.g. `(layout)`. Times are shifted, and rounded to microseconds that DevTools's arithmetic preserves; a member
//! `selfprof` records the changes, so that reading restores the original times. The format cannot hold the marker of a
//! sample with a stack, nor marks and measures.
//!
//! [`Profile`]: https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile

mod devtools_time;
mod extension;
pub(crate) mod nodes;
mod read;
mod unescaped;
mod write;

pub use read::read;
pub(crate) use read::{ProfileInChunks, read_text};
pub use write::write;

#[cfg(test)]
mod tests;
