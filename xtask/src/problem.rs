//! An error with a hint.

use std::fmt;

/// What failed, on what, and a hint.
#[derive(Debug)]
pub struct Problem {
    what: String,
    hint: String,
}

impl Problem {
    /// Makes the error; `hint` should be a command to type or a place to look at.
    pub fn error(what: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
        anyhow::Error::new(Self { what: what.into(), hint: hint.into() })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n\nhint: {}", self.what, self.hint)
    }
}

impl std::error::Error for Problem {}
