//! Traces from untrusted sources: collected, validated, and repaired where partial data is useful.
//!
//! The reader of a format pushes the elements as it reads them, then calls [`ForeignTrace::validate`], which returns a
//! valid [`Trace`](crate::Trace) and a list of the problems that it repaired. Hostile input cannot make it panic, hang
//! or recurse, and its memory is linear in the number of elements, which [`Limits`] bound.
//!
//! ```
//! use selfprof_trace::foreign::{ForeignFrame, ForeignSample, ForeignStack, ForeignTrace, Limits};
//!
//! let mut foreign = ForeignTrace::new(Limits::default());
//! foreign.push_frame(&ForeignFrame { name: "main", resource_id: None, line: None, column: None })?;
//! foreign.push_stack(ForeignStack { parent_id: Some(7.0), frame_id: 0.0 })?;
//! foreign.push_sample(ForeignSample { timestamp: 1.5, stack_id: Some(0.0), marker: None })?;
//!
//! let (trace, problems) = foreign.validate();
//! assert_eq!(trace.samples().len(), 1);
//! assert_eq!(
//!     problems.list()[0].to_string(),
//!     "stacks[0].parentId is 7, which is not the id of an entry: the stack is kept without a parent",
//! );
//! # Ok::<(), selfprof_trace::foreign::LimitExceeded>(())
//! ```

mod calls;
mod elements;
mod foreign_trace;
mod limits;
mod problem;
mod samples;
mod validate;
mod vocabulary;

pub use calls::ForeignCalls;
pub use elements::{ForeignEntry, ForeignFrame, ForeignSample, ForeignStack};
pub use foreign_trace::ForeignTrace;
pub use limits::{LimitExceeded, Limits};
pub use problem::{Location, Problem, ProblemKind, Problems, Remedy};
pub use vocabulary::Vocabulary;

#[cfg(test)]
mod tests;
