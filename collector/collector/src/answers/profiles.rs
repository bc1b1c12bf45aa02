//! Single profiles.

use selfprof_store::query::ProfileRow;
use serde::{Deserialize, Serialize};

use super::{VERSION, millis};

/// Profiles of a selection.
#[derive(Debug, Serialize, Deserialize)]
pub struct ProfilesAnswer {
    pub version: u32,
    pub profiles: Vec<ProfileAnswer>,
}

/// A profile. Its times are in milliseconds.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProfileAnswer {
    pub id: String,
    /// When it was received, as `2026-11-23T12:00:00Z`.
    pub time: String,
    pub release: String,
    pub page: String,
    pub environment: String,
    pub browser: String,
    pub device: String,
    /// A hash of the session.
    pub session: String,
    pub samples: i64,
    pub duration: f64,
    /// How long something ran in the samples of the selection.
    pub busy_time: f64,
}

impl From<Vec<ProfileRow>> for ProfilesAnswer {
    fn from(rows: Vec<ProfileRow>) -> Self {
        Self { version: VERSION, profiles: rows.into_iter().map(ProfileAnswer::from).collect() }
    }
}

impl From<ProfileRow> for ProfileAnswer {
    fn from(row: ProfileRow) -> Self {
        let time = chrono::DateTime::from_timestamp_micros(row.time).unwrap_or_default();
        Self {
            id: row.id.to_hex(),
            time: time.to_rfc3339_opts(chrono::SecondsFormat::Millis, true),
            release: row.labels.release,
            page: row.labels.page,
            environment: row.labels.environment,
            browser: row.labels.browser,
            device: row.labels.device,
            session: format!("{:016x}", row.session.0),
            samples: row.samples,
            duration: millis(row.duration),
            busy_time: millis(row.busy),
        }
    }
}
