//! The rows that profiles become.

use std::collections::HashMap;
use std::sync::Arc;

use deltalake::arrow::array::{
    ArrayRef, BinaryBuilder, Float64Builder, Int32Builder, Int64Builder, ListBuilder, RecordBatch,
    StringBuilder, TimestampMicrosecondBuilder,
};
use deltalake::arrow::datatypes::{DataType, Field};
use deltalake::arrow::error::ArrowError;
use selfprof_trace::{Frame, Marker, Micros, StackId, Trace};

use super::schema::TableName;
use super::weighted::{self, Weighted};
use super::written::{Known, TOO_MANY_STACKS, Written};
use crate::ids::{self, BatchId, FrameHash, StackHash};
use crate::profile::{Damaged, Profile};

/// Rows of all tables, for one application and one day.
pub struct Rows {
    batch: BatchId,
    profiles: ProfileColumns,
    samples: SampleColumns,
    spans: SpanColumns,
    stacks: StackColumns,
    frames: FrameColumns,
}

impl Rows {
    /// No rows. They belong together under this number.
    pub fn new(batch: BatchId) -> Self {
        Self {
            batch,
            profiles: ProfileColumns::default(),
            samples: SampleColumns::default(),
            spans: SpanColumns::default(),
            stacks: StackColumns::default(),
            frames: FrameColumns::default(),
        }
    }

    /// Appends the rows of a profile. Returns how many of its samples have a stack that is one too many.
    pub fn push(&mut self, profile: &Profile, written: &mut Written) -> Result<u64, Damaged> {
        let trace = profile.trace.to_trace(&[])?;
        let frames = ids::frames(&profile.labels.app, &profile.labels.release, &trace);
        let (stacks, left_out) = self.push_stacks(profile, &trace, &frames, written);
        let (interval, weights) = (trace.interval(), trace.weights());
        let sums =
            weighted::sums(&trace, &weights, |stack| stacks[stack.index()], &profile.spans, profile.rate);
        for row in &sums.rows {
            self.samples.push(profile, self.batch, row, &sums.span_sets[row.spans]);
        }
        self.spans.push(profile, self.batch);
        self.profiles.push(profile, self.batch, interval, &weights);
        Ok(left_out)
    }

    /// The numbers of the trace's stacks. Those of samples are written, with their frames. Also how many samples have a
    /// stack that is one too many, and is replaced.
    fn push_stacks(
        &mut self,
        profile: &Profile,
        trace: &Trace,
        frames: &[FrameHash],
        written: &mut Written,
    ) -> (Vec<StackHash>, u64) {
        let mut hashes: Vec<StackHash> = Vec::with_capacity(trace.stacks().len());
        for (_, stack) in trace.stacks().iter() {
            let parent = stack.parent.map(|parent| hashes[parent.index()]);
            hashes.push(ids::stack(parent, frames[stack.frame.index()]));
        }
        let release = &profile.labels.release;
        let mut replaced: HashMap<StackId, StackHash> = HashMap::new();
        let mut left_out = 0;
        for stack in trace.samples().iter().filter_map(|sample| sample.stack) {
            if replaced.contains_key(&stack) {
                left_out += 1;
                continue;
            }
            match written.stack(profile, hashes[stack.index()]) {
                Known::Yes => continue,
                Known::New => {}
                Known::TooMany => {
                    left_out += 1;
                    replaced.insert(stack, self.push_too_many(profile, written));
                    continue;
                }
            }
            let mut path: Vec<FrameHash> = Vec::new();
            for id in trace.path(stack) {
                let hash = frames[id.index()];
                path.push(hash);
                if written.frame(profile, hash) {
                    self.frames.push(release, trace, trace.frames()[id], hash);
                }
            }
            path.reverse();
            self.stacks.push(release, hashes[stack.index()], &path);
        }
        // Only now, because the stacks are hashes of their callers.
        replaced.into_iter().for_each(|(stack, hash)| hashes[stack.index()] = hash);
        (hashes, left_out)
    }

