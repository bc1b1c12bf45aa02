//! A thread that hosts pages: what V8 asks of its embedder in the middle of a page's script.

use napi::{Error, JsValue, Result, Status, Unknown};
use napi_derive::napi;
use selfprof_v8::{HostFunctions, Value};

/// Makes the calling thread one that hosts pages: from here on `import()` in any context calls `importModule(id, realm,
/// referrer, specifier, attributes)`, answered by [`settle_import`]; `error.stack` shows what `isHostSite(callSite)` is false
/// for, as `formatStack(error, callSites)` puts it; and the caller's own realm compiles no strings.
#[napi(catch_unwind)]
pub fn host_pages(import_module: Unknown, is_host_site: Unknown, format_stack: Unknown) -> Result<()> {
    let functions = HostFunctions {
        import_module: value(import_module)?,
        is_host_site: value(is_host_site)?,
        format_stack: value(format_stack)?,
    };
    if selfprof_v8::host_pages(&functions) {
        return Ok(());
    }
    Err(Error::new(Status::InvalidArg, "this thread hosts pages already, or three functions were not given"))
}

/// Has the context of `contextObject`, any object that was made in it, compile no strings: `eval` and `Function` throw.
#[napi(catch_unwind)]
pub fn forbid_eval(context_object: Unknown) -> Result<()> {
    if selfprof_v8::forbid_eval(value(context_object)?) {
        return Ok(());
    }
    Err(Error::new(Status::InvalidArg, "this thread hosts no pages, or what was given is no object"))
}

/// Settles the promise of an `import()`. Does nothing when it was settled before.
#[napi(catch_unwind)]
pub fn settle_import(id: u32, fulfilled: bool, result: Unknown) -> Result<()> {
    let result = value(result)?;
    selfprof_v8::settle_import(id, if fulfilled { Ok(result) } else { Err(result) });
    Ok(())
}

fn value(unknown: Unknown) -> Result<Value> {
    // SAFETY: it is an argument of the native function that is running, and no value leaves that.
    let value = unsafe { Value::from_raw(unknown.raw()) };
    value.ok_or_else(|| Error::new(Status::InvalidArg, "an argument is missing"))
}
