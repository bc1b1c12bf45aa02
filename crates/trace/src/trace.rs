//! The trace: its four tables, its samples, and the entries of its time.

use std::fmt;

use crate::table::{Table, TableFull};
use crate::{Entries, Frame, FrameId, Micros, NameId, ResourceId, Sample, Stack, StackId, Strings, TableId};

/// A recorded profile ([`ProfilerTrace`]), in which every id resolves and every parent comes before its
/// children.
///
/// Names are interned too, which the W3C shape does not do, since a name often belongs to many frames.
/// Cloning copies all of it. A trace has no lock and belongs to one thread at a time.
///
/// [`ProfilerTrace`]: https://wicg.github.io/js-self-profiling/#the-profilertrace-dictionary
#[derive(Clone, Debug, Default)]
pub struct Trace {
    names: Strings<NameId>,
    resources: Strings<ResourceId>,
    frames: Table<FrameId, Frame>,
    stacks: Table<StackId, Stack>,
    samples: Vec<Sample>,
    entries: Option<Entries>,
}

impl Trace {
    /// An empty trace, which owns no memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The id of a function name; the empty name is that of anonymous functions.
    pub fn name(&mut self, name: &str) -> Result<NameId, TableFull> {
        self.names.intern(name)
    }

    /// The id of a script's URL.
    pub fn resource(&mut self, url: &str) -> Result<ResourceId, TableFull> {
        self.resources.intern(url)
    }

    /// The id of a function; equal frames get the same id.
    ///
    /// Fails when the table is full, or when the frame's name or resource are not of this trace.
    pub fn frame(&mut self, frame: Frame) -> Result<FrameId, InternError> {
        known(frame.name, self.names.contains(frame.name))?;
        if let Some(resource) = frame.resource {
            known(resource, self.resources.contains(resource))?;
        }
        Ok(self.frames.intern(frame)?)
    }

    /// The id of a stack; equal stacks get the same id, and a parent's id is smaller than its children's.
    ///
    /// Fails when the table is full, or when the stack's frame or parent are not of this trace.
    pub fn stack(&mut self, stack: Stack) -> Result<StackId, InternError> {
        known(stack.frame, self.frames.contains(stack.frame))?;
        if let Some(parent) = stack.parent {
            known(parent, self.stacks.contains(parent))?;
        }
        Ok(self.stacks.intern(stack)?)
    }

    /// Appends a sample. A stack that is not of this trace is left out of it, so that every id resolves.
    ///
    /// Samples are kept in the order they are pushed; whoever records sees to it that their timestamps rise.
    pub fn push_sample(&mut self, sample: Sample) {
        let stack = self.known_stack(sample.stack);
        self.samples.push(Sample { stack, ..sample });
    }

    /// Gives the trace its samples, whose stacks are of this trace.
    pub(crate) fn set_samples(&mut self, samples: Vec<Sample>) {
        debug_assert!(samples.iter().all(|sample| sample.stack == self.known_stack(sample.stack)));
        self.samples = samples;
    }

    /// Gives the sample at `index` another stack, e.g. to a collection that is attributed to its allocator
    /// later. A stack that is not of this trace counts as none. Says whether there is such a sample.
    pub fn set_sample_stack(&mut self, index: usize, stack: Option<StackId>) -> bool {
        let stack = self.known_stack(stack);
        let sample = self.samples.get_mut(index);
        sample.map(|sample| sample.stack = stack).is_some()
    }

    /// Takes the first `up_to` samples out, or all when there are fewer. The tables stay, so the ids in the
    /// returned samples remain valid, and later samples go on sharing their stacks.
    pub fn drain_samples(&mut self, up_to: usize) -> Vec<Sample> {
        if up_to >= self.samples.len() {
            return std::mem::take(&mut self.samples);
        }
        self.samples.drain(..up_to).collect()
    }

