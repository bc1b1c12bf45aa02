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
}
