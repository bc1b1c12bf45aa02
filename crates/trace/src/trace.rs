//! The trace: its four tables, its samples, and its marks and measures.

use crate::calls::Calls;
use crate::entries::Entries;
use crate::entry::Entry;
use crate::frame::Frame;
use crate::id::{FrameId, LabelSetId, NameId, ResourceId, StackId};
use crate::intern_error::{InternError, known};
use crate::labels::{LabelSet, Labels};
use crate::micros::Micros;
use crate::sample::Sample;
use crate::stack::Stack;
use crate::strings::Strings;
use crate::table::{Table, TableFull};
use crate::waiting::WaitingTimes;
use crate::weigh::{Gaps, gaps, median_interval, weigh_by, weigh_exactly};

/// A recorded profile ([`ProfilerTrace`]), in which every id resolves and every parent comes before its children.
///
/// Unlike in the W3C format, names are interned too, because many frames often share a name. Cloning copies everything.
/// A trace has no lock and belongs to one thread at a time.
///
/// [`ProfilerTrace`]: https://wicg.github.io/js-self-profiling/#the-profilertrace-dictionary
#[derive(Clone, Debug, Default)]
pub struct Trace {
    names: Strings<NameId>,
    resources: Strings<ResourceId>,
    frames: Table<FrameId, Frame>,
    /// See [`Trace::text_bytes`].
    text_bytes: usize,
    stacks: Table<StackId, Stack>,
    samples: Vec<Sample>,
    /// The time that each sample stands for, if the profile states it.
    durations: Option<Vec<Micros>>,
    entries: Option<Entries>,
    calls: Option<Calls>,
    waiting: Option<WaitingTimes>,
    labels: Option<Labels>,
    /// The median time between the samples, and the gaps, before some samples were split.
    unsplit: Option<(Option<Micros>, Gaps)>,
}

impl Trace {
    /// An empty trace, which allocates no memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// The id of a function name. Anonymous functions have the empty name.
    pub fn name(&mut self, name: &str) -> Result<NameId, TableFull> {
        self.names.intern(name)
    }

    /// The id of a script's URL.
    pub fn resource(&mut self, url: &str) -> Result<ResourceId, TableFull> {
        let count = self.resources.len();
        let id = self.resources.intern(url)?;
        if self.resources.len() > count {
            self.text_bytes += url.len();
        }
        Ok(id)
    }

    /// The id of a frame; equal frames get the same id.
    ///
    /// Fails if the table is full, or if the frame's name or resource is not in this trace.
    pub fn frame(&mut self, frame: Frame) -> Result<FrameId, InternError> {
        known(frame.name, self.names.contains(frame.name))?;
        if let Some(resource) = frame.resource {
            known(resource, self.resources.contains(resource))?;
        }
        Ok(self.intern_frame(frame)?)
    }

    /// The id of a frame whose name and resource are in this trace.
    fn intern_frame(&mut self, frame: Frame) -> Result<FrameId, TableFull> {
        let count = self.frames.len();
        let id = self.frames.intern(frame)?;
        if self.frames.len() > count {
            self.text_bytes += self.names[frame.name].len();
        }
        Ok(id)
    }

    /// The id of a stack; equal stacks get the same id, and a parent's id is smaller than its children's.
    ///
    /// Fails if the table is full, or if the stack's frame or parent is not in this trace.
    pub fn stack(&mut self, stack: Stack) -> Result<StackId, InternError> {
        known(stack.frame, self.frames.contains(stack.frame))?;
        if let Some(parent) = stack.parent {
            known(parent, self.stacks.contains(parent))?;
        }
        Ok(self.stacks.intern(stack)?)
    }

    /// Appends a sample. A stack that is not in this trace is dropped, so that every id resolves.
    ///
    /// Samples keep the order in which they are pushed; the caller must push them in the order of their timestamps.
    pub fn push_sample(&mut self, sample: Sample) {
        let stack = self.known_stack(sample.stack);
        if let Some(durations) = &mut self.durations {
            let before = self.samples.last().map_or(sample.timestamp, |last| last.timestamp);
            durations.push(sample.timestamp.saturating_sub(before));
        }
        self.samples.push(Sample { stack, ..sample });
    }

    /// Appends a sample that stands for `duration`, with these labels.
    pub fn push_lasting(&mut self, sample: Sample, duration: Micros, labels: Option<LabelSetId>) {
        let mut durations = self.durations.take().unwrap_or_else(|| self.weights());
        durations.push(duration);
        self.push_labelled(sample, labels);
        self.durations = Some(durations);
    }

