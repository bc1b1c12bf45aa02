//! The interface to the engine that samples an agent.

use std::fmt;
use std::ops::RangeInclusive;

use selfprof_trace::Micros;

use crate::Instant;

/// Samples one agent. V8's `CpuProfiler` is one implementation; tests have another.
///
/// Several runs may overlap: a group starts the next run before it stops the last, so that no sample is lost between
/// them. A sample belongs to every run that was active when the sampler processed it.
pub trait Sampler {
    /// An active run.
    type Running;
    /// What a run recorded. Can be read on any thread.
    type Profile;

    /// Starts a run and takes a sample immediately, in this and all other runs.
    ///
    /// # Errors
    /// When the engine refuses one more run.
    fn start(&mut self, interval: Micros) -> Result<Self::Running, SamplerError>;

    /// Ends a run. Samples that were taken but not processed are processed first, so that they are in its profile and
    /// in the runs that are still active.
    fn stop(&mut self, running: Self::Running) -> Self::Profile;

    /// As [`stop`](Self::stop), while another run is active. The run may end some time later: the profile then has
    /// samples of that time, too.
    fn retire(&mut self, running: Self::Running) -> Self::Profile {
        self.stop(running)
    }

    /// Takes a sample now, in all runs.
    fn sample_now(&mut self);

    /// As [`sample_now`](Self::sample_now). Returns a time range in which no other sample was taken.
    fn sample_alone(&mut self) -> RangeInclusive<Instant>;
}

/// The engine did not start a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamplerError {
    /// Why.
    pub reason: &'static str,
}

impl fmt::Display for SamplerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the engine cannot start another sampling run: {}", self.reason)
    }
}

impl std::error::Error for SamplerError {}
