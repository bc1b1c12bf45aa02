//! The parts of a map that cannot be used, while the rest can.

use std::fmt;

use crate::scopes::BadScopes;

/// At most this many problems of a map are listed.
pub(crate) const MAX_PROBLEMS: usize = 16;

/// The number of bytes of a URL that is shown.
const MAX_URL_BYTES: usize = 200;

/// A part of a map that is invalid and was ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The version is missing, or is not a number.
    Version,
    /// The field with this name is not what it should be.
    Field(&'static str, &'static str),
    /// Items of the field with this name are not strings: how many.
    Items(&'static str, usize),
    /// Mappings have numbers that cannot be: how many, and the 1-based line of generated code with the first of them.
    /// They have no original, or no name.
    Mappings {
        /// How many mappings.
        count: usize,
        /// The 1-based line of the generated code.
        first_line: u32,
    },
    /// The range mappings are invalid, for this reason.
    RangeMappings(&'static str),
    /// The scopes are invalid.
    Scopes(BadScopes),
    /// The section with this 1-based number is invalid, for this reason.
    Section(usize, String),
    /// The section with this 1-based number is at a URL, which is not fetched.
    LinkedSection(usize, String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version => f.write_str("the version (it is missing, or not a number)"),
            Self::Field(name, expected) => write!(f, "the field {name} (it is not {expected})"),
            Self::Items(name, 1) => write!(f, "an item of the field {name} (it is not a string)"),
            Self::Items(name, count) => write!(f, "{count} items of the field {name} (they are not strings)"),
            Self::Mappings { count: 1, first_line } => {
                write!(f, "a mapping (of line {first_line}, with a number that is negative or too large)")
            }
            Self::Mappings { count, first_line } => write!(
                f,
                "{count} mappings (the first is of line {first_line}, with a number that is negative or too large)"
            ),
            Self::RangeMappings(reason) => write!(f, "the range mappings ({reason})"),
            Self::Scopes(error) => write!(f, "the scopes ({error})"),
            Self::Section(number, reason) => write!(f, "section {number} ({reason})"),
            Self::LinkedSection(number, url) => {
                let url = &url[..url.floor_char_boundary(MAX_URL_BYTES)];
                write!(f, "section {number} (it is at {url}, and URLs are not fetched)")
            }
        }
    }
}

/// The problems of a map.
#[derive(Debug, Default)]
pub(crate) struct Problems(Vec<Problem>);

impl Problems {
    pub(crate) fn add(&mut self, problem: Problem) {
        if self.0.len() < MAX_PROBLEMS {
            self.0.push(problem);
        }
    }

    pub(crate) fn list(&self) -> &[Problem] {
        &self.0
    }
}
