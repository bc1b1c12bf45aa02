//! Scripts and modules of pages, compiled in contexts of `node:vm`, whose ids are known before they run.

use std::fmt;
use std::ptr::NonNull;

use crate::ffi;
use crate::ffi::numbers::Status;
use crate::value::Value;

/// What to compile, in which context, and for which realm.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Any object that was made in the context, such as the context's own `Function`. The object that was passed to
    /// `vm.createContext` was made elsewhere.
    pub anchor: Value,
    /// The source text, a string.
    pub text: Value,
    /// The script's URL, a string.
    pub url: Value,
    /// A function whose script's `import()` this script shares; without one, `import()` rejects. It must not be used
    /// for two realms.
    pub referrer: Option<Value>,
    /// The line of the URL's resource where the text begins, counted from 0.
    pub line_offset: i32,
    /// The column in that line.
    pub column_offset: i32,
    /// The realm that it belongs to. Equal scripts of different realms get different ids.
    pub realm: u32,
    /// Whether it is [muted](https://html.spec.whatwg.org/#concept-script-muted-errors).
    pub muted: bool,
}

impl Source {
    fn for_shim(&self) -> ffi::Source {
        ffi::Source {
            anchor: self.anchor.as_raw(),
            text: self.text.as_raw(),
            url: self.url.as_raw(),
            referrer: self.referrer.map_or(std::ptr::null_mut(), Value::as_raw),
            line_offset: self.line_offset,
            column_offset: self.column_offset,
            realm: self.realm,
            muted: self.muted,
        }
    }
}

/// Why something was not compiled or run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptError {
    /// V8 threw, and the exception is pending: the native function must return at once.
    Thrown,
    /// The anchor is not an object, or its context is gone.
    NoContext,
    /// The anchor belongs to the caller's own context, in which no page's script may run.
    OwnContext,
    /// Source text, URL or referrer have the wrong type.
    NoSource,
    /// The module is not in the right state, or the number of linked modules differs from the number of imports.
    OutOfOrder,
}

impl ScriptError {
    fn check(status: ffi::Status) -> Result<(), Self> {
        match status {
            Status::Ok => Ok(()),
            Status::Thrown => Err(Self::Thrown),
            Status::NoContext => Err(Self::NoContext),
            Status::OwnContext => Err(Self::OwnContext),
            Status::NoSource => Err(Self::NoSource),
            _ => Err(Self::OutOfOrder),
        }
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Thrown => "the script threw",
            Self::NoContext => "the anchor is not an object of a context",
            Self::OwnContext => "the anchor belongs to the caller's own context, not to a context of node:vm",
            Self::NoSource => "source text and URL must be strings, and the referrer a function",
            Self::OutOfOrder => {
                "the module's imports are not linked, it was not instantiated, or it is being evaluated"
            }
        })
    }
}

impl std::error::Error for ScriptError {}

/// A classic script that was compiled. Valid until the native function returns, as its source's values are.
#[derive(Debug)]
pub struct Script {
    id: i32,
    anchor: Value,
    script: Value,
}

impl Script {
    /// Compiles `source`.
    ///
    /// # Errors
    /// [`ScriptError`]; a syntax error is thrown.
    pub fn compile(source: &Source) -> Result<Self, ScriptError> {
        let (mut script, mut id) = (std::ptr::null_mut(), 0);
        // SAFETY: the source's values are alive, see `Value::from_raw`, so this is inside an isolate; the results are
        // written when the status is good.
        let status = unsafe {
            ffi::selfprof_script_compile(ffi::selfprof_isolate(), &source.for_shim(), &mut script, &mut id)
        };
        ScriptError::check(status)?;
        let script = NonNull::new(script).map(Value::from_pointer).ok_or(ScriptError::Thrown)?;
        Ok(Self { id, anchor: source.anchor, script })
    }

    /// V8's id, which the frames of its functions have.
    #[must_use]
    pub fn id(&self) -> i32 {
        self.id
    }

    /// Runs it and returns its completion value, `None` when it threw. JavaScript runs, which may call any native
    /// function.
    #[must_use]
    pub fn run(self) -> Option<Value> {
        // SAFETY: the values are alive, see `Value::from_raw`; the result is in the same handle scope.
        let value = unsafe {
            ffi::selfprof_script_run(ffi::selfprof_isolate(), self.anchor.as_raw(), self.script.as_raw())
        };
        NonNull::new(value).map(Value::from_pointer)
    }
}

/// A module that was compiled. Belongs to its JS thread, and must be dropped before its isolate ends.
///
/// It does not keep V8's module alive: an object of JavaScript's does, to which the module is [attached](Self::attach).
/// That object must be alive whenever the module is used.
#[derive(Debug)]
pub struct Module {
    id: i32,
    module: NonNull<ffi::Module>,
}

