//! JavaScript values, as they cross the border.

use std::ffi::c_void;
use std::ptr::NonNull;

/// A JavaScript value as a `napi_value`: a handle in the scope of the native function that JavaScript has called. It is
/// valid until that function returns, and only on its thread.
#[derive(Clone, Copy, Debug)]
pub struct Value(NonNull<c_void>);

impl Value {
    /// # Safety
    /// `value` is a `napi_value` of the native function that is running, and the result is not used after it.
    #[must_use]
    pub unsafe fn from_raw<T>(value: *mut T) -> Option<Self> {
        NonNull::new(value.cast()).map(Self)
    }

    /// A handle that the shim has returned.
    pub(crate) fn from_pointer(pointer: NonNull<c_void>) -> Self {
        Self(pointer)
    }

    /// The `napi_value`.
    #[must_use]
    pub fn as_raw<T>(self) -> *mut T {
        self.0.as_ptr().cast()
    }
}
