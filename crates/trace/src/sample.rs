//! Samples.

use crate::id::StackId;
use crate::marker::Marker;
use crate::micros::Micros;

/// What the agent was doing at one moment ([`ProfilerSample`]).
///
/// [`ProfilerSample`]: https://wicg.github.io/js-self-profiling/#the-profilersample-dictionary
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sample {
    /// The time since the trace's time origin.
    pub timestamp: Micros,
    /// The stack; `None` if no function was running, or none that the trace may show.
    pub stack: Option<StackId>,
    /// The kind of work, if known.
    pub marker: Option<Marker>,
}

impl Sample {
    /// Whether the agent was idle: there is neither a stack nor a marker.
    pub fn is_idle(&self) -> bool {
        self.stack.is_none() && self.marker.is_none()
    }
}

// Recordings consist mostly of samples.
const _: () = assert!(size_of::<Sample>() <= 16);
