//! Samples that are taken out of turn.

use std::ops::RangeInclusive;

use crate::Instant;

/// A sample that was taken because somebody asked for it: automation's
/// [force sample](https://wicg.github.io/js-self-profiling/#automation). The engine puts it into every run, but it is for
/// some sessions alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forced {
    /// When it was taken; no other sample was taken in that time.
    pub within: RangeInclusive<Instant>,
    /// Whether the session keeps it. It does so whether or not a sample is due, and its own samples keep their time. A
    /// session that does not keep it has never seen it.
    pub keep: bool,
}

impl Forced {
    /// The one of `all`, which are in time order, that was taken at `at`.
    pub(crate) fn at(all: &[Self], at: Instant) -> Option<&Self> {
        let next = all.partition_point(|forced| *forced.within.end() < at);
        all.get(next).filter(|forced| forced.within.contains(&at))
    }
}
