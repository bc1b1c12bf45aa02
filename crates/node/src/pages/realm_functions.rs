//! The realms of pages on the calling thread.

use napi::Result;
use napi_derive::napi;
use selfprof_session::{AdmitScripts, Instant, RealmId};
use selfprof_trace::Micros;

use super::realms;
use crate::agent::current;
use crate::api::arguments::agent_error;

/// The options of a realm.
#[napi(object, object_to_js = false)]
pub struct RealmOptions {
    /// Realms with the same text here can reach one another, as the frames of one origin in a page can; absent for a
    /// realm that is alone.
    pub origin_group: Option<String>,
    /// The URL prefixes of host code.
    pub host_scripts: Vec<String>,
    /// The URL prefixes of the profiler's own scripts, which traces leave out.
    pub sampler_scripts: Option<Vec<String>>,
    /// The realm's time origin on the clock of `now`, in milliseconds.
    pub time_origin: f64,
    /// Whether it is cross-origin isolated, which gives it a finer clock and all markers.
    pub cross_origin_isolated: bool,
}

/// Opens a realm. Returns its number, which this thread never reuses.
#[napi(catch_unwind)]
pub fn open_realm(options: RealmOptions) -> u32 {
    let RealmOptions { origin_group, host_scripts, sampler_scripts, time_origin, cross_origin_isolated } =
        options;
    let host = AdmitScripts::except(host_scripts.iter().map(String::as_str))
        .without(sampler_scripts.iter().flatten().map(String::as_str));
    let origin = Instant(Micros::from_millis_f64(time_origin).unwrap_or_default().0);
    realms::open(origin_group.as_deref(), host, origin, cross_origin_isolated).0
}

/// Closes a realm: it gets no more scripts and sessions. Its sessions go on and keep their frames; when they have
/// ended, its scripts are forgotten.
#[napi(catch_unwind)]
pub fn close_realm(realm: u32) {
    realms::close(RealmId(realm));
}

/// The number of the realm that a page's script belongs to; 0 for scripts of the host and for code made by `eval`.
#[napi(catch_unwind)]
pub fn realm_of_script(script_id: i32) -> u32 {
    realms::of_script(script_id).map_or(0, |realm| realm.0)
}

/// Takes a sample now for each started session of a realm, or, without one, of the thread itself. No other session gets
/// it. Returns how many sessions got it.
#[napi(catch_unwind)]
pub fn force_sample(realm: Option<u32>) -> Result<u32> {
    let samples = current::with(|agent| Ok(agent.force_sample(realm.map(RealmId))));
    samples.map(|count| count as u32).map_err(agent_error)
}

/// Pauses the sessions of a realm, as when its page is hidden, or resumes them.
#[napi(catch_unwind)]
pub fn pause_realm(realm: u32, paused: bool) -> Result<()> {
    current::with(|agent| Ok(agent.set_paused(RealmId(realm), paused)?)).map_err(agent_error)
}
