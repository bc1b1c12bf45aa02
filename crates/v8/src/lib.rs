//! V8's `CpuProfiler` as a [`Sampler`](selfprof_session::Sampler), and the hooks by which Node tells an addon that its environment ends.
//!
//! This is the only crate that names V8. It is compiled once for each Node major, because V8's C++ symbols differ
//! between them; [`built_for`] tells which.
//!
//! * [`CpuSampler`] lives on its isolate's thread and starts and stops runs;
//! * [`Profile`] is what a run recorded; it is read on any thread;
//! * [`Script`] and [`Module`] are a page's, compiled in its context;
//! * [`host_pages`] makes a thread safe for scripts that nobody trusts;
//! * [`Environment`] registers tear-down hooks and interrupts the JS thread from elsewhere;
//! * [`TimelineFunctions`] are called by JavaScript at the price of a call in C.
//!
//! Absent on purpose: which samples belong to whom, and what a trace looks like. Raw segments go to `selfprof-session`.

mod environment;
#[allow(missing_docs)] // The shim documents its functions where they are defined.
mod ffi;
mod hosting;
mod profile;
mod sampler;
mod script;
mod timeline;

pub use environment::{Environment, Interrupter};
pub use hosting::{HostFunctions, forbid_eval, host_pages, settle_import};
pub use profile::Profile;
pub use sampler::{CpuSampler, LoggingMode};
pub use script::{Module, Script, ScriptError, Source, Value, on_import_meta};
pub use timeline::{TimelineFunctions, timeline_object};

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