    /// Takes over one stack of another trace, with what it is made of, and gives its id here.
    ///
    /// Fails when a table is full, or when the stack is not of the other trace.
    pub fn adopt(&mut self, other: &Self, stack: StackId) -> Result<StackId, InternError> {
        known(stack, other.stacks.contains(stack))?;
        let path: Vec<FrameId> = other.path(stack).collect();
        let mut adopted = None;
        for frame in path.into_iter().rev().map(|frame| other.frames[frame]) {
            let name = self.names.intern(&other.names[frame.name])?;
            let resource =
                frame.resource.map(|id| self.resources.intern(&other.resources[id])).transpose()?;
            let frame = self.frames.intern(Frame { name, resource, ..frame })?;
            adopted = Some(self.stacks.intern(Stack { parent: adopted, frame })?);
        }
        adopted.ok_or(InternError::Unknown { table: "stack", index: stack.index() })
    }

    /// Appends another trace: takes over what this one's tables lack, then the samples in their order, and sorts in
    /// the marks and measures.
    ///
    /// Both must count time from the same origin. When a table is full, parts of the tables may have been taken
    /// over, but no sample.
    pub fn merge(&mut self, other: &Self) -> Result<(), TableFull> {
        let stacks = self.merge_tables(other)?;
        if let Some(entries) = &other.entries {
            let own = self.entries.get_or_insert_default();
            own.merge(entries)?;
            own.sort();
        }
        let moved = |sample: &Sample| Sample { stack: sample.stack.map(|id| stacks[id.index()]), ..*sample };
        self.samples.extend(other.samples.iter().map(moved));
        Ok(())
    }

    /// Takes over what this trace's tables lack of another one's, and neither samples nor entries. Gives the ids that the
    /// other's stacks have here, in the order of theirs.
    ///
    /// When a table is full, parts of the tables may have been taken over.
    pub fn merge_tables(&mut self, other: &Self) -> Result<Vec<StackId>, TableFull> {
        let names = remap(other.names.iter(), |name| self.names.intern(name))?;
        let resources = remap(other.resources.iter(), |url| self.resources.intern(url))?;
        let frames = remap(other.frames.iter(), |frame| {
            let (name, resource) =
                (names[frame.name.index()], frame.resource.map(|id| resources[id.index()]));
            self.frames.intern(Frame { name, resource, ..frame })
        })?;
        let mut stacks: Vec<StackId> = Vec::with_capacity(other.stacks.len());
        for (_, stack) in other.stacks.iter() {
            let parent = stack.parent.map(|id| stacks[id.index()]);
            stacks.push(self.stacks.intern(Stack { parent, frame: frames[stack.frame.index()] })?);
        }
        Ok(stacks)
    }

    /// A copy whose tables hold what its samples use, in the same order, and no more.
    pub fn narrowed(&self) -> Self {
        let mut is_used = vec![false; self.stacks.len()];
        for id in self.samples.iter().filter_map(|sample| sample.stack) {
            is_used[id.index()] = true;
        }
        // Parents have smaller ids, so their children have spoken before.
        for (id, stack) in self.stacks.iter().rev() {
            if let (true, Some(parent)) = (is_used[id.index()], stack.parent) {
                is_used[parent.index()] = true;
            }
        }
        let mut frame_is_used = vec![false; self.frames.len()];
        self.stacks
            .iter()
            .filter(|(id, _)| is_used[id.index()])
            .for_each(|(_, stack)| frame_is_used[stack.frame.index()] = true);
        let mut narrow = Self { entries: self.entries.clone(), ..Self::default() };
        // The smaller tables cannot be fuller than these, so nothing fails; what did would be left out.
        let frames: Vec<Option<FrameId>> = self
            .frames
            .iter()
            .map(|(id, frame)| {
                let frame = frame_is_used[id.index()].then_some(frame)?;
                let name = narrow.names.intern(&self.names[frame.name]).ok()?;
                let resource = frame.resource.map(|id| narrow.resources.intern(&self.resources[id]));
                narrow.frame(Frame { name, resource: resource.transpose().ok()?, ..frame }).ok()
            })
            .collect();
        let mut stacks: Vec<Option<StackId>> = Vec::with_capacity(self.stacks.len());
        for (id, Stack { parent, frame }) in self.stacks.iter() {
            let parent = parent.and_then(|parent| stacks[parent.index()]);
            let frame = frames[frame.index()].filter(|_| is_used[id.index()]);
            stacks.push(frame.and_then(|frame| narrow.stack(Stack { parent, frame }).ok()));
        }
        let moved =
            |sample: &Sample| Sample { stack: sample.stack.and_then(|id| stacks[id.index()]), ..*sample };
        narrow.samples = self.samples.iter().map(moved).collect();
        narrow
    }

