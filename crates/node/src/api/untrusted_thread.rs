//! Threads that run untrusted scripts: the callbacks by which V8 asks its embedder for decisions while a page's script runs.

use napi::{Error, Result, Status, Unknown};
use napi_derive::napi;
use selfprof_v8::HostFunctions;

use super::arguments::to_value;

/// Prepares the calling thread for untrusted scripts. From now on `import()` in any context calls `importModule(id, realm,
/// referrer, specifier, attributes)`, which is answered by [`settle_import`]; `error.stack` has the frames for which
/// `isHostSite(callSite)` is false, as `formatStack(error, callSites)` formats them; and `eval` is disabled in the caller's own
/// realm.
#[napi(catch_unwind)]
pub fn host_pages(import_module: Unknown, is_host_site: Unknown, format_stack: Unknown) -> Result<()> {
    let functions = HostFunctions {
        import_module: to_value(import_module)?,
        is_host_site: to_value(is_host_site)?,
        format_stack: to_value(format_stack)?,
    };
    if selfprof_v8::host_pages(&functions) {
        return Ok(());
    }
    Err(Error::new(Status::InvalidArg, "this thread hosts pages already, or an argument is not a function"))
}

/// Disables `eval` and `Function` in the context of `contextObject`, which is any object that was made in it.
#[napi(catch_unwind)]
pub fn forbid_eval(context_object: Unknown) -> Result<()> {
    if selfprof_v8::forbid_eval(to_value(context_object)?) {
        return Ok(());
    }
    Err(Error::new(Status::InvalidArg, "this thread hosts no pages, or the argument is not an object"))
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
