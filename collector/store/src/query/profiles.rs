//! Single profiles.

use selfprof_trace::{Sample, Trace};

use super::columns::Columns;
use super::visible::{condition, profile_condition};
use super::{QueryError, Reader, Selection};
use crate::ids::{ProfileId, SessionId};
use crate::profile::{CompactTrace, Labels, Span, spans_from_bytes};

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
    /// How long something ran in the samples of the selection, in microseconds. Without a selection, in all samples.
    pub busy: i64,
}

/// Which profiles come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProfileOrder {
    /// The last that were received.
    #[default]
    Newest,
    /// Those with the most busy time.
    Longest,
    /// The one with the median of the busy times, then those next to it in their order.
    Median,
}

/// A profile with its trace.
#[derive(Clone, Debug)]
pub struct ReadableProfile {
    /// What is known of it.
    pub row: ProfileRow,
    /// With the functions of the sources.
    pub trace: Trace,
    /// What happened meanwhile.
    pub spans: Vec<Span>,
}

/// The columns of a row.
const COLUMNS: &str =
    "profile, time, release, page, environment, browser, device, session, samples, duration, rate";

impl Reader {
    /// The first profiles of a selection, at most `top`.
    pub async fn profiles(
        &self,
        selection: &Selection,
        order: ProfileOrder,
        top: usize,
    ) -> Result<Vec<ProfileRow>, QueryError> {
        let snapshot = self.snapshot(selection).await?;
        let context = &snapshot.context;
        let duplicates = self.duplicates(&snapshot).await?;
        let (of_profiles, of_samples) =
            (profile_condition(selection, &duplicates), condition(selection, &duplicates));
        let by = match order {
            ProfileOrder::Newest => "time desc",
            ProfileOrder::Longest => "busy desc",
            ProfileOrder::Median => "abs(2 * place - whole - 1)",
        };
        // The samples of all profiles are needed only if they decide.
        let limit = match order {
            ProfileOrder::Newest => format!("order by time desc, profile limit {top}"),
            ProfileOrder::Longest | ProfileOrder::Median => String::new(),
        };
        // Weights are divided by the rate, but this is the time of one visit.
        let sql = format!(
            "with listed as (select {COLUMNS} from profiles where {of_profiles} {limit}), \
             counted as (select profile, sum(weight) as weight from samples where {of_samples} \
             and (stack is not null or marker is not null) and profile in (select profile from listed) group by profile), \
             with_busy as (select listed.*, cast(round(coalesce(weight, 0) * rate) as bigint) as busy \
             from listed left join counted on listed.profile = counted.profile), \
             placed as (select *, row_number() over (order by busy, profile) as place, count(*) over () as whole from with_busy) \
             select profile, cast(time as bigint) as time, release, page, environment, browser, device, session, samples, \
             duration, busy from placed order by {by}, profile limit {top}"
        );
        let mut profiles = Vec::new();
        for batch in &Self::rows(context, &sql).await? {
            let (ids, times, sessions) =
                (batch.numbers("profile")?, batch.numbers("time")?, batch.numbers("session")?);
            let (samples, durations) = (batch.numbers("samples")?, batch.numbers("duration")?);
            let (releases, pages) = (batch.texts("release")?, batch.texts("page")?);
            let (environments, browsers) = (batch.texts("environment")?, batch.texts("browser")?);
            let (devices, busy) = (batch.texts("device")?, batch.numbers("busy")?);
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
                busy: busy.value(row),
            }));
        }
        Ok(profiles)
    }

    /// The trace of a profile in a selection's period, as it was recorded, with its marks and measures.
    pub async fn trace(&self, selection: &Selection, id: ProfileId) -> Result<Option<Trace>, QueryError> {
        let stored = self.stored(selection, id).await?;
        let damaged = |error: crate::profile::Damaged| QueryError::Result(error.to_string());
        stored.map(|(_, spans, trace)| trace.to_trace(&spans).map_err(damaged)).transpose()
    }

    /// A profile in a selection's period, with the functions of the sources.
    pub async fn readable_profile(
        &self,
        selection: &Selection,
        id: ProfileId,
    ) -> Result<Option<ReadableProfile>, QueryError> {
        let Some((mut row, spans, trace)) = self.stored(selection, id).await? else { return Ok(None) };
        let trace = trace.to_trace(&[]).map_err(|error| QueryError::Result(error.to_string()))?;
        let maps = self.maps.of_release(&selection.app, &row.labels.release).await?;
        let is_busy = |sample: &Sample| sample.stack.is_some() || sample.marker.is_some();
        let weights = trace.samples().iter().zip(trace.weights()).filter(|(sample, _)| is_busy(sample));
        row.busy = weights.map(|(_, weight)| weight.0 as i64).fold(0, i64::saturating_add);
        let trace = maps.symbolized(&trace);
        Ok(Some(ReadableProfile { row, trace, spans }))
    }

    async fn stored(
        &self,
        selection: &Selection,
        id: ProfileId,
    ) -> Result<Option<(ProfileRow, Vec<Span>, CompactTrace)>, QueryError> {
        let snapshot = self.snapshot(selection).await?;
        let context = &snapshot.context;
        let sql = format!(
            "select cast(time as bigint) as time, release, page, environment, browser, device, session, samples, duration, \
             spans, trace from profiles where profile = {} order by batch limit 1",
            id.0
        );
        let rows = Self::rows(context, &sql).await?;
        let Some(batch) = rows.iter().find(|batch| batch.num_rows() > 0) else { return Ok(None) };
        let text = |name: &str| Ok::<_, QueryError>(batch.texts(name)?.value(0).to_owned());
        let number = |name: &str| Ok::<_, QueryError>(batch.numbers(name)?.value(0));
        let row = ProfileRow {
            id,
            time: number("time")?,
            labels: Labels {
                app: selection.app.clone(),
                release: text("release")?,
                page: text("page")?,
                environment: text("environment")?,
                browser: text("browser")?,
                device: text("device")?,
            },
            session: SessionId(number("session")?),
            samples: number("samples")?,
            duration: number("duration")?,
            busy: 0,
        };
        let damaged = |error: crate::profile::Damaged| QueryError::Result(error.to_string());
        let spans = spans_from_bytes(batch.bytes("spans")?.value(0)).map_err(damaged)?;
        let trace = CompactTrace::from_bytes(batch.bytes("trace")?.value(0)).map_err(damaged)?;
        Ok(Some((row, spans, trace)))
    }
}
