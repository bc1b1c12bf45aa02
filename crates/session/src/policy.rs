//! What a session does when its buffer is full.

/// What happens when a sample is due and the buffer holds as many as its limit allows.
///
/// The specification knows the first alone; the others are selfprof's. A session without a limit never asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BufferPolicy {
    /// Recording ends: step 1 of [take a sample](https://wicg.github.io/js-self-profiling/#take-a-sample).
    #[default]
    Stop,
    /// The oldest sample makes room, so that the buffer always holds the latest.
    Circular,
    /// The full buffer becomes a chunk, a trace of its own, and the sample is the first of the next buffer.
    Chunks {
        /// How many chunks may wait for a consumer. When there are so many, the buffer stays full, and recording rests
        /// until one is consumed.
        most_waiting: u32,
    },
}
