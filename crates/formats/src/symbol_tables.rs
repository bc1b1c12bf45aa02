//! Functions, stacks and labels of formats that list them in tables and name them by number: pprof and OTLP.

use std::borrow::Cow;
use std::num::NonZeroU32;

use foldhash::{HashMap, HashMapExt as _};
use selfprof_trace::foreign::{
    ForeignTrace, LimitExceeded, Limits, Location, Problem, ProblemKind, Problems, Remedy,
};
use selfprof_trace::{Calls, Frame, FrameId, LabelSet, LabelSetId, Stack, StackId, Trace};

use crate::bounded_text::{MAX_NAME, cut};

/// Functions that are inlined into each other at one location. More are left out.
const MAX_INLINED: usize = 256;

/// Labels of a sample. More are left out.
const MAX_LABELS: usize = 32;

/// A function, as the tables have it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function<'text> {
    pub(crate) name: &'text str,
    /// Empty if it is not known.
    pub(crate) file: &'text str,
    /// 1-based, or 0.
    pub(crate) line: i64,
    /// 1-based, or 0.
    pub(crate) column: i64,
}

/// A trace without samples, and its functions by location.
pub(crate) struct SymbolTables {
    pub(crate) trace: Trace,
    /// The functions of each location, the innermost first.
    locations: Vec<Vec<FrameId>>,
    /// The stack that a location makes with its caller.
    stacks: HashMap<(Option<StackId>, usize), StackId>,
    /// The number of distinct sets of labels.
    label_sets: usize,
    limits: Limits,
    text_bytes: usize,
    /// Collects problems.
    reported: ForeignTrace,
}

