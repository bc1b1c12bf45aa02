//! Profiles from the wild as tables: taken in durably, added up, asked for and compared.
//!
//! What is accepted is in a [write-ahead log](log) before its sender hears of it. Sealed parts of the log become rows of
//! Delta tables of Parquet files, on a disk or in a bucket; any number of collectors write to the same tables, and
//! agree on numbers because these are [hashes of what they number](ids). Queries are plain SQL.
//!
//! This crate knows no HTTP and no source of time; `selfprof-collector` has both.

#![forbid(unsafe_code)]

pub mod cluster;
pub mod ids;
pub mod log;
pub mod maps;
pub mod profile;
mod store;
pub mod tables;

pub use store::{Added, LIMITS, OpenError, Options, Progress, Store};
pub mod filter;
pub mod query;
