//! What one session keeps of the samples that the group's sampler takes.

use std::num::NonZeroU32;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use selfprof_trace::{Frame, InternError, Marker, Micros, Sample, Stack, StackId, Trace};

use crate::{Admission, AgentState, FrameAdmission, Instant, RawSegment, Span};

/// What a recording is made with.
#[derive(Clone, Copy, Debug)]
pub struct RecordingOptions {
    /// The point on the sampler's clock that the trace's timestamps count from: the session's time origin.
    pub origin: Instant,
    /// The session's sample interval, already quantised.
    pub interval: Micros,
    /// The sample buffer size limit; `None` records without end.
    pub limit: Option<u64>,
}

/// One session's trace while it is being recorded.
///
/// Segments are appended in the order in which the group cut them. Two neighbouring segments overlap, because the
/// group starts a run before it stops the one before; a sample that both hold is taken once.
#[derive(Debug)]
pub struct Recording {
    options: RecordingOptions,
    trace: Trace,
    /// Samples admitted since the start, also those that were drained.
    taken: u64,
    /// The time of the last raw sample seen, due or not: later segments hold it again.
    seen_until: Option<Instant>,
    /// How long after the raw sample before it came the last; at most an interval.
    step: Micros,
    /// When the next sample is due; `None` before the first, which always is.
    due: Option<Instant>,
    /// The stack of the last sample that was not a garbage collection's.
    stack_before: Option<StackId>,
    /// Trailing samples of `trace` that wait for the stack after their garbage collection, `None` when none do.
    waiting: Option<usize>,
    full: bool,
    lost: u64,
}

/// What appending a segment led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Outcome {
    /// The buffer was full when one more sample was due, and this was not so before: fire `samplebufferfull`.
    pub became_full: bool,
    /// The earliest time at which the buffer can be full when one more sample is due, for a session with a limit
    /// that is not yet there.
    pub earliest_full: Option<Instant>,
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
            step: Micros::ZERO,
            due: None,
            stack_before: None,
            waiting: None,
            full: false,
            lost: 0,
        }
    }

    /// Takes from `segment` the samples that lie in `spans`, are due and were not seen before: the steps of
    /// [take a sample](https://wicg.github.io/js-self-profiling/#take-a-sample). Samples are put in time order.
    ///
    /// # Errors
    /// When a table has run out of ids. Everything recorded so far stays, and the recording ends there, as one whose
    /// buffer is full.
    pub fn append(
        &mut self,
        segment: &RawSegment,
        spans: &[Span],
        admission: &dyn FrameAdmission,
    ) -> Result<Outcome, InternError> {
        let full_before = self.full;
        self.lost += segment.lost;
        let mut stacks = StackMap::new(segment, admission);
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
                // Whatever ran before a pause says nothing about a garbage collection after it.
                self.waiting = None;
                self.stack_before = None;
            }
            self.seen_until = Some(sample.at);
            let collecting = sample.state == AgentState::GarbageCollection;
            let stack = match sample.node {
                Some(node) if !collecting => {
                    stacks.resolve(node, &mut self.trace).inspect_err(|_| self.full = true)?
                }
                _ => None,
            };
            if !collecting {
                self.give_waiting_samples(stack);
                self.stack_before = stack;
            }
            if self.is_due(sample.at, seen_before) {
                self.push(sample.at, stack, sample.state.marker());
            }
        }
        Ok(Outcome { became_full: self.full && !full_before, earliest_full: self.earliest_full() })
    }

    /// Whether a sample at `at` is due. One that comes early is, unless the next will be nearer to the time. So no slot
    /// is lost when the sampler's ticks jitter, and of a faster sampler's ticks, the nearest is taken, not the first
    /// that might do. The next is expected after the longer of the last two steps: one may be short because a sample
    /// was taken out of turn.
    fn is_due(&mut self, at: Instant, seen_before: Option<Instant>) -> bool {
        let interval = self.options.interval;
        let step = seen_before.map_or(Micros::ZERO, |seen| at.since(seen).min(interval));
        let expected = step.max(std::mem::replace(&mut self.step, step));
        if self.due.is_some_and(|due| at.after(Micros(expected.0 / 2)) < due) {
            return false;
        }
        // Slots keep their distance, however late their samples come, until one is missed altogether.
        let next = self.due.map(|due| due.after(interval)).filter(|&next| next > at);
        self.due = next.or(Some(at.after(interval)));
        true
    }

    fn push(&mut self, at: Instant, stack: Option<StackId>, marker: Option<Marker>) {
        if self.options.limit.is_some_and(|limit| self.taken >= limit) {
            self.full = true;
            return;
        }
        if marker == Some(Marker::Gc) && self.waiting.is_none() {
            self.waiting = Some(self.trace.samples().len());
        }
        self.taken += 1;
        self.trace.push_sample(Sample { timestamp: at.since(self.options.origin), stack, marker });
    }

    /// A garbage collection interrupts whatever runs, and the engine reports no stack for it. What the stacks before
    /// and after it share is what was on the stack all the while, as far as samples can tell.
    fn give_waiting_samples(&mut self, stack_after: Option<StackId>) {
        let Some(first) = self.waiting.take() else { return };
        let shared = match (self.stack_before, stack_after) {
            (Some(before), Some(after)) => self.trace.shared_ancestor(before, after),
            _ => None,
        };
        for index in first..self.trace.samples().len() {
            self.trace.set_sample_stack(index, shared);
        }
    }

    fn earliest_full(&self) -> Option<Instant> {
        let limit = self.options.limit.filter(|_| !self.full)?;
        let missing = limit.saturating_sub(self.taken);
        Some(self.due?.after(self.options.interval.saturating_mul(missing)))
    }

    /// How many samples were taken, also those that were drained.
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

    /// The tables, and the samples that were not drained.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Takes out the samples that will not change any more, for a recording that is streamed. The tables stay.
    pub fn drain(&mut self) -> Vec<Sample> {
        let settled = self.waiting.unwrap_or(self.trace.samples().len());
        self.waiting = self.waiting.map(|_| 0);
        self.trace.drain_samples(settled)
    }

    /// Ends the recording: samples that still wait for a stack get none.
    #[must_use]
    pub fn finish(self) -> Trace {
        self.trace
    }
}

