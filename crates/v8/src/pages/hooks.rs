//! What V8 asks its embedder while a page's script runs, and which exceptions come from muted scripts.

use std::ptr::NonNull;

use crate::ffi;
use crate::ffi::numbers::ScriptKind;
use crate::value::Value;

/// Functions of the caller's realm that V8 calls in the middle of a page's script.
#[derive(Clone, Copy, Debug)]
pub struct HostFunctions {
    /// `(id, realm, referrer URL, specifier, [attribute key, value, ...])`: a script called `import()`.
    /// [`settle_import`] answers it.
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
    /// Whether the errors of a page's script are muted; `None` for a script that is not known as a page's. V8 calls
    /// this on the JS thread while an exception is thrown.
    fn is_muted(script_id: i32) -> Option<bool>;
}

extern "C" fn kind_of_script<Scripts: ScriptMuting>(script_id: i32) -> ffi::ScriptKind {
    match Scripts::is_muted(script_id) {
        None => ScriptKind::Unknown,
        Some(false) => ScriptKind::Shown,
        Some(true) => ScriptKind::Muted,
    }
}

/// Has V8 call these functions instead of Node's on this thread, until its environment ends. Returns false, and changes
/// nothing, when this was called before or an argument is not a function.
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

/// A function `(callee, this, [argument, ...])` of the context that `anchor` was made in, which does as
/// `Reflect.apply`. It notes where in a muted script came from what the callee throws, for [`muted_exception`]. `None`
/// when there is no such context.
#[must_use]
pub fn noting_apply(anchor: Value) -> Option<Value> {
    // SAFETY: as in `host_pages`.
    let function = unsafe { ffi::selfprof_noting_apply(ffi::selfprof_isolate(), anchor.as_raw()) };
    NonNull::new(function).map(Value::from_pointer)
}

/// Where in a muted script an exception came from, `URL:line:column` as a string; `None` when it came from elsewhere.
/// Of an exception that is no `Error`, this is known once, of the last one that was caught.
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

/// Runs the promise jobs that are due. Does nothing while such jobs run. To be called inside a native function that
/// JavaScript called.
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
