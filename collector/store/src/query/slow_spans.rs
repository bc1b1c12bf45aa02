//! What runs in the slowest tenth of spans of one name, and what in the others.
//!
//! The tables have the samples of a profile added up, without their times. So this reads traces, and gives each sample
//! to the spans that cover it. It reads those of some profiles only; because their numbers are hashes, the first ones
//! are a choice at random.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use deltalake::arrow::array::{AsArray, RecordBatch};
use deltalake::arrow::compute::cast;
use deltalake::arrow::datatypes::{DataType, Float64Type};
use selfprof_trace::{Marker, Trace};

use super::columns::Columns;
use super::frame_info::FrameInfo;
use super::paths::same_functions;
use super::spans::labelled;
use super::stacks::{StackSum, StackSums};
use super::visible::profile_condition;
use super::{QueryError, Reader, Selection};
use crate::filter::literal;
use crate::profile::{CompactTrace, Damaged, Span, spans_from_bytes};

/// Spans are slow from this percentile on.
pub const SLOW_PERCENT: u8 = 90;

/// The place of [`SLOW_PERCENT`] in [`PERCENTS`](super::spans::PERCENTS).
const SLOW: usize = 2;

/// At most so many profiles are read, and so many samples.
const MAX_PROFILES: usize = 2_000;
const MAX_SAMPLES: i64 = 4_000_000;

/// Profiles that are read together have at most so many samples.
const SAMPLES_TOGETHER: i64 = 200_000;

/// The frames of all stacks together. When there are more, no further profile is read.
const MAX_PATHS: usize = 4_000_000;

/// The spans of one name, the slow ones and the others.
#[derive(Clone, Debug, Default)]
pub struct SlowSpans {
    /// A span is slow if its duration is at least this, in microseconds.
    pub limit: i64,
    /// The profiles that have such spans.
    pub profiles: u64,
    /// Those of them that were read.
    pub read: u64,
    /// The spans in them that began before the recording, or ended after it. They are left out.
    pub cut: u64,
    /// The slow ones.
    pub slow: SpanGroup,
    /// The others.
    pub rest: SpanGroup,
}

/// Some spans, and what ran in them.
#[derive(Clone, Debug, Default)]
pub struct SpanGroup {
    /// How many there are.
    pub spans: u64,
    /// How many there were in all visits: the sum of 1 / rate.
    pub times: f64,
    /// The sum of the durations in microseconds, divided by the rates.
    pub duration: f64,
    /// The samples. One that is in two of the spans counts twice.
    pub sums: StackSums,
}

/// A profile to read.
struct Candidate {
    profile: i64,
    samples: i64,
}

impl Reader {
    /// Compares the slow spans of a name with the others; `None` if there is no such span.
    pub async fn slow_spans(
        &self,
        selection: &Selection,
        name: &str,
    ) -> Result<Option<SlowSpans>, QueryError> {
        let snapshot = self.snapshot(selection).await?;
        let context = &snapshot.context;
        let condition = profile_condition(selection, &self.duplicates(&snapshot).await?);
        let known = Self::counted(context, &condition, Some(name)).await?;
        let Some(known) = known.into_iter().next() else { return Ok(None) };
        let sql = format!(
            "select profile from ({}) where label = {} group by profile order by profile limit {MAX_PROFILES}",
            labelled(&condition),
            literal(name)
        );
        let mut ids = Vec::new();
        for batch in &Self::rows(context, &sql).await? {
            ids.extend(batch.numbers("profile")?.values().iter().map(i64::to_string));
        }
        // A join of the two would be asked in one query, but clusters left rows out of it.
        let sql = format!(
            "select profile, samples from profiles where {condition} and profile in ({}) order by profile",
            ids.join(", ")
        );
        let mut candidates = Vec::new();
        for batch in &Self::rows(context, &sql).await? {
            let (profiles, samples) = (batch.numbers("profile")?, batch.numbers("samples")?);
            candidates.extend(
                (0..batch.num_rows()).map(|row| Candidate {
                    profile: profiles.value(row),
                    samples: samples.value(row).max(1),
                }),
            );
        }
        let mut both = Both::new(name, known.percentiles[SLOW]);
        let mut sum = 0;
        let mut rest = &candidates[..];
        while !rest.is_empty() && sum < MAX_SAMPLES && both.size < MAX_PATHS {
            let mut together = 0;
            let next = rest.iter().position(|candidate| {
                together += candidate.samples;
                together > SAMPLES_TOGETHER
            });
            let (chunk, later) = rest.split_at(next.unwrap_or(rest.len()).max(1));
            (rest, sum) = (later, sum + together);
            let ids: Vec<String> = chunk.iter().map(|candidate| candidate.profile.to_string()).collect();
            let sql = format!(
                "select profile, release, session, rate, spans, trace from profiles \
                 where {condition} and profile in ({}) order by profile",
                ids.join(", ")
            );
            let rows = Self::rows(context, &sql).await?;
            let added = tokio::task::spawn_blocking(move || {
                rows.iter().try_for_each(|batch| both.add_batch(batch)).map(|()| both)
            });
            both = added.await.map_err(|error| QueryError::Result(error.to_string()))??;
        }
        let mut result = SlowSpans {
            profiles: known.profiles,
            limit: both.limit,
            read: both.read,
            cut: both.cut,
            ..SlowSpans::default()
        };
        for (group, collected) in [(&mut result.slow, both.slow), (&mut result.rest, both.rest)] {
            *group = collected.finish(self, &selection.app).await?;
        }
        Ok(Some(result))
    }
}

