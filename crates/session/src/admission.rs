//! Which functions and markers a trace may show.

use selfprof_trace::Marker;

use crate::{Function, FunctionKind, RealmId};

/// What happens to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The frame is shown with its script and position.
    Show,
    /// The frame is host code. It is shown with only a name, as built-in functions are, and host code that it calls is
    /// folded into it: only the call that the author made remains. Where the host itself began, its outermost function
    /// with a name remains.
    Host,
    /// The frame belongs to the profiler. It is left out, with the host code that it calls: a profile shows the
    /// program, not the profiler. The first sample, which is taken within the constructor, has the stack of the
    /// constructor's caller.
    Omit,
    /// The frame is left out, with the host code that it calls. The author's functions that it calls become callees of
    /// its caller.
    Hide,
    /// As [`Hide`](Self::Hide), and the frame belongs to another agent. A sample with nothing else on its stack reads
    /// as idle, so that it reveals nothing about the other agent.
    Foreign,
    /// The frame is left out. The host does work of this kind in it for the session's agent: samples there have this
    /// marker, until a script of a page is called.
    Work(Marker),
}

/// Which frame stands for host code that no function of the author has called, such as the host's part of a timer or a
/// promise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostRoot {
    /// The outermost function with a name, whoever calls what in it: what the API's traces show.
    #[default]
    Outermost,
    /// The function that is running, as long as the author's code does not run: the functions around it only led there.
    /// A function of the author that it calls has no caller.
    Innermost,
}

/// The rule of [get a frame ID](https://wicg.github.io/js-self-profiling/#get-a-frame-id) that decides whether a
/// session sees a function, by its realm, its script's origin and its script's kind.
pub trait FrameAdmission: std::fmt::Debug + Send + Sync {
    /// Decides about one function, whose script has the URL `resource`. Called once per function and segment.
    fn admit(&self, function: &Function, resource: &str) -> Admission;

    /// What counts as the caller of a stack's outermost call, and as active when there is no stack. By default, the
    /// author.
    fn outermost(&self) -> Admission {
        Admission::Show
    }

    /// Which frame stands for host code that no function of the author has called.
    fn host_root(&self) -> HostRoot {
        HostRoot::Outermost
    }

    /// Whether functions that `eval` or `new Function` made are shown with what stands for their script, an
    /// [`evaluated_resource`](selfprof_trace::evaluated_resource). By default, they have only a name.
    fn shows_evaluated_scripts(&self) -> bool {
        false
    }

    /// What happens to a marker. By default, it is shown.
    fn marker(&self, marker: Marker) -> Option<Marker> {
        Some(marker)
    }

    /// The realm whose sessions it is for; `None` for sessions of a thread.
    fn realm(&self) -> Option<RealmId> {
        None
    }
}

/// Admits every script, except that those with certain URLs are host code.
///
/// In Node, that is the platform's own JavaScript (`node:` URLs) and the profiler's: to its caller, `readFileSync` is a
/// built-in, just as `appendChild` is in a page. Built-in functions are always host code. A function that `eval` or
/// `new Function` made has no script URL, so its frame has only a name, too, but is not folded; see
/// [`Self::with_evaluated_scripts`].
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
    host_root: HostRoot,
    shows_evaluated_scripts: bool,
}

impl AdmitScripts {
    /// Scripts whose URL or path begins with one of `prefixes` are host code.
    pub fn except<'a>(prefixes: impl IntoIterator<Item = &'a str>) -> Self {
        Self { host: prefixes.into_iter().map(Box::from).collect(), ..Self::default() }
    }

    /// Scripts with this prefix are no host code after all.
    #[must_use]
    pub fn showing(mut self, prefix: &str) -> Self {
        self.host.retain(|host| **host != *prefix);
        self
    }

    /// In the functions of the script with this URL or path, the host does work of this kind: see [`Admission::Work`].
    #[must_use]
    pub fn with_work(mut self, resource: &str, marker: Marker) -> Self {
        self.work.push((resource.into(), marker));
        self
    }

    /// Which frame stands for host code that no function of the author has called.
    #[must_use]
    pub fn with_host_root(self, host_root: HostRoot) -> Self {
        Self { host_root, ..self }
    }

    /// Functions that `eval` or `new Function` made are shown with what stands for their script.
    #[must_use]
    pub fn with_evaluated_scripts(self) -> Self {
        Self { shows_evaluated_scripts: true, ..self }
    }

    /// Scripts whose URL or path begins with one of `prefixes` belong to the profiler: see [`Admission::Omit`].
    #[must_use]
    pub fn without<'a>(mut self, prefixes: impl IntoIterator<Item = &'a str>) -> Self {
        self.sampler = prefixes.into_iter().map(Box::from).collect();
        self
    }
}

impl FrameAdmission for AdmitScripts {
    fn shows_evaluated_scripts(&self) -> bool {
        self.shows_evaluated_scripts
    }

    fn host_root(&self) -> HostRoot {
        self.host_root
    }

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
