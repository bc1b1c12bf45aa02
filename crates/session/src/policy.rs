//! What a session does when its buffer is full.

/// What happens when a sample is due and the buffer holds as many as its limit allows.
///
/// The specification has only the first policy; the others are extensions. A session without a limit needs none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BufferPolicy {
    /// Recording ends: step 1 of [take a sample](https://wicg.github.io/js-self-profiling/#take-a-sample).
    #[default]
    Stop,
    /// The oldest sample is dropped, so that the buffer always holds the latest ones.
    Circular,
    /// The full buffer becomes a chunk, a trace of its own, and the sample is the first of the next buffer.
    Chunks {
        /// How many chunks may wait for a consumer. When as many wait, the buffer stays full, and recording pauses
        /// until one is consumed.
        most_waiting: u32,
    },
}
