//! What runs before a thread is out of memory.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use crate::{Environment, ffi};

/// Calls a function when the heap of an isolate nears its limit. Belongs to the isolate's thread, must be dropped
/// before the isolate ends, and each isolate can have one.
///
/// V8 calls only the callback that was added last, and the others not at all. So this must not be made where the
/// program, or Node, may have added one before.
pub struct HeapLimitWatch {
    isolate: NonNull<ffi::Isolate>,
}

impl HeapLimitWatch {
    /// Calls `hook` on this thread whenever V8 has to end the process unless its limit is raised. It is not raised.
    ///
    /// The hook must not run JavaScript. It may run within any function that allocates on V8's heap, so it must not
    /// wait for a lock that this thread may hold then.
    #[must_use]
    pub fn new(environment: &Environment, hook: fn()) -> Self {
        let isolate = environment.isolate();
        // SAFETY: the isolate is this thread's, and `near_limit` converts the pointer back to a function, which has no
        // owner.
        unsafe { ffi::selfprof_heap_limit_watch(isolate.as_ptr(), near_limit, hook as *mut c_void) };
        Self { isolate }
    }
}

impl Drop for HeapLimitWatch {
    fn drop(&mut self) {
        // SAFETY: the isolate is this thread's and alive, and `new` added the callback.
        unsafe { ffi::selfprof_heap_limit_forget(self.isolate.as_ptr(), near_limit) };
    }
}

extern "C" fn near_limit(data: *mut c_void, limit: usize, _initial: usize) -> usize {
    // SAFETY: `HeapLimitWatch::new` passes a `fn()` as data.
    let hook = unsafe { std::mem::transmute::<*mut c_void, fn()>(data) };
    // A panic must not unwind into V8's frames; the panic hook has reported it already.
    let _ = catch_unwind(AssertUnwindSafe(hook));
    limit
}
