//! Errors of adding an element to a trace.

use std::fmt;

use crate::id::TableId;
use crate::table::TableFull;

/// Fails if the id is unknown.
pub(crate) fn known<I: TableId>(id: I, is_known: bool) -> Result<(), InternError> {
    if is_known { Ok(()) } else { Err(InternError::Unknown { table: I::TABLE, index: id.index() }) }
}

/// Why an element could not be added to a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InternError {
    /// A table is full.
    Full(TableFull),
    /// The element refers to an id that does not exist in this trace.
    Unknown {
        /// The table without the id: `"name"`, `"resource"`, `"frame"`, `"stack"` or `"entry name"`.
        table: &'static str,
        /// The index of the id.
        index: usize,
    },
}

impl From<TableFull> for InternError {
    fn from(full: TableFull) -> Self {
        Self::Full(full)
    }
}

impl fmt::Display for InternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(full) => full.fmt(f),
            Self::Unknown { table, index } => write!(f, "the trace has no {table} with id {index}"),
        }
    }
}

impl std::error::Error for InternError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Full(full) => Some(full),
            Self::Unknown { .. } => None,
        }
    }
}
