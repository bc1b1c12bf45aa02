//! `selfprof agent-exporter`: what it does with a folder of journals, and with endpoints that are slow, wrong or
//! hostile.

mod agent;
mod endpoint;
mod folder;
mod server;
