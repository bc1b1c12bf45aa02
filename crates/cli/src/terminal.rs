//! What a terminal shows: messages, colors, names and tables.

pub mod calls;
pub mod color;
pub mod messages;
pub mod names;
pub mod tables;
