//! Reading profiles and writing results.

pub mod atomic;
pub mod input;
pub mod output;
pub mod stdout;
