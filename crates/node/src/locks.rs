//! Locks that stay usable after a panic elsewhere.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`. What the addon keeps behind its locks is whole after every single step, so a thread that panicked
/// while it held one has left nothing half-done.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