impl SymbolTables {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            trace: Trace::new(),
            locations: Vec::new(),
            stacks: HashMap::new(),
            label_sets: 0,
            limits,
            text_bytes: 0,
            reported: ForeignTrace::new(limits),
        }
    }

    /// Adds the next location: its functions, the innermost first.
    pub(crate) fn push_location<'text>(
        &mut self,
        functions: impl Iterator<Item = Function<'text>>,
    ) -> Result<(), LimitExceeded> {
        let frames = functions.take(MAX_INLINED).map(|function| self.frame(function));
        let frames = frames.collect::<Result<_, _>>()?;
        self.locations.push(frames);
        Ok(())
    }

    fn frame(&mut self, function: Function<'_>) -> Result<FrameId, LimitExceeded> {
        let Function { name, file, line, column } = function;
        self.count_text(name.len() + file.len())?;
        LimitExceeded::check("frames", self.trace.frames().len(), self.limits.frames)?;
        LimitExceeded::check("resources", self.trace.resources().len(), self.limits.resources)?;
        // Tables can have more entries than the limits allow.
        let full = || LimitExceeded::new("frames", self.limits.frames);
        let name = self.trace.name(name).map_err(|_| full())?;
        let resource =
            (!file.is_empty()).then(|| self.trace.resource(file)).transpose().map_err(|_| full())?;
        let number = |number: i64| resource.and_then(|_| NonZeroU32::new(u32::try_from(number).unwrap_or(0)));
        let frame = Frame { name, resource, line: number(line), column: number(column) };
        self.trace.frame(frame).map_err(|_| full())
    }

    fn count_text(&mut self, bytes: usize) -> Result<(), LimitExceeded> {
        self.text_bytes = self.text_bytes.saturating_add(bytes);
        if self.text_bytes > self.limits.text_bytes {
            return Err(LimitExceeded::new("bytes of text", self.limits.text_bytes));
        }
        Ok(())
    }

    /// The set of labels with these names, values and units of values; `None` if there are none. Labels without a name
    /// are left out.
    pub(crate) fn label_set<'text>(
        &mut self,
        labels: impl Iterator<Item = (&'text str, Cow<'text, str>, &'text str)>,
    ) -> Result<Option<LabelSetId>, LimitExceeded> {
        let labels = labels.filter(|(name, ..)| !name.is_empty()).take(MAX_LABELS);
        let set = LabelSet::new(labels.map(|(name, value, unit)| {
            let value = match unit {
                "" => cut(&value, MAX_NAME).to_owned(),
                _ => cut(&format!("{} {}", cut(&value, MAX_NAME), cut(unit, MAX_NAME)), MAX_NAME).to_owned(),
            };
            (cut(name, MAX_NAME), value)
        }));
        if set.is_empty() {
            return Ok(None);
        }
        let bytes = set.iter().map(|(name, value)| name.len() + value.len()).sum();
        let id =
            self.trace.label_set(set).map_err(|_| LimitExceeded::new("sets of labels", self.label_sets))?;
        if id.index() == self.label_sets {
            self.label_sets += 1;
            self.count_text(bytes)?;
        }
        Ok(Some(id))
    }

    /// The stack of locations, the innermost first; `None` for those that are not in the table. They are left out, and
    /// reported as `list[index].member`.
    pub(crate) fn stack(
        &mut self,
        innermost_first: &[Option<usize>],
        (list, index, member): (&'static str, usize, &'static str),
    ) -> Result<Option<StackId>, LimitExceeded> {
        let mut stack = None;
        for &location in innermost_first.iter().rev() {
            let location = location.filter(|&location| location < self.locations.len());
            let Some(location) = location else {
                self.report(list, index, member);
                continue;
            };
            stack = match self.stacks.get(&(stack, location)) {
                Some(&known) => Some(known),
                None => self.push_stacks(stack, location)?,
            };
        }
        Ok(stack)
    }

    /// Appends samples that stand for these calls.
    pub(crate) fn push_calls(&mut self, calls: Calls) -> Result<(), LimitExceeded> {
        let full = |_| LimitExceeded::new("stacks", self.limits.stacks);
        self.trace.push_calls(calls).map_err(full)
    }

    /// The number of locations.
    pub(crate) fn locations(&self) -> usize {
        self.locations.len()
    }

    /// The innermost function of a location.
    pub(crate) fn function(&self, location: usize) -> Option<FrameId> {
        self.locations.get(location)?.first().copied()
    }

    /// The stack of a location and its caller; that of the caller if the location is not in the table.
    pub(crate) fn callee(
        &mut self,
        caller: Option<StackId>,
        location: usize,
    ) -> Result<Option<StackId>, LimitExceeded> {
        match self.stacks.get(&(caller, location)) {
            Some(&known) => Ok(Some(known)),
            None if location < self.locations.len() => self.push_stacks(caller, location),
            None => Ok(caller),
        }
    }

    fn push_stacks(
        &mut self,
        caller: Option<StackId>,
        location: usize,
    ) -> Result<Option<StackId>, LimitExceeded> {
        LimitExceeded::check("stacks", self.stacks.len(), self.limits.stacks)?;
        let mut parent = caller;
        for &frame in self.locations[location].iter().rev() {
            LimitExceeded::check("stacks", self.trace.stacks().len(), self.limits.stacks)?;
            let stack = self.trace.stack(Stack { parent, frame });
            parent = Some(stack.map_err(|_| LimitExceeded::new("stacks", self.limits.stacks))?);
        }
        if let Some(stack) = parent {
            self.stacks.insert((caller, location), stack);
        }
        Ok(parent)
    }

    /// Reports an index of no entry.
    pub(crate) fn report(&mut self, list: &'static str, index: usize, member: &'static str) {
        let location = Location::Element { list, index, member };
        let (kind, remedy) = (ProblemKind::Dangling, Remedy::Parent);
        self.reported.report(Problem { location, value: None, kind, remedy });
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The trace, and what was reported.
    pub(crate) fn into_parts(self) -> (Trace, Problems) {
        (self.trace, self.reported.validate().1)
    }
}
