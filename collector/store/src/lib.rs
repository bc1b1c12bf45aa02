//! Profiles from the wild as tables: taken in durably, added up, asked for and compared.
//!
//! What is accepted is durable in a [write-ahead log](log) before it is acknowledged. Sealed parts of the log become
//! rows of Delta tables of Parquet files, on a disk or in a bucket; any number of collectors write to the same tables,
//! and agree on numbers because these are [hashes of what they number](ids). Queries are plain SQL.
//!
//! This crate knows no HTTP and no source of time; `selfprof-collector` has both.

#![forbid(unsafe_code)]

pub mod alerts;
pub mod cluster;
pub mod coverage;
pub mod filter;
pub mod ids;
pub mod log;
pub mod maps;
pub mod profile;
pub mod query;
mod recent;
mod store;
pub mod tables;
pub mod upkeep;

pub use store::{Acknowledged, Added, LIMITS, OpenError, Options, Progress, STACKS_PER_HOUR, Store};
