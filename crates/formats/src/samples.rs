//! Views of a trace's samples that several formats are written from, and what several are read with.

pub(crate) mod placed;
pub(crate) mod spans;
pub(crate) mod states;
pub(crate) mod totals;
pub(crate) mod value_types;
