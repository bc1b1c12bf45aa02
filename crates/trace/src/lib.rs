//! What a profile is made of: the four tables of a W3C `ProfilerTrace`, kept small and always valid.
//!
//! A program that profiles itself takes a sample each millisecond, and most of them look alike. The JS
//! Self-Profiling API therefore stores each distinct resource, frame and stack once, and a sample is a
//! timestamp and a stack id ([§ The ProfilerTrace Dictionary]). This crate holds that structure, the
//! algorithm that fills it ("get an element ID"), and the sums over it. A trace may also hold the marks and measures
//! of the recorded time ([`Entries`]), by which the program says what it was about.
//!
//! ```
//! use selfprof_trace::{Frame, Micros, Sample, Stack, Trace, summary::Summary};
//!
//! let mut trace = Trace::new();
//! let name = trace.name("main")?;
//! let frame = trace.frame(Frame { name, resource: None, line: None, column: None })?;
//! let stack = trace.stack(Stack { parent: None, frame })?;
//! for millisecond in 0..3 {
//!     trace.push_sample(Sample { timestamp: Micros(millisecond * 1000), stack: Some(stack), marker: None });
//! }
//!
//! let summary = Summary::of(&trace);
//! assert_eq!(summary.functions[0].self_time, Micros(3000));
//! # Ok::<(), selfprof_trace::InternError>(())
//! ```
//!
//! Invariant: every id that a [`Trace`] holds resolves in that trace, and a stack's parent has a smaller id
//! than the stack. So readers never meet a dangling id or a cycle, and walk children before parents by
//! counting down. Traces from elsewhere come in through [`foreign`], which establishes this.
//!
//! Absent on purpose: JSON and every other format (`selfprof-formats`), the processing model of sessions
//! (`selfprof-session`), V8, clocks, files and threads.
//!
//! [§ The ProfilerTrace Dictionary]: https://wicg.github.io/js-self-profiling/#the-profilertrace-dictionary

#![forbid(unsafe_code)]

mod entries;
mod entry;
mod frame;
mod id;
mod marker;
mod micros;
mod millis;
mod recommended_mark;
mod sample;
mod stack;
mod strings;
mod table;
mod trace;

pub mod comparison;
pub mod foreign;
pub mod summary;
pub mod weigh;

#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use entries::Entries;
pub use entry::{Entry, EntryType, UnknownEntryType};
pub use frame::{Frame, Position};
pub use id::{EntryNameId, FrameId, NameId, ResourceId, StackId, TableId};
pub use marker::{Marker, UnknownMarker};
pub use micros::Micros;
pub use millis::Millis;
pub use recommended_mark::RecommendedMark;
pub use sample::Sample;
pub use stack::Stack;
pub use strings::Strings;
pub use table::{Table, TableFull};
pub use trace::{InternError, Trace};
