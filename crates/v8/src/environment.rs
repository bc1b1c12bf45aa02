//! The Node environment around an isolate: when it ends, and how to get its thread's attention.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use crate::ffi;

/// The Node environment of the current thread. Belongs to that thread; lives until its clean-up hooks have run.
pub struct Environment {
    isolate: NonNull<ffi::Isolate>,
    environment: NonNull<ffi::Environment>,
}

impl Environment {
    /// The environment of the JavaScript that is running on this thread, `None` outside of any.
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
        // SAFETY: the isolate lives on this thread; `run_hook` accepts what `data` was made from. Node keeps no more than
        // the pointer, and a plain function needs no owner.
        unsafe { ffi::selfprof_at_cleanup(self.isolate.as_ptr(), run_hook, hook as *mut c_void) };
    }

    /// Runs `hook` on this thread when it seems to end: at `process.exit`, after an uncaught error, and also when the
    /// program sends itself a signal that Node takes for the end. Of the main thread, `process.exit` runs no clean-up
    /// hook. It may run more than once, and JavaScript may run after it.
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
/// The environment may end at any time, so the pointer to it is kept behind a lock, and [`revoke`](Self::revoke) takes
/// it away before the environment is freed.
#[derive(Clone)]
pub struct Interrupter {
    environment: Arc<Mutex<Option<Shared>>>,
}

struct Shared(NonNull<ffi::Environment>);

// SAFETY: the pointer is only handed to node::RequestInterrupt, which any thread may call while the environment lives;
// the lock around it and `Interrupter::revoke` see to that.
unsafe impl Send for Shared {}

impl Interrupter {
    /// Has `callback` run soon on the environment's thread: between two JavaScript instructions, or from its event
    /// loop when that is idle. It may not run JavaScript. Does nothing once revoked.
    pub fn interrupt(&self, callback: fn()) {
        let environment = self.environment.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Shared(environment)) = &*environment {
            // SAFETY: not revoked, so the environment lives, and it cannot be revoked while the lock is held.
            // `run_hook` accepts what the pointer was made from.
            unsafe {
                ffi::selfprof_request_interrupt(environment.as_ptr(), run_hook, callback as *mut c_void);
            }
        }
    }

    /// Forgets the environment. To be called on its thread, before it ends.
    pub fn revoke(&self) {
        *self.environment.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

extern "C" fn run_hook(data: *mut c_void) {
    // SAFETY: every caller of the shim in this module passes a `fn()` as data.
    let hook = unsafe { std::mem::transmute::<*mut c_void, fn()>(data) };
    // A panic must not unwind into Node's frames; the panic hook has reported it already.
    let _ = catch_unwind(AssertUnwindSafe(hook));
}