    /// The number of the stack that stands for those that are too many.
    fn push_too_many(&mut self, profile: &Profile, written: &mut Written) -> StackHash {
        let mut trace = Trace::new();
        let name = trace.name(TOO_MANY_STACKS).expect("an empty trace has room");
        let frame = Frame { name, resource: None, line: None, column: None };
        trace.frame(frame).expect("an empty trace has room");
        let release = &profile.labels.release;
        let hash = ids::frames(&profile.labels.app, release, &trace)[0];
        let stack = ids::stack(None, hash);
        if written.frame(profile, hash) {
            self.frames.push(release, &trace, frame, hash);
            self.stacks.push(release, stack, &[hash]);
        }
        stack
    }

    /// The rows of each table of [`TableName::WRITTEN`].
    pub fn finish(mut self) -> Result<[RecordBatch; 5], ArrowError> {
        let batch = |table: TableName, columns| RecordBatch::try_new(table.schema(), columns);
        Ok([
            batch(TableName::Frames, self.frames.finish())?,
            batch(TableName::Stacks, self.stacks.finish())?,
            batch(TableName::Spans, self.spans.finish())?,
            batch(TableName::Samples, self.samples.finish())?,
            batch(TableName::Profiles, self.profiles.finish())?,
        ])
    }
}

/// The columns that say whose rows they are.
struct CommonColumns {
    time: TimestampMicrosecondBuilder,
    profile: Int64Builder,
    batch: Int64Builder,
    session: Int64Builder,
    labels: [StringBuilder; 5],
}

impl Default for CommonColumns {
    fn default() -> Self {
        Self {
            time: TimestampMicrosecondBuilder::new().with_timezone("UTC"),
            profile: Int64Builder::new(),
            batch: Int64Builder::new(),
            session: Int64Builder::new(),
            labels: Default::default(),
        }
    }
}

impl CommonColumns {
    fn push(&mut self, profile: &Profile, batch: BatchId) {
        let labels = &profile.labels;
        self.time.append_value(profile.time);
        self.profile.append_value(profile.id.0);
        self.batch.append_value(batch.0);
        self.session.append_value(profile.session.0);
        let texts = [&labels.release, &labels.page, &labels.environment, &labels.browser, &labels.device];
        for (column, text) in self.labels.iter_mut().zip(texts) {
            column.append_value(text);
        }
    }

    fn finish(&mut self) -> Vec<ArrayRef> {
        let numbers: [ArrayRef; 4] = [
            Arc::new(self.time.finish()),
            Arc::new(self.profile.finish()),
            Arc::new(self.batch.finish()),
            Arc::new(self.session.finish()),
        ];
        let labels = self.labels.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef);
        numbers.into_iter().chain(labels).collect()
    }
}

#[derive(Default)]
struct ProfileColumns {
    common: CommonColumns,
    rate: Float64Builder,
    interval: Int64Builder,
    duration: Int64Builder,
    samples: Int64Builder,
    spans: BinaryBuilder,
    trace: BinaryBuilder,
}

impl ProfileColumns {
    fn push(&mut self, profile: &Profile, batch: BatchId, interval: Option<Micros>, weights: &[Micros]) {
        let micros = |micros: Micros| i64::try_from(micros.0).unwrap_or(i64::MAX);
        self.common.push(profile, batch);
        self.rate.append_value(profile.rate);
        self.interval.append_option(interval.map(micros));
        self.duration.append_value(weights.iter().copied().map(micros).fold(0, i64::saturating_add));
        self.samples.append_value(weights.len() as i64);
        self.spans.append_value(profile.spans_to_bytes());
        self.trace.append_value(profile.trace.to_bytes());
    }

    fn finish(&mut self) -> Vec<ArrayRef> {
        let mut columns = self.common.finish();
        columns.push(Arc::new(self.rate.finish()));
        columns.extend(
            [&mut self.interval, &mut self.duration, &mut self.samples]
                .map(|column| Arc::new(column.finish()) as ArrayRef),
        );
        columns
            .extend([&mut self.spans, &mut self.trace].map(|column| Arc::new(column.finish()) as ArrayRef));
        columns
    }
}

struct SampleColumns {
    common: CommonColumns,
    marker: StringBuilder,
    spans: ListBuilder<StringBuilder>,
    stack: Int64Builder,
    weight: Int64Builder,
    count: Int64Builder,
}

