//! Samples that stand for calls.

use crate::calls::Calls;
use crate::id::StackId;
use crate::intern_error::InternError;
use crate::sample::Sample;
use crate::stack::Stack;
use crate::trace::Trace;

impl Trace {
    /// Adds a sample for each time between two events, if there are calls and no samples: what ran then, with its exact
    /// time as the sample's [weight](Self::weights).
    ///
    /// Fails if the table of stacks is full.
    pub fn add_call_samples(&mut self) -> Result<(), InternError> {
        let Some(calls) = self.calls().filter(|_| self.samples().is_empty()).cloned() else { return Ok(()) };
        let mut stacks: Vec<StackId> = Vec::new();
        for frame in calls.running_at_start() {
            stacks.push(self.stack(Stack { parent: stacks.last().copied(), frame })?);
        }
        // It stands for no time.
        let mut last = calls.start();
        self.push_sample(Sample { timestamp: last, stack: None, marker: None });
        for event in calls.events() {
            if event.timestamp > last {
                last = event.timestamp;
                self.push_sample(Sample { timestamp: last, stack: stacks.last().copied(), marker: None });
            }
            if event.event_type.begins() {
                stacks.push(self.stack(Stack { parent: stacks.last().copied(), frame: event.frame })?);
            } else {
                stacks.pop();
            }
        }
        if calls.end() > last {
            let stack = stacks.last().copied();
            self.push_sample(Sample { timestamp: calls.end(), stack, marker: None });
        }
        Ok(())
    }

    /// The same for these calls, of which only the samples stay: without counts, and with the time of each sample as
    /// its [duration](Self::durations).
    ///
    /// Fails if the table of stacks is full.
    pub fn push_calls(&mut self, calls: Calls) -> Result<(), InternError> {
        let start = calls.start();
        self.set_calls(Some(calls));
        let result = self.add_call_samples();
        self.set_calls(None);
        self.set_start(start);
        result
    }
}

#[cfg(test)]
mod tests;