    /// Sets the time that each sample stands for, as the profile states it. A list of another length than the samples
    /// counts as none.
    pub fn set_durations(&mut self, durations: Option<Vec<Micros>>) {
        self.durations = durations.filter(|list| list.len() == self.samples.len() && !list.is_empty());
    }

    /// States that there are no gaps: each sample stands for the time since the one before, and the first one for the
    /// time since `start`.
    pub fn set_start(&mut self, start: Micros) {
        let starts = [start].into_iter().chain(self.samples.iter().map(|sample| sample.timestamp));
        let durations =
            self.samples.iter().zip(starts).map(|(sample, start)| sample.timestamp.saturating_sub(start));
        self.set_durations(Some(durations.collect()));
    }

    /// Whether samples stand for other times than their timestamps [imply](crate::weigh).
    pub fn needs_durations(&self) -> bool {
        let implied = || weigh_by(self.interval(), &self.samples);
        self.calls.is_none() && self.durations.as_ref().is_some_and(|durations| *durations != implied())
    }

    /// The time that each sample stands for, if the profile states it.
    pub fn durations(&self) -> Option<&[Micros]> {
        self.durations.as_deref()
    }

    /// The id of a set of labels for [`push_labelled`](Self::push_labelled); equal sets get the same id.
    ///
    /// Fails if the table is full.
    pub fn label_set(&mut self, set: LabelSet) -> Result<LabelSetId, TableFull> {
        self.labels.get_or_insert_default().set(set)
    }

    /// Appends a sample with these labels. Those that are not in this trace count as none.
    pub fn push_labelled(&mut self, sample: Sample, labels: Option<LabelSetId>) {
        if let Some(own) = &mut self.labels {
            own.change(sample.timestamp, labels);
        }
        self.push_sample(sample);
    }

    /// Sets the samples, whose stacks must be in this trace. They have no durations.
    pub(crate) fn set_samples(&mut self, samples: Vec<Sample>) {
        debug_assert!(samples.iter().all(|sample| sample.stack == self.known_stack(sample.stack)));
        self.samples = samples;
        self.durations = None;
    }

    /// Replaces samples by parts of them, whose stacks must be in this trace, with the time that each part stands for.
    /// The [interval](Self::interval) and the [gaps](Self::gaps) stay.
    pub(crate) fn split_samples(&mut self, parts: Vec<Sample>, durations: Vec<Micros>) {
        self.unsplit = Some((self.interval(), self.gaps()));
        self.set_samples(parts);
        self.set_durations(Some(durations));
    }

    /// Sets the stack of the sample at `index`, e.g. to attribute a garbage collection to its allocator later. A stack
    /// that is not in this trace counts as none. Returns whether there is such a sample.
    pub fn set_sample_stack(&mut self, index: usize, stack: Option<StackId>) -> bool {
        let stack = self.known_stack(stack);
        let sample = self.samples.get_mut(index);
        sample.map(|sample| sample.stack = stack).is_some()
    }

    /// Removes and returns the first `up_to` samples, or all if there are fewer. The tables stay, so the ids in the
    /// returned samples remain valid, and later samples share their stacks.
    pub fn drain_samples(&mut self, up_to: usize) -> Vec<Sample> {
        if up_to >= self.samples.len() {
            self.durations = None;
            return std::mem::take(&mut self.samples);
        }
        if let Some(durations) = &mut self.durations {
            durations.drain(..up_to);
        }
        self.samples.drain(..up_to).collect()
    }

    /// Removes all samples with their labels. The tables and the sets of labels stay.
    pub fn clear_samples(&mut self) {
        self.samples.clear();
        self.durations = None;
        if let Some(labels) = &mut self.labels {
            labels.clear_changes();
        }
    }

    /// Copies a stack of another trace, with its frames, and returns its id in this trace.
    ///
    /// Fails if a table is full, or if the stack is not in the other trace.
    pub fn adopt(&mut self, other: &Self, stack: StackId) -> Result<StackId, InternError> {
        known(stack, other.stacks.contains(stack))?;
        let path: Vec<FrameId> = other.path(stack).collect();
        let mut adopted = None;
        for frame in path.into_iter().rev().map(|frame| other.frames[frame]) {
            let name = self.names.intern(&other.names[frame.name])?;
            let resource = frame.resource.map(|id| self.resource(&other.resources[id])).transpose()?;
            let frame = self.intern_frame(Frame { name, resource, ..frame })?;
            adopted = Some(self.stacks.intern(Stack { parent: adopted, frame })?);
        }
        adopted.ok_or(InternError::Unknown { table: "stack", index: stack.index() })
    }