/// Maps the nodes of one segment to the stacks of a trace, each once.
struct StackMap<'a> {
    segment: &'a RawSegment,
    admissions: Vec<Admission>,
    resolved: Vec<Option<Resolved>>,
}

/// What a node became: its stack after admission, and what was decided about its innermost frame, or about the one
/// that this was folded into.
#[derive(Clone, Copy)]
struct Resolved {
    stack: Option<StackId>,
    innermost: Admission,
}

impl<'a> StackMap<'a> {
    fn new(segment: &'a RawSegment, admission: &dyn FrameAdmission) -> Self {
        let admissions = segment
            .functions
            .iter()
            .map(|function| admission.admit(function, &segment.strings[function.resource as usize]))
            .collect();
        Self { segment, admissions, resolved: vec![None; segment.nodes.len()] }
    }

    fn resolve(&mut self, node: u32, trace: &mut Trace) -> Result<Option<StackId>, InternError> {
        // Callers stand before their callees, so the walk towards the root ends, and then goes back inwards.
        let mut unresolved = Vec::new();
        let mut cursor = Some(node);
        let mut reached = Resolved { stack: None, innermost: Admission::Show };
        while let Some(index) = cursor {
            if let Some(resolved) = self.resolved[index as usize] {
                reached = resolved;
                break;
            }
            unresolved.push(index);
            cursor = self.segment.nodes[index as usize].parent;
        }
        for index in unresolved.into_iter().rev() {
            reached = self.step_inwards(reached, self.segment.nodes[index as usize].function, trace)?;
            self.resolved[index as usize] = Some(reached);
        }
        Ok(reached.stack)
    }

    fn step_inwards(
        &self,
        caller: Resolved,
        function: u32,
        trace: &mut Trace,
    ) -> Result<Resolved, InternError> {
        let admission = self.admissions[function as usize];
        let function = self.segment.functions[function as usize];
        let name = &*self.segment.strings[function.name as usize];
        match admission {
            Admission::Hide => return Ok(Resolved { innermost: Admission::Hide, ..caller }),
            // Host code belongs to whoever called it, who may be hidden.
            Admission::Host if caller.innermost != Admission::Show || name.is_empty() => return Ok(caller),
            Admission::Host | Admission::Show => {}
        }
        let resource = &self.segment.strings[function.resource as usize];
        let name = trace.name(name)?;
        let frame = if admission == Admission::Host || resource.is_empty() {
            Frame { name, resource: None, line: None, column: None }
        } else {
            Frame {
                name,
                resource: Some(trace.resource(resource)?),
                line: NonZeroU32::new(function.line),
                column: NonZeroU32::new(function.column),
            }
        };
        let frame = trace.frame(frame)?;
        let stack = trace.stack(Stack { parent: caller.stack, frame })?;
        Ok(Resolved { stack: Some(stack), innermost: admission })
    }
}

/// A recording shared between the agent's thread, whose group knows when to look at it, and the thread that builds
/// traces. It lives until both have let go of it.
#[derive(Debug)]
pub struct RecordingCell {
    /// The recording. The building thread holds the lock while it appends; the agent's thread never waits for it.
    pub recording: Mutex<Recording>,
    full: AtomicBool,
    look_at: AtomicU64,
}

impl RecordingCell {
    /// Wraps a new recording, whose session starts at `now`.
    #[must_use]
    pub fn new(options: RecordingOptions, now: Instant) -> Self {
        let look_at =
            options.limit.map_or(Instant::NEVER, |limit| now.after(options.interval.saturating_mul(limit)));
        Self {
            recording: Mutex::new(Recording::new(options)),
            full: AtomicBool::new(false),
            look_at: AtomicU64::new(look_at.0),
        }
    }

    /// Publishes what an append led to, so that the group sees it without waiting for the lock.
    pub fn publish(&self, outcome: Outcome) {
        if outcome.became_full {
            self.full.store(true, Ordering::Release);
        }
        self.look_at.store(outcome.earliest_full.unwrap_or(Instant::NEVER).0, Ordering::Release);
    }

    /// Whether the buffer is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.full.load(Ordering::Acquire)
    }

    /// When the group should cut a segment to see whether the buffer is full.
    #[must_use]
    pub fn look_at(&self) -> Instant {
        Instant(self.look_at.load(Ordering::Acquire))
    }

    /// Notes that a segment was cut for a look, until [`publish`](Self::publish) says when the next is due.
    pub fn await_look(&self) {
        self.look_at.store(Instant::NEVER.0, Ordering::Release);
    }
}
