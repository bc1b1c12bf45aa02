//! The Node environment of a thread: hooks for its end, and interrupts from other threads.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::ffi;

/// The Node environment of the current thread. Belongs to that thread; lives until its clean-up hooks have run.
pub struct Environment {
    isolate: NonNull<ffi::Isolate>,
    environment: NonNull<ffi::Environment>,
}

impl Environment {
    /// The environment of the JavaScript that is running on this thread; `None` outside an environment.
    #[must_use]
    pub fn current() -> Option<Self> {
        let isolate = NonNull::new(ffi::selfprof_isolate())?;
        // SAFETY: the isolate is entered on this thread.
        let environment = NonNull::new(unsafe { ffi::selfprof_environment(isolate.as_ptr()) })?;
        Some(Self { isolate, environment })
    }

    pub(crate) fn isolate(&self) -> NonNull<ffi::Isolate> {
        self.isolate
    }

    /// Runs `hook` on this thread when the environment is torn down: at the end of a worker however it ends, and at a
    /// normal end of the main thread.
    pub fn on_cleanup(&self, hook: fn()) {
        // SAFETY: the isolate lives on this thread, and `run_hook` converts the pointer back to a function, which has
        // no owner.
        unsafe { ffi::selfprof_at_cleanup(self.isolate.as_ptr(), run_hook, hook as *mut c_void) };
    }

    /// Runs `hook` on this thread when it seems to end: at `process.exit`, after an uncaught error, and when the
    /// program sends itself a signal that it does not handle. In the main thread, `process.exit` runs no clean-up
    /// hooks. The hook may run more than once, and JavaScript may run after it.
    pub fn on_exit(&self, hook: fn()) {
        // SAFETY: as above, and the environment is this isolate's.
        unsafe { ffi::selfprof_at_exit(self.environment.as_ptr(), run_hook, hook as *mut c_void) };
    }

    /// A handle by which other threads can interrupt this one.
    #[must_use]
    pub fn interrupter(&self) -> Interrupter {
        Interrupter { environment: Arc::new(Mutex::new(Some(Shared(self.environment)))) }
    }
}

/// Calls a function on an environment's thread, from any thread.
///
/// The environment may end at any time, so the pointer to it is behind a lock, and [`revoke`](Self::revoke) removes it
/// before the environment is freed.
#[derive(Clone)]
pub struct Interrupter {
    environment: Arc<Mutex<Option<Shared>>>,
}

struct Shared(NonNull<ffi::Environment>);

// SAFETY: the pointer is only passed to node::RequestInterrupt, which any thread may call while the environment lives.
// The lock around it and `Interrupter::revoke` ensure that it lives.
unsafe impl Send for Shared {}

impl Interrupter {
    /// Runs `callback` soon on the environment's thread: between two JavaScript instructions, or from its event loop
    /// when that is idle. The callback must not run JavaScript. Does nothing after [`revoke`](Self::revoke).
    pub fn interrupt(&self, callback: fn()) {
        let environment = self.environment.lock();
        if let Some(Shared(environment)) = &*environment {
            // SAFETY: not revoked, so the environment lives, and it cannot be revoked while the lock is held.
            // `run_hook` converts the pointer back to a function.
            unsafe {
                ffi::selfprof_request_interrupt(environment.as_ptr(), run_hook, callback as *mut c_void);
            }
        }
    }

    /// Forgets the environment. Must be called on its thread, before it ends.
    pub fn revoke(&self) {
        *self.environment.lock() = None;
    }
}

extern "C" fn run_hook(data: *mut c_void) {
    // SAFETY: every caller of the shim in this module passes a `fn()` as data.
    let hook = unsafe { std::mem::transmute::<*mut c_void, fn()>(data) };
    // A panic must not unwind into Node's frames; the panic hook has reported it already.
    let _ = catch_unwind(AssertUnwindSafe(hook));
}