/// What is collected of both groups.
struct Both {
    name: String,
    limit: i64,
    read: u64,
    cut: u64,
    /// The frames of all stacks.
    size: usize,
    slow: Collected,
    rest: Collected,
}

/// What is collected of one group. Functions are those of the generated code.
#[derive(Default)]
struct Collected {
    spans: u64,
    times: f64,
    duration: f64,
    profiles: BTreeSet<i64>,
    sessions: BTreeSet<i64>,
    /// By release and function.
    frame_of: HashMap<(String, FrameInfo), usize>,
    stack_of: HashMap<Vec<usize>, usize>,
    /// By stack and marker: time and number of the samples.
    sums: BTreeMap<(Option<usize>, Option<Marker>), (i64, i64)>,
}

/// When the spans of one group in one profile begin and end.
#[derive(Default)]
struct Times {
    starts: Vec<i64>,
    ends: Vec<i64>,
    started: usize,
    ended: usize,
}

impl Times {
    fn sort(&mut self) {
        self.starts.sort_unstable();
        self.ends.sort_unstable();
    }

    /// How many cover a time. Times increase from call to call.
    fn at(&mut self, time: i64) -> i64 {
        self.started += self.starts[self.started..].iter().take_while(|&&start| start <= time).count();
        self.ended += self.ends[self.ended..].iter().take_while(|&&end| end < time).count();
        self.started as i64 - self.ended as i64
    }
}

impl Both {
    fn new(name: &str, limit: i64) -> Self {
        let (slow, rest) = Default::default();
        Self { name: name.to_owned(), limit, read: 0, cut: 0, size: 0, slow, rest }
    }

    fn add_batch(&mut self, batch: &RecordBatch) -> Result<(), QueryError> {
        let (profiles, releases) = (batch.numbers("profile")?, batch.texts("release")?);
        let (sessions, spans) = (batch.numbers("session")?, batch.bytes("spans")?);
        let traces = batch.bytes("trace")?;
        let rates = batch.column_by_name("rate").map(|rates| cast(rates, &DataType::Float64));
        let Some(Ok(rates)) = rates else { return Err(QueryError::Result("no rates".into())) };
        let rates = rates.as_primitive::<Float64Type>();
        let damaged = |error: Damaged| QueryError::Result(error.to_string());
        for row in 0..batch.num_rows() {
            let trace = CompactTrace::from_bytes(traces.value(row)).map_err(damaged)?;
            let trace = trace.to_trace(&[]).map_err(damaged)?;
            let spans = spans_from_bytes(spans.value(row)).map_err(damaged)?;
            let owner = Owner {
                profile: profiles.value(row),
                session: sessions.value(row),
                release: releases.value(row),
                rate: rates.value(row),
            };
            self.add(&owner, &trace, &spans);
        }
        Ok(())
    }

