//! Readers and writers of profile formats, one module each, all from or to a [`selfprof_trace::Trace`].
//!
//! Read and written: [`w3c`] (the `ProfilerTrace` of the JS Self-Profiling API), [`explainer`] (the format that the
//! API's explainer once proposed), [`cpuprofile`] (V8's), [`chrome`], [`firefox`], [`speedscope`], [`pprof`] and
//! [`otlp`]. Only written: [`collapsed`]. [`read()`] detects the format, [`write()`] writes any of them, and
//! [`losses()`] lists what a format cannot hold. [`journal`] is selfprof's own stream of a running recording; if the
//! process is killed, all but the last line survive.
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
//! Profiles may come from untrusted sources: readers repair and report invalid data, never panic, and bound their
//! memory. They take any [`std::io::Read`], writers any [`std::io::Write`]; none builds a tree of JSON values. If a
//! format has no sample weights, samples are placed so that its viewers show the times of [`selfprof_trace::summary`].
//! File names, and what to do about problems, are left to the programs that use this crate.
//!
//! Without the default feature `conversion`, only [`w3c`], [`explainer`] (written only) and [`journal`] are compiled,
//! which need few dependencies.

#![forbid(unsafe_code)]

mod error;
mod format;
mod formats;
mod functions;
mod json;
mod options;
mod other_formats;
mod script_map;
mod streams;
mod thread;

#[cfg(feature = "conversion")]
mod bounded_text;
#[cfg(feature = "conversion")]
mod detect;
#[cfg(feature = "conversion")]
mod losses;
#[cfg(feature = "conversion")]
mod protobuf;
#[cfg(feature = "conversion")]
mod read;
#[cfg(feature = "conversion")]
mod samples;
#[cfg(feature = "conversion")]
mod symbol_tables;
#[cfg(feature = "conversion")]
mod write;

pub use error::{ReadError, WriteError};
pub use format::{Format, UnknownFormat};
#[cfg(feature = "conversion")]
pub use formats::{chrome, collapsed, cpuprofile, firefox, otlp, pprof, speedscope};
pub use formats::{explainer, journal, w3c};
#[cfg(feature = "conversion")]
pub use losses::{Loss, holds_threads, losses};
pub use options::{ReadOptions, WriteOptions};
pub use other_formats::OtherFormat;
#[cfg(feature = "conversion")]
pub use read::{Hint, Profile, read};
pub use script_map::ScriptMap;
pub use thread::{Process, Thread};
#[cfg(feature = "conversion")]
pub use write::write;
