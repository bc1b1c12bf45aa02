//! The thread that builds traces, so that JS threads do not have to.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::{mem, thread};

use selfprof_session::{
    BufferPolicy, Cut, Delivery, Instant, Outcome, RawSegment, Recording, RecordingCell, RecordingOptions,
    SessionId,
};
use selfprof_trace::{Micros, Trace};
use selfprof_v8::Profile;

use crate::agent::Notifier;
use crate::chunks::Backlog;
use crate::journal::Journal;
use crate::locks::lock;

/// What is to be done, in the order in which it was sent.
pub enum Job {
    /// A segment was cut: append it to the recordings of those who are to get it.
    Append {
        /// The segment.
        cut: Cut<Profile>,
        /// How to reach the agent that it came from.
        notifier: Arc<Notifier>,
    },
    /// A session has ended and everything it recorded was appended.
    Finish {
        /// Its recording.
        cell: Arc<RecordingCell>,
        /// Where the chunks go that its end completes.
        backlog: Option<Arc<Backlog>>,
        /// Gets its trace, `None` when building it failed.
        done: Box<dyn FnOnce(Option<Finished>) + Send>,
    },
    /// The same for several sessions at once, where some may have nothing to give.
    FinishAll {
        /// Their recordings.
        cells: Vec<Option<Arc<RecordingCell>>>,
        /// Gets their traces in the same order.
        done: Box<dyn FnOnce(Vec<Option<Finished>>) + Send>,
    },
    /// A chunk was taken of a session that rested.
    GoOn {
        /// The session.
        session: SessionId,
        /// How to reach its agent.
        notifier: Arc<Notifier>,
    },
    /// A streamed recording has ended, or seems to have.
    End {
        /// The recording, and where it is streamed to.
        stream: Stream,
        /// Why it ended.
        reason: &'static str,
    },
    /// Says that everything sent before is done.
    Barrier(Sender<()>),
}

/// A recording that is streamed.
#[derive(Clone)]
pub struct Stream {
    /// The recording.
    pub cell: Arc<RecordingCell>,
    /// Where it is streamed to.
    pub journal: Arc<Journal>,
}

/// A finished session's trace.
pub struct Finished {
    /// The trace.
    pub trace: Trace,
    /// How many samples V8 took but could not keep.
    pub lost: u64,
}

/// V8 gives each run a buffer of half a megabyte, and glibc keeps the freed ones, in pieces, in its own heap. A program that
/// starts and stops thousands of profilers would grow by hundreds of megabytes that nobody uses.
const SEGMENTS_BETWEEN_TRIMS: u32 = 128;

/// Gives what glibc keeps back to the system.
fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: malloc_trim may be called at any time on any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Hands a job to the building thread, which is started when first needed and lives as long as the process.
pub fn send(job: Job) {
    static BUILDER: OnceLock<Sender<Job>> = OnceLock::new();
    let builder = BUILDER.get_or_init(|| {
        let (sender, receiver) = channel();
        thread::Builder::new()
            .name("selfprof-builder".into())
            .spawn(move || run(&receiver))
            .expect("the system has room for one thread more");
        sender
    });
    // The thread ends only with the process.
    let _ = builder.send(job);
}

/// Waits until the building thread has done everything that was sent before.
pub fn wait() {
    let (done, waiting) = channel();
    send(Job::Barrier(done));
    let _ = waiting.recv();
}

fn run(jobs: &Receiver<Job>) {
    let mut segments = 0_u32;
    for job in jobs {
        segments += u32::from(matches!(job, Job::Append { .. }));
        if segments == SEGMENTS_BETWEEN_TRIMS {
            segments = 0;
            trim();
        }
        // A job that panics is reported by the panic hook; the others, and those who wait for them, are not to suffer.
        let _ = catch_unwind(AssertUnwindSafe(|| perform(job)));
    }
}

fn perform(job: Job) {
    match job {
        Job::Append { cut, notifier } => append(&cut, &notifier),
        Job::Finish { cell, backlog, done } => {
            let finished = try_finish(&cell, backlog.as_deref());
            // Its realm's scripts may be forgotten now, and whoever waits for the trace is to find it so.
            drop(cell);
            done(finished);
        }
        Job::FinishAll { cells, done } => {
            done(cells.into_iter().map(|cell| cell.and_then(|cell| try_finish(&cell, None))).collect());
        }
        Job::GoOn { session, notifier } => {
            if let Some(chunked) = notifier.chunked(session) {
                chunked.go_on(&notifier);
            }
        }
        Job::End { stream, reason } => stream.journal.end(&mut lock(&stream.cell.recording), reason),
        Job::Barrier(done) => {
            let _ = done.send(());
        }
    }
}

fn append(cut: &Cut<Profile>, notifier: &Notifier) {
    if cut.deliveries.is_empty() {
        cut.profile.discard();
        return;
    }
    // A sampler that has ended meanwhile takes its profiles along; nobody waits for them any more.
    let Some(segment) = cut.profile.read() else { return };
    for delivery in &cut.deliveries {
        deliver(&segment, delivery, notifier);
    }
}

fn deliver(segment: &RawSegment, delivery: &Delivery, notifier: &Notifier) {
    let stream = notifier.stream(delivery.session);
    let chunked = notifier.chunked(delivery.session);
    let mut recording = lock(&delivery.cell.recording);
    if let Some(chunked) = &chunked {
        recording.set_waiting_chunks(chunked.backlog.len());
    }
    // The tables hold four thousand million entries each; a recording that fills one ends there, as a full buffer does.
    let ended = Outcome { became_full: true, earliest_full: None };
    let Delivery { spans, forced, cell, .. } = delivery;
    let outcome = recording.append(segment, spans, forced, &*cell.admission).unwrap_or(ended);
    if let Some(Stream { journal, .. }) = stream {
        journal.append(&mut recording, segment.lost, outcome.became_full);
    }
    let chunks = recording.take_chunks();
    drop(recording);
    delivery.cell.publish(outcome);
    if let Some(chunked) = &chunked
        && chunked.backlog.add(chunks)
    {
        notifier.chunks_wait(delivery.session);
    }
    if outcome.became_full {
        notifier.buffer_full(delivery.session);
        if let Some(chunked) = &chunked {
            chunked.rest(notifier);
        }
    }
    if let Some(at) = outcome.earliest_full {
        notifier.look_at(at);
    }
}

/// Whoever waits for a trace is to hear of it even if building it fails.
fn try_finish(cell: &RecordingCell, backlog: Option<&Backlog>) -> Option<Finished> {
    catch_unwind(AssertUnwindSafe(|| finish(cell, backlog))).ok()
}

fn finish(cell: &RecordingCell, backlog: Option<&Backlog>) -> Finished {
    let nothing = RecordingOptions {
        origin: Instant::default(),
        interval: Micros(1),
        limit: None,
        policy: BufferPolicy::Stop,
        resolution: Micros::ZERO,
    };
    let mut recording = mem::replace(&mut *lock(&cell.recording), Recording::new(nothing));
    if let Some(backlog) = backlog {
        // Whoever stopped the session looks for them when it has its trace.
        recording.settle();
        backlog.add(recording.take_chunks());
    }
    Finished { lost: recording.lost(), trace: recording.finish() }
}
