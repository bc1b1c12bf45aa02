//! Commands that ask servers: profiles at URLs, a collector, and the pages that `selfprof doctor` looks at.

mod collector;
mod doctor;
mod profiles;
mod server;
#[path = "../support/mod.rs"]
mod support;
