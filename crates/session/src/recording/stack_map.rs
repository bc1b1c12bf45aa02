//! From an engine's tree of calls to a trace's stacks.

use std::num::NonZeroU32;

use selfprof_trace::{Frame, InternError, Marker, Stack, StackId, Trace};

use crate::{Admission, FrameAdmission, RawSegment};

/// Maps the nodes of one segment to the stacks of a trace, each once.
pub(super) struct StackMap<'a> {
    segment: &'a RawSegment,
    admissions: Vec<Admission>,
    outermost: Admission,
    /// Whether a script that the host's work calls is part of that work: not where scripts are a page's.
    scripts_do_work: bool,
    resolved: Vec<Option<Resolved>>,
}

/// What a node became: its stack after admission; what was decided about its innermost frame, or about the one that this
/// was folded into; whether the session's own agent is at work on it; and the host's work that this is.
#[derive(Clone, Copy)]
pub(super) struct Resolved {
    pub(super) stack: Option<StackId>,
    pub(super) innermost: Admission,
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
            scripts_do_work: admission.realm().is_none(),
            resolved: vec![None; segment.nodes.len()],
        }
    }

    /// Whether the session's own agent is at work when the engine reports no stack.
    pub(super) fn own_without_stack(&self) -> bool {
        self.outermost != Admission::Foreign
    }

    /// What a sample without a stack is.
    pub(super) fn without_stack(&self) -> Resolved {
        Resolved { stack: None, innermost: self.outermost, own: self.own_without_stack(), work: None }
    }

    /// The stack of a node's innermost call, `None` when none of its frames may be shown: the steps of
    /// [get a stack ID](https://wicg.github.io/js-self-profiling/#get-a-stack-id). And whose work that is, and which.
    pub(super) fn resolve(&mut self, node: u32, trace: &mut Trace) -> Result<Resolved, InternError> {
        // Callers stand before their callees, so the walk towards the root ends, and then goes back inwards.
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
        match admission {
            Admission::Hide => return Ok(Resolved { innermost: admission, own: true, work: None, ..caller }),
            Admission::Foreign => return Ok(Resolved { innermost: admission, work: None, ..caller }),
            Admission::Work(marker) => return Ok(Resolved { own: true, work: Some(marker), ..caller }),
            // Host code belongs to whoever called it, who may be hidden.
            Admission::Omit if caller.innermost != Admission::Show => return Ok(caller),
            Admission::Omit => return Ok(Resolved { innermost: Admission::Host, ..caller }),
            Admission::Host if caller.innermost != Admission::Show || name.is_empty() => return Ok(caller),
            Admission::Host | Admission::Show => {}
        }
        let resource = &self.segment.strings[function.resource as usize];
        let name = trace.name(name)?;
        let frame = if admission == Admission::Host || resource.is_empty() {
            Frame { name, resource: None, line: None, column: None }
        } else {
            Frame {
                name,
                resource: Some(trace.resource(resource)?),
                line: NonZeroU32::new(function.line),
                column: NonZeroU32::new(function.column),
            }
        };
        let frame = trace.frame(frame)?;
        let stack = trace.stack(Stack { parent: caller.stack, frame })?;
        // A frame stands for work of the agent's own; a host function's, because its caller is shown.
        let work = caller.work.filter(|_| admission == Admission::Host || self.scripts_do_work);
        Ok(Resolved { stack: Some(stack), innermost: admission, own: true, work })
    }
}
