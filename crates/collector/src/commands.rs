//! The commands.

pub mod import;
pub mod query;
pub mod serve;
mod store;
