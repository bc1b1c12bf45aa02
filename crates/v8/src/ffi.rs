//! The shim's functions. The files in `shim` say for each which thread may call it and how long its handles live.
//!
//! The shim has the same structs, and asserts the same sizes and offsets.

use std::ffi::{c_char, c_void};
use std::mem::offset_of;

/// The numbers that the shim and Rust share, written by build.rs.
#[allow(non_snake_case, dead_code)] // Both sides get all numbers, whether or not they name each.
pub mod numbers {
    include!(concat!(env!("OUT_DIR"), "/numbers.rs"));
}

/// An opaque C++ object.
macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[repr(C)]
        pub struct $name {
            _opaque: [u8; 0],
        }
    )*};
}

opaque!(
    /// `v8::Isolate`.
    Isolate,
    /// `node::Environment`.
    Environment,
    /// `v8::CpuProfiler`.
    CpuProfiler,
    /// `v8::CpuProfile`.
    CpuProfile,
    /// `v8::CpuProfileNode`.
    CpuProfileNode,
    /// `SelfprofCpuTimes`.
    CpuTimes,
    /// `SelfprofSampleLabels`.
    SampleLabels,
    /// `SelfprofModule`.
    Module,
    /// `SelfprofMappingUrls`.
    MappingUrls
);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Sample {
    pub timestamp_us: i64,
    pub node: *const CpuProfileNode,
    /// One of [`numbers::AgentState`].
    pub state: i32,
}
const _: () =
    assert!(size_of::<Sample>() == 24 && offset_of!(Sample, node) == 8 && offset_of!(Sample, state) == 16);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CpuTime {
    pub at_us: u64,
    pub cpu_us: u64,
    pub is_after_gap: bool,
}
const _: () = assert!(
    size_of::<CpuTime>() == 24 && offset_of!(CpuTime, cpu_us) == 8 && offset_of!(CpuTime, is_after_gap) == 16
);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Labels {
    pub from_us: u64,
    pub before_us: u64,
    pub numbers: [i32; 8],
}
const _: () = assert!(
    size_of::<Labels>() == 48 && offset_of!(Labels, before_us) == 8 && offset_of!(Labels, numbers) == 16
);

#[repr(C)]
pub struct Node {
    pub parent: *const CpuProfileNode,
    pub name: *const c_char,
    pub resource: *const c_char,
    pub script_id: i32,
    pub line: i32,
    pub column: i32,
    pub source_type: i32,
}
const _: () = assert!(
    size_of::<Node>() == 40
        && offset_of!(Node, resource) == 16
        && offset_of!(Node, script_id) == 24
        && offset_of!(Node, source_type) == 36
);

/// A handle: `napi_value`.
pub type Value = *mut c_void;

#[repr(C)]
pub struct Source {
    pub anchor: Value,
    pub text: Value,
    pub url: Value,
    pub referrer: Value,
    pub line_offset: i32,
    pub column_offset: i32,
    pub realm: u32,
    pub muted: bool,
}
const _: () = assert!(
    size_of::<Source>() == 48
        && offset_of!(Source, referrer) == 24
        && offset_of!(Source, line_offset) == 32
        && offset_of!(Source, realm) == 40
        && offset_of!(Source, muted) == 44
);

#[repr(C)]
pub struct CloneWriter {
    pub anchor: Value,
    pub is_host_object: Value,
    pub write_host_object: Value,
    pub share_memory: Value,
    pub data_clone_error: Value,
    pub transferred: Value,
}
const _: () = assert!(size_of::<CloneWriter>() == 48 && offset_of!(CloneWriter, transferred) == 40);

#[repr(C)]
pub struct CloneReader {
    pub anchor: Value,
    pub host_objects: Value,
    pub shared: Value,
    pub transferred: Value,
}
const _: () = assert!(size_of::<CloneReader>() == 32 && offset_of!(CloneReader, transferred) == 24);

/// One of [`numbers::Status`].
pub type Status = i32;

/// One of [`numbers::ScriptKind`].
pub type ScriptKind = i32;

pub type Hook = extern "C" fn(*mut c_void);

pub type NearHeapLimitHook = extern "C" fn(*mut c_void, usize, usize) -> usize;

