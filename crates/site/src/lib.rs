//! Copies the files of a built site, so that browsers without the JS Self-Profiling API can profile it.
//!
//! Scripts and the inline scripts of pages are instrumented by `selfprof-instrument`, pages load the polyfill's runtime
//! first, and the checksums of scripts that changed are replaced. Beside the copies are the runtime and the table of
//! functions.
//!
//! ```no_run
//! use selfprof_site::{Mode, Options, instrument};
//!
//! let options = Options {
//!     inputs: vec!["dist".into()],
//!     output: "dist-profiled".into(),
//!     has_source_maps: true,
//!     include: Vec::new(),
//!     exclude: vec!["vendor-*.js".to_owned()],
//!     mode: Mode::Sample { min_statements: 4 },
//! };
//! let summary = instrument(&options, &std::fs::read_to_string("polyfill.js")?)?;
//! println!("{} scripts", summary.counts.scripts);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! No input is changed, and nothing is written outside of the output folder. What cannot be read or parsed comes
//! through as it is, and [`Summary::left_out`] names it.
//!
//! This crate prints nothing, and does not know where the runtime's template is.

#![forbid(unsafe_code)]

mod build;
mod copies;
mod error;
mod files;
mod functions_table;
mod html;
mod options;
mod runtime;
mod scan;
mod scripts;
mod summary;
mod workers;

pub use copies::instrument;
pub use error::{PatternKind, SiteError};
pub use html::markup::{Attribute, Link, Markup, ScriptElement, ScriptKind, Surroundings};
pub use options::{Mode, Options};
pub use summary::{Choice, ChosenScript, Counts, Growth, LeftOut, Reason, Summary};
