//! Where profiles go.

mod collector;
mod endpoint;
mod folder;
mod otlp;
mod pyroscope;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::batch::{Batch, FindMaps};
use crate::folder::names::Part;
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

/// The name of this machine.
fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
