//! A thread whose contexts run scripts that nobody trusts.

use crate::ffi;
use crate::script::Value;

/// What V8 asks in the middle of a page's script, answered by functions of the caller's realm.
#[derive(Clone, Copy, Debug)]
pub struct HostFunctions {
    /// `(id, realm, referrer URL, specifier, [attribute key, value, ...])`: a script called `import()`.
    /// [`settle_import`] answers.
    pub import_module: Value,
    /// `(CallSite) -> boolean`: whether a frame is the host's, and not to be seen in `error.stack`.
    pub is_host_site: Value,
    /// `(error, [CallSite, ...]) -> string`: what `error.stack` says.
    pub format_stack: Value,
}

/// Makes this thread one that hosts pages, until its environment ends: V8 turns to these functions and no more to Node, and
/// the caller's realm compiles no strings any more. Returns whether it is so; a thread that was made one before stays as it
/// is.
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

/// Has the context that `anchor` was made in compile no strings. Returns whether it is so.
pub fn forbid_eval(anchor: Value) -> bool {
    // SAFETY: as in `host_pages`.
    unsafe { ffi::selfprof_forbid_eval(ffi::selfprof_isolate(), anchor.as_raw()) }
}

/// Settles the promise that an `import()` returned: with a namespace object, or with what it is rejected with.
pub fn settle_import(id: u32, value: Result<Value, Value>) {
    let fulfilled = value.is_ok();
    let (Ok(value) | Err(value)) = value;
    // SAFETY: as in `host_pages`.
    unsafe { ffi::selfprof_settle_import(ffi::selfprof_isolate(), id, fulfilled, value.as_raw()) };
}
