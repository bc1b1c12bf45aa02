//! Threads that run untrusted scripts: the callbacks by which V8 asks its embedder for decisions while a page's script runs.

use napi::bindgen_prelude::Either;
use napi::{Error, Result, Status, Unknown, sys};
use napi_derive::napi;
use selfprof_v8::{HostFunctions, Value};

use super::arguments::to_value;
use crate::{address_space, realms, server_certificates, wasm_cost, wasm_types};

/// Prepares the calling thread for untrusted scripts. From now on `import()` in any context calls `importModule(id, realm,
/// referrer, specifier, attributes)`, which is answered by [`settle_import`]; `error.stack` has the frames for which
/// `isHostSite(callSite)` is false, as `formatStack(error, callSites)` formats them; `promiseRejected(isRejected, promise, reason)` is called
/// when a promise of any realm is rejected without a handler, or gets one later; and `eval` is disabled in the caller's own realm.
#[napi(catch_unwind)]
pub fn host_pages(
    import_module: Unknown,
    is_host_site: Unknown,
    format_stack: Unknown,
    promise_rejected: Unknown,
) -> Result<()> {
    let functions = HostFunctions {
        import_module: to_value(import_module)?,
        is_host_site: to_value(is_host_site)?,
        format_stack: to_value(format_stack)?,
        promise_rejected: to_value(promise_rejected)?,
    };
    if selfprof_v8::host_pages::<realms::Scripts>(&functions) {
        return Ok(());
    }
    Err(Error::new(Status::InvalidArg, "this thread hosts pages already, or an argument is not a function"))
}

/// Has the calling thread end alone where V8 gives up and would end the process. `lost` is an `Int32Array` with two elements in shared memory: the
/// first is then not 0, the second is the thread's tid. The process must end before the environment of the thread that has started this one, which must
/// be the main thread.
#[napi(catch_unwind)]
pub fn end_alone(lost: Unknown) -> Result<()> {
    if selfprof_v8::end_alone(to_value(lost)?) {
        return Ok(());
    }
    Err(Error::new(
        Status::InvalidArg,
        "this is no Int32Array with two elements in shared memory, or the second one",
    ))
}

/// Has a thread that V8 does not interrupt end as if V8 had given it up. `lost` is what it has called `endAlone` with. Where the thread may hold a
/// lock, it goes on, and this is to be called again. Returns whether there is such a thread.
#[napi(catch_unwind)]
pub fn lose_thread(lost: Unknown) -> Result<bool> {
    Ok(selfprof_v8::lose_thread(to_value(lost)?))
}

/// Has the process end, where it ends, without those threads of pages that are lost or do not end within a second: Node would wait for them, and V8
/// use what Node has freed. To be called on the main thread.
#[napi(catch_unwind)]
pub fn leave_threads_at_exit() {
    selfprof_v8::leave_threads_at_exit();
}

/// Disables `eval` and `Function` in the context of `contextObject`, which is any object that was made in it.
#[napi(catch_unwind)]
pub fn forbid_eval(context_object: Unknown) -> Result<()> {
    if selfprof_v8::forbid_eval(to_value(context_object)?) {
        return Ok(());
    }
    Err(Error::new(Status::InvalidArg, "this thread hosts no pages, or the argument is not an object"))
}

/// Whether a text is too long to be compiled, or what V8 makes of it meanwhile may take too much memory: nothing can interrupt that.
#[napi(catch_unwind)]
pub fn is_too_large_to_compile(source: Unknown) -> Result<bool> {
    Ok(selfprof_v8::is_too_large_to_compile(to_value(source)?))
}

/// Has connections of a `SecureContext` fail if their server sends certificates of more than `certificate_bytes` together, or with keys and extensions
/// that browsers do not know, and end after 100 messages of handshakes and alerts. `context` is its property `context._external`. Returns false if Node
/// does not let addons call its OpenSSL.
#[napi(catch_unwind)]
pub fn limit_tls(context: Unknown, certificate_bytes: i32) -> Result<bool> {
    Ok(selfprof_v8::limit_tls(to_value(context)?, certificate_bytes, server_certificates::check))
}

