//! A thread whose contexts run untrusted scripts.

use crate::ffi;
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
}

/// Prepares this thread for untrusted scripts, until its environment ends: V8 calls these functions instead of Node's, and `eval`
/// is disabled in the caller's realm. Returns false, and changes nothing, when this was called before or an argument is not a
/// function.
pub fn host_pages(functions: &HostFunctions) -> bool {
    let HostFunctions { import_module, is_host_site, format_stack } = functions;
    // SAFETY: the values are alive, see `Value::from_raw`, so this is inside an isolate.
    unsafe {
        ffi::selfprof_host_pages(
            ffi::selfprof_isolate(),
            import_module.as_raw(),
            is_host_site.as_raw(),
            format_stack.as_raw(),
        )
    }
}

/// Disables `eval` in the context that `anchor` was made in. Returns false when it could not.
pub fn forbid_eval(anchor: Value) -> bool {
    // SAFETY: as in `host_pages`.
    unsafe { ffi::selfprof_forbid_eval(ffi::selfprof_isolate(), anchor.as_raw()) }
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
