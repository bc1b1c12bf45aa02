//! Functions that are called so often that a call through Node-API would cost more than the function itself.
//!
//! Node-API opens a scope, catches exceptions and copies arguments for each call, about 25 ns in all. V8's optimised
//! code calls these functions directly, with numbers in registers.

use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr::NonNull;

use crate::ffi;

/// The methods of a timeline's object. Each gets the timeline that the object was made with.
///
/// They run within optimised JavaScript: they must not use V8 or Node-API, and must not unwind.
#[repr(C)]
pub struct TimelineFunctions {
    /// `now()`
    pub now: extern "C" fn(*mut c_void) -> f64,
    /// `mark(name)`
    pub mark: extern "C" fn(*mut c_void, u32) -> f64,
    /// `markAt(name, start)`
    pub mark_at: extern "C" fn(*mut c_void, u32, f64) -> f64,
    /// `measureAt(name, start, duration)`
    pub measure_at: extern "C" fn(*mut c_void, u32, f64, f64) -> f64,
    /// `clear(type, name)`
    pub clear: extern "C" fn(*mut c_void, u32, u32) -> f64,
    /// `uses(name)`
    pub uses: extern "C" fn(*mut c_void, u32) -> f64,
    /// `resolve(startKind, start, endKind, end, duration)`
    pub resolve: extern "C" fn(*mut c_void, u32, f64, u32, f64, f64) -> f64,
}
// The shim has the same struct, and asserts the same.
const _: () = assert!(
    size_of::<TimelineFunctions>() == 7 * size_of::<fn()>()
        && offset_of!(TimelineFunctions, measure_at) == 3 * size_of::<fn()>()
        && offset_of!(TimelineFunctions, resolve) == 6 * size_of::<fn()>()
);

/// Makes an object with these methods for a timeline. The methods check that `this` is such an object, and return
/// `undefined` unless all arguments are numbers.
///
/// The result is a handle in the current scope, which is also what a `napi_value` is: Node's `js_native_api_v8.h`
/// converts between them by a cast. `None` outside an isolate, or when an exception is pending.
///
/// # Safety
/// `timeline` points to a `&'static TimelineFunctions`, followed by whatever those functions expect, and lives until
/// the object is gone.
#[must_use]
pub unsafe fn timeline_object(timeline: *mut c_void) -> Option<NonNull<c_void>> {
    let isolate = NonNull::new(ffi::selfprof_isolate())?;
    // SAFETY: the isolate is entered on this thread; the caller guarantees the rest.
    NonNull::new(unsafe { ffi::selfprof_timeline_object(isolate.as_ptr(), timeline) })
}
