//! The garbage collector as a function of its own.

use crate::frame::Frame;
use crate::id::FrameId;
use crate::intern_error::InternError;
use crate::marker::Marker;
use crate::sample::Sample;
use crate::stack::Stack;
use crate::trace::Trace;

/// The name of the frame that stands for the garbage collector; V8's tools use the same.
pub const GARBAGE_COLLECTOR: &str = "(garbage collector)";

impl Trace {
    /// Puts a frame named [`GARBAGE_COLLECTOR`] on top of the stack of each sample with the marker `gc`, so that the
    /// collector's time is not attributed to any function. Samples without a stack get this frame alone.
    ///
    /// A W3C trace has no such frame, so this is for showing a trace to people, not for storing it. Calling it again
    /// changes nothing. If a table is full, the remaining samples keep their stacks.
    pub fn add_gc_frames(&mut self) {
        // The error is that a table is full.
        let _ = self.try_add_gc_frames();
    }

    /// Whether this frame stands for the garbage collector.
    pub fn is_gc(&self, frame: FrameId) -> bool {
        self.frames()
            .get(frame)
            .is_some_and(|frame| frame.resource.is_none() && &self.names()[frame.name] == GARBAGE_COLLECTOR)
    }

    fn try_add_gc_frames(&mut self) -> Result<(), InternError> {
        let is_collection = |sample: &Sample| sample.marker == Some(Marker::Gc);
        let Some(first) = self.samples().iter().position(is_collection) else { return Ok(()) };
        let name = self.name(GARBAGE_COLLECTOR)?;
        let frame = self.frame(Frame { name, resource: None, line: None, column: None })?;
        for index in first..self.samples().len() {
            let Sample { stack, marker, .. } = self.samples()[index];
            let has_frame = stack.is_some_and(|stack| self.stacks()[stack].frame == frame);
            if marker == Some(Marker::Gc) && !has_frame {
                let stack = self.stack(Stack { parent: stack, frame })?;
                self.set_sample_stack(index, Some(stack));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::micros::Micros;
    use crate::summary::Summary;

    /// Samples of `work`, of `work` in a collection, of a collection alone and of another marker; then idle.
    fn trace() -> Trace {
        let mut trace = Trace::new();
        let name = trace.name("work").unwrap();
        let resource = Some(trace.resource("a.js").unwrap());
        let frame = trace.frame(Frame { name, resource, line: None, column: None }).unwrap();
        let work = Some(trace.stack(Stack { parent: None, frame }).unwrap());
        let samples = [
            (work, Some(Marker::Script)),
            (work, Some(Marker::Gc)),
            (None, Some(Marker::Gc)),
            (None, Some(Marker::Layout)),
            (None, None),
        ];
        for (index, (stack, marker)) in (0..).zip(samples) {
            trace.push_sample(Sample { timestamp: Micros(index * 10), stack, marker });
        }
        trace
    }

    #[track_caller]
    fn check(trace: &Trace, expected: &[(&str, u64, u64)]) {
        let summary = Summary::of(trace);
        let row = |row: &crate::summary::FunctionRow| {
            (&trace.names()[trace.frames()[row.frame].name], row.self_samples, row.total_samples)
        };
        assert_eq!(summary.functions.iter().map(row).collect::<Vec<_>>(), expected);
        // It is about functions only.
        assert_eq!(summary.marker(Marker::Gc).samples, 2);
        assert_eq!((summary.busy.samples, summary.idle.samples), (4, 1));
    }

    #[test]
    fn gc_time_is_no_function_s_self_time() {
        let mut trace = trace();
        check(&trace, &[("work", 2, 2)]);
        for _ in 0..2 {
            trace.add_gc_frames();
            check(&trace, &[("(garbage collector)", 2, 2), ("work", 1, 2)]);
        }
        let are_gc: Vec<bool> = trace.frames().iter().map(|(frame, _)| trace.is_gc(frame)).collect();
        assert_eq!(are_gc, [false, true]);
    }

    #[test]
    fn traces_without_collections_do_not_change() {
        let mut trace = Trace::new();
        trace.push_sample(Sample { timestamp: Micros(1), stack: None, marker: Some(Marker::Layout) });
        trace.add_gc_frames();
        assert!(trace.names().is_empty() && trace.samples()[0].stack.is_none());
    }

    #[test]
    fn a_function_of_a_script_is_not_gc() {
        let mut trace = Trace::new();
        let name = trace.name(GARBAGE_COLLECTOR).unwrap();
        let resource = Some(trace.resource("a.js").unwrap());
        let frame = trace.frame(Frame { name, resource, line: None, column: None }).unwrap();
        assert!(!trace.is_gc(frame));
    }
}
