//! Profiles of all threads.

use napi::bindgen_prelude::PromiseRaw;
use napi::{Env, Error, JsValue, Result, Status};
use napi_derive::napi;

use super::sessions::OpenOptions;
use crate::agent::thread_requests;
use crate::output::explainer::{self, ExplainerOptions};
use crate::output::finished;
use crate::output::trace_output::{OutputFormat, TraceOutput};
use crate::threads::registry::ProfileId;

/// A profile of all threads.
#[napi(object)]
pub struct ThreadsProfiling {
    /// Its id, for the functions below.
    pub id: u32,
    /// The sample interval that each thread got, in milliseconds.
    pub sample_interval: f64,
}

/// Starts a profile of all threads that have an agent, this one included.
///
/// Throws an error whose `code` is `TypeError` or `RangeError` when the options fail a check.
#[napi(catch_unwind)]
pub fn profile_threads(options: OpenOptions) -> std::result::Result<ThreadsProfiling, Error<String>> {
    let (id, interval) = thread_requests::start_profile(options.convert()?)
        .map_err(|error| Error::new("TypeError".to_owned(), error.to_string()))?;
    Ok(ThreadsProfiling { id: id.0, sample_interval: interval.as_millis_f64() })
}

/// The promise is fulfilled when all threads have joined, or [`give_up_on_threads`] was called.
#[napi(catch_unwind)]
pub fn threads_started(env: &Env, profile: u32) -> Result<PromiseRaw<'_, ()>> {
    let (deferred, promise) = env.create_deferred::<(), _>()?;
    thread_requests::when_started(ProfileId(profile), move || deferred.resolve(|_| Ok(())));
    Ok(PromiseRaw::new(env.raw(), promise.raw()))
}

/// What one thread recorded.
#[napi(object, object_from_js = false)]
pub struct ThreadTrace {
    /// `threadId` of `node:worker_threads`.
    pub thread_id: u32,
    /// The thread's name.
    pub name: String,
    /// Its trace, absent when it did not respond in time.
    pub output: Option<TraceOutput>,
}

/// Stops a profile. The promise gives what the threads recorded, in this format, when all have responded, or
/// [`give_up_on_threads`] was called.
#[napi(catch_unwind)]
pub fn stop_threads(env: &Env, profile: u32, format: String) -> Result<PromiseRaw<'_, Vec<ThreadTrace>>> {
    let format = OutputFormat::named(&format);
    let (deferred, promise) = env.create_deferred::<Vec<ThreadTrace>, _>()?;
    thread_requests::stop_profile(ProfileId(profile), move |traces| {
        let convert = |finished::ThreadTrace { thread, finished }| ThreadTrace {
            thread_id: thread.id,
            name: thread.name,
            output: finished.and_then(|finished| TraceOutput::of(finished, None, format)),
        };
        let traces: Vec<_> = traces.into_iter().map(convert).collect();
        deferred.resolve(move |_| Ok(traces));
    });
    Ok(PromiseRaw::new(env.raw(), promise.raw()))
}

/// As [`stop_threads`], but the promise gives all traces as one text in the explainer's format.
#[napi(catch_unwind)]
pub fn explain_threads(env: &Env, profile: u32, options: ExplainerOptions) -> Result<PromiseRaw<'_, String>> {
    let (deferred, promise) = env.create_deferred::<String, _>()?;
    thread_requests::stop_profile(ProfileId(profile), move |traces| {
        match explainer::write(traces, &options) {
            Some(text) => deferred.resolve(move |_| Ok(text)),
            None => {
                deferred.reject(Error::new(Status::GenericFailure, "the profile could not be written"));
            }
        }
    });
    Ok(PromiseRaw::new(env.raw(), promise.raw()))
}

/// No longer waits for threads that have not responded.
#[napi(catch_unwind)]
pub fn give_up_on_threads(profile: u32) {
    thread_requests::give_up_waiting(ProfileId(profile));
}

/// Stops a profile and discards what was recorded.
#[napi(catch_unwind)]
pub fn cancel_threads(profile: u32) {
    thread_requests::cancel_profile(ProfileId(profile));
}
