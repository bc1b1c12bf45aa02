//! A thread whose contexts run untrusted scripts.

use std::ptr::NonNull;

use crate::ffi;
use crate::ffi::numbers::ScriptKind;
use crate::script::Value;

/// Functions of the caller's realm that V8 calls in the middle of a page's script.
#[derive(Clone, Copy, Debug)]
pub struct HostFunctions {
    /// `(id, realm, referrer URL, specifier, [attribute key, value, ...])`: a script called `import()`. [`settle_import`] answers
    /// it.
    pub import_module: Value,
    /// `(CallSite) -> boolean`: whether a frame belongs to the host, so that `error.stack` must not show it.
    pub is_host_site: Value,
    /// `(error, [CallSite, ...]) -> string`: the text of `error.stack`.
    pub format_stack: Value,
    /// `(is rejected, promise, reason)`: a promise was rejected without a handler, or else has got one since.
    pub promise_rejected: Value,
}

/// What is known of the scripts of a thread.
pub trait ScriptMuting {
    /// Whether the errors of a page's script are muted; `None` for a script that is not known as a page's. V8 calls this on the JS thread while
    /// an exception is thrown.
    fn is_muted(script_id: i32) -> Option<bool>;
}

extern "C" fn kind_of_script<Scripts: ScriptMuting>(script_id: i32) -> ffi::ScriptKind {
    match Scripts::is_muted(script_id) {
        None => ScriptKind::Unknown,
        Some(false) => ScriptKind::Shown,
        Some(true) => ScriptKind::Muted,
    }
}

/// Prepares this thread for untrusted scripts, until its environment ends: V8 calls these functions instead of Node's, and `eval`
/// is disabled in the caller's realm. Returns false, and changes nothing, when this was called before or an argument is not a
/// function.
pub fn host_pages<Scripts: ScriptMuting>(functions: &HostFunctions) -> bool {
    let HostFunctions { import_module, is_host_site, format_stack, promise_rejected } = functions;
    // SAFETY: the values are alive, see `Value::from_raw`, so this is inside an isolate.
    unsafe {
        ffi::selfprof_host_pages(
            ffi::selfprof_isolate(),
            import_module.as_raw(),
            is_host_site.as_raw(),
            format_stack.as_raw(),
            promise_rejected.as_raw(),
            kind_of_script::<Scripts>,
        )
    }
}

/// Has this thread end alone, and at once, where V8 gives up and would end the process; nothing of it is torn down.
/// `lost` is an `Int32Array` with two elements in shared memory: the first is then not 0, the second is the thread's tid. Returns
/// false for anything else. The process must be ended before the environment of the thread that has started this one, which must be the main thread.
#[must_use]
pub fn end_alone(lost: Value) -> bool {
    // SAFETY: as in `host_pages`.
    unsafe { ffi::selfprof_end_alone(ffi::selfprof_isolate(), lost.as_raw()) }
}

/// Has a thread that V8 does not interrupt end as if V8 had given it up. `lost` is what it has called [`end_alone`] with. Returns false for anything
/// else. Where the thread may hold a lock, it goes on, and this is to be called again.
#[must_use]
pub fn lose_thread(lost: Value) -> bool {
    // SAFETY: the value is alive.
    unsafe { ffi::selfprof_lose_thread(lost.as_raw()) }
}

/// Has the process end, where it ends, without those threads of pages that are lost or do not end within a second. To be called on the main thread,
/// inside a native function that JavaScript called.
pub fn leave_threads_at_exit() {
    // SAFETY: a native function is inside an isolate.
    unsafe { ffi::selfprof_leave_threads_at_exit(ffi::selfprof_isolate()) }
}

/// A function `(callee, this, [argument, ...])` of the context that `anchor` was made in, which does as `Reflect.apply`. It notes where in a
/// muted script came from what the callee throws, for [`muted_exception`]. `None` when there is no such context.
#[must_use]
pub fn noting_apply(anchor: Value) -> Option<Value> {
    // SAFETY: as in `host_pages`.
    let function = unsafe { ffi::selfprof_noting_apply(ffi::selfprof_isolate(), anchor.as_raw()) };
    NonNull::new(function).map(Value::from_pointer)
}