    /// Appends another trace: merges its tables, appends its samples, its waiting times and its labels, and merges its
    /// marks and measures in time order.
    ///
    /// Both traces must have the same time origin. If a table is full, parts of the tables may have been merged, but no
    /// samples.
    pub fn merge(&mut self, other: &Self) -> Result<(), TableFull> {
        let (stacks, frames) = self.merge_all_tables(other)?;
        if let Some(calls) = &other.calls {
            let renumbered = calls.with_frames(|frame| frames.get(frame.index()).copied());
            match &mut self.calls {
                Some(own) => own.append(renumbered),
                None => self.calls = Some(renumbered),
            }
        }
        if let Some(entries) = &other.entries {
            let own = self.entries.get_or_insert_default();
            own.merge(entries)?;
            own.sort();
        }
        if let Some(waiting) = &other.waiting {
            let own = self.waiting.get_or_insert_default();
            waiting.points().iter().for_each(|&point| own.push(point));
        }
        if self.labels.is_some() || other.labels.is_some() {
            let start = other.samples.first().map(|sample| sample.timestamp);
            let own = self.labels.get_or_insert_default();
            own.append(other.labels.as_ref().unwrap_or(&Labels::default()), start)?;
        }
        if self.durations.is_some() || other.durations.is_some() {
            let mut durations = self.weights();
            durations.append(&mut other.weights());
            self.durations = Some(durations);
        }
        let renumbered =
            |sample: &Sample| Sample { stack: sample.stack.map(|id| stacks[id.index()]), ..*sample };
        self.samples.extend(other.samples.iter().map(renumbered));
        Ok(())
    }

    /// Keeps only the samples, marks and measures of these times. A measure is kept if it begins at such a time. The
    /// tables stay.
    pub fn retain_times(&mut self, is_wanted: impl Fn(Micros) -> bool) {
        if let Some(durations) = &mut self.durations {
            let mut samples = self.samples.iter();
            durations.retain(|_| samples.next().is_some_and(|sample| is_wanted(sample.timestamp)));
        }
        self.samples.retain(|sample| is_wanted(sample.timestamp));
        if let Some(entries) = &mut self.entries {
            let start = |entry: &Entry| Micros::from_millis_f64(entry.start_time.get().max(0.0));
            entries.retain(|entry| start(entry).is_some_and(&is_wanted));
        }
    }

    /// Makes samples idle unless their labels are wanted. `None` stands for a sample without labels.
    pub fn retain_labels(&mut self, is_wanted: impl Fn(Option<&LabelSet>) -> bool) {
        let labels = self.labels.as_ref();
        for sample in self.samples.iter_mut().filter(|sample| !sample.is_idle()) {
            let set = labels.and_then(|labels| labels.get(labels.of_sample(sample)?));
            if !is_wanted(set) {
                (sample.stack, sample.marker) = (None, None);
            }
        }
    }

    /// Moves the time origin to an earlier time: all samples, marks, measures, waiting times and labels are then later
    /// by `offset`.
    pub fn shift(&mut self, offset: Micros) {
        for sample in &mut self.samples {
            sample.timestamp = sample.timestamp.saturating_add(offset);
        }
        if let Some(entries) = &mut self.entries {
            entries.shift(offset);
        }
        if let Some(calls) = &mut self.calls {
            calls.shift(offset);
        }
        if let Some(waiting) = &mut self.waiting {
            waiting.shift(offset);
        }
        if let Some(labels) = &mut self.labels {
            labels.shift(offset);
        }
    }

    /// A copy whose resources have other URLs.
    ///
    /// Fails if a table is full.
    pub(crate) fn with_resources<'a>(&'a self, url: impl Fn(&'a str) -> &'a str) -> Result<Self, TableFull> {
        let mut copy = self.without_tables();
        let mut frames = Vec::with_capacity(self.frames.len());
        for (_, frame) in self.frames.iter() {
            let name = copy.names.intern(&self.names[frame.name])?;
            let resource = frame.resource.map(|id| copy.resource(url(&self.resources[id]))).transpose()?;
            frames.push(copy.intern_frame(Frame { name, resource, ..frame })?);
        }
        copy.calls =
            self.calls.as_ref().map(|calls| calls.with_frames(|frame| frames.get(frame.index()).copied()));
        let mut stacks: Vec<StackId> = Vec::with_capacity(self.stacks.len());
        for (_, stack) in self.stacks.iter() {
            let parent = stack.parent.map(|id| stacks[id.index()]);
            stacks.push(copy.stacks.intern(Stack { parent, frame: frames[stack.frame.index()] })?);
        }
        let renumbered =
            |sample: &Sample| Sample { stack: sample.stack.map(|id| stacks[id.index()]), ..*sample };
        copy.samples = self.samples.iter().map(renumbered).collect();
        Ok(copy)
    }

