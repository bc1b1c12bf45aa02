//! V8's CPU profile, as `node --cpu-prof` and DevTools store it: the [`Profile`] of the DevTools protocol as JSON.
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
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! V8's root goes, its `(idle)` is a sample without stack and marker, its `(garbage collector)` one with the marker `gc`, its
//! `(program)` one with the marker `other`. Times stay on the clock of the file, whose zero is any moment.
//!
//! What is written shows the same sums in DevTools as `selfprof top` does: samples stand where the time begins that they stand
//! for (DevTools draws them from there to the next one), pauses are `(idle)`, and work without a function is a function of its
//! own, e.g. `(layout)`. Times are moved to where DevTools' arithmetic does not go wrong, to a microsecond. A member
//! `selfprof` says so, by which they are read back as they were. The format has no place for the marker of a sample with a
//! stack, nor for marks and measures.
//!
//! [`Profile`]: https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile

pub(crate) mod nodes;
mod read;
mod settled;
mod write;

pub use read::read;
pub(crate) use read::read_text;
pub use write::write;

#[cfg(test)]
mod tests;
