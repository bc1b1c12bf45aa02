//! Views of a trace's samples that several formats are written from.

pub(crate) mod spans;
pub(crate) mod states;
pub(crate) mod totals;
pub(crate) mod value_types;
