//! The profile of the explainer's minimal API proposal, version 1: what `performance.startProfiling()` leads to.
//!
//! Before there was a `Profiler`, the [explainer] proposed a format for the profiles of several threads at once. Its
//! stacks are a trie, as those of the W3C shape are, but functions are strings, and each thread has a list of what
//! happened on it.
//!
//! ```
//! use selfprof_formats::explainer::{self, Options, Thread};
//! use selfprof_trace::{Frame, Micros, Sample, Stack, Trace};
//!
//! let mut trace = Trace::new();
//! let name = trace.name("start")?;
//! let frame = trace.frame(Frame { name, resource: None, line: None, column: None })?;
//! let stack = Some(trace.stack(Stack { parent: None, frame })?);
//! trace.push_sample(Sample { timestamp: Micros(12_345_500), stack, marker: None });
//!
//! let mut written = Vec::new();
//! let options = Options { interval: Micros(1000), max_buffer_size: 100 };
//! explainer::write(&[Thread { name: "main-thread".to_owned(), trace }], options, &mut written)?;
//! assert_eq!(
//!     String::from_utf8(written)?,
//!     concat!(
//!         r#"{"version":1,"options":{"interval":1,"maxBufferSize":100,"version":1},"effectiveInterval":null,"#,
//!         r#""profile":{"strings":["start"],"stackFrames":{"1":{"name":0}},"#,
//!         r#""main-thread":[{"type":"stack","timestamp":12345.5,"stack":1}]}}"#,
//!     ),
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What the explainer leaves open is done so:
//!
//! - a string is `name @ resource:line:column`, as far as these are known; a function without a name is `(anonymous)`;
//! - a stack entry without `stack` tells that nothing ran, or nothing that may be shown;
//! - marks and measures stand among the stacks, in time order, with their names and, for measures, the `duration`;
//! - `effectiveInterval` is the median time between the samples of the first thread, `null` with fewer than two;
//! - ids count from 1, so that none of them is falsy.
//!
//! [explainer]: https://github.com/WICG/js-self-profiling

mod read;
mod write;

pub(crate) use read::read_text;
pub(crate) use write::write_with;
pub use write::{Options, write};

pub use crate::{Thread, WriteError};

/// What stands for the name of a function without one.
const ANONYMOUS: &str = "(anonymous)";

/// The version of the format.
pub const VERSION: u32 = 1;

#[cfg(test)]
mod tests;
