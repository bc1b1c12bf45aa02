//! The processing model of the [JS Self-Profiling API](https://wicg.github.io/js-self-profiling/), without an engine.
//!
//! A page or a program opens *profiling sessions*. Each has its own sample interval, buffer limit and trace. An engine
//! samples one thread at one rate. This crate stands between the two:
//!
//! * [`InitOptions`] converts a script's options, as WebIDL says;
//! * [`Group`] owns the sampler of an agent, lets sessions join and leave, and cuts what the sampler records into
//!   segments, so that memory stays bounded and a session can end while others continue;
//! * [`Recording`] holds one session's trace: it selects the raw samples of each segment that are due at the session's
//!   interval while the session is started, and turns them into the specification's tables;
//! * [`FrameAdmission`] decides which functions a trace may show: [`AdmitScripts`] in a program, [`AdmitRealm`] in a
//!   page;
//! * [`AgentState::marker`] classifies what the agent was doing.
//!
//! ```
//! use selfprof_session::InitOptions;
//!
//! let options = InitOptions::convert(Some(10.0), Some(10_000.0)).unwrap();
//! assert_eq!(options.max_buffer_size, 10_000);
//! assert!(InitOptions::convert(Some(-1.0), Some(1.0)).is_err());
//! ```
//!
//! Absent on purpose: V8, threads, timers and clocks. Time is passed in as [`Instant`] values and samples as
//! [`RawSegment`]s, so every rule is tested with a fake clock and a fake sampler.
#![forbid(unsafe_code)]

mod admission;
mod clock;
mod forced;
mod group;
mod interval;
mod marker;
mod options;
mod policy;
mod raw;
mod realm;
mod recording;
mod sampler;

pub use admission::{Admission, AdmitScripts, FrameAdmission, HostRoot};
pub use clock::{Instant, Span};
pub use forced::Forced;
pub use group::{Cut, Delivery, Group, GroupError, Left, SessionId, SessionOptions, State};
pub use interval::{greatest_common_interval, quantise};
pub use marker::AgentState;
pub use options::{InitOptions, OptionsError};
pub use policy::BufferPolicy;
pub use raw::{CpuTime, Function, FunctionKind, RawLabels, RawNode, RawSample, RawSegment};
pub use realm::{AdmitRealm, Reach, RealmError, RealmId, Realms};
pub use recording::{Outcome, RecordedLabels, Recording, RecordingCell, RecordingOptions};
pub use sampler::{Sampler, SamplerError};
