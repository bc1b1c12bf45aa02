//! The trace of one session while it is being recorded.

mod cell;
mod chunks;
mod circular;
mod collections;
mod extraction;
mod labels;
mod slots;
mod stack_map;
mod waiting;

use selfprof_trace::{InternError, Marker, Micros, Sample, StackId, Trace, WaitingPoint};

pub use self::cell::RecordingCell;
use self::collections::Collections;
use self::extraction::Extraction;
use self::labels::LabelRecorder;
pub use self::labels::RecordedLabels;
use self::slots::Slots;
use self::stack_map::{Resolved, StackMap};
use self::waiting::WaitingRecorder;
use crate::{AgentState, BufferPolicy, Forced, FrameAdmission, Instant, RawSample, RawSegment, Span};

/// What a frame or a resource takes beside its text, about: entries of two tables, and an allocation.
const ENTRY_BYTES: usize = 100;

/// The options of a recording.
#[derive(Clone, Copy, Debug)]
pub struct RecordingOptions {
    /// The point on the sampler's clock that the trace's timestamps count from: the session's time origin.
    pub origin: Instant,
    /// The session's sample interval, already quantised.
    pub interval: Micros,
    /// The sample buffer size limit; `None` for no limit.
    pub limit: Option<u64>,
    /// How many stacks the tables may hold; `None` for no limit. With more, the buffer is full, however few samples it
    /// holds: each sample can have hundreds of stacks that no other has.
    pub most_stacks: Option<usize>,
    /// How many bytes the frames may take with their names and the URLs of their scripts; `None` for no limit. With
    /// more, the buffer is full, too: a stack can have hundreds of functions, and each a name of thousands of bytes.
    pub most_frame_bytes: Option<usize>,
    /// What happens when a sample is due and the limit is reached.
    pub policy: BufferPolicy,
    /// The resolution of the session's clock. Timestamps are rounded down to a multiple of it; zero keeps every
    /// microsecond.
    pub resolution: Micros,
    /// Whether the waiting time is recorded, if segments have CPU times. Only a recording that is streamed can take it
    /// out.
    pub waiting: bool,
    /// Whether the labels of samples are recorded, if segments have them. Only a recording that is streamed can take
    /// them out.
    pub labels: bool,
}

/// One session's trace while it is being recorded.
///
/// Segments are appended in the order in which the group cut them. Neighbouring segments overlap, because the group
/// starts a run before it stops the previous one; a sample in both is recorded once.
#[derive(Debug)]
pub struct Recording {
    options: RecordingOptions,
    trace: Trace,
    /// Samples recorded since the start, including those that were drained.
    taken: u64,
    /// The time of the last raw sample seen, due or not: later segments may contain it again.
    seen_until: Option<Instant>,
    slots: Slots,
    collections: Collections,
    /// How many stacks the tables may hold before those that no sample uses are dropped.
    sweep_at: usize,
    /// How many chunks were removed and not consumed yet.
    waiting_chunks: usize,
    full: bool,
    lost: u64,
    waiting_times: Option<WaitingRecorder>,
    labels: Option<LabelRecorder>,
}

/// The outcome of appending a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Outcome {
    /// The buffer was full when one more sample was due, for the first time: `samplebufferfull` must be fired.
    pub became_full: bool,
    /// The earliest time at which a sample can be due while the buffer is full, for a session with a limit that it has
    /// not reached.
    pub earliest_full: Option<Instant>,
}

/// What the samples of one segment are recorded with.
struct Pass<'a> {
    stacks: StackMap<'a>,
    admission: &'a dyn FrameAdmission,
    forced: &'a [Forced],
    /// The sample before, if it was not due. Its stack is not resolved unless a garbage collection needs it, so that
    /// samples that are not taken do not fill the tables.
    before: Option<&'a RawSample>,
}

impl Recording {
    /// An empty recording.
    #[must_use]
    pub fn new(options: RecordingOptions) -> Self {
        Self {
            options,
            trace: Trace::new(),
            taken: 0,
            seen_until: None,
            slots: Slots::new(options.interval),
            collections: Collections::default(),
            sweep_at: circular::FIRST_SWEEP,
            waiting_chunks: 0,
            full: false,
            lost: 0,
            waiting_times: options.waiting.then(WaitingRecorder::default),
            labels: options.labels.then(LabelRecorder::default),
        }
    }

