//! Two selections, such as two releases, compared function by function.

use std::collections::HashMap;

use deltalake::arrow::array::Array;
use selfprof_significance::{
    FunctionComparison, FunctionIndex, SessionKey, Sessions, Settings, Verdict, compare,
};

use super::columns::Columns;
use super::frame_info::FrameInfo;
use super::hashes::Numbers;
use super::paths::COLLECTOR;
use super::visible::condition;
use super::{Minified, QueryError, Reader, Selection};

/// Two selections, compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// How many profiles and sessions the old one has.
    pub base: Extent,
    /// How many the new one has.
    pub new: Extent,
    /// The functions of either, those with the largest difference of self time first.
    pub functions: Vec<ComparedFunction>,
    /// How many functions were tested. The p-values are corrected for this number.
    pub tested: usize,
}

/// How much a selection has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extent {
    /// The profiles.
    pub profiles: u64,
    /// The sessions.
    pub sessions: u64,
    /// The mean time of a session with a stack or a marker, in microseconds.
    pub mean_busy: f64,
    /// The releases whose functions cannot be matched with those of the other side.
    pub minified: Vec<Minified>,
}

/// A function in both.
#[derive(Clone, Debug)]
pub struct ComparedFunction {
    /// Its name and file. Its position is left out, because it differs between releases.
    pub function: FrameInfo,
    /// The time in its own code.
    pub self_time: FunctionComparison,
    /// The time in its own code and in what it calls.
    pub total_time: FunctionComparison,
}

/// The functions of both selections, by name and file.
#[derive(Default)]
struct Functions {
    index_of: HashMap<(String, String), u32>,
}

impl Functions {
    fn index(&mut self, frame: &FrameInfo) -> FunctionIndex {
        let next = self.index_of.len() as u32;
        FunctionIndex(*self.index_of.entry((frame.name.clone(), frame.file.clone())).or_insert(next))
    }

    fn into_names(self) -> Vec<FrameInfo> {
        let mut names = vec![FrameInfo::default(); self.index_of.len()];
        for ((name, file), index) in self.index_of {
            names[index as usize] = FrameInfo { name, file, ..FrameInfo::default() };
        }
        names
    }
}

/// The times of functions in each session of a selection.
#[derive(Default)]
struct Times {
    extent: Extent,
    own: Sessions,
    total: Sessions,
}

impl Reader {
    /// Compares two selections. The session is the unit: samples of one session are not independent.
    pub async fn compare(
        &self,
        base: &Selection,
        new: &Selection,
        settings: Settings,
    ) -> Result<Comparison, QueryError> {
        let mut functions = Functions::default();
        let base = self.times(base, &mut functions).await?;
        let new = self.times(new, &mut functions).await?;
        let extents = (base.extent, new.extent);
        let compared = tokio::task::spawn_blocking(move || {
            (compare(&base.own, &new.own, &settings), compare(&base.total, &new.total, &settings))
        });
        let (own, total) = compared.await.map_err(|error| QueryError::Result(error.to_string()))?;
        let mut total_of: HashMap<FunctionIndex, FunctionComparison> =
            total.functions.into_iter().map(|function| (function.function, function)).collect();
        let mut own_of: HashMap<FunctionIndex, FunctionComparison> =
            own.functions.into_iter().map(|function| (function.function, function)).collect();
        let names = functions.into_names();
        let compared = names.into_iter().enumerate().filter_map(|(index, function)| {
            let index = FunctionIndex(index as u32);
            let total_time = total_of.remove(&index)?;
            // A function may only ever have called others.
            let self_time = own_of.remove(&index).unwrap_or_else(|| FunctionComparison {
                base: Default::default(),
                new: Default::default(),
                difference_us: 0.0,
                difference_interval_us: None,
                ratio: None,
                ratio_interval: None,
                adjusted_p: None,
                verdict: Verdict::NoEvidence,
                ..total_time.clone()
            });
            Some(ComparedFunction { function, self_time, total_time })
        });
        let mut functions: Vec<ComparedFunction> = compared.collect();
        functions.sort_by(|a, b| {
            let size = |row: &ComparedFunction| row.self_time.difference_us.abs();
            size(b).total_cmp(&size(a)).then_with(|| a.function.cmp(&b.function))
        });
        Ok(Comparison { base: extents.0, new: extents.1, functions, tested: own.tested })
    }

    /// The times of functions in each session.
    async fn times(&self, selection: &Selection, functions: &mut Functions) -> Result<Times, QueryError> {
        let snapshot = self.snapshot(selection).await?;
        let context = &snapshot.context;
        let condition = condition(selection, &self.duplicates(&snapshot).await?);
        let mut times = Times::default();
        (times.extent.profiles, times.extent.sessions) = self.counts(context, selection, &condition).await?;
        let rows = Self::rows(
            context,
            &format!(
                "select session, stack, marker = 'gc' as gc, sum(weight) as weight from samples \
                 where {condition} and (stack is not null or marker is not null) \
                 group by session, stack, marker = 'gc' order by session, stack, gc"
            ),
        )
        .await?;
        let mut numbers = Numbers::default();
        // Session, stack, garbage collection, weight.
        let mut parts: Vec<(i64, Option<usize>, bool, i64)> = Vec::new();
        for batch in &rows {
            let (sessions, stacks) = (batch.numbers("session")?, batch.numbers("stack")?);
            let (collections, weights) = (batch.numbers("gc")?, batch.numbers("weight")?);
            for row in 0..batch.num_rows() {
                let stack = stacks.is_valid(row).then(|| numbers.number(stacks.value(row)));
                let is_collection = collections.is_valid(row) && collections.value(row) != 0;
                parts.push((sessions.value(row), stack, is_collection, weights.value(row)));
            }
        }
        let paths = self.paths(&selection.app, context, &numbers).await?;
        times.extent.minified = paths.minified;
        let collector = functions.index(&COLLECTOR);
        let frames: Vec<FunctionIndex> = paths.frames.iter().map(|frame| functions.index(frame)).collect();
        let mut busy = 0_i64;
        for session in parts.chunk_by(|a, b| a.0 == b.0) {
            let whole = session.iter().fold(0, |sum: i64, part| sum.saturating_add(part.3));
            busy = busy.saturating_add(whole);
            let key = SessionKey(session[0].0.cast_unsigned().into());
            let path = |part: &(i64, Option<usize>, bool, i64)| {
                let stack =
                    part.1.map_or(&[][..], |stack| &paths.stacks[stack]).iter().map(|&frame| frames[frame]);
                let mut path: Vec<FunctionIndex> = stack.chain(part.2.then_some(collector)).collect();
                let leaf = path.last().copied();
                path.sort_unstable();
                path.dedup();
                (leaf, path)
            };
            let called: Vec<_> = session.iter().map(path).collect();
            let own = session.iter().zip(&called).filter_map(|(part, (leaf, _))| Some(((*leaf)?, part.3)));
            times.own.push(key, whole, own);
            let total = session
                .iter()
                .zip(&called)
                .flat_map(|(part, (_, path))| path.iter().map(|&frame| (frame, part.3)));
            times.total.push(key, whole, total);
        }
        times.extent.mean_busy = busy as f64 / times.extent.sessions.max(1) as f64;
        // A session in which nothing ran has no samples with a stack, but counts.
        let with_time = parts.chunk_by(|a, b| a.0 == b.0).count() as u64;
        for empty in 0..times.extent.sessions.saturating_sub(with_time) {
            let key = SessionKey(u128::from(u64::MAX) + 1 + u128::from(empty));
            times.own.push(key, 0, []);
            times.total.push(key, 0, []);
        }
        Ok(times)
    }
}