/// What keeps V8's module alive, an internal object. Valid until the native function returns.
#[derive(Clone, Copy, Debug)]
pub struct ModuleHolder(Value);

impl Module {
    /// Compiles `source`. The holder must be [attached](Self::attach) before the native function returns.
    ///
    /// # Errors
    /// [`ScriptError`]; a syntax error is thrown.
    pub fn compile(source: &Source) -> Result<(Self, ModuleHolder), ScriptError> {
        let (mut module, mut holder, mut id) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
        // SAFETY: as in `Script::compile`.
        let status = unsafe {
            ffi::selfprof_module_compile(
                ffi::selfprof_isolate(),
                &source.for_shim(),
                &mut module,
                &mut holder,
                &mut id,
            )
        };
        ScriptError::check(status)?;
        let module = NonNull::new(module).ok_or(ScriptError::Thrown)?;
        let holder = NonNull::new(holder).map(Value::from_pointer).ok_or(ScriptError::Thrown)?;
        Ok((Self { id, module }, ModuleHolder(holder)))
    }

    /// Keeps V8's module alive as long as `wrapper`, an object.
    ///
    /// # Errors
    /// [`ScriptError::Thrown`].
    pub fn attach(wrapper: Value, holder: ModuleHolder) -> Result<(), ScriptError> {
        // SAFETY: the values are alive, see `Value::from_raw`.
        let attached = unsafe {
            ffi::selfprof_module_attach(ffi::selfprof_isolate(), wrapper.as_raw(), holder.0.as_raw())
        };
        if attached { Ok(()) } else { Err(ScriptError::Thrown) }
    }

    /// V8's id of its script.
    #[must_use]
    pub fn id(&self) -> i32 {
        self.id
    }

    /// An array with one array per import: the specifier, and then the keys and values of its attributes.
    #[must_use]
    pub fn requests(&self) -> Option<Value> {
        // SAFETY: the module is this thread's and its isolate alive.
        let requests =
            unsafe { ffi::selfprof_module_requests(ffi::selfprof_isolate(), self.module.as_ptr()) };
        NonNull::new(requests).map(Value::from_pointer)
    }

    /// Sets the modules that the [`requests`](Self::requests) resolve to.
    ///
    /// # Errors
    /// [`ScriptError::OutOfOrder`].
    pub fn link<'a>(&mut self, imported: impl IntoIterator<Item = &'a Self>) -> Result<(), ScriptError> {
        let imported: Vec<_> = imported.into_iter().map(|module| module.module.as_ptr()).collect();
        // SAFETY: all modules are alive and of this thread; V8's own are kept beyond that.
        let status = unsafe {
            let count = imported.len() as u32;
            ffi::selfprof_module_link(ffi::selfprof_isolate(), self.module.as_ptr(), imported.as_ptr(), count)
        };
        ScriptError::check(status)
    }

    /// Instantiates it and everything that it imports, which must be linked.
    ///
    /// # Errors
    /// [`ScriptError`]; V8 throws when an import is missing.
    pub fn instantiate(&self) -> Result<(), ScriptError> {
        // SAFETY: as in `requests`.
        ScriptError::check(unsafe {
            ffi::selfprof_module_instantiate(ffi::selfprof_isolate(), self.module.as_ptr())
        })
    }

    /// Evaluates it and returns the promise of that. JavaScript runs, which may call any native function.
    ///
    /// # Errors
    /// [`ScriptError::OutOfOrder`] when it was not instantiated; [`ScriptError::Thrown`] when the thread is ending.
    pub fn evaluate(&self) -> Result<Value, ScriptError> {
        let mut promise = std::ptr::null_mut();
        // SAFETY: as in `requests`; the result is written when the status is good.
        let status = unsafe {
            ffi::selfprof_module_evaluate(ffi::selfprof_isolate(), self.module.as_ptr(), &mut promise)
        };
        ScriptError::check(status)?;
        NonNull::new(promise).map(Value::from_pointer).ok_or(ScriptError::Thrown)
    }

    /// Its namespace object, `None` before it was instantiated.
    #[must_use]
    pub fn namespace(&self) -> Option<Value> {
        // SAFETY: as in `requests`.
        let namespace =
            unsafe { ffi::selfprof_module_namespace(ffi::selfprof_isolate(), self.module.as_ptr()) };
        NonNull::new(namespace).map(Value::from_pointer)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: the module is this thread's, its isolate alive, and nothing else deletes it.
        unsafe { ffi::selfprof_module_delete(self.module.as_ptr()) };
    }
}

/// Calls `function(meta, url, global)` when a [`Module`] of this thread first uses `import.meta`; a later call replaces
/// the function. Returns false when this Node does not support it.
pub fn on_import_meta(function: Value) -> bool {
    // SAFETY: the value is alive, see `Value::from_raw`.
    unsafe { ffi::selfprof_on_import_meta(ffi::selfprof_isolate(), function.as_raw()) }
}
