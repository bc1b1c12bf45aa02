//! The JavaScript objects that are notified about open sessions: `{ onFull(session), onChunk(session) }`.
//!
//! Each loaded copy of the package and each realm of a page has one. A listener is referenced only while one of its
//! sessions is open, so that a copy or a realm that is no longer used can be collected.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ptr;

use napi::bindgen_prelude::{FnArgs, FunctionCallContext, Object};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi::{Env, JsValue, Result, check_status, sys};
use selfprof_session::SessionId;

use crate::session_request::{OnSessionEvent, SessionEvent};

thread_local! {
    /// The listeners of this thread's open sessions. Entries that are left when the thread ends need no clean-up:
    /// Node-API frees all references of an environment with it.
    static LISTENERS: RefCell<HashMap<SessionId, Reference>> = RefCell::default();
}

/// A strong reference to a JavaScript object of this thread.
struct Reference(sys::napi_ref);

/// The function that finds the listener of a session and calls it from the event loop.
///
/// One thread-safe function serves all listeners. A thread-safe function for each of them would never release it.
pub fn dispatcher(env: &Env) -> Result<OnSessionEvent> {
    let dispatch = env.create_function_from_closure("dispatch", |call: FunctionCallContext| {
        let (event, session) = call.args::<(u32, u32)>()?;
        let session = SessionId(session);
        match event {
            event if event == SessionEvent::Full as u32 => notify(call.env, session, c"onFull"),
            event if event == SessionEvent::Chunk as u32 => notify(call.env, session, c"onChunk"),
            _ => release(call.env, session),
        }
    })?;
    let dispatch = dispatch
        .build_threadsafe_function::<FnArgs<(u32, u32)>>()
        // A profiler must not keep a program alive that has nothing else to do.
        .weak::<true>()
        .callee_handled::<false>()
        .build()?;
    Ok(Box::new(move |event, SessionId(session)| {
        dispatch.call((event as u32, session).into(), ThreadsafeFunctionCallMode::NonBlocking);
    }))
}

/// Notifies this listener about a session, and keeps it alive until the session has ended and all events were
/// delivered.
pub fn listen(env: &Env, session: SessionId, listener: &Object) -> Result<()> {
    let mut reference = ptr::null_mut();
    // SAFETY: the environment is this thread's, and the reference is written before the call returns.
    check_status!(unsafe { sys::napi_create_reference(env.raw(), listener.raw(), 1, &mut reference) })?;
    LISTENERS.with_borrow_mut(|listeners| listeners.insert(session, Reference(reference)));
    Ok(())
}

fn notify(env: &Env, session: SessionId, method: &std::ffi::CStr) -> Result<()> {
    let Some(reference) = LISTENERS.with_borrow(|listeners| listeners.get(&session).map(|found| found.0))
    else {
        return Ok(());
    };
    let env = env.raw();
    let (mut listener, mut function, mut argument) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: the environment is this thread's, and the reference lives until `release`. All values are of this call.
    unsafe {
        check_status!(sys::napi_get_reference_value(env, reference, &mut listener))?;
        check_status!(sys::napi_get_named_property(env, listener, method.as_ptr(), &mut function))?;
        check_status!(sys::napi_create_uint32(env, session.0, &mut argument))?;
        // What it throws stays pending, and becomes an uncaught exception of the program.
        sys::napi_call_function(env, listener, function, 1, &argument, ptr::null_mut());
    }
    Ok(())
}

fn release(env: &Env, session: SessionId) -> Result<()> {
    let Some(Reference(reference)) = LISTENERS.with_borrow_mut(|listeners| listeners.remove(&session)) else {
        return Ok(());
    };
    // SAFETY: the environment is this thread's, and the reference was made in it and is forgotten now.
    check_status!(unsafe { sys::napi_delete_reference(env.raw(), reference) })
}
