//! Pages: a realm each, and what its sessions see.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use napi::{Error, Result, Status};
use napi_derive::napi;
use selfprof_session::{
    Admission, AdmitRealm, AdmitScripts, FrameAdmission, Function, Instant, Reach, RealmError, RealmId,
    Realms,
};
use selfprof_trace::{Marker, Micros};

use crate::agent::{self, View};
use crate::face::failure;
use crate::locks::lock;

/// The resolution of a page's clock, cross-origin isolated or not:
/// [coarsen time](https://w3c.github.io/hr-time/#dfn-coarsen-time).
const ISOLATED_RESOLUTION: Micros = Micros(5);
const SHARED_RESOLUTION: Micros = Micros(100);

thread_local! {
    /// The realms of this thread, which opens and closes them and registers their scripts; the building thread looks
    /// scripts up, one at a time, so that neither waits for long. Lives as long as the thread and its sessions.
    static REALMS: Arc<Mutex<Realms>> = Arc::default();
    /// What open realms are like. This thread's alone.
    static SETTINGS: RefCell<HashMap<RealmId, Settings>> = RefCell::default();
}

#[derive(Clone)]
struct Settings {
    host: Arc<AdmitScripts>,
    origin: Instant,
    isolated: bool,
}

/// What a realm is opened with.
#[napi(object, object_to_js = false)]
pub struct RealmOptions {
    /// Realms with the same text here can reach each other, as a page's frames of one origin can; absent for one that is
    /// alone.
    pub origin_group: Option<String>,
    /// The prefixes of the URLs of scripts that are host code.
    pub host_scripts: Vec<String>,
    /// Those of scripts that are the profiler's own, which are left out.
    pub sampler_scripts: Option<Vec<String>>,
    /// The realm's time origin on the clock of `now`, in milliseconds.
    pub time_origin: f64,
    /// Whether it is cross-origin isolated, which gives it a finer clock and all markers.
    pub cross_origin_isolated: bool,
}

/// Opens a realm on the calling thread. Returns its number, which this thread never gives again.
#[napi(catch_unwind)]
pub fn open_realm(options: RealmOptions) -> u32 {
    let realm = REALMS.with(|realms| lock(realms).open(options.origin_group.as_deref()));
    let settings = Settings {
        host: Arc::new(
            AdmitScripts::except(options.host_scripts.iter().map(String::as_str))
                .without(options.sampler_scripts.iter().flatten().map(String::as_str)),
        ),
        origin: Instant(Micros::from_millis_f64(options.time_origin).unwrap_or_default().0),
        isolated: options.cross_origin_isolated,
    };
    SETTINGS.with_borrow_mut(|all| all.insert(realm, settings));
    realm.0
}

/// Closes a realm: it gets no more scripts and sessions. Its sessions go on and keep their frames; when they have ended,
/// its scripts are forgotten.
#[napi(catch_unwind)]
pub fn close_realm(realm: u32) {
    SETTINGS.with_borrow_mut(|all| all.remove(&RealmId(realm)));
    REALMS.with(|realms| lock(realms).close(RealmId(realm)));
}

/// How many realms and scripts this thread keeps in mind.
#[napi(object, object_from_js = false)]
pub struct RealmCounts {
    /// Realms that are open, or that a session can still see.
    pub realms: u32,
    /// Their scripts.
    pub scripts: u32,
}

/// How many realms and scripts this thread keeps in mind.
#[napi(catch_unwind)]
pub fn count_realms() -> RealmCounts {
    REALMS.with(|realms| {
        let realms = lock(realms);
        RealmCounts { realms: realms.len() as u32, scripts: realms.script_count() as u32 }
    })
}

/// Takes a sample now for each started session of a realm, or, without one, of the thread itself. No other session gets
/// it. Returns how many took it.
#[napi(catch_unwind)]
pub fn force_sample(realm: Option<u32>) -> Result<u32> {
    agent::force_sample(realm.map(RealmId)).map(|takers| takers as u32).map_err(failure)
}

/// Pauses the sessions of a realm, as when its page is hidden, or resumes them.
#[napi(catch_unwind)]
pub fn pause_realm(realm: u32, paused: bool) -> Result<()> {
    agent::set_paused(RealmId(realm), paused).map_err(failure)
}

/// What a new session of an open realm sees.
pub fn view(realm: RealmId, reach: Reach) -> std::result::Result<View, RealmError> {
    let settings = SETTINGS.with_borrow(|all| all.get(&realm).cloned()).ok_or(RealmError::Closed(realm))?;
    let Settings { host, origin, isolated } = settings;
    let realms = REALMS.with(Arc::clone);
    lock(&realms).join(realm, reach)?;
    let resolution = if isolated { ISOLATED_RESOLUTION } else { SHARED_RESOLUTION };
    let admission = Arc::new(RealmAdmission { realms, realm, reach, isolated, host });
    Ok(View { admission, origin, resolution })
}

/// Whether a realm takes scripts.
pub fn check_open(realm: RealmId) -> Result<()> {
    let is_open = REALMS.with(|realms| lock(realms).is_open(realm));
    if is_open { Ok(()) } else { Err(refusal(RealmError::Closed(realm))) }
}

/// Takes a script for one of a realm's.
pub fn register(realm: RealmId, script_id: i32, muted: bool) -> Result<()> {
    REALMS.with(|realms| lock(realms).register(realm, script_id, muted)).map_err(refusal)
}

/// Takes a script for one of the host's that does work for a realm.
pub fn register_work(realm: RealmId, script_id: i32, marker: Marker) -> Result<()> {
    REALMS.with(|realms| lock(realms).register_work(realm, script_id, marker)).map_err(refusal)
}

fn refusal(error: RealmError) -> Error {
    Error::new(Status::InvalidArg, error.to_string())
}

/// [`AdmitRealm`] for a session that lives on: it counts as one of its realm's until whoever builds its trace is done.
#[derive(Debug)]
struct RealmAdmission {
    realms: Arc<Mutex<Realms>>,
    realm: RealmId,
    reach: Reach,
    isolated: bool,
    host: Arc<AdmitScripts>,
}

impl RealmAdmission {
    /// Holds the lock for one question.
    fn ask<T>(&self, question: impl FnOnce(&AdmitRealm) -> T) -> T {
        let &Self { ref realms, realm, reach, isolated, ref host } = self;
        question(&AdmitRealm { realms: &lock(realms), realm, reach, isolated, host })
    }
}

impl FrameAdmission for RealmAdmission {
    fn admit(&self, function: &Function, resource: &str) -> Admission {
        self.ask(|admission| admission.admit(function, resource))
    }

    fn outermost(&self) -> Admission {
        self.ask(|admission| admission.outermost())
    }

    fn marker(&self, marker: Marker) -> Option<Marker> {
        self.ask(|admission| admission.marker(marker))
    }

    fn realm(&self) -> Option<RealmId> {
        Some(self.realm)
    }
}

impl Drop for RealmAdmission {
    fn drop(&mut self) {
        lock(&self.realms).leave(self.realm, self.reach);
    }
}
