//! The realm check.

use selfprof_trace::Marker;

use super::{Reach, RealmId, Realms};
use crate::{Admission, AdmitScripts, FrameAdmission, Function};

/// Admits the scripts of one realm: the realm check and the check for muted scripts of
/// [get a frame ID](https://wicg.github.io/js-self-profiling/#get-a-frame-id).
///
/// It goes by the ids of scripts, never by their URLs, since two realms may run the same script. Everything that is not
/// registered for the realm stays hidden: code made by `eval` and `new Function`, the program that opened the page, and
/// anything else that the process runs. Host code (built-in functions, and scripts with certain URLs) is shown with
/// only a name, where a visible script called it.
///
/// ```
/// # use selfprof_session::{Admission, AdmitRealm, AdmitScripts, FrameAdmission, Function, FunctionKind, Reach, Realms};
/// let mut realms = Realms::new();
/// let page = realms.open(None);
/// let frame = realms.open(None);
/// realms.register(page, 7, false).unwrap();
/// realms.register(frame, 8, false).unwrap();
///
/// let host = AdmitScripts::except(["node:"]);
/// let admission = AdmitRealm { realms: &realms, realm: page, reach: Reach::Realm, isolated: true, host: &host };
/// let function = |script_id| Function { name: 0, resource: 0, script_id, line: 1, column: 1, kind: FunctionKind::Script };
/// assert_eq!(admission.admit(&function(7), "https://example.com/app.js"), Admission::Show);
/// assert_eq!(admission.admit(&function(8), "https://example.com/app.js"), Admission::Foreign);
/// assert_eq!(admission.admit(&function(3), "node:fs"), Admission::Host);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct AdmitRealm<'a> {
    /// The realms and their scripts.
    pub realms: &'a Realms,
    /// The session's realm.
    pub realm: RealmId,
    /// What the session can see.
    pub reach: Reach,
    /// Whether the realm is [cross-origin isolated](https://html.spec.whatwg.org/#concept-settings-object-cross-origin-isolated-capability).
    pub isolated: bool,
    /// Recognises host code.
    pub host: &'a AdmitScripts,
}

impl FrameAdmission for AdmitRealm<'_> {
    fn admit(&self, function: &Function, resource: &str) -> Admission {
        match self.realms.script(function.script_id) {
            // A page may give its script a URL like the host's: a registered script is never host code.
            Some(script) => {
                let same_origin = self.realms.have_same_origin(script.realm, self.realm);
                let reached = script.realm == self.realm || (same_origin && self.reach == Reach::SameOrigin);
                match (same_origin, script.work) {
                    (true, Some(marker)) => Admission::Work(marker),
                    (true, None) if reached && !script.muted => Admission::Show,
                    (true, None) => Admission::Hide,
                    (false, _) => Admission::Foreign,
                }
            }
            None => match self.host.admit(function, resource) {
                admission @ (Admission::Host | Admission::Omit) => admission,
                _ => Admission::Foreign,
            },
        }
    }

    /// The event loop belongs to the host. Which realm's task it runs is known only when a script is on the stack.
    fn outermost(&self) -> Admission {
        Admission::Foreign
    }

    /// Markers that reveal what a thread does, and so what others may do on it, are only for isolated realms. See
    /// "Markers" in the [explainer](https://github.com/WICG/js-self-profiling/blob/main/markers.md).
    fn marker(&self, marker: Marker) -> Option<Marker> {
        let is_of_the_document = matches!(marker, Marker::Style | Marker::Layout);
        (self.isolated || is_of_the_document).then_some(marker)
    }

    fn realm(&self) -> Option<RealmId> {
        Some(self.realm)
    }
}
