//! What V8 asks its embedder while a page's script runs, and which exceptions come from muted scripts.

use napi::{Error, Result, Status, Unknown, sys};
use napi_derive::napi;
use selfprof_v8::Value;
use selfprof_v8::pages::{self, HostFunctions};

use super::realms;
use crate::api::arguments::to_value;

/// Prepares the calling thread for pages. From now on `import()` in any context calls `importModule(id, realm,
/// referrer, specifier, attributes)`, which is answered by [`settle_import`]; `error.stack` has the frames for which
/// `isHostSite(callSite)` is false, as `formatStack(error, callSites)` formats them; and
/// `promiseRejected(isRejected, promise, reason)` is called when a promise of any realm is rejected without a handler,
/// or gets one later.
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
    if pages::host_pages::<realms::Scripts>(&functions) {
        return Ok(());
    }
    Err(Error::new(Status::InvalidArg, "this thread hosts pages already, or an argument is not a function"))
}

/// A function `(callee, this, arguments)` of the context of `contextObject`, which does as `Reflect.apply` for an array
/// of arguments. What the callee throws is noted for [`muted_exception`].
#[napi(catch_unwind)]
pub fn noting_apply(context_object: Unknown) -> Result<sys::napi_value> {
    let function = pages::noting_apply(to_value(context_object)?);
    function
        .map(Value::as_raw)
        .ok_or_else(|| Error::new(Status::InvalidArg, "the argument is not an object of a context"))
}

/// Where in a muted script an exception came from, as `URL:line:column`; `undefined` when it came from elsewhere. Of an
/// exception that is no `Error`, this is known once, of the last one that was caught.
#[napi(catch_unwind)]
pub fn muted_exception(exception: Unknown) -> Result<sys::napi_value> {
    Ok(pages::muted_exception(to_value(exception)?).map_or(std::ptr::null_mut(), Value::as_raw))
}

/// The same for a promise that was rejected without a handler.
#[napi(catch_unwind)]
pub fn muted_rejection(promise: Unknown) -> Result<sys::napi_value> {
    Ok(pages::muted_rejection(to_value(promise)?).map_or(std::ptr::null_mut(), Value::as_raw))
}

/// Runs the promise jobs that are due, as an event loop does when a script has ended. Does nothing while such jobs run.
#[napi(catch_unwind)]
pub fn run_promise_jobs() {
    pages::run_promise_jobs();
}

/// Settles the promise of an `import()`. Does nothing when it was settled before.
#[napi(catch_unwind)]
pub fn settle_import(id: u32, fulfilled: bool, result: Unknown) -> Result<()> {
    let result = to_value(result)?;
    pages::settle_import(id, if fulfilled { Ok(result) } else { Err(result) });
    Ok(())
}
