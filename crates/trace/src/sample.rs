//! One observation of the agent.

use crate::{Marker, Micros, StackId};

/// What the agent did at one moment ([`ProfilerSample`]).
///
/// [`ProfilerSample`]: https://wicg.github.io/js-self-profiling/#the-profilersample-dictionary
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sample {
    /// When the sample was taken, since the trace's time origin.
    pub timestamp: Micros,
    /// The functions that were running; `None` when there were none, or none that the trace may show.
    pub stack: Option<StackId>,
    /// The kind of work, when the recorder tells.
    pub marker: Option<Marker>,
}

impl Sample {
    /// Whether nothing ran: there is neither a stack nor a marker.
    pub fn is_idle(&self) -> bool {
        self.stack.is_none() && self.marker.is_none()
    }
}

// A recording holds many samples and few of anything else.
const _: () = assert!(size_of::<Sample>() <= 16);