    /// The table of function names.
    pub fn names(&self) -> &Strings<NameId> {
        &self.names
    }

    /// The table of script URLs.
    pub fn resources(&self) -> &Strings<ResourceId> {
        &self.resources
    }

    /// The table of functions.
    pub fn frames(&self) -> &Table<FrameId, Frame> {
        &self.frames
    }

    /// The table of stacks, parents before their children.
    pub fn stacks(&self) -> &Table<StackId, Stack> {
        &self.stacks
    }

    /// The samples, in the order they were pushed.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// The marks and measures of the recorded time; `None` when none were recorded, whether there were any or not.
    pub fn entries(&self) -> Option<&Entries> {
        self.entries.as_ref()
    }

    /// Gives the trace its marks and measures, in place of those it has.
    pub fn set_entries(&mut self, entries: Option<Entries>) {
        self.entries = entries;
    }

    /// The frames of a stack, from the innermost (leaf) to the outermost (root).
    ///
    /// Empty when the stack is not of this trace.
    pub fn path(&self, stack: StackId) -> impl Iterator<Item = FrameId> {
        let leaf = self.stacks.get(stack);
        std::iter::successors(leaf, |stack| self.stacks.get(stack.parent?)).map(|stack| stack.frame)
    }

    /// The deepest stack that both stacks begin with, counted from their roots; it may be one of the two.
    ///
    /// `None` when their outermost frames differ. Takes time proportional to their depths, and no memory:
    /// as parents have smaller ids, whichever id is larger cannot be an ancestor of the other, so it moves up.
    pub fn shared_ancestor(&self, a: StackId, b: StackId) -> Option<StackId> {
        let (mut a, mut b) = (a, b);
        while a != b {
            let deeper = if a > b { &mut a } else { &mut b };
            *deeper = self.stacks.get(*deeper)?.parent?;
        }
        Some(a)
    }

    /// The time of the first and of the last sample.
    pub fn span(&self) -> Option<(Micros, Micros)> {
        Some((self.samples.first()?.timestamp, self.samples.last()?.timestamp))
    }

    fn known_stack(&self, stack: Option<StackId>) -> Option<StackId> {
        stack.filter(|&id| self.stacks.contains(id))
    }
}

/// Interns the entries of another trace's table; the result is indexed by their ids there.
fn remap<I, T, J>(
    entries: impl Iterator<Item = (I, T)>,
    mut intern: impl FnMut(T) -> Result<J, TableFull>,
) -> Result<Vec<J>, TableFull> {
    entries.map(|(_, entry)| intern(entry)).collect()
}

/// Fails when the id is not known.
pub(crate) fn known<I: TableId>(id: I, is_known: bool) -> Result<(), InternError> {
    if is_known { Ok(()) } else { Err(InternError::Unknown { table: I::TABLE, index: id.index() }) }
}

/// Why something could not be put into a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InternError {
    /// The trace cannot hold more distinct entries.
    Full(TableFull),
    /// The entry refers to an id that this trace did not give.
    Unknown {
        /// The table that lacks the id: `"name"`, `"resource"`, `"frame"`, `"stack"` or `"entry name"`.
        table: &'static str,
        /// The index that it lacks.
        index: usize,
    },
}

impl From<TableFull> for InternError {
    fn from(full: TableFull) -> Self {
        Self::Full(full)
    }
}

impl fmt::Display for InternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(full) => full.fmt(f),
            Self::Unknown { table, index } => write!(f, "the trace has no {table} with id {index}"),
        }
    }
}

impl std::error::Error for InternError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Full(full) => Some(full),
            Self::Unknown { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests;
