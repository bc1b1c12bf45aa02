//! The [`ProfilerTrace`] of the JS Self-Profiling API as JSON: what `JSON.stringify(await profiler.stop())`
//! gives in a browser, and what selfprof writes.
//!
//! ```
//! let json = br#"{
//!     "resources": ["https://example.com/app.js"],
//!     "frames": [{"name": "main", "resourceId": 0, "line": 1, "column": 10}],
//!     "stacks": [{"frameId": 0}],
//!     "samples": [{"timestamp": 12.5, "stackId": 0, "marker": "script"}]
//! }"#;
//! let (trace, problems) = selfprof_formats::w3c::read(&json[..])?;
//! assert!(problems.is_empty());
//!
//! let mut written = Vec::new();
//! selfprof_formats::w3c::write(&trace, &mut written, Default::default())?;
//! assert!(written.starts_with(br#"{"frames":[{"column":10,"line":1,"name":"main","resourceId":0}]"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! selfprof adds members of its own beside the standard ones: `entries` and `droppedEntriesCount` for marks and
//! measures, and `sourceMaps` for the [source maps](crate::ScriptMap) of scripts that were compiled in memory:
//!
//! ```json
//! "sourceMaps": [{"map": {"version": 3, "sources": ["a.ts"], "mappings": "AAAA"}, "resourceId": 0}]
//! ```
//!
//! and `evaluated` for functions that `eval` or `new Function` made, which have only a name in the standard. It says
//! which script they are in, by the engine's number, and where:
//!
//! ```json
//! "evaluated": [{"column": 14, "frameId": 5, "line": 3, "scriptId": 230}]
//! ```
//!
//! In a [`Trace`](selfprof_trace::Trace) their resource is an [evaluated one](selfprof_trace::evaluated_resource).
//!
//! `waitingTimes` says how long the thread had [waited](selfprof_trace::WaitingTimes) at some times, in milliseconds;
//! straight lines connect them:
//!
//! ```json
//! "waitingTimes": {"timestamps": [12.5, 512.5], "values": [0, 498.2]}
//! ```
//!
//! `labels` are the [labels](selfprof_trace::Labels) that samples have, and a sample's `labelsId` is an index into
//! them:
//!
//! ```json
//! "labels": [{"http.route": "/cart"}], "samples": [{"labelsId": 0, "stackId": 0, "timestamp": 12.5}]
//! ```
//!
//! `durations` are the times that samples stand for, in milliseconds, if a trace was converted from a format that
//! states them and if they are not those that the [timestamps imply](selfprof_trace::weigh):
//!
//! ```json
//! "durations": [1, 300], "samples": [{"stackId": 0, "timestamp": 12.5}, {"stackId": 1, "timestamp": 312.5}]
//! ```
//!
//! `calls` are the [calls](selfprof_trace::Calls) of traced functions, which take the place of samples: three columns
//! with one element for each event. `types` are 0 for a call, 1 for its end, 2 if it is suspended and 3 if it is
//! resumed; times are in milliseconds. If events were lost, `end` is the time of the first of them.
//!
//! ```json
//! "calls": {"end": 20, "frameIds": [0, 0], "start": 12.5, "timestamps": [13, 14.25], "truncated": false, "types": [0, 1]}
//! ```
//!
//! [`ProfilerTrace`]: https://wicg.github.io/js-self-profiling/#the-profilertrace-dictionary

mod calls;
mod durations;
mod elements;
mod evaluated;
mod labels;
mod lists;
mod read;
mod reading;
mod source_maps;
mod threads;
mod waiting_times;
mod write;

#[cfg(feature = "conversion")]
pub(crate) use read::read_threads_of_text;
pub use read::{read, read_threads, read_with};
pub use write::{write, write_threads};

pub use crate::error::ReadError;
pub use crate::options::{ReadOptions, WriteOptions};

#[cfg(test)]
mod tests;
