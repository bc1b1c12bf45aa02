//! How long measures, long tasks, long frames and slow interactions are.

use datafusion::prelude::SessionContext;

use super::columns::Columns;
use super::visible::profile_condition;
use super::{QueryError, Reader, Selection};
use crate::filter::literal;
use crate::profile::{SLOW_INTERACTION, SpanKind};

/// The percentiles that are given.
pub const PERCENTS: [u8; 5] = [50, 75, 90, 95, 99];

/// Spans of one name.
#[derive(Clone, Debug, PartialEq)]
pub struct SpanTimes {
    /// The name by which filters find samples in it, see [`Span::label`](crate::profile::Span::label).
    pub name: String,
    /// How many there are.
    pub spans: u64,
    /// How many there were in all visits: each counts 1 / rate times, in all that follows too.
    pub times: f64,
    /// The profiles that have some.
    pub profiles: u64,
    /// The sessions that have some.
    pub sessions: u64,
    /// The durations in microseconds: of [`PERCENTS`] of them, the duration is at most this.
    pub percentiles: [i64; 5],
    /// The longest, in microseconds.
    pub longest: i64,
    /// How many have a duration below the first of [`limits`], between it and the second, and so on.
    pub distribution: Vec<f64>,
}

/// Names beyond this many are left out: those of the fewest spans.
const MAX_NAMES: usize = 200;

/// Weights are whole numbers of this part, so that sums do not depend on their order.
const WEIGHT: i64 = 1_000;

/// The limits of the parts of distributions in microseconds: from 100 µs to 100 s, six in each power of ten.
pub fn limits() -> impl Iterator<Item = i64> {
    let powers = (0..6).map(|power| 100 * 10_i64.pow(power));
    powers.flat_map(|power| [10, 15, 20, 30, 50, 70].map(|part| power * part / 10)).chain([100_000_000])
}

/// The spans of a selection with their names and weights, in SQL.
pub(super) fn labelled(condition: &str) -> String {
    let [measure, task, frame, event] =
        [SpanKind::Measure, SpanKind::LongTask, SpanKind::LongFrame, SpanKind::Event].map(SpanKind::as_str);
    format!(
        "select profile, batch, session, duration, cast(round({WEIGHT} / rate) as bigint) as weight, case kind \
         when '{task}' then '(long task)' when '{frame}' then '(long frame)' when '{event}' then '(slow interaction)' \
         else case when name like '(%' then concat(' ', name) else name end end as label from spans \
         where (kind in ('{measure}', '{task}', '{frame}') or (kind = '{event}' and duration > {SLOW_INTERACTION})) \
         and {condition}"
    )
}

impl Reader {
    /// The spans of a selection, those first that take most time altogether. Of a condition on samples, the profiles
    /// count that have such samples.
    pub async fn spans(&self, selection: &Selection) -> Result<Vec<SpanTimes>, QueryError> {
        let snapshot = self.snapshot(selection).await?;
        let context = &snapshot.context;
        let condition = profile_condition(selection, &self.duplicates(&snapshot).await?);
        let mut spans = Self::counted(context, &condition, None).await?;
        let sum = |span: &SpanTimes| span.times * span.percentiles[0] as f64;
        spans.sort_by(|a, b| sum(b).total_cmp(&sum(a)).then_with(|| a.name.cmp(&b.name)));
        Ok(spans)
    }