/// A function `(callee, this, arguments)` of the context of `contextObject`, which does as `Reflect.apply` for an array of arguments. What the
/// callee throws is noted for [`muted_exception`].
#[napi(catch_unwind)]
pub fn noting_apply(context_object: Unknown) -> Result<sys::napi_value> {
    let function = selfprof_v8::noting_apply(to_value(context_object)?);
    function
        .map(Value::as_raw)
        .ok_or_else(|| Error::new(Status::InvalidArg, "the argument is not an object of a context"))
}

/// Where in a muted script an exception came from, as `URL:line:column`; `undefined` when it came from elsewhere. Of an exception that is no
/// `Error`, this is known once, of the last one that was caught.
#[napi(catch_unwind)]
pub fn muted_exception(exception: Unknown) -> Result<sys::napi_value> {
    Ok(selfprof_v8::muted_exception(to_value(exception)?).map_or(std::ptr::null_mut(), Value::as_raw))
}

/// The same for a promise that was rejected without a handler.
#[napi(catch_unwind)]
pub fn muted_rejection(promise: Unknown) -> Result<sys::napi_value> {
    Ok(selfprof_v8::muted_rejection(to_value(promise)?).map_or(std::ptr::null_mut(), Value::as_raw))
}

/// Whether the process has room for `count` more objects that each reserve gigabytes of address space. It may collect garbage to find out.
#[napi(catch_unwind)]
pub fn reserve_address_space(count: u32) -> bool {
    address_space::reserve(count)
}

/// Notes the memory of a `SharedArrayBuffer` that a page has made, by the page's number. Returns whether the page then has at most `limit`
/// bytes of such memory. It may collect garbage to find out.
#[napi(catch_unwind)]
pub fn note_shared_memory(buffer: Unknown, page: u32, limit: f64) -> Result<bool> {
    let (buffer, limit) = (to_value(buffer)?, limit as u64);
    Ok(also_without_garbage(|| selfprof_v8::note_shared_memory(buffer, page, limit)))
}

/// Whether something succeeds, if need be after a collection of garbage.
fn also_without_garbage(attempt: impl Fn() -> bool) -> bool {
    if attempt() {
        return true;
    }
    selfprof_v8::collect_garbage();
    attempt()
}

/// The bytes of the memory that a page has made and shares between its threads.
#[napi(catch_unwind)]
pub fn shared_memory(page: u32) -> f64 {
    selfprof_v8::shared_memory(page) as f64
}

/// How many bytes a module of WebAssembly takes outside of V8's heap, or why it is refused. `memory_limit` is in bytes, as is the result.
#[napi(catch_unwind)]
pub fn measure_wasm(module: &[u8], memory_limit: f64) -> Either<f64, String> {
    match wasm_cost::measure(module, memory_limit as u64) {
        Ok(bytes) => Either::A(bytes as f64),
        Err(refusal) => Either::B(refusal.to_string()),
    }
}

/// Notes a module of WebAssembly of a page that takes as many bytes as this buffer has, and lives as long. Returns whether there is room for it
/// in the process. It may collect garbage to find out.
#[napi(catch_unwind)]
pub fn note_wasm_module(buffer: Unknown) -> Result<bool> {
    let buffer = to_value(buffer)?;
    Ok(also_without_garbage(|| selfprof_v8::note_wasm_module(buffer)))
}

/// Notes types of WebAssembly, which V8 keeps for good: those of a module, or the one that a text stands for. Returns how many of them are new to
/// the process; -1, and notes none, when these are more than `room`, or than there is room for.
#[napi(catch_unwind)]
pub fn note_wasm_types(types: Either<&[u8], String>, room: u32) -> i32 {
    let new = match types {
        // A module that cannot be read has no types.
        Either::A(module) => wasm_types::note_module(module, room).unwrap_or(Some(0)),
        Either::B(name) => wasm_types::note_named(&name, room),
    };
    new.map_or(-1, u32::cast_signed)
}

/// Runs the promise jobs that are due, as an event loop does when a script has ended. Does nothing while such jobs run.
#[napi(catch_unwind)]
pub fn run_promise_jobs() {
    selfprof_v8::run_promise_jobs();
}

/// Settles the promise of an `import()`. Does nothing when it was settled before.
#[napi(catch_unwind)]
pub fn settle_import(id: u32, fulfilled: bool, result: Unknown) -> Result<()> {
    let result = to_value(result)?;
    selfprof_v8::settle_import(id, if fulfilled { Ok(result) } else { Err(result) });
    Ok(())
}
