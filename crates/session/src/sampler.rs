//! The engine's side of a group: something that can sample an agent.

use std::fmt;
use std::ops::RangeInclusive;

use selfprof_trace::Micros;

use crate::Instant;

/// Samples one agent. V8's `CpuProfiler` is one; tests bring their own.
///
/// Several runs may go at the same time: a group starts the next before it stops the last, so that no sample falls
/// between them. A sample belongs to every run that was going when the sampler processed it.
pub trait Sampler {
    /// A run that is going.
    type Running;
    /// What a run recorded, to be read on any thread.
    type Profile;

    /// Starts a run and takes a sample at once, in this and all other runs.
    ///
    /// # Errors
    /// When the engine refuses one more run.
    fn start(&mut self, interval: Micros) -> Result<Self::Running, SamplerError>;

    /// Ends a run. What was sampled but not yet processed is processed first, so that everything sampled until now is
    /// in its profile, and reaches the runs that are still going too.
    fn stop(&mut self, running: Self::Running) -> Self::Profile;

    /// Takes a sample now, in all runs.
    fn sample_now(&mut self);

    /// As [`sample_now`](Self::sample_now), and gives the time in which it took that sample and no other.
    fn sample_alone(&mut self) -> RangeInclusive<Instant>;
}

/// The engine would not start a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamplerError {
    /// What the engine said.
    pub reason: &'static str,
}

impl fmt::Display for SamplerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the engine cannot start another sampling run: {}", self.reason)
    }
}

impl std::error::Error for SamplerError {}
