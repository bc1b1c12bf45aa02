//! Single profiles.

use selfprof_trace::Trace;

use super::columns::Column;
use super::visible::condition;
use super::{QueryError, Reader, Selection};
use crate::ids::{ProfileId, SessionId};
use crate::profile::{CompactTrace, Labels, spans_from_bytes};

/// A profile without its trace.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileRow {
    /// Its number.
    pub id: ProfileId,
    /// When it was received, in microseconds since 1970.
    pub time: i64,
    /// Whose it is.
    pub labels: Labels,
    /// Its session.
    pub session: SessionId,
    /// How many samples it has.
    pub samples: i64,
    /// How long it recorded, without pauses, in microseconds.
    pub duration: i64,
}

impl Reader {
    /// The newest profiles of a selection, at most `top`.
    pub async fn profiles(&self, selection: &Selection, top: usize) -> Result<Vec<ProfileRow>, QueryError> {
        let context = self.session(selection).await?;
        let duplicates = self.duplicates(&context).await?;
        let condition = match selection.filter.is_of_samples() {
            false => condition(selection, &duplicates),
            true => format!(
                "profile in (select profile from samples where {})",
                condition(selection, &duplicates)
            ),
        };
        let sql = format!(
            "select profile, arrow_cast(time, 'Int64') as time, release, page, environment, browser, device, session, samples, \
             duration from profiles where {condition} order by time desc, profile limit {top}"
        );
        let mut profiles = Vec::new();
        for batch in &Self::rows(&context, &sql).await? {
            let (ids, times, sessions) =
                (batch.numbers("profile")?, batch.numbers("time")?, batch.numbers("session")?);
            let (samples, durations) = (batch.numbers("samples")?, batch.numbers("duration")?);
            let (releases, pages) = (batch.texts("release")?, batch.texts("page")?);
            let (environments, browsers) = (batch.texts("environment")?, batch.texts("browser")?);
            let devices = batch.texts("device")?;
            profiles.extend((0..batch.num_rows()).map(|row| ProfileRow {
                id: ProfileId(ids.value(row)),
                time: times.value(row),
                labels: Labels {
                    app: selection.app.clone(),
                    release: releases.value(row).to_owned(),
                    page: pages.value(row).to_owned(),
                    environment: environments.value(row).to_owned(),
                    browser: browsers.value(row).to_owned(),
                    device: devices.value(row).to_owned(),
                },
                session: SessionId(sessions.value(row)),
                samples: samples.value(row),
                duration: durations.value(row),
            }));
        }
        Ok(profiles)
    }

    /// The trace of a profile in a selection's period, as it was recorded, with its marks and measures.
    pub async fn trace(&self, selection: &Selection, id: ProfileId) -> Result<Option<Trace>, QueryError> {
        let context = self.session(selection).await?;
        let sql = format!("select spans, trace from profiles where profile = {} limit 1", id.0);
        let rows = Self::rows(&context, &sql).await?;
        let Some(batch) = rows.iter().find(|batch| batch.num_rows() > 0) else { return Ok(None) };
        let damaged = |error: crate::profile::Damaged| QueryError::Result(error.to_string());
        let spans = spans_from_bytes(batch.bytes("spans")?.value(0)).map_err(damaged)?;
        let trace = CompactTrace::from_bytes(batch.bytes("trace")?.value(0)).map_err(damaged)?;
        Ok(Some(trace.to_trace(&spans).map_err(damaged)?))
    }
}
