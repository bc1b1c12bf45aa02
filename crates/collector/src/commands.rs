//! The commands.

mod client;
pub mod import;
pub mod maps;
pub mod query;
pub mod serve;
mod store;
