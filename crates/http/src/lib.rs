//! The HTTP client of selfprof: blocking requests with TLS, proxies, and bounds on time, size and redirects.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use selfprof_http::{Client, Request, TimeLimits, Url};
//!
//! let client = Client::new(TimeLimits::within(Duration::from_secs(30)));
//! let response = client.get(&Request::new(Url::parse("https://example.com/trace.json")?))?;
//! if response.status.is_success() {
//!     let bytes = response.read(1 << 20)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - Trusted are the certificate authorities of the system. `SSL_CERT_FILE` and `SSL_CERT_DIR` name others instead.
//! - Proxies come from `ALL_PROXY`, `HTTPS_PROXY` and `HTTP_PROXY`, except for the hosts in `NO_PROXY`. This machine
//!   (`localhost`, `127.0.0.1`) is never reached through a proxy.
//! - Redirects are few, never lead from https: to http:, and take neither passwords nor private headers to another
//!   origin.
//!
//! There are no cookies, no HTTP/2 and no caches here.

#![forbid(unsafe_code)]

mod client;
mod error;
mod response;

pub use client::{Client, Request, TimeLimits};
pub use error::RequestError;
pub use response::Response;
pub use ureq::http::StatusCode;
pub use url::Url;
