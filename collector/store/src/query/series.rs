//! How the times of functions change over a period: sums of each hour or day.

use std::cmp::Reverse;
use std::collections::HashMap;

use deltalake::arrow::array::Array;

use super::columns::Columns;
use super::frame_info::FrameInfo;
use super::hashes::Numbers;
use super::paths::COLLECTOR;
use super::visible::condition;
use super::{QueryError, Reader, Selection, hour_sums};

/// How long each part of the period is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// An hour.
    Hour,
    /// A day, in UTC.
    Day,
}

/// The most parts of a period. 90 days have 2,160 hours.
pub const MAX_POINTS: usize = 2_200;

/// The most numbers of functions, which bounds memory and answers. Functions with the least time are left out.
const MAX_NUMBERS: usize = 1_000_000;

/// A period up to this length is divided into hours if nothing else is asked for, in microseconds.
const LONGEST_IN_HOURS: i64 = 3 * Step::Day.micros();

impl Step {
    /// Its length in microseconds.
    pub const fn micros(self) -> i64 {
        match self {
            Self::Hour => 3_600_000_000,
            Self::Day => 86_400_000_000,
        }
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
        }
    }

    /// The one for a period of this length in microseconds.
    pub fn for_period(length: i64) -> Self {
        if length <= LONGEST_IN_HOURS { Self::Hour } else { Self::Day }
    }

    /// How many parts a selection has. The first and the last one may be cut off.
    pub fn points(self, selection: &Selection) -> usize {
        let (first, last) = self.ends(selection);
        usize::try_from(last.saturating_sub(first).saturating_add(1)).unwrap_or(0)
    }

    /// The numbers of the first and the last part, from 1970 on.
    fn ends(self, selection: &Selection) -> (i64, i64) {
        let last = selection.to.saturating_sub(1).div_euclid(self.micros());
        (selection.from.div_euclid(self.micros()), last)
    }
}

/// The sums of a selection, part by part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// How long each part is.
    pub step: Step,
    /// How many profiles and sessions there are in the whole period.
    pub profiles: u64,
    /// A session may be in several parts.
    pub sessions: u64,
    /// All parts of the period, also those without profiles.
    pub points: Vec<Point>,
    /// The functions, most self time first.
    pub functions: Vec<FunctionSeries>,
}

/// One part of the period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// When it begins, in microseconds since 1970.
    pub time: i64,
    /// How many profiles were received in it.
    pub profiles: u64,
    /// How many sessions they are from.
    pub sessions: u64,
    /// Their time with a stack or a marker, in microseconds.
    pub busy: i64,
}

/// A function. Its times are in microseconds, one for each point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionSeries {
    /// The function.
    pub function: FrameInfo,
    /// The times in its own code.
    pub self_times: Vec<i64>,
    /// The times in its own code and in what it calls.
    pub total_times: Vec<i64>,
}

/// The time of samples with one stack in one part of the period.
struct Part {
    point: usize,
    stack: Option<usize>,
    is_collection: bool,
    weight: i64,
}

