//! The agent of a JS thread: its profiling sessions, the V8 sampler that they share, and its end.

pub mod current;
pub mod delivery;
pub mod lifecycle;
pub mod map_copier;
pub mod notifier;
mod run_length;
pub mod thread_agent;
pub mod thread_requests;
mod tick_times;
