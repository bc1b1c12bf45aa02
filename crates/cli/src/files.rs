//! Reading profiles and writing results.

pub mod atomic;
mod download;
pub mod input;
pub mod output;
pub mod stdout;
