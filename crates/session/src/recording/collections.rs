//! Stacks of garbage collections, for which the engine reports none.

use std::sync::Arc;

use selfprof_trace::{LabelSet, StackId, Trace};

use super::stack_map::Resolved;

/// The samples of garbage collections at the end of a trace, which wait for the stack after them, and what came before
/// them.
#[derive(Debug, Default)]
pub(super) struct Collections {
    /// The stack of the last sample that was not a garbage collection's.
    stack_before: Option<StackId>,
    /// The labels of that sample.
    labels_before: Option<Arc<LabelSet>>,
    /// Whether the session's own agent was active in that sample; `None` when there was none.
    own_before: Option<bool>,
    /// The index of the first sample that waits, `None` when none does.
    first: Option<usize>,
    /// The labels of those that wait. Those of samples that were dropped since come first.
    labels: Vec<Option<Arc<LabelSet>>>,
}

impl Collections {
    /// Whether samples wait.
    pub(super) fn are_waiting(&self) -> bool {
        self.first.is_some()
    }

    /// How many of the trace's samples will not change any more.
    pub(super) fn settled(&self, held: usize) -> usize {
        self.first.unwrap_or(held)
    }

    /// The sample at this index waits, and all that follow it.
    pub(super) fn wait_from(&mut self, index: usize) {
        self.first.get_or_insert(index);
    }

    /// Adds the labels of a sample, if samples wait.
    pub(super) fn add_labels(&mut self, labels: &Option<Arc<LabelSet>>) {
        if self.are_waiting() {
            self.labels.push(labels.clone());
        }
    }

    /// The trace has lost so many samples at its start.
    pub(super) fn dropped(&mut self, count: usize) {
        self.first = self.first.map(|first| first.saturating_sub(count));
    }

    /// Samples do not wait any more: they have no stack.
    pub(super) fn settle(&mut self) {
        self.first = None;
        self.labels.clear();
    }

    /// Sets what is known of the last sample that was not a garbage collection's.
    pub(super) fn set_before(&mut self, resolved: Option<Resolved>) {
        self.stack_before = resolved.and_then(|resolved| resolved.stack);
        self.own_before = resolved.map(|resolved| resolved.own);
    }

    /// Sets the labels of that sample.
    pub(super) fn set_labels_before(&mut self, labels: &Option<Arc<LabelSet>>) {
        self.labels_before.clone_from(labels);
    }

    /// Whether the session's own agent was active before; `None` when that is not known.
    pub(super) fn own_before(&self) -> Option<bool> {
        self.own_before
    }

    /// The stack before, which belongs to the tables and has another id when they change.
    pub(super) fn stack_before(&self) -> Option<StackId> {
        self.stack_before
    }

    /// Sets the id of that stack in other tables.
    pub(super) fn move_stack_before(&mut self, stack: Option<StackId>) {
        self.stack_before = stack;
    }

    /// Gives the samples that wait a stack. The frames that the stacks before and after share were on the stack all the
    /// time, as far as samples can tell. If a garbage collection has labels that neither of the two samples has, it
    /// interrupted other work.
    pub(super) fn give_stacks(
        &mut self,
        trace: &mut Trace,
        stack_after: Option<StackId>,
        labels_after: &Option<Arc<LabelSet>>,
    ) {
        let Some(first) = self.first.take() else { return };
        let labels = std::mem::take(&mut self.labels);
        let shared = match (self.stack_before, stack_after) {
            (Some(before), Some(after)) => trace.shared_ancestor(before, after),
            _ => None,
        };
        let held = trace.samples().len();
        let labels = &labels[labels.len().saturating_sub(held - first)..];
        for (index, own) in (first..held).zip(labels) {
            let is_of_neighbor = own.is_none() || own == &self.labels_before || own == labels_after;
            trace.set_sample_stack(index, shared.filter(|_| is_of_neighbor));
        }
    }
}
