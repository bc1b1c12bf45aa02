//! V8's `CpuProfiler` as a [`Sampler`](selfprof_session::Sampler), and the parts of V8 and Node that Node-API does not offer.
//!
//! This is the only crate that names V8. It is compiled once for each Node major, because V8's C++ symbols differ
//! between them; [`built_for`] returns which.
//!
//! * [`CpuSampler`] lives on its isolate's thread and starts and stops runs;
//! * [`Profile`] is what a run recorded, and can be read on any thread;
//! * [`SampleLabels`] reads which labels the sampled code has;
//! * [`MappingUrls`] knows which source maps scripts name;
//! * [`Script`] and [`Module`] are scripts of a page, compiled in its context;
//! * [`host_pages`] prepares a thread for untrusted scripts;
//! * [`Environment`] registers hooks for the end of a thread and interrupts it from other threads;
//! * [`CloneWriter`] and [`CloneReader`] copy values from one realm to another;
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
//! Absent on purpose: which samples belong to which session, and what a trace looks like. Raw segments go to `selfprof-session`.

mod cpu_times;
mod environment;
#[allow(missing_docs)] // The shim documents its functions where they are defined.
mod ffi;
mod mapping_urls;
mod profile;
mod sample_labels;
mod sampler;
mod script;
mod structured_clone;
mod timeline;
mod untrusted_thread;

pub use environment::{Environment, Interrupter};
pub use mapping_urls::{MappingUrls, UrlCopy};
pub use profile::{NATIVE_ADDON, Profile};
pub use sample_labels::{LabelNumbers, LabelTable, SampleLabels};
pub use sampler::{CpuSampler, LoggingMode};
pub use script::{Module, ModuleHolder, Script, ScriptError, Source, Value, on_import_meta};
pub use structured_clone::{CloneReader, CloneWriter};
pub use timeline::{TimelineFunctions, timeline_object};
pub use untrusted_thread::{
    HostFunctions, ScriptMuting, collect_garbage, end_alone, forbid_eval, host_pages,
    is_too_large_to_compile, leave_threads_at_exit, limit_tls, lose_thread, muted_exception, muted_rejection,
    note_shared_memory, note_wasm_module, noting_apply, run_promise_jobs, settle_import, shared_memory,
};

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
