//! V8's `CpuProfiler` as a [`Sampler`](selfprof_session::Sampler), and the parts of V8 and Node that Node-API does not
//! offer.
//!
//! This is the only crate that names V8. It is compiled once for each Node major, because V8's C++ symbols differ
//! between them; [`built_for`] returns which.
//!
//! * [`CpuSampler`] lives on its isolate's thread and starts and stops runs;
//! * [`Profile`] is what a run recorded, and can be read on any thread;
//! * [`SampleLabels`] reads which labels the sampled code has;
//! * [`MappingUrls`] knows which source maps scripts name;
//! * [`Environment`] registers hooks for the end of a thread and interrupts it from other threads;
//! * [`HeapLimitWatch`] notices that a thread is about to run out of memory;
//! * [`pages`] has what pages need: scripts and modules in their contexts, V8's hooks, structured clone;
//! * [`TimelineFunctions`] are called by JavaScript as fast as C functions.
//!
//! ```ignore
//! // On a JS thread, in a native function:
//! let environment = Environment::current().expect("JavaScript is running");
//! let mut sampler = CpuSampler::new(&environment, LoggingMode::Eager);
//! let running = sampler.start(Micros(1_000))?;
//! let segment = sampler.stop(running).read();
//! ```
//!
//! Absent on purpose: which samples belong to which session, and what a trace looks like. Raw segments go to
//! `selfprof-session`.

mod cpu_times;
mod environment;
#[allow(missing_docs)] // The shim documents its functions where they are defined.
mod ffi;
mod heap_limit;
mod mapping_urls;
pub mod pages;
mod profile;
mod sample_labels;
mod sampler;
mod timeline;
mod value;

pub use environment::{Environment, Interrupter};
pub use heap_limit::HeapLimitWatch;
pub use mapping_urls::{MappingUrls, UrlCopy};
pub use profile::{NATIVE_ADDON, Profile};
pub use sample_labels::{LabelNumbers, LabelTable, SampleLabels};
pub use sampler::{CpuSampler, LoggingMode};
pub use timeline::{TimelineFunctions, timeline_object};
pub use value::Value;

use selfprof_session::Instant;

/// The `process.versions.modules` that this crate was compiled for.
#[must_use]
pub fn built_for() -> u32 {
    ffi::selfprof_built_for().unsigned_abs()
}

/// Now, on the clock of sample timestamps.
#[must_use]
pub fn now() -> Instant {
    Instant(ffi::selfprof_now_us())
}

/// Now, on the same clock, in nanoseconds.
#[inline]
#[must_use]
pub fn now_ns() -> u64 {
    ffi::selfprof_now_ns()
}
