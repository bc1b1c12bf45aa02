//! Which realm a script belongs to.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use selfprof_trace::Marker;

/// Names a realm of an agent. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RealmId(pub u32);

/// What a session of a realm can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Its own realm, as the specification says.
    Realm,
    /// All realms of its origin group: the explainer's
    /// [includeSameOriginFrames](https://github.com/WICG/js-self-profiling#future-improvements).
    SameOrigin,
}

/// The realms of one agent and their scripts. A session of a realm sees only scripts that are registered here.
///
/// A realm is closed when its page is closed, and forgotten when no session can see it any more, so that memory stays
/// bounded in a program that opens pages for days.
#[derive(Debug, Default)]
pub struct Realms {
    realms: HashMap<RealmId, Realm>,
    scripts: HashMap<i32, Script>,
    /// How many sessions can see all realms of a group.
    wide_sessions: HashMap<Arc<str>, u32>,
    opened: u32,
}

#[derive(Debug, Default)]
struct Realm {
    origin_group: Option<Arc<str>>,
    scripts: Vec<i32>,
    /// How many sessions it has.
    sessions: u32,
    closed: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Script {
    pub(super) realm: RealmId,
    pub(super) muted: bool,
    /// The work that the host does in its functions, for a script of the host.
    pub(super) work: Option<Marker>,
}

impl Realms {
    /// Without realms.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens a realm. Realms with the same `origin_group` have the same origin and can reach one another.
    pub fn open(&mut self, origin_group: Option<&str>) -> RealmId {
        self.opened += 1;
        let id = RealmId(self.opened);
        let origin_group = origin_group.map(Arc::from);
        self.realms.insert(id, Realm { origin_group, ..Realm::default() });
        id
    }

    /// Registers a script of a realm. The engine gives equal scripts of one realm the same id; if one of them is muted,
    /// all are.
    ///
    /// # Errors
    /// [`RealmError::Closed`]; [`RealmError::BelongsTo`] when the script is registered for another realm.
    pub fn register(&mut self, realm: RealmId, script_id: i32, muted: bool) -> Result<(), RealmError> {
        self.add(realm, script_id, muted, None)
    }

    /// Registers a script of the host whose functions do this work for the realm: see
    /// [`Admission::Work`](crate::Admission::Work).
    ///
    /// # Errors
    /// As [`register`](Self::register).
    pub fn register_work(
        &mut self,
        realm: RealmId,
        script_id: i32,
        marker: Marker,
    ) -> Result<(), RealmError> {
        self.add(realm, script_id, true, Some(marker))
    }

    fn add(
        &mut self,
        realm: RealmId,
        script_id: i32,
        muted: bool,
        work: Option<Marker>,
    ) -> Result<(), RealmError> {
        let owner = open_realm(&mut self.realms, realm)?;
        match self.scripts.get_mut(&script_id) {
            Some(script) if script.realm != realm => Err(RealmError::BelongsTo(script.realm)),
            Some(script) => {
                script.muted |= muted;
                script.work = script.work.filter(|_| work.is_some());
                Ok(())
            }
            None => {
                owner.scripts.push(script_id);
                self.scripts.insert(script_id, Script { realm, muted, work });
                Ok(())
            }
        }
    }

    /// Closes a realm: it gets no more scripts and sessions. Its sessions continue, and their recordings keep its
    /// names. Does nothing when it was closed before.
    pub fn close(&mut self, realm: RealmId) {
        if let Ok(closing) = open_realm(&mut self.realms, realm) {
            closing.closed = true;
            self.forget_unreachable(&[realm]);
        }
    }

    /// Whether a realm is open.
    #[must_use]
    pub fn is_open(&self, realm: RealmId) -> bool {
        self.realms.get(&realm).is_some_and(|realm| !realm.closed)
    }

