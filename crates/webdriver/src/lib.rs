//! A [WebDriver](https://www.w3.org/TR/webdriver2/) remote end for pages without a browser.
//!
//! This crate implements HTTP, sessions, windows and the protocol's errors; the embedder hosts the pages
//! ([`PageHost`]). It includes the extension command of the JS Self-Profiling draft, which no browser implements:
//! `POST /session/{session id}/forcesample`.
//!
//! Commands, routes, parameters and errors come from Mozilla's `webdriver` crate. Its server is not used, because it
//! supports only one session and runs one command at a time; here, sessions are independent of each other.
//!
//! Everything that needs layout, such as screenshots, sizes and pointer actions, fails with `unsupported operation`.
//!
//! ```no_run
//! use std::sync::Arc;
//! use selfprof_webdriver::{PageHost, Server, Trust};
//!
//! # fn serve(host: Arc<dyn PageHost>) -> std::io::Result<()> {
//! let server = Server::bind("127.0.0.1:4444".parse().unwrap(), host, Trust::default())?;
//! println!("listening on {}", server.address());
//! server.run()
//! # }
//! ```

#![forbid(unsafe_code)]

mod force_sample;
mod pages;
mod router;
mod server;
mod session;
mod session_config;
mod sessions;
#[cfg(feature = "testing")]
pub mod testing;
mod timeouts;
mod trust;

pub use pages::{CallError, PageHost, PageOptions, Pages};
pub use server::{Log, Server, Stopper};
pub use trust::Trust;
