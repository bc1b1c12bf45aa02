//! Samples added up by stack.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use datafusion::prelude::SessionContext;
use deltalake::arrow::array::Array;
use selfprof_trace::Marker;

use super::columns::Column;
use super::visible::condition;
use super::{QueryError, Reader, Selection};

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

/// A function. Two frames with the same function have the same name, file, line and column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FrameInfo {
    /// Its name; empty for an anonymous one.
    pub name: String,
    /// Its file, or the URL of its script; empty for a built-in function.
    pub file: String,
    /// Its line.
    pub line: Option<i32>,
    /// Its column.
    pub column: Option<i32>,
}

impl Reader {
    /// Adds up the samples of a selection.
    pub async fn stacks(&self, selection: &Selection) -> Result<StackSums, QueryError> {
        let context = self.session(selection).await?;
        let condition = condition(selection, &self.duplicates(&context).await?);
        let mut sums = StackSums::default();
        (sums.profiles, sums.sessions) = self.counts(&context, selection, &condition).await?;
        let rows = Self::rows(
            &context,
            &format!(
                "select stack, marker, sum(weight) as weight, sum(count) as count from samples \
                 where {condition} group by stack, marker order by stack, marker"
            ),
        )
        .await?;
        let mut index_of: HashMap<i64, usize> = HashMap::new();
        for batch in &rows {
            let (stacks, markers) = (batch.numbers("stack")?, batch.texts("marker")?);
            let (weights, counts) = (batch.numbers("weight")?, batch.numbers("count")?);
            for row in 0..batch.num_rows() {
                let next = index_of.len();
                let stack = stacks.is_valid(row).then(|| *index_of.entry(stacks.value(row)).or_insert(next));
                let marker = if markers.is_valid(row) { markers.value(row).parse().ok() } else { None };
                sums.rows.push(StackSum {
                    stack,
                    marker,
                    weight: weights.value(row),
                    count: counts.value(row),
                });
            }
        }
        sums.resolve((self, &selection.app), &context, &condition, &index_of).await?;
        Ok(sums)
    }

    /// How many profiles and sessions a selection has.
    pub(super) async fn counts(
        &self,
        context: &SessionContext,
        selection: &Selection,
        condition: &str,
    ) -> Result<(u64, u64), QueryError> {
        let table = if selection.filter.is_of_samples() { "samples" } else { "profiles" };
        let sql = format!(
            "select count(distinct profile) as profiles, count(distinct session) as sessions from {table} where {condition}"
        );
        let rows = Self::rows(context, &sql).await?;
        let first = rows.first().ok_or_else(|| QueryError::Result("no row".into()))?;
        let number = |name| Ok::<_, QueryError>(first.numbers(name)?.value(0) as u64);
        Ok((number("profiles")?, number("sessions")?))
    }
}

impl StackSums {
    /// Reads what the stacks are.
    pub(super) async fn resolve(
        &mut self,
        (reader, app): (&Reader, &str),
        context: &SessionContext,
        condition: &str,
        index_of: &HashMap<i64, usize>,
    ) -> Result<(), QueryError> {
        self.stacks = vec![Vec::new(); index_of.len()];
        let wanted = format!("select distinct stack from samples where {condition}");
        let paths =
            Reader::rows(context, &format!("select stack, frames from stacks where stack in ({wanted})"))
                .await?;
        let mut frame_of: HashMap<i64, usize> = HashMap::new();
        for batch in &paths {
            let stacks = batch.numbers("stack")?;
            for (row, path) in batch.lists("frames")?.into_iter().enumerate() {
                let Some(&stack) = index_of.get(&stacks.value(row)) else { continue };
                // The same stack may be there several times.
                self.stacks[stack] = path
                    .into_iter()
                    .map(|frame| {
                        let next = frame_of.len();
                        *frame_of.entry(frame).or_insert(next)
                    })
                    .collect();
            }
        }
        self.frames = vec![FrameInfo::default(); frame_of.len()];
        let mut frames_of: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        let wanted = format!("select distinct unnest(frames) as frame from stacks where stack in ({wanted})");
        let sql = format!(
            "select frame, release, name, resource, line, \"column\" from frames where frame in ({wanted})"
        );
        for batch in &Reader::rows(context, &sql).await? {
            let frames = batch.numbers("frame")?;
            let releases = batch.texts("release")?;
            let (names, files) = (batch.texts("name")?, batch.texts("resource")?);
            let (lines, columns) = (batch.small_numbers("line")?, batch.small_numbers("column")?);
            for row in 0..batch.num_rows() {
                let Some(&frame) = frame_of.get(&frames.value(row)) else { continue };
                frames_of.entry(releases.value(row).to_owned()).or_default().insert(frame);
                self.frames[frame] = FrameInfo {
                    name: names.value(row).to_owned(),
                    file: files.value(row).to_owned(),
                    line: lines.is_valid(row).then(|| lines.value(row)),
                    column: columns.is_valid(row).then(|| columns.value(row)),
                };
            }
        }
        for (release, numbers) in &frames_of {
            let maps = reader.maps.of_release(app, release).await?;
            let frames = self.frames.iter_mut().enumerate().filter(|(number, _)| numbers.contains(number));
            maps.symbolize(&mut frames.map(|(_, frame)| frame).collect::<Vec<_>>());
        }
        same_functions(&mut self.frames, &frames_of);
        Ok(())
    }
}

/// Makes equal functions of several releases equal, although they are at different lines: those of the same name and file, if each
/// release has only one of them. Their position is that in the last release, in the order of their names.
fn same_functions(frames: &mut [FrameInfo], frames_of: &BTreeMap<String, BTreeSet<usize>>) {
    if frames_of.len() < 2 {
        return;
    }
    type Place = (Option<i32>, Option<i32>);
    let mut places: BTreeMap<(String, String), Option<Place>> = BTreeMap::new();
    for numbers in frames_of.values() {
        let mut of_release: BTreeMap<(String, String), BTreeSet<Place>> = BTreeMap::new();
        for frame in numbers.iter().map(|&number| &frames[number]).filter(|frame| !frame.name.is_empty()) {
            let name = (frame.name.clone(), frame.file.clone());
            of_release.entry(name).or_default().insert((frame.line, frame.column));
        }
        for (name, found) in of_release {
            let only = found.first().copied().filter(|_| found.len() == 1);
            let place = places.entry(name).or_insert(only);
            *place = if place.is_some() { only } else { None };
        }
    }
    for frame in frames {
        if let Some(Some((line, column))) = places.get(&(frame.name.clone(), frame.file.clone())) {
            (frame.line, frame.column) = (*line, *column);
        }
    }
}