impl Default for SampleColumns {
    fn default() -> Self {
        Self {
            common: CommonColumns::default(),
            marker: StringBuilder::new(),
            spans: ListBuilder::new(StringBuilder::new()).with_field(element(DataType::Utf8)),
            stack: Int64Builder::new(),
            weight: Int64Builder::new(),
            count: Int64Builder::new(),
        }
    }
}

impl SampleColumns {
    fn push(&mut self, profile: &Profile, batch: BatchId, row: &Weighted, spans: &[String]) {
        self.common.push(profile, batch);
        self.marker.append_option(row.marker.map(Marker::as_str));
        self.spans.append_value(spans.iter().map(Some));
        self.stack.append_option(row.stack.map(|stack| stack.0));
        self.weight.append_value(row.weight);
        self.count.append_value(row.count);
    }

    fn finish(&mut self) -> Vec<ArrayRef> {
        let mut columns = self.common.finish();
        columns.push(Arc::new(self.marker.finish()));
        columns.push(Arc::new(self.spans.finish()));
        columns.extend(
            [&mut self.stack, &mut self.weight, &mut self.count]
                .map(|column| Arc::new(column.finish()) as ArrayRef),
        );
        columns
    }
}

#[derive(Default)]
struct SpanColumns {
    common: CommonColumns,
    kind: StringBuilder,
    name: StringBuilder,
    start: Int64Builder,
    duration: Int64Builder,
    rate: Float64Builder,
}

impl SpanColumns {
    fn push(&mut self, profile: &Profile, batch: BatchId) {
        for span in &profile.spans {
            self.common.push(profile, batch);
            self.kind.append_value(span.kind.as_str());
            self.name.append_value(&span.name);
            self.start.append_value(span.start);
            self.duration.append_value(span.duration);
            self.rate.append_value(profile.rate);
        }
    }

    fn finish(&mut self) -> Vec<ArrayRef> {
        let mut columns = self.common.finish();
        columns.push(Arc::new(self.kind.finish()));
        columns.push(Arc::new(self.name.finish()));
        columns.push(Arc::new(self.start.finish()));
        columns.push(Arc::new(self.duration.finish()));
        columns.push(Arc::new(self.rate.finish()));
        columns
    }
}

struct StackColumns {
    stack: Int64Builder,
    release: StringBuilder,
    frames: ListBuilder<Int64Builder>,
}

impl Default for StackColumns {
    fn default() -> Self {
        Self {
            stack: Int64Builder::new(),
            release: StringBuilder::new(),
            frames: ListBuilder::new(Int64Builder::new()).with_field(element(DataType::Int64)),
        }
    }
}

impl StackColumns {
    fn push(&mut self, release: &str, stack: StackHash, path: &[FrameHash]) {
        self.stack.append_value(stack.0);
        self.release.append_value(release);
        self.frames.append_value(path.iter().map(|frame| Some(frame.0)));
    }

    fn finish(&mut self) -> Vec<ArrayRef> {
        vec![Arc::new(self.stack.finish()), Arc::new(self.release.finish()), Arc::new(self.frames.finish())]
    }
}

#[derive(Default)]
struct FrameColumns {
    frame: Int64Builder,
    release: StringBuilder,
    name: StringBuilder,
    resource: StringBuilder,
    line: Int32Builder,
    column: Int32Builder,
}

impl FrameColumns {
    fn push(&mut self, release: &str, trace: &Trace, frame: Frame, hash: FrameHash) {
        let number = |number: Option<std::num::NonZeroU32>| number.and_then(|n| i32::try_from(n.get()).ok());
        self.frame.append_value(hash.0);
        self.release.append_value(release);
        self.name.append_value(&trace.names()[frame.name]);
        self.resource.append_value(frame.resource.map_or("", |resource| &trace.resources()[resource]));
        self.line.append_option(number(frame.line));
        self.column.append_option(number(frame.column));
    }

    fn finish(&mut self) -> Vec<ArrayRef> {
        vec![
            Arc::new(self.frame.finish()),
            Arc::new(self.release.finish()),
            Arc::new(self.name.finish()),
            Arc::new(self.resource.finish()),
            Arc::new(self.line.finish()),
            Arc::new(self.column.finish()),
        ]
    }
}

fn element(item: DataType) -> Field {
    Field::new("element", item, true)
}
