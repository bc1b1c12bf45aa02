//! Scripts and modules of pages, which are registered with their realm when they are compiled.

use napi::bindgen_prelude::{ClassInstance, ToNapiValue};
use napi::{Error, Result, Status, Unknown, sys};
use napi_derive::napi;
use selfprof_session::{RealmError, RealmId};
use selfprof_v8::Value;
use selfprof_v8::pages::{self, Module, Script, ScriptError, Source};

use super::realms;
use crate::api::arguments::{to_marker, to_value};

/// How a script is compiled for a realm.
#[napi(object, object_to_js = false)]
pub struct ScriptOptions<'env> {
    /// The realm that it belongs to.
    pub realm: u32,
    /// Whether it is muted: it came from another origin without CORS, so that no trace may show its functions.
    pub muted: Option<bool>,
    /// A marker, for a script of the host whose functions do work of this kind for the realm.
    pub work: Option<String>,
    /// The line of the URL's resource where the source begins, counted from 0.
    pub line: Option<i32>,
    /// The column in that line.
    pub column: Option<i32>,
    /// A function of a script that was compiled by `vm.Script` with `importModuleDynamically`, which also answers
    /// `import()` in this script. Each script needs a function of its own. Without one, `import()` rejects.
    pub referrer: Option<Unknown<'env>>,
}

/// Compiles a classic script in the context of `contextObject`, runs it, and returns its completion value. Throws what
/// the script throws.
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
        Err(error) => return throw(error),
    };
    // Must be done before its first function runs.
    match &options.work {
        Some(marker) => realms::register_work(realm, script.id(), to_marker(marker)?),
        None => realms::register(realm, script.id(), source.muted),
    }
    .map_err(realm_error)?;
    Ok(script.run().map_or(std::ptr::null_mut(), Value::as_raw))
}

/// A module of a page.
#[napi]
pub struct ScriptModule {
    module: Module,
}

/// Compiles a module in the context of `contextObject`. Throws a `SyntaxError` when its source text has one.
#[napi(catch_unwind)]
pub fn compile_module(
    env: &napi::Env,
    context_object: Unknown,
    source: Unknown,
    url: Unknown,
    options: ScriptOptions,
) -> Result<sys::napi_value> {
    let (realm, source) = to_source(context_object, source, url, &options)?;
    let (module, holder) = match Module::compile(&source) {
        Ok(compiled) => compiled,
        Err(error) => return throw(error),
    };
    realms::register(realm, module.id(), source.muted).map_err(realm_error)?;
    // SAFETY: the environment is that of the native function that is running.
    let wrapper = unsafe { ToNapiValue::to_napi_value(env.raw(), ScriptModule { module }) }?;
    // SAFETY: it was made in the native function that is running, and is not used after it.
    let attached = unsafe { Value::from_raw(wrapper) }.map(|value| Module::attach(value, holder));
    match attached {
        Some(Ok(())) => Ok(wrapper),
        _ => throw(ScriptError::Thrown),
    }
}

#[napi]
impl ScriptModule {
    /// What it imports: one array per import, with the specifier and then the keys and values of its import attributes.
    #[napi(getter, catch_unwind)]
    pub fn requests(&self) -> sys::napi_value {
        self.module.requests().map_or(std::ptr::null_mut(), Value::as_raw)
    }

    /// Sets the modules that the [`requests`](Self::requests) resolve to, in the same order.
    #[napi(catch_unwind)]
    pub fn link(&mut self, modules: Vec<ClassInstance<ScriptModule>>) -> Result<()> {
        self.module.link(modules.iter().map(|instance| &instance.module)).map_err(script_error)
    }

    /// Instantiates it and everything that it imports. Throws when an import is missing.
    #[napi(catch_unwind)]
    pub fn instantiate(&self) -> Result<sys::napi_value> {
        match self.module.instantiate() {
            Ok(()) => Ok(std::ptr::null_mut()),
            Err(error) => throw(error),
        }
    }

    /// Evaluates it. The promise is settled when the evaluation is complete. Each call returns the same promise.
    #[napi(catch_unwind)]
    pub fn evaluate(&self) -> Result<sys::napi_value> {
        match self.module.evaluate() {
            Ok(promise) => Ok(promise.as_raw()),
            Err(error) => throw(error),
        }
    }

    /// Its namespace object; absent before it was instantiated.
    #[napi(getter, catch_unwind)]
    pub fn namespace(&self) -> sys::napi_value {
        self.module.namespace().map_or(std::ptr::null_mut(), Value::as_raw)
    }
}

/// Calls `function(meta, url, global)` when a module first uses `import.meta`; a later call replaces the function.
/// Returns false when this Node does not support it: `import.meta` is then empty.
#[napi(catch_unwind)]
pub fn on_import_meta(function: Unknown) -> Result<bool> {
    Ok(pages::on_import_meta(to_value(function)?))
}

/// What to compile, and the realm that it is for, which is open.
fn to_source(
    context_object: Unknown,
    source: Unknown,
    url: Unknown,
    options: &ScriptOptions,
) -> Result<(RealmId, Source)> {
    let realm = RealmId(options.realm);
    realms::check_open(realm).map_err(realm_error)?;
    let source = Source {
        anchor: to_value(context_object)?,
        text: to_value(source)?,
        url: to_value(url)?,
        referrer: options.referrer.map(to_value).transpose()?,
        line_offset: options.line.unwrap_or(0),
        column_offset: options.column.unwrap_or(0),
        realm: options.realm,
        muted: options.muted.unwrap_or(false),
    };
    Ok((realm, source))
}

/// An exception of V8's is pending already, and is thrown when the native function returns.
fn throw(error: ScriptError) -> Result<sys::napi_value> {
    if error == ScriptError::Thrown { Ok(std::ptr::null_mut()) } else { Err(script_error(error)) }
}

fn script_error(error: ScriptError) -> Error {
    Error::new(Status::InvalidArg, error.to_string())
}

fn realm_error(error: RealmError) -> Error {
    Error::new(Status::InvalidArg, error.to_string())
}
