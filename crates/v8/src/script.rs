//! Scripts and modules of pages, compiled in contexts of `node:vm` so that their ids are known before they run.

use std::ffi::c_void;
use std::fmt;
use std::ptr::NonNull;

use crate::ffi;

/// A JavaScript value as Node-API hands it out (`napi_value`): a handle in the scope of the native function that
/// JavaScript has called. It is good until that function returns, and on its thread alone.
#[derive(Clone, Copy, Debug)]
pub struct Value(NonNull<c_void>);

impl Value {
    /// # Safety
    /// `value` is a `napi_value` of the native function that is running, and the result is not used after it.
    #[must_use]
    pub unsafe fn from_raw<T>(value: *mut T) -> Option<Self> {
        NonNull::new(value.cast()).map(Self)
    }

    /// The `napi_value`.
    #[must_use]
    pub fn as_raw<T>(self) -> *mut T {
        self.0.as_ptr().cast()
    }

    /// The id of the script that defined this function; `None` for a value that no script has defined.
    #[must_use]
    pub fn script_id(self) -> Option<i32> {
        // SAFETY: the value is alive, see `from_raw`.
        let id = unsafe { ffi::selfprof_function_script_id(self.as_raw()) };
        (id != 0).then_some(id)
    }
}

/// What is compiled, where, and for whom.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Any object that was made in the context. A sandbox object given to `vm.createContext` was not; the context's own
    /// `Function` was.
    pub anchor: Value,
    /// The source text, a string.
    pub text: Value,
    /// The script's URL, a string.
    pub url: Value,
    /// The function whose script's `import()` this one shares; without one, `import()` rejects. Not to be given to two
    /// realms.
    pub referrer: Option<Value>,
    /// In which line of the URL's resource the text begins, counted from 0.
    pub line_offset: i32,
    /// And in which column of that line.
    pub column_offset: i32,
    /// Whose it is. Equal scripts of different realms get different ids.
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
    /// V8 threw, and the exception is pending: the native function has to return at once.
    Thrown,
    /// The anchor is no object, or its context is gone.
    NoContext,
    /// The anchor belongs to the context of the caller itself, in which no page's script may run.
    OwnContext,
    /// Source text, URL or referrer are of the wrong type.
    NoSource,
    /// The module is not in the right state, or not as many modules were given as it imports.
    OutOfOrder,
}

impl ScriptError {
    fn check(status: i32) -> Result<(), Self> {
        match status {
            0 => Ok(()),
            1 => Err(Self::Thrown),
            2 => Err(Self::NoContext),
            3 => Err(Self::OwnContext),
            4 => Err(Self::NoSource),
            _ => Err(Self::OutOfOrder),
        }
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Thrown => "the script threw",
            Self::NoContext => "the context is given by no object of it",
            Self::OwnContext => "the object is one of the caller's own context, not of a context of node:vm",
            Self::NoSource => "source text and URL must be strings, and a referrer a function",
            Self::OutOfOrder => "the module's imports are not linked one by one, or it was not instantiated",
        })
    }
}

impl std::error::Error for ScriptError {}

/// A classic script that was compiled. Good until the native function returns, as its source's values are.
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
        let script = NonNull::new(script).map(Value).ok_or(ScriptError::Thrown)?;
        Ok(Self { id, anchor: source.anchor, script })
    }

    /// V8's id of it, which the frames of its functions carry.
    #[must_use]
    pub fn id(&self) -> i32 {
        self.id
    }

    /// Runs it and gives its completion value, `None` when it threw. JavaScript runs, which may call anything.
    #[must_use]
    pub fn run(self) -> Option<Value> {
        // SAFETY: the values are alive, see `Value::from_raw`; the result is in the same handle scope.
        let value = unsafe {
            ffi::selfprof_script_run(ffi::selfprof_isolate(), self.anchor.as_raw(), self.script.as_raw())
        };
        NonNull::new(value).map(Value)
    }
}

/// A module that was compiled. Belongs to its JS thread, and must be dropped before its isolate ends.
#[derive(Debug)]
pub struct Module {
    id: i32,
    module: NonNull<ffi::Module>,
}

impl Module {
    /// Compiles `source`.
    ///
    /// # Errors
    /// [`ScriptError`]; a syntax error is thrown.
    pub fn compile(source: &Source) -> Result<Self, ScriptError> {
        let (mut module, mut id) = (std::ptr::null_mut(), 0);
        // SAFETY: as in `Script::compile`.
        let status = unsafe {
            ffi::selfprof_module_compile(ffi::selfprof_isolate(), &source.for_shim(), &mut module, &mut id)
        };
        ScriptError::check(status)?;
        let module = NonNull::new(module).ok_or(ScriptError::Thrown)?;
        Ok(Self { id, module })
    }

    /// V8's id of its script.
    #[must_use]
    pub fn id(&self) -> i32 {
        self.id
    }

    /// An array with an array for each thing that it imports: the specifier, and then the keys and values of its
    /// attributes in turn.
    #[must_use]
    pub fn requests(&self) -> Option<Value> {
        // SAFETY: the module is this thread's and its isolate alive.
        let requests =
            unsafe { ffi::selfprof_module_requests(ffi::selfprof_isolate(), self.module.as_ptr()) };
        NonNull::new(requests).map(Value)
    }

    /// Says which module each of the [`requests`](Self::requests) means.
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

    /// Instantiates it and all that it imports, which must be linked.
    ///
    /// # Errors
    /// [`ScriptError`]; V8 throws when an import is missing.
    pub fn instantiate(&self) -> Result<(), ScriptError> {
        // SAFETY: as in `requests`.
        ScriptError::check(unsafe {
            ffi::selfprof_module_instantiate(ffi::selfprof_isolate(), self.module.as_ptr())
        })
    }

    /// Evaluates it, and gives the promise of that. JavaScript runs, which may call anything.
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
        NonNull::new(promise).map(Value).ok_or(ScriptError::Thrown)
    }

    /// Its namespace object, `None` before it was instantiated.
    #[must_use]
    pub fn namespace(&self) -> Option<Value> {
        // SAFETY: as in `requests`.
        let namespace =
            unsafe { ffi::selfprof_module_namespace(ffi::selfprof_isolate(), self.module.as_ptr()) };
        NonNull::new(namespace).map(Value)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: the module is this thread's, its isolate alive, and nobody else deletes it.
        unsafe { ffi::selfprof_module_delete(self.module.as_ptr()) };
    }
}

/// Has `function(meta, url, global)` called when a [`Module`] of this thread first uses `import.meta`; the last one given counts.
/// Returns whether it will be, which this Node may not allow.
pub fn on_import_meta(function: Value) -> bool {
    // SAFETY: the value is alive, see `Value::from_raw`.
    unsafe { ffi::selfprof_on_import_meta(ffi::selfprof_isolate(), function.as_raw()) }
}
