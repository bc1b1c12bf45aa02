//! Original names and locations for the functions of a trace, from [source maps] (ECMA-426).
//!
//! A profiler sees generated code: bundled, transpiled, minified. A [`Map`] maps positions in it to positions in the
//! original source, and [`apply`] replaces the names and locations in a trace.
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
//! A frame's position is that of the function's definition. Its original name comes from the map's [scopes] if there
//! are any, or else from the mapping of the function's own name in `function name(` or `name(`, or else from the syntax
//! tree of its source; otherwise, the generated name is kept. Names of other mappings are not used: V8's position of
//! `row => 1` is that of `row`.
//!
//! Sources are untrusted. They are parsed in threads with a stack that fits, after a look at how deep they nest, and
//! not at all if that would take too much time or memory.
//!
//! Anonymous functions get a name by what they are assigned to, by the call that they are an argument of, or by the
//! function that returns them: [`infer_names`] for the functions of a script, [`MappedFunction::inferred`] for those of
//! a map.
//!
//! Without a map, or if the map has no mapping for the position, a frame is kept unchanged; [`Counts`] reports how many
//! were mapped. This crate reads no files and fetches no URLs; callers find the maps, with the help of [`Comments`].
//!
//! [source maps]: https://tc39.es/ecma426/
//! [scopes]: https://github.com/tc39/ecma426/blob/main/proposals/scopes.md

#![forbid(unsafe_code)]

mod comments;
mod data_url;
mod excerpt;
mod inference;
mod map;
mod map_error;
mod problem;
mod scopes;
mod text;
mod trace;
mod tree;
mod url;
mod vlq;

pub use comments::Comments;
pub use data_url::json_of_data_url;
pub use excerpt::Excerpt;
pub use inference::{FunctionPlace, TOP_LEVEL, infer_names};
pub use map::{Map, OriginalPosition, without_guard};
pub use map_error::MapError;
pub use problem::Problem;
pub use scopes::BadScopes;
pub use trace::{Counts, MappedFunction, apply, apply_with_sources};
