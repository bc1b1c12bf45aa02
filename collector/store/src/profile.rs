//! A profile as it is kept, and who sent it.

mod clean;
mod compact;
mod label;
mod span;

use serde::{Deserialize, Serialize};

pub use clean::{MAX_TEXT, clean_text, clean_url};
pub use compact::{CompactTrace, Damaged};
pub use label::{LabelTexts, label_text};
pub use span::{SLOW_INTERACTION, Span, SpanKind};

use crate::ids::{self, ProfileId, SessionId};

/// A profile of one visit to a page, or of one program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Its number. Profiles with the same number are the same profile, and count once.
    pub id: ProfileId,
    /// When it was received, in microseconds since 1970.
    pub time: i64,
    /// Whose it is.
    pub labels: Labels,
    /// The session of the user, of which only a hash is kept. A profile without a session is a session of its own.
    pub session: SessionId,
    /// The probability with which the sender profiles, above 0 and at most 1. Weights are divided by it.
    pub rate: f64,
    /// What happened meanwhile: measures, long tasks, interactions.
    pub spans: Vec<Span>,
    /// The trace.
    pub trace: CompactTrace,
}

/// What profiles are selected and grouped by. A text that is not known is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Labels {
    /// The application.
    pub app: String,
    /// Its release.
    pub release: String,
    /// The page: a route, or a URL without query and fragment.
    pub page: String,
    /// Such as `production`.
    pub environment: String,
    /// Such as `Chrome 153`.
    pub browser: String,
    /// `desktop`, `phone`, `tablet` or `server`.
    pub device: String,
}

impl Labels {
    /// All of them.
    fn texts(&self) -> [&str; 6] {
        [&self.app, &self.release, &self.page, &self.environment, &self.browser, &self.device]
    }
}

/// What a sender says of a profile, apart from its trace.
#[derive(Clone, Debug, Default)]
pub struct Sent<'a> {
    /// A number or name of the profile that the sender made, for the case that it sends it again.
    pub id: Option<&'a str>,
    /// The session, in the sender's words.
    pub session: Option<&'a str>,
    /// The probability with which it profiles; 1 by default.
    pub rate: Option<f64>,
}

/// The sampling probability that a sender states is not one.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("rate is {0}, which is not a probability: above 0 and at most 1")]
pub struct NotAProbability(pub f64);

/// A profile is weighted by at most this. A sender that profiles less often than once in a million visits is not
/// believed.
const MIN_RATE: f64 = 1e-6;

/// The probability that a sender states, or 1.
pub(crate) fn check_rate(rate: Option<f64>) -> Result<f64, NotAProbability> {
    let rate = rate.unwrap_or(1.0);
    if (MIN_RATE..=1.0).contains(&rate) { Ok(rate) } else { Err(NotAProbability(rate)) }
}

impl Profile {
    /// Makes a profile of what was sent. Without an id of the sender, the content is the id, so that a repeated request
    /// counts once.
    pub fn new(
        time: i64,
        labels: Labels,
        sent: &Sent,
        spans: Vec<Span>,
        trace: CompactTrace,
    ) -> Result<Self, NotAProbability> {
        let rate = check_rate(sent.rate)?;
        let id = match sent.id {
            Some(id) => ids::profile(&labels.app, id),
            None => {
                let mut texts = labels.texts().to_vec();
                texts.push(sent.session.unwrap_or_default());
                ids::content(&texts, &trace.to_bytes())
            }
        };
        let session = match sent.session {
            Some(session) => ids::session(&labels.app, session),
            None => SessionId(id.0),
        };
        Ok(Self { id, time, labels, session, rate, spans, trace })
    }

    /// The bytes of its record in the log.
    pub fn to_record(&self) -> Vec<u8> {
        let bytes = rmp_serde::to_vec(self).expect("lists and numbers can always be written to memory");
        zstd::bulk::compress(&bytes, 1).expect("memory can always be compressed")
    }

    /// Reads a record of the log.
    pub fn from_record(record: &[u8]) -> Result<Self, Damaged> {
        let bytes = zstd::stream::decode_all(record).map_err(|error| Damaged::new(&error))?;
        rmp_serde::from_slice(&bytes).map_err(|error| Damaged::new(&error))
    }

    /// The bytes of the column `spans`.
    pub fn spans_to_bytes(&self) -> Vec<u8> {
        rmp_serde::to_vec(&self.spans).expect("lists and numbers can always be written to memory")
    }
}

/// Reads the column `spans`.
pub fn spans_from_bytes(bytes: &[u8]) -> Result<Vec<Span>, Damaged> {
    rmp_serde::from_slice(bytes).map_err(|error| Damaged::new(&error))
}
