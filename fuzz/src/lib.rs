//! What must hold of everything that reads what others wrote, whatever that is: one function for each fuzz target, which panics
//! where it does not hold.
//!
//! `cargo xtask fuzz` looks for inputs by which it does not, `cargo test` checks those that are kept in `corpus/` and `findings/`.
//! That reading ends soon and takes little memory is up to the fuzzer's own limits. Absent on purpose: what a single reader makes
//! of an input that is known; that is in the tests of its crate.

#![forbid(unsafe_code)]

mod compression;
mod form;
mod journals;
mod made;
mod profiles;
mod requests;
mod source_maps;

pub use compression::gzip;
pub use journals::journal;
pub use made::writers;
pub use profiles::{cpuprofile, explainer, recognition, w3c};
pub use requests::{options, webdriver};
pub use source_maps::{comments, data_url, names, source_map};

/// A target: its name, and what it does with an input.
pub type Target = (&'static str, fn(&[u8]));

/// All of them. The tests read each one's folder in `corpus/` and `findings/`.
pub const TARGETS: [Target; 13] = [
    ("w3c", w3c),
    ("explainer", explainer),
    ("cpuprofile", cpuprofile),
    ("recognition", recognition),
    ("gzip", gzip),
    ("journal", journal),
    ("writers", writers),
    ("source_map", source_map),
    ("data_url", data_url),
    ("names", names),
    ("comments", comments),
    ("webdriver", webdriver),
    ("options", options),
];
