//! The program as its users meet it: requests over HTTP, commands, and its sudden end.

mod access;
mod alerts;
mod coverage;
mod crash;
mod envelopes;
mod files;
mod otlp;
mod page;
mod questions;
mod requests;
mod series;
mod server;
mod spans;
mod upkeep;
