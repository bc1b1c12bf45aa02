//! The realms of pages on this thread, and what the sessions of a realm may show.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use selfprof_session::{
    Admission, AdmitRealm, AdmitScripts, FrameAdmission, Function, Instant, Reach, RealmError, RealmId,
    Realms,
};
use selfprof_trace::{Marker, Micros};
use selfprof_v8::pages::ScriptMuting;

use crate::session_request::SessionView;

/// The resolution of a page's clock, cross-origin isolated or not:
/// [coarsen time](https://w3c.github.io/hr-time/#dfn-coarsen-time).
const ISOLATED_RESOLUTION: Micros = Micros(5);
const SHARED_RESOLUTION: Micros = Micros(100);

thread_local! {
    /// The realms of this thread. The thread opens and closes them and registers their scripts; the building thread
    /// looks up one script at a time, so that neither waits for long. Lives as long as the thread and its sessions.
    static REALMS: Arc<Mutex<Realms>> = Arc::default();
    /// The settings of open realms. Only this thread touches them.
    static SETTINGS: RefCell<HashMap<RealmId, Settings>> = RefCell::default();
}

#[derive(Clone)]
struct Settings {
    host: Arc<AdmitScripts>,
    origin: Instant,
    isolated: bool,
}

/// Opens a realm on this thread. Returns its number, which this thread never reuses. Realms with the same
/// `origin_group` can reach one another, as the frames of one origin in a page can.
pub fn open(origin_group: Option<&str>, host: AdmitScripts, origin: Instant, isolated: bool) -> RealmId {
    let realm = REALMS.with(|realms| realms.lock().open(origin_group));
    SETTINGS.with_borrow_mut(|all| all.insert(realm, Settings { host: Arc::new(host), origin, isolated }));
    realm
}

/// Closes a realm: it gets no more scripts and sessions. Its sessions go on and keep their frames; when they have
/// ended, its scripts are forgotten.
pub fn close(realm: RealmId) {
    SETTINGS.with_borrow_mut(|all| all.remove(&realm));
    REALMS.with(|realms| realms.lock().close(realm));
}

/// How many realms of this thread are open or can still be seen by a session, and how many scripts they have.
pub fn counts() -> (usize, usize) {
    REALMS.with(|realms| {
        let realms = realms.lock();
        (realms.len(), realms.script_count())
    })
}

/// What a new session of an open realm may show.
pub fn view(realm: RealmId, reach: Reach) -> Result<SessionView, RealmError> {
    let settings = SETTINGS.with_borrow(|all| all.get(&realm).cloned()).ok_or(RealmError::Closed(realm))?;
    let Settings { host, origin, isolated } = settings;
    let realms = REALMS.with(Arc::clone);
    realms.lock().join(realm, reach)?;
    let resolution = if isolated { ISOLATED_RESOLUTION } else { SHARED_RESOLUTION };
    let admission = Arc::new(RealmAdmission { realms, realm, reach, isolated, host });
    Ok(SessionView { admission, origin, resolution })
}

/// Fails unless the realm is open, and so accepts scripts.
pub fn check_open(realm: RealmId) -> Result<(), RealmError> {
    let is_open = REALMS.with(|realms| realms.lock().is_open(realm));
    if is_open { Ok(()) } else { Err(RealmError::Closed(realm)) }
}

/// Registers a script of a realm.
pub fn register(realm: RealmId, script_id: i32, muted: bool) -> Result<(), RealmError> {
    REALMS.with(|realms| realms.lock().register(realm, script_id, muted))
}

/// Registers a script of the host that does work for a realm.
pub fn register_work(realm: RealmId, script_id: i32, marker: Marker) -> Result<(), RealmError> {
    REALMS.with(|realms| realms.lock().register_work(realm, script_id, marker))
}

/// The realm of a page's script.
pub fn of_script(script_id: i32) -> Option<RealmId> {
    REALMS.with(|realms| realms.lock().realm_of(script_id))
}

/// The scripts of this thread's realms.
#[derive(Debug)]
pub enum Scripts {}

impl ScriptMuting for Scripts {
    fn is_muted(script_id: i32) -> Option<bool> {
        // The thread may be ending.
        REALMS.try_with(|realms| realms.lock().is_muted(script_id)).unwrap_or(None)
    }
}

/// [`AdmitRealm`] for a session, which counts as one of its realm's until its trace is built.
#[derive(Debug)]
struct RealmAdmission {
    realms: Arc<Mutex<Realms>>,
    realm: RealmId,
    reach: Reach,
    isolated: bool,
    host: Arc<AdmitScripts>,
}

impl RealmAdmission {
    /// Holds the lock for one query.
    fn with<T>(&self, query: impl FnOnce(&AdmitRealm) -> T) -> T {
        let &Self { ref realms, realm, reach, isolated, ref host } = self;
        query(&AdmitRealm { realms: &realms.lock(), realm, reach, isolated, host })
    }
}

impl FrameAdmission for RealmAdmission {
    fn admit(&self, function: &Function, resource: &str) -> Admission {
        self.with(|admission| admission.admit(function, resource))
    }

    fn outermost(&self) -> Admission {
        self.with(|admission| admission.outermost())
    }

    fn marker(&self, marker: Marker) -> Option<Marker> {
        self.with(|admission| admission.marker(marker))
    }

    fn realm(&self) -> Option<RealmId> {
        Some(self.realm)
    }
}

impl Drop for RealmAdmission {
    fn drop(&mut self) {
        self.realms.lock().leave(self.realm, self.reach);
    }
}