    /// Records the samples of `segment` that lie in `spans`, are due and were not seen before: the steps of
    /// [take a sample](https://wicg.github.io/js-self-profiling/#take-a-sample). Samples are put in time order.
    /// `forced` are the requested samples, in time order, too.
    ///
    /// # Errors
    /// When a table has run out of ids. Everything recorded so far stays, and the recording ends, as one with a full
    /// buffer does.
    pub fn append(
        &mut self,
        segment: &RawSegment,
        spans: &[Span],
        forced: &[Forced],
        admission: &dyn FrameAdmission,
    ) -> Result<Outcome, InternError> {
        let full_before = self.full;
        let samples_before = self.trace.samples().len();
        self.lost += segment.lost;
        if self.options.policy != BufferPolicy::Stop {
            self.sweep();
        }
        if let Some(labels) = &mut self.labels {
            labels.add(&segment.labels);
        }
        let mut pass = Pass { stacks: StackMap::new(segment, admission), admission, forced, before: None };
        let mut samples: Vec<_> = segment.samples.iter().collect();
        samples.sort_by_key(|sample| sample.at);
        for sample in samples {
            if self.full {
                break;
            }
            let Some(span) = spans.iter().find(|span| span.contains(sample.at)) else { continue };
            let seen_before = self.seen_until;
            if seen_before.is_some_and(|seen| sample.at <= seen) {
                continue;
            }
            if seen_before.is_some_and(|seen| seen < span.from) {
                // The stack before a pause says nothing about a garbage collection after it.
                self.collections = Collections::default();
                pass.before = None;
            }
            self.seen_until = Some(sample.at);
            self.take(sample, &mut pass)?;
        }
        if let Some(before) = pass.before.take() {
            // A garbage collection may begin the next segment.
            let has_room = !self.full && !self.has_full_tables();
            let before = has_room.then(|| self.resolve(before, &mut pass.stacks)).transpose()?;
            self.collections.set_before(before);
        }
        if let (Some(waiting), Some(cpu_times)) = (&mut self.waiting_times, &segment.cpu_times) {
            let new = self.trace.samples().get(samples_before..).unwrap_or_default();
            waiting.append(cpu_times, self.options.origin, new);
        }
        Ok(Outcome { became_full: self.full && !full_before, earliest_full: self.earliest_full() })
    }