    /// A session of the realm begins. [`leave`](Self::leave) must be called when its trace is complete.
    ///
    /// # Errors
    /// [`RealmError::Closed`].
    pub fn join(&mut self, realm: RealmId, reach: Reach) -> Result<(), RealmError> {
        let joined = open_realm(&mut self.realms, realm)?;
        joined.sessions += 1;
        if let (Reach::SameOrigin, Some(group)) = (reach, &joined.origin_group) {
            *self.wide_sessions.entry(Arc::clone(group)).or_default() += 1;
        }
        Ok(())
    }

    /// A session that [joined](Self::join) has ended, and its trace is complete.
    pub fn leave(&mut self, realm: RealmId, reach: Reach) {
        let Some(left) = self.realms.get_mut(&realm) else { return };
        left.sessions = left.sessions.saturating_sub(1);
        let mut unreached = vec![realm];
        if let (Reach::SameOrigin, Some(group)) = (reach, left.origin_group.clone())
            && let Some(sessions) = self.wide_sessions.get_mut(&group)
        {
            *sessions = sessions.saturating_sub(1);
            if *sessions == 0 {
                self.wide_sessions.remove(&group);
                let of_group = |realm: &Realm| realm.origin_group.as_ref() == Some(&group);
                unreached.extend(self.realms.iter().filter(|(_, realm)| of_group(realm)).map(|(&id, _)| id));
            }
        }
        self.forget_unreachable(&unreached);
    }

    /// How many realms are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.realms.len()
    }

    /// Whether no realm is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.realms.is_empty()
    }

    /// How many scripts are known.
    #[must_use]
    pub fn script_count(&self) -> usize {
        self.scripts.len()
    }

    /// The realm of a page's script; none for scripts of the host and for code made by `eval`.
    #[must_use]
    pub fn realm_of(&self, script_id: i32) -> Option<RealmId> {
        self.script(script_id).filter(|script| script.work.is_none()).map(|script| script.realm)
    }

    /// Whether the errors of a page's script are muted; none for scripts of the host and for code made by `eval`.
    #[must_use]
    pub fn is_muted(&self, script_id: i32) -> Option<bool> {
        self.script(script_id).filter(|script| script.work.is_none()).map(|script| script.muted)
    }

    pub(super) fn script(&self, script_id: i32) -> Option<Script> {
        self.scripts.get(&script_id).copied()
    }

    /// Whether two realms are the same or in the same origin group.
    pub(super) fn have_same_origin(&self, one: RealmId, other: RealmId) -> bool {
        let group = |id| self.realms.get(&id).and_then(|realm: &Realm| realm.origin_group.as_ref());
        one == other || group(one).is_some_and(|group_of_one| group(other) == Some(group_of_one))
    }

    /// Forgets the `candidates` that are closed and that no session can see.
    fn forget_unreachable(&mut self, candidates: &[RealmId]) {
        for id in candidates {
            let unreachable = self.realms.get(id).is_some_and(|realm| {
                let group = realm.origin_group.as_ref();
                realm.closed
                    && realm.sessions == 0
                    && !group.is_some_and(|group| self.wide_sessions.contains_key(group))
            });
            if unreachable && let Some(realm) = self.realms.remove(id) {
                for id in realm.scripts {
                    self.scripts.remove(&id);
                }
            }
        }
    }
}

fn open_realm(realms: &mut HashMap<RealmId, Realm>, id: RealmId) -> Result<&mut Realm, RealmError> {
    realms.get_mut(&id).filter(|realm| !realm.closed).ok_or(RealmError::Closed(id))
}

/// Why a script or a session was not added to a realm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RealmError {
    /// The realm was closed, or never existed.
    Closed(RealmId),
    /// The script is registered for this realm.
    BelongsTo(RealmId),
}

impl fmt::Display for RealmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed(RealmId(id)) => write!(f, "realm {id} is not open"),
            Self::BelongsTo(RealmId(id)) => write!(f, "the script belongs to realm {id}"),
        }
    }
}

impl std::error::Error for RealmError {}