impl Reader {
    /// The first `top` functions of a selection, by their time in each part of the period. At most [`MAX_POINTS`] parts
    /// are given.
    pub async fn series(&self, selection: &Selection, step: Step, top: usize) -> Result<Series, QueryError> {
        let snapshot = self.snapshot(selection).await?;
        let context = &snapshot.context;
        let duplicates = self.duplicates(&snapshot).await?;
        let condition = condition(selection, &duplicates);
        let (profiles, sessions) = self.counts(context, selection, &condition).await?;
        let first = step.ends(selection).0;
        let length = step.points(selection).min(MAX_POINTS);
        let time = |point: usize| (first + point as i64).saturating_mul(step.micros());
        let mut points: Vec<Point> =
            (0..length).map(|point| Point { time: time(point), ..Point::default() }).collect();
        let place = |number: i64| usize::try_from(number - first).ok().filter(|&point| point < length);

        let number = format!("cast(time as bigint) / {}", step.micros());
        let table = if selection.filter.is_of_samples() { "samples" } else { "profiles" };
        let sql = format!(
            "select {number} as point, count(distinct profile) as profiles, count(distinct session) as sessions \
             from {table} where {condition} group by 1"
        );
        for batch in &Self::rows(context, &sql).await? {
            let numbers = batch.numbers("point")?;
            let (profiles, sessions) = (batch.numbers("profiles")?, batch.numbers("sessions")?);
            for row in 0..batch.num_rows() {
                let Some(point) = place(numbers.value(row)) else { continue };
                points[point].profiles = profiles.value(row).unsigned_abs();
                points[point].sessions = sessions.value(row).unsigned_abs();
            }
        }

        // Each part has whole hours, as sums of hours have.
        let sql = format!(
            "select {number} as point, stack, marker = 'gc' as gc, sum(weight) as weight from ({}) \
             where stack is not null or marker is not null group by 1, 2, 3 order by 1, 2, 3",
            hour_sums::samples(&snapshot, selection, &duplicates)?
        );
        let mut stacks_seen = Numbers::default();
        let mut parts = Vec::new();
        for batch in &Self::rows(context, &sql).await? {
            let (numbers, stacks) = (batch.numbers("point")?, batch.numbers("stack")?);
            let (collections, weights) = (batch.numbers("gc")?, batch.numbers("weight")?);
            for row in 0..batch.num_rows() {
                let stack = stacks.is_valid(row).then(|| stacks_seen.number(stacks.value(row)));
                let Some(point) = place(numbers.value(row)) else { continue };
                let is_collection = collections.is_valid(row) && collections.value(row) != 0;
                let weight = weights.value(row);
                points[point].busy = points[point].busy.saturating_add(weight);
                parts.push(Part { point, stack, is_collection, weight });
            }
        }
        let paths = self.paths(&selection.app, context, &stacks_seen).await?;

        // Equal functions of different frames are one.
        let mut index_of: HashMap<&FrameInfo, usize> = HashMap::new();
        let mut number = |function| {
            let next = index_of.len();
            *index_of.entry(function).or_insert(next)
        };
        let of_frame: Vec<usize> = paths.frames.iter().map(&mut number).collect();
        let collector = number(&COLLECTOR);
        let path = |part: &Part, path: &mut Vec<usize>| {
            path.clear();
            path.extend(
                part.stack.iter().flat_map(|&stack| &paths.stacks[stack]).map(|&frame| of_frame[frame]),
            );
            path.extend(part.is_collection.then_some(collector));
            let innermost = path.last().copied();
            path.sort_unstable();
            path.dedup();
            innermost
        };

        let mut on_stack = Vec::new();
        let mut sums = vec![(0_i64, 0_i64); index_of.len()];
        for part in &parts {
            if let Some(innermost) = path(part, &mut on_stack) {
                sums[innermost].0 = sums[innermost].0.saturating_add(part.weight);
            }
            for &function in &on_stack {
                sums[function].1 = sums[function].1.saturating_add(part.weight);
            }
        }
        let mut order: Vec<(&FrameInfo, usize)> =
            index_of.into_iter().filter(|&(_, index)| sums[index] != (0, 0)).collect();
        order.sort_by_key(|&(function, index)| (Reverse(sums[index]), function));
        order.truncate(top.min(MAX_NUMBERS / length.max(1)));
        let mut rank_of = vec![None; sums.len()];
        order.iter().enumerate().for_each(|(rank, &(_, index))| rank_of[index] = Some(rank));
        let mut functions: Vec<FunctionSeries> = order
            .iter()
            .map(|&(function, _)| FunctionSeries {
                function: function.clone(),
                self_times: vec![0; length],
                total_times: vec![0; length],
            })
            .collect();
        for part in &parts {
            let add =
                |times: &mut Vec<i64>| times[part.point] = times[part.point].saturating_add(part.weight);
            if let Some(rank) = path(part, &mut on_stack).and_then(|innermost| rank_of[innermost]) {
                add(&mut functions[rank].self_times);
            }
            for rank in on_stack.iter().filter_map(|&function| rank_of[function]) {
                add(&mut functions[rank].total_times);
            }
        }
        Ok(Series { step, profiles, sessions, points, functions })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Filter;

    #[test]
    fn a_period_has_whole_parts() {
        #[track_caller]
        fn check(from: i64, to: i64, expected: usize) {
            let selection = Selection { app: "a".into(), from, to, filter: Filter::All };
            assert_eq!(Step::Hour.points(&selection), expected);
        }
        let hour = Step::Hour.micros();
        check(0, hour, 1);
        check(0, hour + 1, 2);
        check(hour - 1, hour + 1, 2);
        check(5, 5, 1);
        check(hour * 3, 0, 0);
        check(i64::MIN, i64::MAX, 5_124_095_578);
        assert_eq!(Step::for_period(2 * Step::Day.micros()), Step::Hour);
        assert_eq!(Step::for_period(7 * Step::Day.micros()), Step::Day);
    }
}
