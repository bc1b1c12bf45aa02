//! The forms in which profiles are stored and exchanged: one module each, all of them to or from a
//! [`selfprof_trace::Trace`].
//!
//! - [`w3c`]: the `ProfilerTrace` of the JS Self-Profiling API as JSON, which everybody may have written, so
//!   its reader trusts nothing and reports what it repaired.
//! - [`journal`]: selfprof's own stream of a running recording, of which a killed process leaves all but the
//!   last line whole.
//! - [`explainer`]: the format that the API's explainer once proposed for the profiles of several threads, which is written
//!   alone.
//!
//! Readers take any [`std::io::Read`], writers any [`std::io::Write`]; both stream, and build no tree of JSON
//! values. Absent on purpose: file names, and what to do about problems; that is up to the products.

#![forbid(unsafe_code)]

mod json;

pub mod explainer;
pub mod journal;
pub mod w3c;
