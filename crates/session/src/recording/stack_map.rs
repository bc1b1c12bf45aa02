//! From an engine's tree of calls to a trace's stacks.

use std::num::NonZeroU32;

use selfprof_trace::{Frame, InternError, Marker, Stack, StackId, Trace, evaluated_resource};

use crate::{Admission, FrameAdmission, HostRoot, RawSegment};

/// Maps the nodes of one segment to the stacks of a trace, each once.
pub(super) struct StackMap<'a> {
    segment: &'a RawSegment,
    admissions: Vec<Admission>,
    outermost: Admission,
    host_root: HostRoot,
    /// Whether scripts that `eval` and `new Function` made have something that stands for them.
    shows_evaluated_scripts: bool,
    /// Whether a script that the host's work calls is part of that work. In pages it is not.
    scripts_do_work: bool,
    resolved: Vec<Option<Resolved>>,
}

/// The result for a node: its stack after admission; the decision about its innermost frame, or about the frame that
/// this was folded into; whether its only frame is host code that the author did not call; whether the session's own
/// agent is active; and the host's work that this is.
#[derive(Clone, Copy)]
pub(super) struct Resolved {
    pub(super) stack: Option<StackId>,
    pub(super) innermost: Admission,
    pub(super) host_alone: bool,
    pub(super) own: bool,
    pub(super) work: Option<Marker>,
}

impl<'a> StackMap<'a> {
    pub(super) fn new(segment: &'a RawSegment, admission: &dyn FrameAdmission) -> Self {
        let admissions = segment
            .functions
            .iter()
            .map(|function| admission.admit(function, &segment.strings[function.resource as usize]))
            .collect();
        let outermost = admission.outermost();
        Self {
            segment,
            admissions,
            outermost,
            host_root: admission.host_root(),
            shows_evaluated_scripts: admission.shows_evaluated_scripts(),
            scripts_do_work: admission.realm().is_none(),
            resolved: vec![None; segment.nodes.len()],
        }
    }

    /// Whether the session's own agent counts as active when the engine reports no stack.
    pub(super) fn own_without_stack(&self) -> bool {
        self.outermost != Admission::Foreign
    }

    /// The result for a sample without a stack.
    pub(super) fn without_stack(&self) -> Resolved {
        let own = self.own_without_stack();
        Resolved { stack: None, innermost: self.outermost, host_alone: false, own, work: None }
    }

    /// The stack of a node's innermost call, `None` when none of its frames may be shown: the steps of
    /// [get a stack ID](https://wicg.github.io/js-self-profiling/#get-a-stack-id).
    pub(super) fn resolve(&mut self, node: u32, trace: &mut Trace) -> Result<Resolved, InternError> {
        // Callers precede their callees, so the walk towards the root ends; then it goes back inwards.
        let mut unresolved = Vec::new();
        let mut cursor = Some(node);
        let mut reached = self.without_stack();
        while let Some(index) = cursor {
            if let Some(resolved) = self.resolved[index as usize] {
                reached = resolved;
                break;
            }
            unresolved.push(index);
            cursor = self.segment.nodes[index as usize].parent;
        }
        for index in unresolved.into_iter().rev() {
            reached = self.step_inwards(reached, self.segment.nodes[index as usize].function, trace)?;
            self.resolved[index as usize] = Some(reached);
        }
        Ok(reached)
    }

    /// The steps of [get a frame ID](https://wicg.github.io/js-self-profiling/#get-a-frame-id), for one call.
    fn step_inwards(
        &self,
        caller: Resolved,
        function: u32,
        trace: &mut Trace,
    ) -> Result<Resolved, InternError> {
        let admission = self.admissions[function as usize];
        let function = self.segment.functions[function as usize];
        let name = &*self.segment.strings[function.name as usize];
        let replaces = caller.host_alone && self.host_root == HostRoot::Innermost;
        match admission {
            Admission::Hide => {
                return Ok(Resolved {
                    innermost: admission,
                    host_alone: false,
                    own: true,
                    work: None,
                    ..caller
                });
            }
            Admission::Foreign => {
                return Ok(Resolved { innermost: admission, host_alone: false, work: None, ..caller });
            }
            Admission::Work(marker) => return Ok(Resolved { own: true, work: Some(marker), ..caller }),
            // Host code is treated as its caller is, which may be hidden.
            Admission::Omit if caller.innermost != Admission::Show => return Ok(caller),
            Admission::Omit => return Ok(Resolved { innermost: Admission::Host, ..caller }),
            Admission::Host if name.is_empty() => return Ok(caller),
            Admission::Host if caller.innermost != Admission::Show && !replaces => return Ok(caller),
            Admission::Host | Admission::Show => {}
        }
        let resource = &self.segment.strings[function.resource as usize];
        let name = trace.name(name)?;
        let evaluated = u32::try_from(function.script_id)
            .ok()
            .filter(|&id| self.shows_evaluated_scripts && resource.is_empty() && id > 0)
            .map(evaluated_resource);
        let frame = if admission == Admission::Host || resource.is_empty() && evaluated.is_none() {
            Frame { name, resource: None, line: None, column: None }
        } else {
            Frame {
                name,
                resource: Some(trace.resource(evaluated.as_deref().unwrap_or(resource))?),
                line: NonZeroU32::new(function.line),
                column: NonZeroU32::new(function.column),
            }
        };
        let frame = trace.frame(frame)?;
        let parent = caller.stack.filter(|_| !replaces);
        let stack = trace.stack(Stack { parent, frame })?;
        let host_alone = admission == Admission::Host && parent.is_none();
        // A visible frame is the agent's own work, even a host function's, because its caller is visible.
        let work = caller.work.filter(|_| admission == Admission::Host || self.scripts_do_work);
        Ok(Resolved { stack: Some(stack), innermost: admission, host_alone, own: true, work })
    }
}
