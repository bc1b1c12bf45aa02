//! Samples that were requested, rather than due.

use std::ops::RangeInclusive;

use crate::Instant;

/// A sample that was requested through the automation command
/// [force sample](https://wicg.github.io/js-self-profiling/#automation). The engine puts it into every run, but only
/// some sessions keep it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forced {
    /// When it was taken. No other sample was taken in this range.
    pub within: RangeInclusive<Instant>,
    /// Whether the session keeps it. It is kept whether or not a sample is due, and does not change when the next
    /// sample is due. A session that does not keep it is not affected by it at all.
    pub keep: bool,
}

impl Forced {
    /// The sample in `all` that was taken at `at`. They are in time order.
    pub(crate) fn at(all: &[Self], at: Instant) -> Option<&Self> {
        let next = all.partition_point(|forced| *forced.within.end() < at);
        all.get(next).filter(|forced| forced.within.contains(&at))
    }
}
