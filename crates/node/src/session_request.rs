//! What a profiling session is opened with.

use std::sync::Arc;

use selfprof_session::{BufferPolicy, FrameAdmission, Instant, SessionId};
use selfprof_trace::Micros;

/// The clock resolution of a Node program. Everything in the process belongs to one owner, so it gets the resolution of
/// a [cross-origin isolated](https://w3c.github.io/hr-time/#dfn-coarsen-time) environment.
pub const CLOCK_RESOLUTION: Micros = Micros(5);

/// The options of a session.
#[derive(Clone, Copy)]
pub struct SessionRequest {
    /// The requested sample interval, not yet quantised.
    pub interval: Micros,
    /// The sample buffer size limit, in samples.
    pub limit: Option<u64>,
    /// How many stacks it may hold.
    pub most_stacks: Option<usize>,
    /// How many bytes its frames may take, with their names and the URLs of their scripts.
    pub most_frame_bytes: Option<usize>,
    /// What happens when the limit is reached.
    pub policy: BufferPolicy,
    /// Whether marks and measures are collected here. Only sessions that other threads open need this; for its own
    /// sessions JavaScript collects them.
    pub entries: bool,
}

/// What a session may show, and the clock of its timestamps.
#[derive(Clone)]
pub struct SessionView {
    /// Which functions its trace may show.
    pub admission: Arc<dyn FrameAdmission>,
    /// Its time origin.
    pub origin: Instant,
    /// The resolution of its timestamps.
    pub resolution: Micros,
}

/// What has happened to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEvent {
    /// Its buffer is full.
    Full,
    /// A chunk of it can be taken.
    Chunk,
    /// It has ended. No other event follows.
    Ended,
}

/// Notifies the opener of a session. Called on any thread.
pub type OnSessionEvent = Box<dyn Fn(SessionEvent, SessionId) + Send + Sync>;
