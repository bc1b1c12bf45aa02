//! Which samples are due.

use selfprof_trace::Micros;

use crate::Instant;

/// The times at which a session wants samples, an interval apart.
#[derive(Debug)]
pub(super) struct Slots {
    interval: Micros,
    /// The time of the last sample that was not requested.
    ticked_at: Option<Instant>,
    /// The time between that sample and the one before it; at most an interval.
    step: Micros,
    /// When the next sample is due; `None` before the first, which is always due.
    due: Option<Instant>,
}

impl Slots {
    pub(super) fn new(interval: Micros) -> Self {
        Self { interval, ticked_at: None, step: Micros::ZERO, due: None }
    }

    /// When the next sample is due; `None` before the first.
    pub(super) fn next(&self) -> Option<Instant> {
        self.due
    }

    /// Whether a sample at `at` is due. An early sample is due unless the next will be nearer to the time. So no slot
    /// is lost when the sampler's ticks jitter, and of a faster sampler's ticks the nearest is taken. The next is
    /// expected after the longer of the last two steps, since one may be short because a sample was requested.
    pub(super) fn is_due(&mut self, at: Instant) -> bool {
        let ticked_before = self.ticked_at.replace(at);
        let step = ticked_before.map_or(Micros::ZERO, |ticked| at.since(ticked).min(self.interval));
        let expected = step.max(std::mem::replace(&mut self.step, step));
        if self.due.is_some_and(|due| at.after(Micros(expected.0 / 2)) < due) {
            return false;
        }
        // Slots keep their distance, however late their samples are, until one is missed.
        let next = self.due.map(|due| due.after(self.interval)).filter(|&next| next > at);
        self.due = next.or(Some(at.after(self.interval)));
        true
    }
}
