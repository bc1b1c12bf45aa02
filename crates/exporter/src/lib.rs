//! Sends the profiles of running programs: to a collector, a folder, Pyroscope, or as OTLP.
//!
//! `node --import selfprof/agent server.mjs` records every thread into journals in a private folder, and begins a new
//! journal each minute. All encoding and sending is done by this crate, in a separate process, so an endpoint that is
//! down or slow cannot slow the program, and a program that is killed loses almost nothing.
//!
//! ```no_run
//! use std::path::Path;
//! use std::sync::Arc;
//!
//! // Without source maps.
//! if let Some(exporter) = selfprof_exporter::Exporter::open(Path::new("/tmp/folder"), Arc::new(|_| Vec::new()))? {
//!     exporter.run();
//! }
//! # Ok::<(), selfprof_exporter::OpenError>(())
//! ```
//!
//! # The folder
//!
//! - `settings.json`: [`Settings`].
//! - `exporter.lock`: the exporter holds its lock (`flock`).
//! - `PROCESS.alive`: each recorded process holds the lock of its file while it lives, and writes
//!   something into it when it has the lock. `PROCESS` is the id of
//!   the process, a dot, and a text that makes it unique.
//! - `PROCESS.THREAD.journal`: the journal that a thread writes; `THREAD` is `main` or `worker-N`.
//! - `PROCESS.THREAD.maps.journal`: the source maps of its scripts, for all periods.
//! - `PROCESS.THREAD.NUMBER.finished`: a complete journal of a period. Of each process, those with the same number
//!   belong together.
//! - `PROCESS.NUMBER.sent`: the threads whose parts were sent together and are being deleted.
//! - `PROCESS.THREAD.failure`: why a thread is not recorded.
//!
//! A part is deleted after its receiver has it, so a kill at any moment loses none. What was sent and not deleted is
//! sent again, with the same id or under the same name.
//!
//! This crate knows no source maps, no command line and no signals: the program that uses it passes them in.

#![forbid(unsafe_code)]

mod backoff;
mod batch;
mod calendar;
mod exporter;
mod folder;
mod messages;
mod outputs;
mod pages;
mod requests;
mod sender;
mod settings;
mod source;
mod spool;
mod watch;

pub use batch::FindMaps;
pub use exporter::{Exporter, OpenError, Stopper};
pub use settings::{OutputFormat, Settings, SettingsError};
