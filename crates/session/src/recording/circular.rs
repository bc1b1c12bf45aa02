//! [`BufferPolicy::Circular`](crate::BufferPolicy::Circular): the last samples, in memory that does not grow.

use super::Recording;
use super::extraction::Extraction;

/// How many samples more than its limit a recording holds before it drops the oldest: enough that the rest is moved
/// rarely, and no more than half of the limit for large limits.
fn slack(limit: usize) -> usize {
    (limit / 2).max(64)
}

impl Recording {
    /// Drops the oldest samples when there are too many beyond the limit.
    pub(super) fn keep_latest(&mut self, limit: u64) {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let held = self.trace.samples().len();
        if held >= limit.saturating_add(slack(limit)) {
            self.discard_oldest(held - limit);
        }
    }

    pub(super) fn discard_oldest(&mut self, count: usize) {
        drop(self.trace.drain_samples(count));
        // Those that wait for the stack after their collection may be among them.
        self.collections.dropped(count);
    }

    /// Drops table entries that no sample uses any more, when the tables have doubled since the last time: a program
    /// that runs for days keeps producing new stacks. Must be called only between segments, because ids change.
    pub(super) fn sweep(&mut self) {
        if self.trace.stacks().len() < self.sweep_at && !self.has_full_tables() {
            return;
        }
        let samples = self.trace.samples();
        let mut used = Extraction::of(&self.trace);
        // The next sample may be a collection's, which is given what this stack shares with the one after it.
        let stack_before = self.collections.stack_before().and_then(|stack| used.stack(stack).ok());
        // What fits into these tables fits into smaller ones.
        if used.samples(samples).is_err() {
            return;
        }
        // So many new stacks, at least an eighth of the samples, outweigh the cost of visiting every sample.
        let growth = samples.len() / 8 + FIRST_SWEEP;
        self.trace = used.finish();
        self.collections.move_stack_before(stack_before);
        self.sweep_at = 2 * self.trace.stacks().len() + growth;
    }
}

/// How many stacks are kept before the first sweep, 30 bytes each.
pub(super) const FIRST_SWEEP: usize = 4096;