    /// The spans that meet a condition; of one name, if it is given.
    pub(super) async fn counted(
        context: &SessionContext,
        condition: &str,
        name: Option<&str>,
    ) -> Result<Vec<SpanTimes>, QueryError> {
        let labelled = labelled(condition);
        let named = name.map_or("true".into(), |name| format!("label = {}", literal(name)));
        let counts = format!(
            "select label, count(*) as spans, sum(weight) as weight, count(distinct profile) as profiles, \
             count(distinct session) as sessions, max(duration) as longest from ({labelled}) where {named} \
             group by label order by weight desc, label limit {MAX_NAMES}"
        );
        let mut spans: Vec<SpanTimes> = Vec::new();
        for batch in &Self::rows(context, &counts).await? {
            let (labels, counts, weights) =
                (batch.texts("label")?, batch.numbers("spans")?, batch.numbers("weight")?);
            let (profiles, sessions) = (batch.numbers("profiles")?, batch.numbers("sessions")?);
            let longest = batch.numbers("longest")?;
            spans.extend((0..batch.num_rows()).map(|row| SpanTimes {
                name: labels.value(row).to_owned(),
                spans: counts.value(row).unsigned_abs(),
                times: weights.value(row) as f64 / WEIGHT as f64,
                profiles: profiles.value(row).unsigned_abs(),
                sessions: sessions.value(row).unsigned_abs(),
                percentiles: [0; 5],
                longest: longest.value(row),
                distribution: vec![0.0; limits().count() + 1],
            }));
        }
        if spans.is_empty() {
            return Ok(spans);
        }
        let names: Vec<String> = spans.iter().map(|span| literal(&span.name)).collect();
        let named = format!("label in ({})", names.join(", "));
        Self::add_percentiles(context, &labelled, &named, &mut spans).await?;
        Self::add_distributions(context, &labelled, &named, &mut spans).await?;
        Ok(spans)
    }

    /// The smallest durations of which the weights reach the percentages.
    async fn add_percentiles(
        context: &SessionContext,
        labelled: &str,
        named: &str,
        spans: &mut [SpanTimes],
    ) -> Result<(), QueryError> {
        let columns = PERCENTS.map(|percent| {
            format!("min(case when up_to >= whole * 0.{percent} then duration end) as p{percent}")
        });
        // A cluster refuses to divide rows by a column that has one value only.
        let partition = if spans.len() > 1 { "partition by label" } else { "" };
        let sql = format!(
            "with by_duration as (select label, duration, sum(weight) as weight from ({labelled}) where {named} group by 1, 2), \
             summed as (select label, duration, sum(weight) over ({partition} order by duration) as up_to, \
             sum(weight) over ({partition}) as whole from by_duration) \
             select label, {} from summed group by label",
            columns.join(", ")
        );
        for batch in &Self::rows(context, &sql).await? {
            let labels = batch.texts("label")?;
            for (place, percent) in PERCENTS.into_iter().enumerate() {
                let durations = batch.numbers(&format!("p{percent}"))?;
                for row in 0..batch.num_rows() {
                    if let Some(span) = spans.iter_mut().find(|span| span.name == labels.value(row)) {
                        span.percentiles[place] = durations.value(row);
                    }
                }
            }
        }
        Ok(())
    }

    async fn add_distributions(
        context: &SessionContext,
        labelled: &str,
        named: &str,
        spans: &mut [SpanTimes],
    ) -> Result<(), QueryError> {
        let cases: Vec<String> = limits()
            .enumerate()
            .map(|(part, limit)| format!("when duration < {limit} then {part}"))
            .collect();
        let sql = format!(
            "select label, case {} else {} end as part, sum(weight) as weight from ({labelled}) where {named} group by 1, 2",
            cases.join(" "),
            cases.len()
        );
        for batch in &Self::rows(context, &sql).await? {
            let (labels, parts, weights) =
                (batch.texts("label")?, batch.numbers("part")?, batch.numbers("weight")?);
            for row in 0..batch.num_rows() {
                let span = spans.iter_mut().find(|span| span.name == labels.value(row));
                let part = usize::try_from(parts.value(row)).unwrap_or(usize::MAX);
                if let Some(times) = span.and_then(|span| span.distribution.get_mut(part)) {
                    *times = weights.value(row) as f64 / WEIGHT as f64;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_increase() {
        let limits: Vec<i64> = limits().collect();
        assert_eq!((limits[0], limits[1], limits[6], limits.len()), (100, 150, 1_000, 37));
        assert!(limits.is_sorted_by(|a, b| a < b));
    }
}
