//! Samples added up by stack.

use datafusion::prelude::SessionContext;
use deltalake::arrow::array::Array;
use selfprof_trace::Marker;

use super::columns::Columns;
use super::frame_info::FrameInfo;
use super::hashes::Numbers;
use super::minified::Minified;
use super::paths::{COLLECTOR, Paths};
use super::visible::{Duplicate, condition};
use super::{QueryError, Reader, Selection, hour_sums};

/// The samples of a selection by stack and marker, with what the stacks are.
#[derive(Clone, Debug, Default)]
pub struct StackSums {
    /// How many profiles were counted.
    pub profiles: u64,
    /// How many sessions they are from.
    pub sessions: u64,
    /// The sums, by stack and marker in this order.
    pub rows: Vec<StackSum>,
    /// The functions of all stacks.
    pub frames: Vec<FrameInfo>,
    /// The frames of each stack, outermost first, as indexes into `frames`.
    pub stacks: Vec<Vec<usize>>,
}

/// Samples with the same stack and marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackSum {
    /// The stack, as an index into [`StackSums::stacks`]; `None` for samples without one.
    pub stack: Option<usize>,
    /// The kind of work.
    pub marker: Option<Marker>,
    /// Their time in microseconds, divided by the sampling probability.
    pub weight: i64,
    /// How many samples there were.
    pub count: i64,
}

impl StackSums {
    /// The functions of a row, outermost first. The garbage collector is a function of its own, called by what it
    /// interrupted, as in all tables of selfprof.
    pub fn path(&self, row: &StackSum) -> impl Iterator<Item = &FrameInfo> {
        let stack = row.stack.map_or(&[][..], |stack| &self.stacks[stack]);
        let collector = (row.marker == Some(Marker::Gc)).then_some(&*COLLECTOR);
        stack.iter().map(|&frame| &self.frames[frame]).chain(collector)
    }
}

impl Reader {
    /// Adds up the samples of a selection.
    pub async fn stacks(&self, selection: &Selection) -> Result<StackSums, QueryError> {
        let snapshot = self.snapshot(selection).await?;
        let context = &snapshot.context;
        let ask = async |duplicates: &[Duplicate]| {
            let sql = format!(
                "select stack, marker, sum(weight) as weight, sum(count) as count from ({}) \
                 group by stack, marker order by stack, marker",
                hour_sums::samples(&snapshot, selection, duplicates)?
            );
            let condition = condition(selection, duplicates);
            tokio::try_join!(Self::rows(context, &sql), self.counts(context, selection, &condition))
        };
        let known = self.known_duplicates(&snapshot).unwrap_or_default();
        // Others are rare, so they are looked for meanwhile.
        let (duplicates, mut answer) = tokio::try_join!(self.duplicates(&snapshot), ask(&known))?;
        if duplicates != known {
            answer = ask(&duplicates).await?;
        }
        let (rows, counts) = answer;
        let mut sums = StackSums { profiles: counts.0, sessions: counts.1, ..StackSums::default() };
        let mut numbers = Numbers::default();
        for batch in &rows {
            let (stacks, markers) = (batch.numbers("stack")?, batch.texts("marker")?);
            let (weights, counts) = (batch.numbers("weight")?, batch.numbers("count")?);
            for row in 0..batch.num_rows() {
                let stack = stacks.is_valid(row).then(|| numbers.number(stacks.value(row)));
                let marker = if markers.is_valid(row) { markers.value(row).parse().ok() } else { None };
                sums.rows.push(StackSum {
                    stack,
                    marker,
                    weight: weights.value(row),
                    count: counts.value(row),
                });
            }
        }
        let Paths { frames, stacks, .. } = self.paths(&selection.app, context, &numbers).await?;
        Ok(StackSums { frames, stacks, ..sums })
    }

    /// How many profiles and sessions a selection has.
    pub(super) async fn counts(
        &self,
        context: &SessionContext,
        selection: &Selection,
        condition: &str,
    ) -> Result<(u64, u64), QueryError> {
        // The condition leaves each profile one row of `profiles`.
        let (table, profiles) = match selection.filter.is_of_samples() {
            true => ("samples", "count(distinct profile)"),
            false => ("profiles", "count(*)"),
        };
        let sql = format!(
            "select {profiles} as profiles, count(distinct session) as sessions from {table} where {condition}"
        );
        let rows = Self::rows(context, &sql).await?;
        let first = rows.first().ok_or_else(|| QueryError::Result("no row".into()))?;
        let number = |name| Ok::<_, QueryError>(first.numbers(name)?.value(0) as u64);
        Ok((number("profiles")?, number("sessions")?))
    }

    /// The releases of a selection whose functions have the names of a minifier.
    pub async fn minified(&self, selection: &Selection) -> Result<Vec<Minified>, QueryError> {
        let snapshot = self.snapshot(selection).await?;
        let context = &snapshot.context;
        let condition = condition(selection, &self.duplicates(&snapshot).await?);
        let sql = format!("select distinct stack from samples where {condition} and stack is not null");
        let mut stacks = Numbers::default();
        for batch in &Self::rows(context, &sql).await? {
            batch.numbers("stack")?.values().iter().for_each(|&stack| {
                stacks.number(stack);
            });
        }
        Ok(self.paths(&selection.app, context, &stacks).await?.minified)
    }
}
