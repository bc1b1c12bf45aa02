//! The processing model of the [JS Self-Profiling API](https://wicg.github.io/js-self-profiling/), without an engine.
//!
//! A page or a program opens *profiling sessions*; each has its own sample interval, its own buffer limit and
//! its own trace. An engine can sample one thread at one rate. This crate stands between the two:
//!
//! * [`InitOptions`] converts what a script passed, as WebIDL says;
//! * [`Group`] owns the one sampler of an agent, lets sessions join and leave, and cuts what the sampler
//!   records into segments, so that memory stays bounded and a session can end while others go on;
//! * [`Recording`] is what one session keeps: it takes the raw samples of each segment that are due for its
//!   interval and inside its started spans, and turns them into the specification's tables;
//! * [`FrameAdmission`] decides which functions a trace may show: [`AdmitScripts`] in a program, [`AdmitRealm`] in a page;
//! * [`AgentState::marker`] names what the agent was doing.
//!
//! ```
//! use selfprof_session::InitOptions;
//!
//! let options = InitOptions::convert(Some(10.0), Some(10_000.0)).unwrap();
//! assert_eq!(options.max_buffer_size, 10_000);
//! assert!(InitOptions::convert(Some(-1.0), Some(1.0)).is_err());
//! ```
//!
//! Absent on purpose: V8, threads, timers and clocks. Time comes in as [`Instant`] values and samples come in
//! as [`RawSegment`]s, so every rule here is tested with a fake clock and a fake sampler.
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

pub use admission::{Admission, AdmitScripts, FrameAdmission};
pub use clock::{Instant, Span};
pub use forced::Forced;
pub use group::{Cut, Delivery, Group, GroupError, Left, SessionId, SessionOptions, State};
pub use interval::{greatest_common_interval, quantise};
pub use marker::AgentState;
pub use options::{InitOptions, OptionsError};
pub use policy::BufferPolicy;
pub use raw::{Function, FunctionKind, RawNode, RawSample, RawSegment};
pub use realm::{AdmitRealm, Reach, RealmError, RealmId, Realms};
pub use recording::{Outcome, Recording, RecordingCell, RecordingOptions};
pub use sampler::{Sampler, SamplerError};
