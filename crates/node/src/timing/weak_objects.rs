//! Objects that a timeline refers to without keeping them alive.
//!
//! The two functions use Node-API directly: methods of a napi-rs class take three times as long, which would be
//! noticeable in each mark.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::rc::Rc;

use napi::bindgen_prelude::Object;
use napi::{Env, JsValue, Result, check_status, sys};
use rustc_hash::FxHashMap;

/// Weak references by number. Touched by its JS thread alone. Dropped while its environment lives, because all its
/// owners are values of that environment.
pub struct WeakObjects {
    env: sys::napi_env,
    references: FxHashMap<u64, sys::napi_ref>,
    /// At how many references those to collected objects are deleted.
    sweep_at: usize,
}

const FIRST_SWEEP: usize = 64;

impl WeakObjects {
    /// Without references.
    pub fn new(env: &Env) -> Self {
        Self { env: env.raw(), references: FxHashMap::default(), sweep_at: FIRST_SWEEP }
    }

    /// Makes `number` refer to an object. Does nothing for other values.
    fn set(&mut self, number: u64, object: sys::napi_value) {
        if self.references.len() >= self.sweep_at {
            self.sweep();
        }
        let mut reference = ptr::null_mut();
        // SAFETY: the environment is this thread's, and the reference is written before the call returns.
        let status = unsafe { sys::napi_create_reference(self.env, object, 0, &mut reference) };
        if status == sys::Status::napi_ok
            && let Some(old) = self.references.insert(number, reference)
        {
            delete(self.env, old);
        }
    }

    /// The object that this number refers to, if it is alive.
    fn get(&self, number: u64) -> Option<sys::napi_value> {
        value(self.env, *self.references.get(&number)?)
    }

    /// Deletes the references to collected objects. Called whenever the number of references has doubled, so that each
    /// reference is checked about twice in its life.
    fn sweep(&mut self) {
        let env = self.env;
        let mut scope = ptr::null_mut();
        // SAFETY: the environment is this thread's. The handles that the loop makes end with the scope.
        if unsafe { sys::napi_open_handle_scope(env, &mut scope) } != sys::Status::napi_ok {
            return;
        }
        self.references.retain(|_, &mut reference| {
            let is_alive = value(env, reference).is_some();
            if !is_alive {
                delete(env, reference);
            }
            is_alive
        });
        // SAFETY: opened above, and no other scope is open within it.
        unsafe { sys::napi_close_handle_scope(env, scope) };
        self.sweep_at = (2 * self.references.len()).max(FIRST_SWEEP);
        self.references.shrink_to(self.sweep_at);
    }

    /// Deletes all references.
    pub fn clear(&mut self) {
        for (_, reference) in std::mem::take(&mut self.references) {
            delete(self.env, reference);
        }
        self.sweep_at = FIRST_SWEEP;
    }
}

impl Drop for WeakObjects {
    fn drop(&mut self) {
        self.clear();
    }
}

fn value(env: sys::napi_env, reference: sys::napi_ref) -> Option<sys::napi_value> {
    let mut value = ptr::null_mut();
    // SAFETY: the reference was made in this environment, and a deleted reference is removed from the map.
    let status = unsafe { sys::napi_get_reference_value(env, reference, &mut value) };
    (status == sys::Status::napi_ok && !value.is_null()).then_some(value)
}

fn delete(env: sys::napi_env, reference: sys::napi_ref) {
    // SAFETY: as in `value`.
    unsafe { sys::napi_delete_reference(env, reference) };
}

/// Defines `setWeak(number, object)` and `getWeak(number) -> object | undefined` on an object.
pub fn define(env: &Env, object: &mut Object, references: &Rc<RefCell<WeakObjects>>) -> Result<()> {
    let functions: [(&CStr, sys::napi_callback); 2] =
        [(c"setWeak", Some(set_weak)), (c"getWeak", Some(get_weak))];
    for (name, callback) in functions {
        let data = Rc::into_raw(Rc::clone(references)).cast_mut().cast::<c_void>();
        let mut function = ptr::null_mut();
        // SAFETY: the environment is this thread's, and the name is as long as it is said to be. The function owns a
        // reference to what `data` points to, which the finalizer releases.
        unsafe {
            check_status!(sys::napi_create_function(
                env.raw(),
                name.as_ptr().cast::<c_char>(),
                name.count_bytes() as isize,
                callback,
                data,
                &mut function,
            ))?;
            check_status!(sys::napi_add_finalizer(
                env.raw(),
                function,
                data,
                Some(release),
                ptr::null_mut(),
                ptr::null_mut(),
            ))?;
            check_status!(sys::napi_set_named_property(env.raw(), object.raw(), name.as_ptr(), function))?;
        }
    }
    Ok(())
}

unsafe extern "C" fn release(_: sys::napi_env, data: *mut c_void, _: *mut c_void) {
    // SAFETY: `define` gave one reference to each function, and a function is finalized once.
    let references = unsafe { Rc::from_raw(data.cast_const().cast::<RefCell<WeakObjects>>()) };
    let _ = catch_unwind(AssertUnwindSafe(|| drop(references)));
}

unsafe extern "C" fn set_weak(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    call(env, info, |references, [number, object]| {
        references.try_borrow_mut().ok()?.set(to_number(env, number)?, object);
        None
    })
}

unsafe extern "C" fn get_weak(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    call(env, info, |references, [number]| references.try_borrow().ok()?.get(to_number(env, number)?))
}

/// Runs one of the functions. `None` stands for `undefined`.
fn call<const ARGUMENTS: usize>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    function: impl FnOnce(&RefCell<WeakObjects>, [sys::napi_value; ARGUMENTS]) -> Option<sys::napi_value>,
) -> sys::napi_value {
    let mut arguments = [ptr::null_mut(); ARGUMENTS];
    let mut count = ARGUMENTS;
    let mut data = ptr::null_mut();
    // SAFETY: Node-API writes `count` arguments, undefined for those that are missing.
    let status = unsafe {
        sys::napi_get_cb_info(env, info, &mut count, arguments.as_mut_ptr(), ptr::null_mut(), &mut data)
    };
    if status != sys::Status::napi_ok {
        return ptr::null_mut();
    }
    // SAFETY: `define` made the function with this data, and the function that is being called owns a reference to it.
    let references = unsafe { &*data.cast_const().cast::<RefCell<WeakObjects>>() };
    let run = AssertUnwindSafe(|| function(references, arguments));
    catch_unwind(run).ok().flatten().unwrap_or(ptr::null_mut())
}

fn to_number(env: sys::napi_env, value: sys::napi_value) -> Option<u64> {
    let mut number = 0.0;
    // SAFETY: both belong to the current call.
    let status = unsafe { sys::napi_get_value_double(env, value, &mut number) };
    // The cast saturates.
    (status == sys::Status::napi_ok).then_some(number as u64)
}
