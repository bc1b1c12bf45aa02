//! What the steps do, by what they test with.

pub mod cargo;
pub mod collector;
pub mod conformance;
pub mod consumers;
pub mod environment;
pub mod fuzzing;
pub mod guide;
pub mod javascript;
mod other_browsers;
pub mod page_agent;
pub mod plugin;
pub mod publishing;
pub mod report;
pub mod selenium;
pub mod server_agent;
pub mod shop;
pub mod tarballs;