    fn add(&mut self, owner: &Owner, trace: &Trace, spans: &[Span]) {
        self.read += 1;
        let micros = |time: selfprof_trace::Micros| i64::try_from(time.0).unwrap_or(i64::MAX);
        let interval = trace.interval().map_or(0, micros);
        let Some((first, last)) = trace.span() else { return };
        let recorded = micros(first).saturating_sub(interval)..=micros(last).saturating_add(interval);
        let (mut slow, mut rest) = (Times::default(), Times::default());
        for span in spans.iter().filter(|span| span.label().as_ref() == Some(&self.name)) {
            let end = span.start.saturating_add(span.duration);
            if !recorded.contains(&span.start) || !recorded.contains(&end) {
                self.cut += 1;
                continue;
            }
            let is_slow = span.duration >= self.limit;
            let (times, group) =
                if is_slow { (&mut slow, &mut self.slow) } else { (&mut rest, &mut self.rest) };
            times.starts.push(span.start);
            times.ends.push(end);
            group.spans += 1;
            group.times += 1.0 / owner.rate;
            group.duration += span.duration as f64 / owner.rate;
            group.profiles.insert(owner.profile);
            group.sessions.insert(owner.session);
        }
        for (times, group) in [(&mut slow, &mut self.slow), (&mut rest, &mut self.rest)] {
            times.sort();
            if !times.starts.is_empty() {
                self.size += group.add_samples(owner, trace, times);
            }
        }
    }
}

/// Whose spans they are.
struct Owner<'a> {
    profile: i64,
    session: i64,
    release: &'a str,
    rate: f64,
}

impl Collected {
    /// Adds the samples in spans. Returns how many frames new stacks have.
    fn add_samples(&mut self, owner: &Owner, trace: &Trace, times: &mut Times) -> usize {
        let mut size = 0;
        // The same stack is in many samples.
        let mut known = HashMap::new();
        for (sample, weight) in trace.samples().iter().zip(trace.weights()) {
            let spans = times.at(i64::try_from(sample.timestamp.0).unwrap_or(i64::MAX));
            if spans <= 0 {
                continue;
            }
            let stack = sample.stack.map(|id| {
                *known.entry(id).or_insert_with(|| {
                    let mut path: Vec<usize> = trace
                        .path(id)
                        .map(|frame| self.frame(owner.release, FrameInfo::of(trace, frame)))
                        .collect();
                    path.reverse();
                    let next = self.stack_of.len();
                    let length = path.len();
                    let stack = *self.stack_of.entry(path).or_insert(next);
                    size += if stack == next { length } else { 0 };
                    stack
                })
            });
            let weight = (weight.0 as f64 / owner.rate).round() as i64;
            let sum = self.sums.entry((stack, sample.marker)).or_default();
            sum.0 = sum.0.saturating_add(weight.saturating_mul(spans));
            sum.1 = sum.1.saturating_add(spans);
        }
        size
    }

    fn frame(&mut self, release: &str, function: FrameInfo) -> usize {
        let next = self.frame_of.len();
        *self.frame_of.entry((release.to_owned(), function)).or_insert(next)
    }

    /// With the functions of the sources.
    async fn finish(self, reader: &Reader, app: &str) -> Result<SpanGroup, QueryError> {
        let mut frames = vec![FrameInfo::default(); self.frame_of.len()];
        let mut frames_of: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for ((release, function), index) in self.frame_of {
            frames[index] = function;
            frames_of.entry(release).or_default().insert(index);
        }
        for (release, numbers) in &frames_of {
            let maps = reader.maps.of_release(app, release).await?;
            let frames = frames.iter_mut().enumerate().filter(|(number, _)| numbers.contains(number));
            maps.symbolize(&mut frames.map(|(_, frame)| frame).collect::<Vec<_>>());
        }
        same_functions(&mut frames, &frames_of);
        let mut stacks = vec![Vec::new(); self.stack_of.len()];
        for (path, index) in self.stack_of {
            stacks[index] = path;
        }
        let rows = self.sums.into_iter();
        let rows = rows.map(|((stack, marker), (weight, count))| StackSum { stack, marker, weight, count });
        Ok(SpanGroup {
            spans: self.spans,
            times: self.times,
            duration: self.duration,
            sums: StackSums {
                profiles: self.profiles.len() as u64,
                sessions: self.sessions.len() as u64,
                rows: rows.collect(),
                frames,
                stacks,
            },
        })
    }
}
