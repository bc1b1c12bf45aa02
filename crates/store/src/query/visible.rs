//! Which rows count: those of the selection, without those of profiles that were written twice.

use datafusion::prelude::SessionContext;

use super::columns::Column;
use super::{QueryError, Reader, Selection};

/// The condition in SQL that rows of the selection meet.
pub(super) fn condition(selection: &Selection, duplicates: &[(i64, i64)]) -> String {
    let mut condition = format!(
        "time >= to_timestamp_micros({}) and time < to_timestamp_micros({}) and {}",
        selection.from,
        selection.to,
        selection.filter.to_sql(&selection.app),
    );
    if !duplicates.is_empty() {
        condition.push_str(" and not (");
        let pairs =
            duplicates.iter().map(|(profile, batch)| format!("(profile = {profile} and batch = {batch})"));
        condition.push_str(&pairs.collect::<Vec<_>>().join(" or "));
        condition.push(')');
    }
    condition
}

impl Reader {
    /// The rows that do not count: two collectors may have written the same profile, or one collector may have written it again long
    /// afterwards. The one in the batch with the smallest number counts. Returns their profiles and batches.
    pub(super) async fn duplicates(&self, context: &SessionContext) -> Result<Vec<(i64, i64)>, QueryError> {
        let batches = Self::rows(
            context,
            "select distinct p.profile, p.batch from profiles p join \
             (select profile, min(batch) as kept from profiles group by profile having count(*) > 1) k \
             on p.profile = k.profile where p.batch <> k.kept",
        )
        .await?;
        let mut pairs = Vec::new();
        for batch in &batches {
            let (profiles, written) = (batch.numbers("profile")?, batch.numbers("batch")?);
            pairs.extend(
                profiles.iter().zip(&written).filter_map(|(profile, batch)| Some((profile?, batch?))),
            );
        }
        Ok(pairs)
    }
}
