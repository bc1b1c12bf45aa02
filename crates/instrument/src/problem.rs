//! Why a source is not instrumented.

use crate::positions::{Position, Positions};

use std::fmt;

/// Why a source is not instrumented. It can be used as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The source is larger than [`MAX_SOURCE_BYTES`](crate::MAX_SOURCE_BYTES).
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// Parsing the source might take more stack than there is.
    TooDeep {
        /// An upper bound of its nesting.
        depth: u32,
        /// What the stack allows.
        limit: u32,
    },
    /// How deep the source nests cannot be told without parsing it: it has a `/` that may divide or start a regular
    /// expression.
    UnknownDepth,
    /// The source is not JavaScript, or is newer than the parser.
    Syntax {
        /// What the parser says.
        message: String,
        /// Where.
        position: Option<Position>,
    },
    /// The source spells one of the runtime's names with escape sequences, or has it although it was given as absent.
    NameInUse,
}

impl Problem {
    pub(crate) fn syntax(source: &str, diagnostic: &oxc_diagnostics::OxcDiagnostic) -> Self {
        let offset = diagnostic.labels.first().map(|label| label.offset());
        let position = offset
            .filter(|offset| source.is_char_boundary(*offset as usize))
            .map(|offset| Positions::new(source).position(offset));
        Self::Syntax { message: diagnostic.message.to_string(), position }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { bytes } => {
                write!(f, "{bytes} bytes are more than the limit of {}", crate::MAX_SOURCE_BYTES)
            }
            Self::TooDeep { depth, limit } => {
                write!(f, "it may nest {depth} levels deep, and the limit is {limit}")
            }
            Self::UnknownDepth => f.write_str("how deep it nests cannot be told before it is parsed"),
            Self::Syntax { message, position: Some(Position { line, column }) } => {
                write!(f, "{line}:{column}: {message}")
            }
            Self::Syntax { message, position: None } => f.write_str(message),
            Self::NameInUse => f.write_str("it uses a name of the instrumentation"),
        }
    }
}

impl std::error::Error for Problem {}
