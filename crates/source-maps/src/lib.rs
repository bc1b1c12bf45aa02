//! Original places and names for the functions of a trace, by [source maps] (ECMA-426).
//!
//! A profiler sees generated code: bundled, transpiled, with names that a minifier chose. A [`Map`] leads from a position in it to
//! one in the source it was made of, and [`apply`] puts these into a trace.
//!
//! ```
//! use selfprof_source_maps::{Map, apply};
//! use selfprof_trace::{Frame, Trace};
//!
//! let map = Map::read(br#"{
//!     "version": 3, "sources": ["app.js"], "names": [], "mappings": "AAAA,SAAS",
//!     "sourcesContent": ["function fibonacci(n) {}"]
//! }"#)?;
//! let mut trace = Trace::new();
//! let (name, resource) = (trace.name("a")?, Some(trace.resource("file:///out/app.min.js")?));
//! trace.frame(Frame { name, resource, line: 1.try_into().ok(), column: 11.try_into().ok() })?;
//!
//! let (mapped, counts) = apply(&trace, |_| Some(&map))?;
//! assert_eq!(counts.mapped, 1);
//! assert_eq!(mapped.names().iter().next().map(|(_, name)| name), Some("fibonacci"));
//! assert_eq!(mapped.resources().iter().next().map(|(_, url)| url), Some("file:///out/app.js"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A frame's position is where its function is defined, so its original name is what the source calls the function that
//! is defined there. A map with [scopes] says so; else it is read off the text around the position. What the source does not
//! tell, the map's own list of names may; else the name stays.
//!
//! It does not parse the sources. They come from anybody, and the parsers of JavaScript and TypeScript that were tried (oxc 0.96) recurse
//! for each level of nesting, which ends the process when its stack ends, and take exponential time for some texts. What is
//! read instead takes time proportional to a few lines.
//!
//! Where there is no map, or it lacks a position, nothing is lost: the frame keeps its raw place, and [`Counts`] tell how many did not.
//! Absent on purpose: files and URLs' contents; whoever uses this finds them, with [`Comments`]' help.
//!
//! [source maps]: https://tc39.es/ecma426/
//! [scopes]: https://github.com/tc39/ecma426/blob/main/proposals/scopes.md

#![forbid(unsafe_code)]

mod comments;
mod declaration;
mod excerpt;
mod map;
mod scopes;
mod trace;
mod url;

pub use comments::Comments;
pub use excerpt::Excerpt;
pub use map::{Map, MapError};
pub use scopes::BadScopes;
pub use trace::{Counts, apply, apply_with_excerpts};
