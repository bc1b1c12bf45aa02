//! Objects that a timeline knows, but does not keep alive.

use std::collections::HashMap;
use std::ptr;

use napi::{Result, check_status, sys};

/// Weak references by number. JS thread only; whoever owns this has it [forget all](Kept::forget_all) in the
/// environment before it is dropped.
#[derive(Default)]
pub struct Kept {
    references: HashMap<u64, sys::napi_ref>,
    /// At how many references those of collected objects are to be looked for.
    sweep_at: usize,
}

const FIRST_SWEEP: usize = 64;

impl Kept {
    /// Keeps a weak reference to an object.
    pub fn keep(&mut self, env: sys::napi_env, number: u64, object: sys::napi_value) -> Result<()> {
        if self.references.len() >= self.sweep_at.max(FIRST_SWEEP) {
            self.sweep(env);
        }
        let mut reference = ptr::null_mut();
        // SAFETY: the environment is this thread's, `object` is an object of it, and the reference is written before
        // the call returns.
        check_status!(unsafe { sys::napi_create_reference(env, object, 0, &mut reference) })?;
        if let Some(old) = self.references.insert(number, reference) {
            delete(env, old);
        }
        Ok(())
    }

    /// The object of this number, if it is alive.
    pub fn get(&self, env: sys::napi_env, number: u64) -> Option<sys::napi_value> {
        value(env, *self.references.get(&number)?)
    }

    /// Deletes the references to objects that were collected. Done each time that the number of references has doubled,
    /// so that a reference is looked at twice or so in its life.
    fn sweep(&mut self, env: sys::napi_env) {
        let mut scope = ptr::null_mut();
        // SAFETY: the environment is this thread's. The handles of the loop die with the scope.
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
        self.sweep_at = 2 * self.references.len();
        self.references.shrink_to(self.sweep_at);
    }

    /// Deletes all references.
    pub fn forget_all(&mut self, env: sys::napi_env) {
        for (_, reference) in std::mem::take(self).references {
            delete(env, reference);
        }
    }
}

fn value(env: sys::napi_env, reference: sys::napi_ref) -> Option<sys::napi_value> {
    let mut value = ptr::null_mut();
    // SAFETY: the reference was made in this environment and is not deleted: who deletes one forgets it.
    let status = unsafe { sys::napi_get_reference_value(env, reference, &mut value) };
    (status == sys::Status::napi_ok && !value.is_null()).then_some(value)
}

fn delete(env: sys::napi_env, reference: sys::napi_ref) {
    // SAFETY: as in `value`. What could fail is an environment that is gone, with all of its references.
    unsafe { sys::napi_delete_reference(env, reference) };
}
