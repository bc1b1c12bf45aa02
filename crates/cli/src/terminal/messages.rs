//! Messages to the user, on stderr.
//!
//! A closed stderr is ignored; `eprintln!` would panic.

use std::fmt::Display;
use std::io::{self, Write};

use super::color::Colors;

/// Prints a message.
pub fn say(message: impl Display) {
    let _ = writeln!(io::stderr(), "{message}");
}

/// Prints a warning.
pub fn warn(message: impl Display) {
    say(format_args!("{} {message}", Colors::for_stderr().warning("warning:")));
}
