//! A part of a trace: some samples, with only the table entries that they use.

use selfprof_trace::{Frame, FrameId, InternError, NameId, ResourceId, Sample, Stack, StackId, Trace};

/// Copies samples and stacks of one trace into a new one. Stacks come in the order of their first use, callers first.
pub(super) struct Extraction<'a> {
    source: &'a Trace,
    trace: Trace,
    // The ids in `trace`, by the ids in `source`.
    names: Vec<Option<NameId>>,
    resources: Vec<Option<ResourceId>>,
    frames: Vec<Option<FrameId>>,
    stacks: Vec<Option<StackId>>,
}

impl<'a> Extraction<'a> {
    pub(super) fn of(source: &'a Trace) -> Self {
        Self {
            source,
            trace: Trace::new(),
            names: vec![None; source.names().len()],
            resources: vec![None; source.resources().len()],
            frames: vec![None; source.frames().len()],
            stacks: vec![None; source.stacks().len()],
        }
    }

    /// Appends samples whose stacks are of the source.
    pub(super) fn samples(&mut self, samples: &[Sample]) -> Result<(), InternError> {
        for sample in samples {
            let stack = sample.stack.map(|stack| self.stack(stack)).transpose()?;
            self.trace.push_sample(Sample { stack, ..*sample });
        }
        Ok(())
    }

    /// The id that a stack of the source has in the new trace.
    pub(super) fn stack(&mut self, stack: StackId) -> Result<StackId, InternError> {
        let mut missing = Vec::new();
        let mut cursor = Some(stack);
        let mut reached = None;
        while let Some(id) = cursor {
            reached = self.stacks[id.index()];
            if reached.is_some() {
                break;
            }
            missing.push(id);
            cursor = self.source.stacks()[id].parent;
        }
        for id in missing.into_iter().rev() {
            let frame = self.frame(self.source.stacks()[id].frame)?;
            reached = Some(self.trace.stack(Stack { parent: reached, frame })?);
            self.stacks[id.index()] = reached;
        }
        reached.ok_or(InternError::Unknown { table: "stack", index: stack.index() })
    }

    fn frame(&mut self, id: FrameId) -> Result<FrameId, InternError> {
        let Self { source, trace, names, resources, .. } = self;
        let known = &mut self.frames[id.index()];
        remember(known, || {
            let frame = source.frames()[id];
            let name = remember(&mut names[frame.name.index()], || trace.name(&source.names()[frame.name]))?;
            let resource = frame
                .resource
                .map(|id| remember(&mut resources[id.index()], || trace.resource(&source.resources()[id])));
            trace.frame(Frame { name, resource: resource.transpose()?, ..frame })
        })
    }

    pub(super) fn finish(self) -> Trace {
        self.trace
    }
}

fn remember<T: Copy, E>(known: &mut Option<T>, make: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    match *known {
        Some(known) => Ok(known),
        None => make().inspect(|&made| *known = Some(made)),
    }
}
