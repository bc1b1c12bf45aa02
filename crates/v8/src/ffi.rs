//! The shim's functions. `shim/shim.cc`, `shim/scripts.cc` and `shim/hosting.cc` say for each which thread may call it and how long its handles live.

use std::ffi::{c_char, c_void};

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
    /// `v8::Module`, and what it is linked with.
    Module
);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Sample {
    pub timestamp_us: i64,
    pub node: *const CpuProfileNode,
    pub state: i32,
}

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

pub type Hook = extern "C" fn(*mut c_void);

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
    ) -> i32;
    pub fn selfprof_script_run(isolate: *mut Isolate, anchor: Value, script: Value) -> Value;
    pub fn selfprof_function_script_id(function: Value) -> i32;
    pub fn selfprof_module_compile(
        isolate: *mut Isolate,
        source: *const Source,
        module: *mut *mut Module,
        id: *mut i32,
    ) -> i32;
    pub fn selfprof_module_delete(module: *mut Module);
    pub fn selfprof_module_requests(isolate: *mut Isolate, module: *const Module) -> Value;
    pub fn selfprof_module_link(
        isolate: *mut Isolate,
        module: *mut Module,
        children: *const *mut Module,
        count: u32,
    ) -> i32;
    pub fn selfprof_module_instantiate(isolate: *mut Isolate, module: *mut Module) -> i32;
    pub fn selfprof_module_evaluate(isolate: *mut Isolate, module: *mut Module, promise: *mut Value) -> i32;
    pub fn selfprof_module_namespace(isolate: *mut Isolate, module: *const Module) -> Value;
    pub fn selfprof_on_import_meta(isolate: *mut Isolate, function: Value) -> bool;
    pub fn selfprof_host_pages(
        isolate: *mut Isolate,
        import_module: Value,
        is_host_site: Value,
        format_stack: Value,
    ) -> bool;
    pub fn selfprof_forbid_eval(isolate: *mut Isolate, anchor: Value) -> bool;
    pub fn selfprof_settle_import(isolate: *mut Isolate, id: u32, fulfilled: bool, value: Value);
}
