//! The data model of a profile: the four tables of a W3C `ProfilerTrace`, compact and always valid.
//!
//! A program that profiles itself takes a sample every millisecond, and most samples are alike. The JS Self-Profiling
//! API therefore stores each distinct resource, frame and stack once, and a sample is a timestamp and a stack id
//! ([§ The ProfilerTrace Dictionary]). This crate has that structure, the algorithm that fills it ("get an element
//! ID"), and the times per function ([`summary`]). A trace may also have the program's marks and measures
//! ([`Entries`]).
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
//! Invariant: every id in a [`Trace`] resolves in that trace, and a stack's parent has a smaller id than the stack. So
//! there are no dangling ids and no cycles, and iterating over the stacks backwards visits children before their
//! parents. Traces from other sources are validated by [`foreign`], which establishes the invariant.
//!
//! This crate knows no JSON or other formats (see `selfprof-formats`), no sessions (see `selfprof-session`), no V8,
//! clocks, files or threads.
//!
//! [§ The ProfilerTrace Dictionary]: https://wicg.github.io/js-self-profiling/#the-profilertrace-dictionary

#![forbid(unsafe_code)]

mod call_samples;
mod calls;
mod entries;
mod entry;
mod evaluated;
mod file_url;
mod frame;
mod gc_frames;
mod id;
mod intern_error;
mod labels;
mod marker;
mod merged;
mod micros;
mod millis;
mod node_frames;
mod recommended_mark;
mod sample;
mod stack;
mod stack_totals;
mod strings;
mod table;
mod trace;
mod waiting;
mod waiting_frames;

pub mod comparison;
pub mod foreign;
pub mod summary;
pub mod weigh;

#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use calls::{CallCounts, CallEvent, CallEventType, CallSpan, Calls, Misfit};
pub use entries::Entries;
pub use entry::{Entry, EntryType, UnknownEntryType};
pub use evaluated::{evaluated_resource, evaluated_script};
pub use file_url::local_path;
pub use frame::{Frame, Position};
pub use gc_frames::GARBAGE_COLLECTOR;
pub use id::{EntryNameId, FrameId, LabelSetId, NameId, ResourceId, StackId, TableId};
pub use intern_error::InternError;
pub use labels::{LabelChange, LabelSet, Labels};
pub use marker::{Marker, UnknownMarker};
pub use merged::{Clock, MergedThreads};
pub use micros::Micros;
pub use millis::Millis;
pub use recommended_mark::RecommendedMark;
pub use sample::Sample;
pub use stack::Stack;
pub use stack_totals::StackTotal;
pub use strings::Strings;
pub use table::{Table, TableFull};
pub use trace::Trace;
pub use waiting::{WaitingPoint, WaitingTimes};
pub use waiting_frames::WAITING;
