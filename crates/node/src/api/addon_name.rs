//! The name of native addons' functions in profiles.
//!
//! All functions that addons make with Node-API have the same entry point, so V8 knows one name for all of them: when
//! it begins to log functions, that of the one that it finds last in the heap, which is usually the one that was made
//! last. A name of one addon would then stand for the functions of another. `crates/v8/src/profile.rs` recognises other
//! names in eager mode.

use std::ptr;

use napi::{Env, Result, check_status, sys};
use selfprof_v8::NATIVE_ADDON;

/// Usually makes V8 use this name, if it begins to log functions before another function is made. Takes microseconds.
pub fn claim(env: &Env) -> Result<()> {
    let mut function = ptr::null_mut();
    let name = NATIVE_ADDON.as_ptr().cast();
    let length = NATIVE_ADDON.len() as isize;
    // SAFETY: the environment is this thread's; the name is copied, and `does_nothing` is static.
    check_status!(unsafe {
        sys::napi_create_function(env.raw(), name, length, Some(does_nothing), ptr::null_mut(), &mut function)
    })
}

/// Never called: nothing has the function.
unsafe extern "C" fn does_nothing(_: sys::napi_env, _: sys::napi_callback_info) -> sys::napi_value {
    ptr::null_mut()
}
