//! A [WebDriver](https://www.w3.org/TR/webdriver2/) remote end over pages that somebody else hosts.
//!
//! It speaks HTTP and knows sessions, windows and the protocol's errors; what happens in a page, [`Pages`] does. It brings
//! the extension command of the JS Self-Profiling draft, which no browser has: `POST /session/{session id}/forcesample`.
//!
//! Mozilla's `webdriver` crate has the commands with their routes, parameters and errors. Its server is left out, since it
//! has one session and does one command after the other: here a session has its own pages, which nobody else waits for.
//!
//! Absent on purpose: processes and pages (see [`PageHost`]), and everything that needs layout, such as screenshots, sizes
//! and pointer actions, which is answered by `unsupported operation`.
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

mod capabilities;
mod force_sample;
mod pages;
mod router;
mod server;
mod session;
mod sessions;
#[cfg(feature = "testing")]
pub mod testing;
mod trust;

pub use pages::{CallError, PageHost, PageOptions, Pages};
pub use server::{Log, Server, Stopper};
pub use trust::Trust;
