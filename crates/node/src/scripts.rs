//! Scripts of pages, compiled so that it is known whose they are.

use napi::bindgen_prelude::{ClassInstance, ToNapiValue};
use napi::{Error, JsValue, Result, Status, Unknown, sys};
use napi_derive::napi;
use selfprof_session::RealmId;
use selfprof_v8::{Module, Script, ScriptError, Source, Value};

use crate::face::to_marker;
use crate::realms;

/// What is compiled for a realm.
#[napi(object, object_to_js = false)]
pub struct ScriptOptions<'env> {
    /// Whose it is.
    pub realm: u32,
    /// Whether it is muted: came from another origin, which has not agreed that this one reads it. Its functions show in
    /// no trace.
    pub muted: Option<bool>,
    /// A marker, for a script of the host's that does this work for the realm in its functions.
    pub work: Option<String>,
    /// In which line of the URL's resource the source begins, counted from 0.
    pub line: Option<i32>,
    /// And in which column of that line.
    pub column: Option<i32>,
    /// A function of a script compiled by `vm.Script` with `importModuleDynamically`: `import()` goes where it goes there.
    /// To be made anew for each script. Absent to have `import()` reject.
    pub referrer: Option<Unknown<'env>>,
}

/// Compiles a classic script in the context of `contextObject`, runs it, and returns its completion value. Throws what the
/// script throws.
///
/// `contextObject` is any object that was made in a context of `node:vm`, such as the context's own `Function`.
#[napi(catch_unwind)]
pub fn compile_script(
    context_object: Unknown,
    source: Unknown,
    url: Unknown,
    options: ScriptOptions,
) -> Result<sys::napi_value> {
    let (realm, source) = to_source(context_object, source, url, &options)?;
    let script = match Script::compile(&source) {
        Ok(script) => script,
        Err(error) => return thrown(error),
    };
    // Before its first function runs.
    match &options.work {
        Some(marker) => realms::register_work(realm, script.id(), to_marker(marker)?)?,
        None => realms::register(realm, script.id(), source.muted)?,
    }
    Ok(script.run().map_or(std::ptr::null_mut(), Value::as_raw))
}

/// Takes the script that defined a function for one of a realm's: an event handler that `vm.compileFunction` has compiled
/// from an attribute.
#[napi(catch_unwind)]
pub fn register_function(function: Unknown, realm: u32, muted: bool) -> Result<()> {
    let script_id = value(function)?.script_id().ok_or_else(|| {
        Error::new(Status::InvalidArg, "what is registered is not a function that a script defined")
    })?;
    realms::register(RealmId(realm), script_id, muted)
}

/// A module of a page.
#[napi]
pub struct ScriptModule {
    module: Module,
}

/// Compiles a module in the context of `contextObject`. Throws when its syntax is wrong.
#[napi(catch_unwind)]
pub fn compile_module(
    env: &napi::Env,
    context_object: Unknown,
    source: Unknown,
    url: Unknown,
    options: ScriptOptions,
) -> Result<sys::napi_value> {
    let (realm, source) = to_source(context_object, source, url, &options)?;
    let module = match Module::compile(&source) {
        Ok(module) => module,
        Err(error) => return thrown(error),
    };
    realms::register(realm, module.id(), source.muted)?;
    // SAFETY: the environment is that of the native function that is running.
    unsafe { ToNapiValue::to_napi_value(env.raw(), ScriptModule { module }) }
}

#[napi]
impl ScriptModule {
    /// What it imports: an array each of the specifier, and then the keys and values of its import attributes in turn.
    #[napi(getter, catch_unwind)]
    pub fn requests(&self) -> sys::napi_value {
        self.module.requests().map_or(std::ptr::null_mut(), Value::as_raw)
    }

    /// Says which module each of the [`requests`](Self::requests) means, one by one.
    #[napi(catch_unwind)]
    pub fn link(&mut self, modules: Vec<ClassInstance<ScriptModule>>) -> Result<()> {
        self.module.link(modules.iter().map(|instance| &instance.module)).map_err(failure)
    }

    /// Instantiates it and all that it imports. Throws when an import is missing.
    #[napi(catch_unwind)]
    pub fn instantiate(&self) -> Result<sys::napi_value> {
        match self.module.instantiate() {
            Ok(()) => Ok(std::ptr::null_mut()),
            Err(error) => thrown(error),
        }
    }

    /// Evaluates it. The promise is settled when that is over, and is the same one each time.
    #[napi(catch_unwind)]
    pub fn evaluate(&self) -> Result<sys::napi_value> {
        match self.module.evaluate() {
            Ok(promise) => Ok(promise.as_raw()),
            Err(error) => thrown(error),
        }
    }

    /// Its namespace object; absent before it was instantiated.
    #[napi(getter, catch_unwind)]
    pub fn namespace(&self) -> sys::napi_value {
        self.module.namespace().map_or(std::ptr::null_mut(), Value::as_raw)
    }
}

/// Has `function(meta, url, global)` called when a module first uses `import.meta`; the last function given counts. Returns whether
/// it will be, which this Node may not allow: then `import.meta` is empty.
#[napi(catch_unwind)]
pub fn on_import_meta(function: Unknown) -> Result<bool> {
    Ok(selfprof_v8::on_import_meta(value(function)?))
}

/// What is compiled, and for which realm, which is still open.
fn to_source(
    context_object: Unknown,
    source: Unknown,
    url: Unknown,
    options: &ScriptOptions,
) -> Result<(RealmId, Source)> {
    let realm = RealmId(options.realm);
    realms::check_open(realm)?;
    let source = Source {
        anchor: value(context_object)?,
        text: value(source)?,
        url: value(url)?,
        referrer: options.referrer.map(value).transpose()?,
        line_offset: options.line.unwrap_or(0),
        column_offset: options.column.unwrap_or(0),
        realm: options.realm,
        muted: options.muted.unwrap_or(false),
    };
    Ok((realm, source))
}

fn value(unknown: Unknown) -> Result<Value> {
    // SAFETY: it is an argument of the native function that is running, and no value leaves that.
    let value = unsafe { Value::from_raw(unknown.raw()) };
    value.ok_or_else(|| Error::new(Status::InvalidArg, "an argument is missing"))
}

/// V8's own exception is pending already, and is thrown when the native function returns.
fn thrown(error: ScriptError) -> Result<sys::napi_value> {
    if error == ScriptError::Thrown { Ok(std::ptr::null_mut()) } else { Err(failure(error)) }
}

fn failure(error: ScriptError) -> Error {
    Error::new(Status::InvalidArg, error.to_string())
}
