//! What is said beside the data, on stderr.
//!
//! Stderr may be closed or its reader gone. Then nobody listens, which is no reason to stop (or to panic, as
//! `eprintln!` does).

use std::fmt::Display;
use std::io::{self, Write};

use crate::paint::Paint;

/// Says something.
pub fn say(message: impl Display) {
    let _ = writeln!(io::stderr(), "{message}");
}

/// Tells what is worth knowing but no failure.
pub fn warn(message: impl Display) {
    say(format_args!("{} {message}", Paint::for_stderr().warning("warning:")));
}
