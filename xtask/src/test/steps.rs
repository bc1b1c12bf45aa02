//! What the steps do, by what they test with.

pub mod cargo;
pub mod collector;
pub mod conformance;
pub mod consumers;
pub mod environment;
pub mod fuzzing;
pub mod javascript;
pub mod report;
pub mod selenium;
pub mod shop;
pub mod tarballs;
