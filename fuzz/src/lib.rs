//! Properties of everything that processes untrusted input: one function per fuzz target, which panics if the property
//! does not hold.
//!
//! `cargo xtask fuzz` searches for inputs that violate a property, and `cargo test` checks the inputs in `corpus/` and
//! `findings/`. The fuzzer itself limits time and memory. Tests of known inputs are in the crates of the readers.

#![forbid(unsafe_code)]

mod comparable;
mod compression;
mod journals;
mod profiles;
mod requests;
mod scripts;
mod source_maps;
mod writers;

pub use compression::gzip;
pub use journals::journal;
pub use profiles::{chrome, cpuprofile, detection, explainer, firefox, otlp, pprof, speedscope, w3c};
pub use requests::{options, webdriver};
pub use scripts::instrument;
pub use source_maps::{comments, data_url, names, source_map};
pub use writers::writers;

/// A fuzz target: its name, and the function that checks an input.
pub type Target = (&'static str, fn(&[u8]));

/// All targets. Each has folders of its name in `corpus/` and possibly `findings/`.
pub const TARGETS: [Target; 19] = [
    ("w3c", w3c),
    ("explainer", explainer),
    ("cpuprofile", cpuprofile),
    ("chrome", chrome),
    ("firefox", firefox),
    ("speedscope", speedscope),
    ("pprof", pprof),
    ("otlp", otlp),
    ("detection", detection),
    ("gzip", gzip),
    ("journal", journal),
    ("writers", writers),
    ("source_map", source_map),
    ("data_url", data_url),
    ("names", names),
    ("comments", comments),
    ("instrument", instrument),
    ("webdriver", webdriver),
    ("options", options),
];
