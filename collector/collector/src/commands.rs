//! The commands.

mod client;
pub mod delete;
pub mod engine;
pub mod import;
pub mod maps;
mod process;
pub mod query;
pub mod serve;
mod store;
