//! The profile format of the API's explainer, version 1: the result of `performance.startProfiling()`.
//!
//! Before `Profiler`, the [explainer] proposed a format for the profiles of several threads. Its stacks form a trie, as
//! in the W3C format, but functions are strings, and each thread has one list of stacks, marks and measures.
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
//! explainer::write(&[Thread::main(trace)], options, &mut written)?;
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
//! selfprof fills the gaps of the proposal as follows:
//!
//! - a string is `name @ resource:line:column`, as far as these are known; a function without a name is `(anonymous)`;
//! - an entry of type `stack` without `stack` means that nothing ran, or nothing that may be shown;
//! - marks and measures are in the same list, in time order, with their names and, for measures, the `duration`;
//! - `effectiveInterval` is the median time between the samples of the first thread, `null` with fewer than two;
//! - ids count from 1, so that none of them is falsy.
//!
//! [explainer]: https://github.com/WICG/js-self-profiling

#[cfg(feature = "conversion")]
mod read;
mod write;

#[cfg(feature = "conversion")]
pub(crate) use read::read_text;
#[cfg(feature = "conversion")]
pub(crate) use write::write_with;
pub use write::{Options, VERSION, write};

pub use crate::error::WriteError;
pub use crate::thread::Thread;

#[cfg(all(test, feature = "conversion"))]
mod tests;
