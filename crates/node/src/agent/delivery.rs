//! Building thread: appends the samples of a cut to the recordings of its sessions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use selfprof_session::{Cut, Delivery, Outcome, RawSegment, SessionId};
use selfprof_v8::Profile;

use super::notifier::Notifier;
use crate::building_thread;
use crate::output::chunk_queue::ChunkedRecording;

/// V8 has a buffer of half a megabyte while it samples, and glibc keeps freed buffers in its own heap, in pieces. A
/// program that starts and stops thousands of profilers would grow by hundreds of unused megabytes.
const ENDS_BETWEEN_TRIMS: u32 = 128;

/// Has the building thread append a cut's samples. `notifier` reaches the agent that the cut came from. `has_ended` is
/// whether V8 no longer samples its thread.
pub fn deliver(cut: Cut<Profile>, notifier: Arc<Notifier>, has_ended: bool) {
    building_thread::run(move || {
        if has_ended {
            trim_occasionally();
        }
        append(&cut, &notifier);
    });
}

/// Has the building thread continue a recording that paused because too many chunks were waiting.
pub fn continue_after_chunk(session: SessionId, notifier: Arc<Notifier>) {
    building_thread::run(move || {
        if let Some(recording) = notifier.chunked(session) {
            continue_if_possible(&recording, &notifier);
        }
    });
}

/// Returns the memory that glibc keeps to the system, once every [`ENDS_BETWEEN_TRIMS`] calls. Other threads that free
/// memory wait meanwhile, so this is not done while recordings go on.
fn trim_occasionally() {
    static ENDS: AtomicU32 = AtomicU32::new(1);
    if ENDS.fetch_add(1, Ordering::Relaxed).is_multiple_of(ENDS_BETWEEN_TRIMS) {
        #[cfg(target_env = "gnu")]
        // SAFETY: malloc_trim may be called at any time on any thread.
        unsafe {
            libc::malloc_trim(0);
        }
    }
}

fn append(cut: &Cut<Profile>, notifier: &Notifier) {
    if cut.deliveries.is_empty() {
        cut.profile.discard();
        return;
    }
    // A sampler that has ended in the meantime has deleted its profiles, and nothing waits for them.
    let Some(segment) = cut.profile.read() else { return };
    for delivery in &cut.deliveries {
        append_to_session(&segment, delivery, notifier);
    }
}

fn append_to_session(segment: &RawSegment, delivery: &Delivery, notifier: &Notifier) {
    let stream = notifier.stream(delivery.session);
    let chunked = notifier.chunked(delivery.session);
    let mut recording = delivery.cell.recording.lock();
    if let Some(chunked) = &chunked {
        recording.set_waiting_chunks(chunked.queue.len());
    }
    // The tables hold 2^32 entries each. A recording that fills one ends there, as one with a full buffer does.
    let ended = Outcome { became_full: true, earliest_full: None };
    let Delivery { spans, forced, cell, .. } = delivery;
    let outcome = recording.append(segment, spans, forced, &*cell.admission).unwrap_or(ended);
    if let Some(stream) = stream {
        stream.journal.append(&mut recording, segment.lost, outcome.became_full);
        if stream.journal.want_maps(segment, &*cell.admission) {
            // The agent copies them at its next tick.
            notifier.check_at(selfprof_v8::now());
        }
    }
    let chunks = recording.take_chunks();
    drop(recording);
    delivery.cell.publish(outcome);
    if let Some(chunked) = &chunked
        && chunked.queue.add(chunks)
    {
        notifier.chunk_available(delivery.session);
    }
    if outcome.became_full {
        notifier.buffer_full(delivery.session);
        if let Some(chunked) = &chunked {
            chunked.queue.set_paused();
            // A chunk may have been taken since the queue was read.
            continue_if_possible(chunked, notifier);
        }
    }
    if let Some(at) = outcome.earliest_full {
        notifier.check_at(at);
    }
}

fn continue_if_possible(recording: &ChunkedRecording, notifier: &Notifier) {
    let now = selfprof_v8::now();
    if recording.continue_if_possible(now) {
        // The group samples for it again at its next tick.
        notifier.check_at(now);
    }
}
