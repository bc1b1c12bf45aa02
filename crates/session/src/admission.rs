//! Which functions and markers a trace may show.

use selfprof_trace::Marker;

use crate::{Function, FunctionKind, RealmId};

/// What becomes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The frame is shown with its script and position.
    Show,
    /// The frame is host code: it is shown as a name alone, as built-in functions are, and host code that it calls
    /// in turn is folded into it. Only the outermost call remains, the one that the author made; where the host
    /// itself began, its outermost function that has a name.
    Host,
    /// The frame is the profiler's own, and is left out with the host code that it calls: a profile shows the program and
    /// not who takes it. The first sample, which is taken within the constructor, has the stack of its caller.
    Omit,
    /// The frame is left out, and so is host code that it calls; the author's callees hang on its caller.
    Hide,
    /// As [`Hide`](Self::Hide), and the frame is another agent's: what it does is not the work of the session's own. A
    /// sample with nothing else on its stack reads as idle, so that it tells nothing of the other.
    Foreign,
    /// The frame is left out, and says what the host does inside of it for the session's own agent: what is sampled there
    /// has this marker, until a page's script is called.
    Work(Marker),
}

/// The rule of [get a frame ID](https://wicg.github.io/js-self-profiling/#get-a-frame-id) that decides whether a
/// session sees a function: its realm, its script's origin, its script's kind.
pub trait FrameAdmission: std::fmt::Debug + Send + Sync {
    /// Judges one function, whose script has the URL `resource`. Called once per function and segment.
    fn admit(&self, function: &Function, resource: &str) -> Admission;

    /// Who counts as the caller of a stack's outermost call, and as the one at work when there is no stack: by default,
    /// the author.
    fn outermost(&self) -> Admission {
        Admission::Show
    }

    /// What becomes of a marker: by default, it is shown.
    fn marker(&self, marker: Marker) -> Option<Marker> {
        Some(marker)
    }

    /// The realm whose sessions it is for, if it is for a realm's.
    fn realm(&self) -> Option<RealmId> {
        None
    }
}

/// Admits every script, except that those with certain URLs are host code.
///
/// In Node that is the platform's own JavaScript (`node:` URLs) and the profiler's: `readFileSync` is a built-in to its
/// caller, just as `appendChild` is in a page, and what it does inside is not the author's. Built-in functions are host
/// code everywhere. A function that `eval` or `new Function` made has no script to name, so its frame has a name alone
/// too, but is not folded.
///
/// ```
/// # use selfprof_session::{AdmitScripts, Admission, Function, FrameAdmission, FunctionKind};
/// # let function = Function { name: 0, resource: 0, script_id: 1, line: 1, column: 1, kind: FunctionKind::Script };
/// let admission = AdmitScripts::except(["node:"]);
/// assert_eq!(admission.admit(&function, "node:fs"), Admission::Host);
/// assert_eq!(admission.admit(&function, "/app/main.js"), Admission::Show);
/// ```
#[derive(Clone, Debug, Default)]
pub struct AdmitScripts {
    host: Vec<Box<str>>,
    sampler: Vec<Box<str>>,
    work: Vec<(Box<str>, Marker)>,
}

impl AdmitScripts {
    /// Takes scripts whose URL or path begins with one of `prefixes` for host code.
    pub fn except<'a>(prefixes: impl IntoIterator<Item = &'a str>) -> Self {
        Self { host: prefixes.into_iter().map(Box::from).collect(), ..Self::default() }
    }

    /// Takes what the script with this URL or path calls for the host's work of this kind: see [`Admission::Work`].
    #[must_use]
    pub fn with_work(mut self, resource: &str, marker: Marker) -> Self {
        self.work.push((resource.into(), marker));
        self
    }

    /// Leaves out those that are the profiler's own: see [`Admission::Omit`].
    #[must_use]
    pub fn without<'a>(mut self, prefixes: impl IntoIterator<Item = &'a str>) -> Self {
        self.sampler = prefixes.into_iter().map(Box::from).collect();
        self
    }
}

impl FrameAdmission for AdmitScripts {
    fn admit(&self, function: &Function, resource: &str) -> Admission {
        if let Some(&(_, marker)) = self.work.iter().find(|(script, _)| **script == *resource) {
            return Admission::Work(marker);
        }
        match function.kind {
            FunctionKind::BuiltIn => Admission::Host,
            FunctionKind::Script if self.sampler.iter().any(|prefix| resource.starts_with(&**prefix)) => {
                Admission::Omit
            }
            FunctionKind::Script if self.host.iter().any(|prefix| resource.starts_with(&**prefix)) => {
                Admission::Host
            }
            FunctionKind::Script => Admission::Show,
        }
    }
}