    /// Records a sample if it is due or requested.
    fn take<'a>(&mut self, sample: &'a RawSample, pass: &mut Pass<'a>) -> Result<(), InternError> {
        let labels = self.labels.as_mut().and_then(|recorder| recorder.find(sample.at));
        let forced = Forced::at(pass.forced, sample.at);
        if forced.is_some_and(|forced| !forced.keep) {
            return Ok(());
        }
        let is_wanted = forced.is_some() || self.slots.is_due(sample.at);
        // Its stack would stay in the tables, though no sample has it. But garbage collections before it need it.
        let has_room = self.has_room() && !self.has_full_tables();
        if is_wanted && !self.collections.are_waiting() && !has_room {
            self.full = true;
            return Ok(());
        }
        let collecting = sample.state == AgentState::GarbageCollection;
        if !is_wanted && (collecting || !self.collections.are_waiting()) {
            if !collecting {
                pass.before = Some(sample);
                self.collections.set_labels_before(&labels);
            }
            return Ok(());
        }
        let Resolved { stack, own, work, .. } = if collecting {
            self.resolve_collection(pass)?
        } else {
            pass.before = None;
            let resolved = self.resolve(sample, &mut pass.stacks)?;
            self.collections.give_stacks(&mut self.trace, resolved.stack, &labels);
            self.collections.set_before(Some(resolved));
            self.collections.set_labels_before(&labels);
            resolved
        };
        if !is_wanted {
            return Ok(());
        }
        // A sample is requested in a host function, which is not what the program was doing.
        let state = match sample.state {
            AgentState::External if forced.is_some() => AgentState::JavaScript,
            state => state,
        };
        let marker = state.marker().map(|marker| work.unwrap_or(marker));
        let marker = marker.filter(|_| own).and_then(|marker| pass.admission.marker(marker));
        self.push(sample.at, stack, marker, own && collecting);
        self.collections.add_labels(&labels);
        if let (Some(recorder), Some(recorded)) = (&mut self.labels, self.trace.samples().last()) {
            recorder.record(recorded.timestamp, labels);
        }
        Ok(())
    }

    /// The stack of a sample that is no garbage collection's.
    fn resolve(&mut self, sample: &RawSample, stacks: &mut StackMap) -> Result<Resolved, InternError> {
        let Some(node) = sample.node else { return Ok(stacks.without_stack()) };
        stacks.resolve(node, &mut self.trace).inspect_err(|_| self.full = true)
    }

    /// What is known of a garbage collection's sample for now. It interrupts whichever agent was active.
    fn resolve_collection(&mut self, pass: &mut Pass<'_>) -> Result<Resolved, InternError> {
        if let Some(before) = pass.before.take() {
            let before = self.resolve(before, &mut pass.stacks)?;
            self.collections.set_before(Some(before));
        }
        let without = pass.stacks.without_stack();
        Ok(Resolved { own: self.collections.own_before().unwrap_or(without.own), ..without })
    }

    fn push(&mut self, at: Instant, stack: Option<StackId>, marker: Option<Marker>, waits: bool) {
        if !self.has_room() {
            self.full = true;
            // No later stack will arrive for garbage collections at the end.
            self.settle();
            return;
        }
        if waits {
            self.collections.wait_from(self.trace.samples().len());
        }
        self.taken += 1;
        let timestamp = at.since(self.options.origin).coarsened(self.options.resolution);
        self.trace.push_sample(Sample { timestamp, stack, marker });
        if let (BufferPolicy::Circular, Some(limit)) = (self.options.policy, self.options.limit) {
            self.keep_latest(limit);
        }
    }

    /// Whether a sample that is due can be taken.
    fn has_room(&self) -> bool {
        match self.options.policy {
            BufferPolicy::Stop => self.options.limit.is_none_or(|limit| self.taken < limit),
            BufferPolicy::Circular => true,
            BufferPolicy::Chunks { most_waiting } => {
                self.options.limit.is_none_or(|limit| self.has_room_for_chunk(limit, most_waiting))
            }
        }
    }

    /// Whether the tables hold as much as they may, so that no sample can be taken, however many the buffer has room
    /// for.
    #[must_use]
    pub fn has_full_tables(&self) -> bool {
        let RecordingOptions { most_stacks, most_frame_bytes, .. } = self.options;
        most_stacks.is_some_and(|most| self.trace.stacks().len() >= most)
            || most_frame_bytes.is_some_and(|most| self.frame_bytes() >= most)
    }

    fn frame_bytes(&self) -> usize {
        let entries = self.trace.frames().len() + self.trace.resources().len();
        self.trace.text_bytes() + ENTRY_BYTES * entries
    }

    fn earliest_full(&self) -> Option<Instant> {
        let limit = self.options.limit.filter(|_| !self.full)?;
        let missing = match self.options.policy {
            BufferPolicy::Stop => limit.saturating_sub(self.taken),
            BufferPolicy::Circular => return None,
            BufferPolicy::Chunks { .. } => match self.trace.samples().len() as u64 {
                0 => limit,
                held => (limit - held % limit) % limit,
            },
        };
        Some(self.slots.next()?.after(self.options.interval.saturating_mul(missing)))
    }

    /// How many samples were recorded, including those that were drained or dropped.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Whether a sample was due when the buffer held as many as its limit allows.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// How many samples the engine took but could not keep, in all segments so far.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The tables, and the samples that were not drained. A circular buffer may hold more than its limit until the end.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Removes the samples that will not change any more, for a recording that is streamed. The tables stay.
    pub fn drain(&mut self) -> Vec<Sample> {
        let settled = self.collections.settled(self.trace.samples().len());
        self.collections.dropped(settled);
        self.trace.drain_samples(settled)
    }

    /// Removes what is known of the waiting time since the last call.
    pub fn drain_waiting(&mut self) -> Vec<WaitingPoint> {
        self.waiting_times.as_mut().map(WaitingRecorder::take).unwrap_or_default()
    }

    /// Removes the changes of labels since the last call.
    pub fn drain_labels(&mut self) -> Vec<RecordedLabels> {
        self.labels.as_mut().map(LabelRecorder::take).unwrap_or_default()
    }

    /// Replaces the tables with empty ones when they hold more than `limit` stacks, since a streamed recording does not
    /// need old entries. Returns whether it did; only a drained recording can.
    pub fn renew_tables(&mut self, limit: usize) -> bool {
        if self.trace.stacks().len() <= limit || !self.trace.samples().is_empty() {
            return false;
        }
        let old = std::mem::take(&mut self.trace);
        // The next sample may be a garbage collection's, whose stack is the common part of this one and the one after
        // it.
        let before = self.collections.stack_before().and_then(|stack| self.trace.adopt(&old, stack).ok());
        self.collections.move_stack_before(before);
        true
    }

    /// Samples no longer wait for the stack after their garbage collection, since there may be none. They have no
    /// stack.
    pub fn settle(&mut self) {
        self.collections.settle();
    }

    /// Ends the recording. Samples that still wait for a stack have none. Returns what was not removed before.
    #[must_use]
    pub fn finish(mut self) -> Trace {
        if self.options.policy == BufferPolicy::Stop {
            return self.trace;
        }
        if let (BufferPolicy::Circular, Some(limit)) = (self.options.policy, self.options.limit) {
            let held = self.trace.samples().len();
            self.discard_oldest(held.saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX)));
        }
        let mut used = Extraction::of(&self.trace);
        if used.samples(self.trace.samples()).is_ok() { used.finish() } else { self.trace }
    }
}
