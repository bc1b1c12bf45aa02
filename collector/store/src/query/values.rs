//! What there is to ask for: the applications, and what profiles have in a column.

use std::collections::BTreeSet;

use super::columns::Columns;
use super::visible::condition;
use super::{QueryError, Reader, Selection};
use crate::filter::{Column, Filter};
use crate::tables::TableName;

/// What some profiles have in a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnValue {
    /// The text, which may be empty.
    pub value: String,
    /// How many profiles have it.
    pub profiles: u64,
    /// The time of the first of these profiles, in microseconds since 1970.
    pub first: i64,
    /// The time of the last one.
    pub last: i64,
}

/// Values beyond this many are left out: those that the fewest profiles have.
const MAX_VALUES: usize = 1_000;

impl Reader {
    /// The applications that have profiles, in alphabetical order.
    pub async fn apps(&self) -> Result<Vec<String>, QueryError> {
        let mut apps = BTreeSet::new();
        let mut tables = self.tables.lock().await;
        for table in tables.iter_mut().filter(|table| table.name() == TableName::Profiles) {
            apps.extend(table.partitions().await?.into_keys().map(|partition| partition.app));
        }
        Ok(apps.into_iter().collect())
    }

    /// What the profiles of an application have in a column in a period, the most frequent first. Spans are measures by
    /// name. There is nothing for sessions, of which only hashes are kept.
    pub async fn values(
        &self,
        selection: &Selection,
        column: Column,
    ) -> Result<Vec<ColumnValue>, QueryError> {
        let (table, value) = match column {
            Column::Session => return Ok(Vec::new()),
            Column::Marker => ("samples", "marker"),
            Column::Span => ("spans", "name"),
            _ => ("profiles", column.as_str()),
        };
        let snapshot = self.snapshot(selection).await?;
        let context = &snapshot.context;
        let all = Selection { filter: Filter::All, ..selection.clone() };
        let mut condition = condition(&all, &self.duplicates(&snapshot).await?);
        if column == Column::Span {
            condition.push_str(" and kind = 'measure'");
        }
        let rows = Self::rows(
            context,
            &format!(
                "select coalesce({value}, '') as value, count(distinct profile) as profiles, \
                 cast(min(time) as bigint) as first, cast(max(time) as bigint) as last from {table} \
                 where {condition} group by 1 order by profiles desc, value limit {MAX_VALUES}"
            ),
        )
        .await?;
        let mut values = Vec::new();
        for batch in &rows {
            let (texts, profiles) = (batch.texts("value")?, batch.numbers("profiles")?);
            let (first, last) = (batch.numbers("first")?, batch.numbers("last")?);
            values.extend((0..batch.num_rows()).map(|row| ColumnValue {
                value: texts.value(row).to_owned(),
                profiles: profiles.value(row).unsigned_abs(),
                first: first.value(row),
                last: last.value(row),
            }));
        }
        Ok(values)
    }
}
