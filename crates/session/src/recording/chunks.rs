//! [`BufferPolicy::Chunks`]: full buffers that become traces of their own while the recording goes on.

use selfprof_trace::Trace;

use super::Recording;
use super::extraction::Extraction;
use crate::{BufferPolicy, Instant};

impl Recording {
    /// Removes the buffers that were full when one more sample was due, in their order. Each is a trace with as many
    /// samples as the limit. A buffer whose last samples still wait for the stack after their garbage collection is
    /// held back until they have it.
    ///
    /// The caller must set [how many wait](Self::set_waiting_chunks) before the next segment is appended.
    pub fn take_chunks(&mut self) -> Vec<Trace> {
        let BufferPolicy::Chunks { .. } = self.options.policy else { return Vec::new() };
        let limit =
            self.options.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let held = self.trace.samples().len();
        if limit == 0 || held <= limit {
            return Vec::new();
        }
        let settled = self.collections.settled(held);
        // The last buffer may be full without one more sample being due yet.
        let count = (settled / limit).min((held - 1) / limit);
        let samples = self.trace.drain_samples(count * limit);
        self.collections.dropped(samples.len());
        let chunk = |samples| {
            let mut used = Extraction::of(&self.trace);
            // What fits into these tables fits into smaller ones.
            used.samples(samples).ok().map(|()| used.finish())
        };
        samples.chunks(limit).filter_map(chunk).collect()
    }

    /// Sets how many chunks were removed but not consumed yet. When as many wait as the policy allows, the next full
    /// buffer becomes no chunk, and the recording is full.
    pub fn set_waiting_chunks(&mut self, waiting: usize) {
        self.waiting_chunks = waiting;
    }

    /// Whether one more buffer may become a chunk, in addition to those that the recording still holds.
    pub(super) fn has_room_for_chunk(&self, limit: u64, most_waiting: u32) -> bool {
        let held = self.trace.samples().len() as u64;
        let at_seam = limit == 0 || (held > 0 && held.is_multiple_of(limit));
        if !at_seam {
            return true;
        }
        let complete = held.checked_div(limit).unwrap_or(u64::MAX);
        complete.saturating_add(self.waiting_chunks as u64) <= u64::from(most_waiting)
    }

    /// Continues a full recording because chunks were consumed. The full buffer becomes a chunk when the next sample is
    /// due. Samples that were taken meanwhile are not recorded. Returns the earliest time of the next sample; `None`
    /// when the recording was not full, or still is.
    pub fn resume_recording(&mut self, now: Instant) -> Option<Instant> {
        let BufferPolicy::Chunks { most_waiting } = self.options.policy else { return None };
        let limit = self.options.limit.unwrap_or(u64::MAX);
        if !self.full || !self.has_room_for_chunk(limit, most_waiting) {
            return None;
        }
        // Tables that the samples of one buffer have filled stay full, however many chunks are consumed.
        self.sweep();
        if self.has_full_tables() {
            return None;
        }
        self.full = false;
        // The stack before the pause says nothing about a garbage collection after it.
        self.collections.set_before(None);
        Some(now.after(self.options.interval))
    }
}
