//! Where profiles go.

mod collector;
mod folder;
mod otlp;
mod pyroscope;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use crate::batch::{Batch, FindMaps};
use crate::folder::names::Part;
use crate::http::{Answer, Client, Request};
use crate::settings::{OutputFormat, Settings};

/// Sends batches. Each output may get a batch again that it has got before.
pub trait Output: Send {
    /// Sends a batch.
    fn send(&mut self, batch: &Batch) -> Result<Receipt, SendError>;
}

/// What became of a batch that was sent.
#[derive(Debug, Default)]
pub struct Receipt {
    /// The parts that cannot be read, and why.
    pub corrupt: Vec<(Part, String)>,
    /// What the receiver says about it, for people.
    pub remark: Option<String>,
}

/// Why a batch was not sent.
#[derive(Debug)]
pub enum SendError {
    /// It may be possible later.
    Later {
        /// What failed.
        reason: String,
        /// How long the receiver wants to be left alone.
        after: Option<Duration>,
    },
    /// The receiver will never take it.
    Never {
        /// What it says.
        reason: String,
    },
}

impl SendError {
    fn later(reason: impl fmt::Display) -> Self {
        Self::Later { reason: reason.to_string(), after: None }
    }
}

impl From<io::Error> for SendError {
    fn from(error: io::Error) -> Self {
        Self::later(error)
    }
}

/// The output that the settings name.
pub fn open(settings: &Arc<Settings>, find_maps: &Arc<FindMaps>) -> Box<dyn Output> {
    match settings.format() {
        OutputFormat::Collector => Box::new(collector::Collector::new(settings)),
        OutputFormat::Folder => Box::new(folder::ProfileFolder::new(settings, find_maps)),
        OutputFormat::Pyroscope => Box::new(pyroscope::Pyroscope::new(settings)),
        OutputFormat::Otlp => Box::new(otlp::Otlp::new(settings)),
    }
}

/// A receiver that speaks HTTP.
struct Endpoint {
    client: Client,
    url: Url,
    /// The headers with keys, and those of the settings.
    private: BTreeMap<String, String>,
}

impl Endpoint {
    /// The endpoint with this path below the URL of the settings, unless the URL has it already.
    fn new(settings: &Settings, path: &str) -> Self {
        // Settings without a URL were refused before.
        let mut url = settings.url().unwrap_or_else(unreachable_url);
        let base = url.path().trim_end_matches('/').to_owned();
        if !base.ends_with(path) {
            url.set_path(&format!("{base}{path}"));
        }
        Self { client: Client::new(), url, private: settings.headers.clone() }
    }

    /// Sends the key as a bearer token, unless the settings have another authorization.
    fn with_bearer(mut self, key: Option<&str>) -> Self {
        let is_given = self.private.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
        if let (Some(key), false) = (key, is_given) {
            self.private.insert("authorization".to_owned(), format!("Bearer {key}"));
        }
        self
    }

    /// Posts a body to the URL.
    fn post(&self, url: Url, headers: &[(&str, &str)], body: &[u8]) -> Result<Answer, SendError> {
        let request = Request { url, private: self.private.clone(), headers, body };
        let answer = self.client.post(&request).map_err(SendError::later)?;
        if answer.is_success() {
            return Ok(answer);
        }
        let reason = format!("the answer is {answer}");
        Err(match answer.may_succeed_later() {
            true => SendError::Later { reason, after: answer.retry_after },
            false => SendError::Never { reason },
        })
    }
}

/// A URL that no server has.
fn unreachable_url() -> Url {
    let text = "http://invalid.";
    Url::parse(text).unwrap_or_else(|_| unreachable!("{text} is a URL"))
}

/// The name of this machine.
fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