    /// Merges the tables of another trace, without its samples and entries. Returns the ids of its stacks in this
    /// trace, in their original order.
    ///
    /// If a table is full, parts of the tables may have been merged.
    pub fn merge_tables(&mut self, other: &Self) -> Result<Vec<StackId>, TableFull> {
        Ok(self.merge_all_tables(other)?.0)
    }

    /// The same, with the ids of the frames.
    fn merge_all_tables(&mut self, other: &Self) -> Result<(Vec<StackId>, Vec<FrameId>), TableFull> {
        let names = remap(other.names.iter(), |name| self.names.intern(name))?;
        let resources = remap(other.resources.iter(), |url| self.resource(url))?;
        let frames = remap(other.frames.iter(), |frame| {
            let (name, resource) =
                (names[frame.name.index()], frame.resource.map(|id| resources[id.index()]));
            self.intern_frame(Frame { name, resource, ..frame })
        })?;
        let mut stacks: Vec<StackId> = Vec::with_capacity(other.stacks.len());
        for (_, stack) in other.stacks.iter() {
            let parent = stack.parent.map(|id| stacks[id.index()]);
            stacks.push(self.stacks.intern(Stack { parent, frame: frames[stack.frame.index()] })?);
        }
        Ok((stacks, frames))
    }

    /// Takes the samples as a trace of their own, with what they need of the tables, which stay here.
    pub fn take_narrowed(&mut self) -> Self {
        let narrow = self.narrowed();
        self.clear_samples();
        self.waiting = None;
        narrow
    }