unsafe extern "C" {
    pub safe fn selfprof_built_for() -> i32;
    pub safe fn selfprof_now_us() -> u64;
    pub safe fn selfprof_now_ns() -> u64;
    pub safe fn selfprof_isolate() -> *mut Isolate;
    pub fn selfprof_timeline_object(isolate: *mut Isolate, timeline: *mut c_void) -> *mut c_void;
    pub fn selfprof_environment(isolate: *mut Isolate) -> *mut Environment;
    pub fn selfprof_at_cleanup(isolate: *mut Isolate, hook: Hook, data: *mut c_void);
    pub fn selfprof_at_exit(environment: *mut Environment, hook: Hook, data: *mut c_void);
    pub fn selfprof_request_interrupt(environment: *mut Environment, callback: Hook, data: *mut c_void);
    pub fn selfprof_heap_limit_watch(isolate: *mut Isolate, hook: NearHeapLimitHook, data: *mut c_void);
    pub fn selfprof_heap_limit_forget(isolate: *mut Isolate, hook: NearHeapLimitHook);
    pub fn selfprof_profiler_new(isolate: *mut Isolate, lazy: i32, base_interval_us: i32)
    -> *mut CpuProfiler;
    pub fn selfprof_profiler_dispose(profiler: *mut CpuProfiler);
    pub fn selfprof_profiler_start(
        isolate: *mut Isolate,
        profiler: *mut CpuProfiler,
        interval_us: i32,
        max_samples: u32,
        id: *mut u32,
    ) -> bool;
    pub fn selfprof_profiler_stop(
        isolate: *mut Isolate,
        profiler: *mut CpuProfiler,
        id: u32,
    ) -> *mut CpuProfile;
    pub safe fn selfprof_cpu_times_new() -> *mut CpuTimes;
    pub fn selfprof_cpu_times_delete(times: *mut CpuTimes);
    pub fn selfprof_cpu_times_set_interval(times: *mut CpuTimes, interval_us: u64);
    pub safe fn selfprof_cpu_times_install_handler();
    pub fn selfprof_cpu_times_read(times: *mut CpuTimes) -> u32;
    pub fn selfprof_cpu_times_take(times: *mut CpuTimes, to: *mut CpuTime, count: u32);
    pub fn selfprof_sample_labels_new(isolate: *mut Isolate) -> *mut SampleLabels;
    pub fn selfprof_sample_labels_delete(labels: *mut SampleLabels);
    pub fn selfprof_sample_labels_read_frames(
        labels: *mut SampleLabels,
        key: Value,
        value: Value,
        expected: *const i32,
    ) -> bool;
    pub fn selfprof_sample_labels_read_memory(labels: *mut SampleLabels, memory: Value) -> bool;
    pub fn selfprof_sample_labels_read(labels: *mut SampleLabels);
    pub fn selfprof_sample_labels_set_longest(labels: *mut SampleLabels, longest_us: u64);
    pub fn selfprof_sample_labels_take(
        labels: *mut SampleLabels,
        now_us: u64,
        to: *mut Labels,
        room: u32,
    ) -> u32;
    pub fn selfprof_collect_sample(isolate: *mut Isolate);
    pub fn selfprof_collect_sample_alone(isolate: *mut Isolate, from_us: *mut u64, to_us: *mut u64);
    pub fn selfprof_profile_delete(profile: *mut CpuProfile);
    pub fn selfprof_profile_sample_count(profile: *const CpuProfile) -> i32;
    pub fn selfprof_profile_end_us(profile: *const CpuProfile) -> i64;
    pub fn selfprof_profile_samples(profile: *const CpuProfile, count: i32, samples: *mut Sample);
    pub fn selfprof_node_read(node: *const CpuProfileNode, out: *mut Node);
    pub fn selfprof_script_compile(
        isolate: *mut Isolate,
        source: *const Source,
        script: *mut Value,
        id: *mut i32,
    ) -> Status;
    pub fn selfprof_script_run(isolate: *mut Isolate, anchor: Value, script: Value) -> Value;
    pub fn selfprof_module_compile(
        isolate: *mut Isolate,
        source: *const Source,
        module: *mut *mut Module,
        holder: *mut Value,
        id: *mut i32,
    ) -> Status;
    pub fn selfprof_module_attach(isolate: *mut Isolate, wrapper: Value, holder: Value) -> bool;
    pub fn selfprof_module_delete(module: *mut Module);
    pub fn selfprof_module_requests(isolate: *mut Isolate, module: *const Module) -> Value;
    pub fn selfprof_module_link(
        isolate: *mut Isolate,
        module: *mut Module,
        children: *const *mut Module,
        count: u32,
    ) -> Status;
    pub fn selfprof_module_instantiate(isolate: *mut Isolate, module: *mut Module) -> Status;
    pub fn selfprof_module_evaluate(
        isolate: *mut Isolate,
        module: *mut Module,
        promise: *mut Value,
    ) -> Status;
    pub fn selfprof_module_namespace(isolate: *mut Isolate, module: *const Module) -> Value;
    pub fn selfprof_on_import_meta(isolate: *mut Isolate, function: Value) -> bool;
    pub fn selfprof_host_pages(
        isolate: *mut Isolate,
        import_module: Value,
        is_host_site: Value,
        format_stack: Value,
        promise_rejected: Value,
        kind_of_script: extern "C" fn(i32) -> ScriptKind,
    ) -> bool;
    pub fn selfprof_noting_apply(isolate: *mut Isolate, anchor: Value) -> Value;
    pub fn selfprof_muted_exception(isolate: *mut Isolate, exception: Value) -> Value;
    pub fn selfprof_muted_rejection(isolate: *mut Isolate, promise: Value) -> Value;
    pub fn selfprof_run_promise_jobs(isolate: *mut Isolate);
    pub fn selfprof_clone_write(isolate: *mut Isolate, value: Value, options: *const CloneWriter) -> Value;
    pub fn selfprof_clone_read(isolate: *mut Isolate, bytes: Value, options: *const CloneReader) -> Value;
    pub fn selfprof_mapping_urls_new(isolate: *mut Isolate, max_scripts: usize) -> *mut MappingUrls;
    pub fn selfprof_mapping_urls_delete(urls: *mut MappingUrls);
    pub fn selfprof_mapping_urls_age(urls: *mut MappingUrls);
    pub fn selfprof_mapping_url_keep(urls: *mut MappingUrls, script_id: i32);
    pub fn selfprof_mapping_url_forget(urls: *mut MappingUrls, script_id: i32);
    pub fn selfprof_mapping_url_length(
        urls: *const MappingUrls,
        script_id: i32,
        is_one_byte: *mut bool,
    ) -> u32;
    pub fn selfprof_mapping_url_copy(
        urls: *const MappingUrls,
        script_id: i32,
        from: u32,
        count: u32,
        is_one_byte: bool,
        to: *mut c_void,
    ) -> bool;
    pub fn selfprof_settle_import(isolate: *mut Isolate, id: u32, fulfilled: bool, value: Value);
}
