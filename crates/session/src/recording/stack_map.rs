//! From an engine's tree of calls to a trace's stacks.

use std::num::NonZeroU32;

use selfprof_trace::{Frame, InternError, Stack, StackId, Trace};

use crate::{Admission, FrameAdmission, RawSegment};

/// Maps the nodes of one segment to the stacks of a trace, each once.
pub(super) struct StackMap<'a> {
    segment: &'a RawSegment,
    admissions: Vec<Admission>,
    outermost: Admission,
    resolved: Vec<Option<Resolved>>,
}

/// What a node became: its stack after admission; what was decided about its innermost frame, or about the one that this
/// was folded into; and whether the session's own agent is at work on it.
#[derive(Clone, Copy)]
struct Resolved {
    stack: Option<StackId>,
    innermost: Admission,
    own: bool,
}

impl<'a> StackMap<'a> {
    pub(super) fn new(segment: &'a RawSegment, admission: &dyn FrameAdmission) -> Self {
        let admissions = segment
            .functions
            .iter()
            .map(|function| admission.admit(function, &segment.strings[function.resource as usize]))
            .collect();
        let outermost = admission.outermost();
        Self { segment, admissions, outermost, resolved: vec![None; segment.nodes.len()] }
    }

    /// Whether the session's own agent is at work when the engine reports no stack.
    pub(super) fn own_without_stack(&self) -> bool {
        self.outermost != Admission::Foreign
    }

    /// The stack of a node's innermost call, `None` when none of its frames may be shown: the steps of
    /// [get a stack ID](https://wicg.github.io/js-self-profiling/#get-a-stack-id). And whether the session's own agent
    /// is at work on it.
    pub(super) fn resolve(
        &mut self,
        node: u32,
        trace: &mut Trace,
    ) -> Result<(Option<StackId>, bool), InternError> {
        // Callers stand before their callees, so the walk towards the root ends, and then goes back inwards.
        let mut unresolved = Vec::new();
        let mut cursor = Some(node);
        let mut reached = Resolved { stack: None, innermost: self.outermost, own: self.own_without_stack() };
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
        Ok((reached.stack, reached.own))
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
            Admission::Hide => return Ok(Resolved { innermost: admission, own: true, ..caller }),
            Admission::Foreign => return Ok(Resolved { innermost: admission, ..caller }),
            // Host code belongs to whoever called it, who may be hidden.
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
        Ok(Resolved { stack: Some(stack), innermost: admission, own: true })
    }
}