    /// A copy whose tables have only the entries that its samples use, in the same order.
    pub fn narrowed(&self) -> Self {
        let mut is_used = vec![false; self.stacks.len()];
        for id in self.samples.iter().filter_map(|sample| sample.stack) {
            is_used[id.index()] = true;
        }
        // Children have larger ids than their parents, so they are visited first.
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
        let called = self.calls.iter().flat_map(Calls::events);
        called.for_each(|event| frame_is_used[event.frame.index()] = true);
        let mut narrow = self.without_tables();
        // Nothing can fail, because the new tables are not larger than the old ones.
        let frames: Vec<Option<FrameId>> = self
            .frames
            .iter()
            .map(|(id, frame)| {
                let frame = frame_is_used[id.index()].then_some(frame)?;
                let name = narrow.names.intern(&self.names[frame.name]).ok()?;
                let resource = frame.resource.map(|id| narrow.resource(&self.resources[id]));
                narrow.frame(Frame { name, resource: resource.transpose().ok()?, ..frame }).ok()
            })
            .collect();
        let renumbered = |calls: &Calls| calls.with_frames(|frame| frames.get(frame.index()).copied()?);
        narrow.calls = self.calls.as_ref().map(renumbered);
        let mut stacks: Vec<Option<StackId>> = Vec::with_capacity(self.stacks.len());
        for (id, Stack { parent, frame }) in self.stacks.iter() {
            let parent = parent.and_then(|parent| stacks[parent.index()]);
            let frame = frames[frame.index()].filter(|_| is_used[id.index()]);
            stacks.push(frame.and_then(|frame| narrow.stack(Stack { parent, frame }).ok()));
        }
        let renumbered =
            |sample: &Sample| Sample { stack: sample.stack.and_then(|id| stacks[id.index()]), ..*sample };
        narrow.samples = self.samples.iter().map(renumbered).collect();
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

    /// The length of the texts that the W3C format has for the tables: the name of each frame, and the URL of each
    /// resource. In bytes.
    pub fn text_bytes(&self) -> usize {
        self.text_bytes
    }

    /// The table of functions.
    pub fn frames(&self) -> &Table<FrameId, Frame> {
        &self.frames
    }

    /// The table of stacks, parents before their children.
    pub fn stacks(&self) -> &Table<StackId, Stack> {
        &self.stacks
    }

    /// The samples, in the order in which they were pushed.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// The marks and measures; `None` if they were not recorded.
    pub fn entries(&self) -> Option<&Entries> {
        self.entries.as_ref()
    }

    /// Replaces the marks and measures.
    pub fn set_entries(&mut self, entries: Option<Entries>) {
        self.entries = entries;
    }

    /// The calls of traced functions; `None` if they were not recorded.
    pub fn calls(&self) -> Option<&Calls> {
        self.calls.as_ref()
    }

    /// Replaces the calls. Those of functions that are not in this trace are left out.
    pub fn set_calls(&mut self, calls: Option<Calls>) {
        let known = |frame| self.frames.contains(frame).then_some(frame);
        self.calls = calls.map(|calls| calls.with_frames(known));
    }

    /// How long the thread waited; `None` if that is not known.
    pub fn waiting(&self) -> Option<&WaitingTimes> {
        self.waiting.as_ref()
    }

    /// Replaces the waiting times.
    pub fn set_waiting(&mut self, waiting: Option<WaitingTimes>) {
        self.waiting = waiting;
    }

    /// The labels of the samples; `None` if no sample has any.
    pub fn labels(&self) -> Option<&Labels> {
        self.labels.as_ref().filter(|labels| !labels.is_empty())
    }

    /// Replaces the labels.
    pub fn set_labels(&mut self, labels: Option<Labels>) {
        self.labels = labels.filter(|labels| !labels.is_empty());
    }

    /// The frames of a stack, from the innermost (leaf) to the outermost (root).
    ///
    /// Empty if the stack is not in this trace.
    pub fn path(&self, stack: StackId) -> impl Iterator<Item = FrameId> {
        let leaf = self.stacks.get(stack);
        std::iter::successors(leaf, |stack| self.stacks.get(stack.parent?)).map(|stack| stack.frame)
    }

    /// The deepest common ancestor of two stacks, which may be one of them.
    ///
    /// `None` if their outermost frames differ. Takes time proportional to their depths, and no memory: because parents
    /// have smaller ids, the stack with the larger id cannot be an ancestor of the other, so it is replaced by its
    /// parent.
    pub fn shared_ancestor(&self, a: StackId, b: StackId) -> Option<StackId> {
        let (mut a, mut b) = (a, b);
        while a != b {
            let deeper = if a > b { &mut a } else { &mut b };
            *deeper = self.stacks.get(*deeper)?.parent?;
        }
        Some(a)
    }

    /// The [median time](median_interval) between samples, as they were before [waiting](Self::add_waiting_frames) was
    /// split off.
    ///
    /// `None` if there are [calls](Self::add_call_samples), whose samples have no interval.
    pub fn interval(&self) -> Option<Micros> {
        if self.calls.is_some() {
            return None;
        }
        self.unsplit.map_or_else(|| median_interval(&self.samples), |(interval, _)| interval)
    }

    /// The time that each sample stands for: its [duration](Self::durations) if the profile states it, or else by
    /// [the time since the sample before](crate::weigh). The sum does not change when waiting is split off. With
    /// [calls](Self::add_call_samples), it is exactly the time since the sample before.
    pub fn weights(&self) -> Vec<Micros> {
        match &self.durations {
            _ if self.calls.is_some() => weigh_exactly(&self.samples),
            Some(durations) => durations.clone(),
            None => weigh_by(self.interval(), &self.samples),
        }
    }

    /// What the [weights](Self::weights) leave out of the time between samples. There is nothing to leave out if the
    /// profile states durations.
    pub fn gaps(&self) -> Gaps {
        match self.unsplit {
            Some((_, gaps)) => gaps,
            None if self.calls.is_some() || self.durations.is_some() => Gaps::default(),
            None => gaps(self.interval(), &self.samples),
        }
    }

    /// The times of the first and the last sample.
    pub fn span(&self) -> Option<(Micros, Micros)> {
        Some((self.samples.first()?.timestamp, self.samples.last()?.timestamp))
    }

    /// A copy of what does not depend on the tables.
    fn without_tables(&self) -> Self {
        Self {
            entries: self.entries.clone(),
            waiting: self.waiting.clone(),
            labels: self.labels().map(Labels::narrowed),
            durations: self.durations.clone(),
            unsplit: self.unsplit,
            ..Self::default()
        }
    }

    fn known_stack(&self, stack: Option<StackId>) -> Option<StackId> {
        stack.filter(|&id| self.stacks.contains(id))
    }
}

/// Interns the entries of another trace's table. The result is indexed by their old ids.
fn remap<I, T, J>(
    entries: impl Iterator<Item = (I, T)>,
    mut intern: impl FnMut(T) -> Result<J, TableFull>,
) -> Result<Vec<J>, TableFull> {
    entries.map(|(_, entry)| intern(entry)).collect()
}

#[cfg(test)]
mod tests;
