//! The forms in which profiles are stored and exchanged: one module each, all of them to or from a
//! [`selfprof_trace::Trace`].
//!
//! Read and written are [`w3c`] (the `ProfilerTrace` of the JS Self-Profiling API), [`explainer`] (the format that the
//! API's explainer once proposed) and [`cpuprofile`] (V8's). Written alone are [`chrome`], [`firefox`], [`speedscope`],
//! [`pprof`], [`collapsed`] and [`otlp`]. [`read()`] recognises what it reads, [`write()`] writes any of them, and [`losses`] tells
//! what a format has no place for. [`journal`] is selfprof's own stream of a running recording, of which a killed process
//! leaves all but the last line whole.
//!
//! ```
//! use selfprof_formats::{Format, Hint, ReadOptions, Thread, WriteOptions, losses, read, write};
//!
//! let json = br#"{"frames":[{"name":"main"}],"resources":[],"stacks":[{"frameId":0}],
//!     "samples":[{"timestamp":1,"stackId":0},{"timestamp":2,"stackId":0},{"timestamp":3}]}"#;
//! let profile = read(&json[..], Hint::default(), &ReadOptions::default())?;
//! assert_eq!(profile.format, Format::W3c);
//!
//! let threads: Vec<Thread> = profile.threads.into_iter().map(|(thread, _)| thread).collect();
//! assert_eq!(losses(Format::Collapsed, &threads)[1].to_string(), "1 idle sample");
//! let mut lines = Vec::new();
//! write(Format::Collapsed, &threads, &mut lines, WriteOptions::default())?;
//! assert_eq!(lines, b"main 2000\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Profiles may come from anybody: readers trust nothing, report what they repaired, and neither panic nor take memory
//! without bound. They take any [`std::io::Read`], writers any [`std::io::Write`]; none builds a tree of JSON values. Where a
//! format knows no weights, times are placed so that its consumers show the sums that [`selfprof_trace::summary`] has. Absent on
//! purpose: file names, and what to do about problems; that is up to the products.

#![forbid(unsafe_code)]

mod error;
mod format;
mod input;
mod json;
mod options;
mod output;
mod read;
mod recognise;
mod spans;
mod thread;
mod totals;
mod write;

pub mod chrome;
pub mod collapsed;
pub mod cpuprofile;
pub mod explainer;
pub mod firefox;
pub mod journal;
pub mod otlp;
pub mod pprof;
pub mod speedscope;
pub mod w3c;

pub use error::{ReadError, WriteError};
pub use format::{Format, UnknownFormat};
pub use options::{ReadOptions, WriteOptions};
pub use read::{Hint, Profile, read};
pub use thread::Thread;
pub use write::{Loss, losses, write};

/// The version of the member `selfprof` that our files of other formats have.
const VERSION_OF_MEMBER: u32 = 1;
