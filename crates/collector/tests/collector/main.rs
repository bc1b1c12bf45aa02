//! The program as its users meet it: requests over HTTP, commands, and its sudden end.

mod access;
mod crash;
mod page;
mod questions;
mod requests;
mod server;
