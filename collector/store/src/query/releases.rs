//! How many sessions the releases have on each page.

use super::columns::Columns;
use super::visible::profile_condition;
use super::{QueryError, Reader, Selection};

/// The sessions of a release on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleasePage {
    /// The release.
    pub release: String,
    /// The page.
    pub page: String,
    /// When the first of these profiles was received, in microseconds since 1970.
    pub first: i64,
    /// The sessions.
    pub sessions: u64,
}

impl Reader {
    /// The releases and pages of a selection.
    pub async fn release_pages(&self, selection: &Selection) -> Result<Vec<ReleasePage>, QueryError> {
        let snapshot = self.snapshot(selection).await?;
        let context = &snapshot.context;
        let condition = profile_condition(selection, &self.duplicates(&snapshot).await?);
        let sql = format!(
            "select release, page, cast(min(time) as bigint) as first, count(distinct session) as sessions \
             from profiles where {condition} group by release, page order by release, page"
        );
        let mut pages = Vec::new();
        for batch in &Self::rows(context, &sql).await? {
            let (releases, names) = (batch.texts("release")?, batch.texts("page")?);
            let (first, sessions) = (batch.numbers("first")?, batch.numbers("sessions")?);
            pages.extend((0..batch.num_rows()).map(|row| ReleasePage {
                release: releases.value(row).to_owned(),
                page: names.value(row).to_owned(),
                first: first.value(row),
                sessions: sessions.value(row).unsigned_abs(),
            }));
        }
        Ok(pages)
    }
}