/// Where in a muted script an exception came from, `URL:line:column` as a string; `None` when it came from elsewhere. Of an exception that is
/// no `Error`, this is known once, of the last one that was caught.
#[must_use]
pub fn muted_exception(exception: Value) -> Option<Value> {
    // SAFETY: as in `host_pages`.
    let place = unsafe { ffi::selfprof_muted_exception(ffi::selfprof_isolate(), exception.as_raw()) };
    NonNull::new(place).map(Value::from_pointer)
}

/// The same for a promise that was rejected without a handler.
#[must_use]
pub fn muted_rejection(promise: Value) -> Option<Value> {
    // SAFETY: as in `host_pages`.
    let place = unsafe { ffi::selfprof_muted_rejection(ffi::selfprof_isolate(), promise.as_raw()) };
    NonNull::new(place).map(Value::from_pointer)
}

/// Collects the garbage of the calling thread. To be called inside a native function that JavaScript called.
pub fn collect_garbage() {
    // SAFETY: a native function is inside an isolate.
    unsafe { ffi::selfprof_collect_garbage(ffi::selfprof_isolate()) }
}

/// Disables `eval` in the context that `anchor` was made in. Returns false when it could not.
pub fn forbid_eval(anchor: Value) -> bool {
    // SAFETY: as in `host_pages`.
    unsafe { ffi::selfprof_forbid_eval(ffi::selfprof_isolate(), anchor.as_raw()) }
}

/// Whether a text is too long to be compiled, or its syntax tree may take too much memory. To be called inside a native function that
/// JavaScript called.
pub fn is_too_large_to_compile(source: Value) -> bool {
    // SAFETY: as in `host_pages`.
    unsafe { ffi::selfprof_is_too_large_to_compile(ffi::selfprof_isolate(), source.as_raw()) }
}

/// Has connections of a `SecureContext` of Node fail if their server sends certificates of more than `certificate_bytes` together, or that do not pass
/// a check, and end after very many messages that are no data: OpenSSL handles them in one go. `context` is what it has as `_external`. Returns false
/// if that is something else, or cannot be limited. To be called inside a native function that JavaScript called.
pub fn limit_tls(context: Value, certificate_bytes: i32, check: ffi::CheckCertificates) -> bool {
    // SAFETY: as in `host_pages`.
    unsafe { ffi::selfprof_limit_tls(context.as_raw(), certificate_bytes, check) }
}

/// Runs the promise jobs that are due. Does nothing while such jobs run. To be called inside a native function that JavaScript called.
pub fn run_promise_jobs() {
    // SAFETY: a native function is inside an isolate.
    unsafe { ffi::selfprof_run_promise_jobs(ffi::selfprof_isolate()) }
}

/// Settles the promise that an `import()` returned: fulfils it with a namespace object, or rejects it with a value.
pub fn settle_import(id: u32, value: Result<Value, Value>) {
    let fulfilled = value.is_ok();
    let (Ok(value) | Err(value)) = value;
    // SAFETY: as in `host_pages`.
    unsafe { ffi::selfprof_settle_import(ffi::selfprof_isolate(), id, fulfilled, value.as_raw()) };
}

/// Notes that a page, by its number, has made the memory of a `SharedArrayBuffer`. Returns false, and does not note it, if the page would then
/// have more than `limit` bytes of such memory. Another value has none.
#[must_use]
pub fn note_shared_memory(buffer: Value, page: u32, limit: u64) -> bool {
    // SAFETY: the value is alive, see `Value::from_raw`.
    unsafe { ffi::selfprof_note_shared_memory(buffer.as_raw(), page, limit) }
}

/// The bytes of the shared memory that a page has made and somebody still has. Any thread may ask.
#[must_use]
pub fn shared_memory(page: u32) -> u64 {
    // SAFETY: it has no preconditions.
    unsafe { ffi::selfprof_shared_memory(page) }
}

/// Notes a module of WebAssembly that takes as many bytes as this buffer has, and lives as long. Returns false, and does not note it, when
/// there is no room for it in the process. To be called inside a native function that JavaScript called.
pub fn note_wasm_module(buffer: Value) -> bool {
    // SAFETY: the value belongs to the running native function.
    unsafe { ffi::selfprof_note_wasm_module(buffer.as_raw()) }
}
