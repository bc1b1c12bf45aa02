//! What a timeline and its object with fast calls share.

use std::cell::{Cell, RefCell};

use selfprof_timing::{Bounds, Clock, HighResTime, MeasureError, Nanos, Range, Timeline};
use selfprof_v8::TimelineFunctions;

/// Touched by its JS thread alone.
#[repr(C)]
pub struct SharedTimeline {
    /// First, where [`selfprof_v8::timeline_object`] expects it.
    pub functions: &'static TimelineFunctions,
    /// The entries.
    pub timeline: RefCell<Timeline>,
    /// The clock of their times.
    pub clock: Clock,
    /// Start and duration of the last measure that was resolved. JavaScript sees it as a `Float64Array`.
    pub result: [Cell<f64>; 2],
}

// `timeline_object` reads the functions through the object's first word.
const _: () = assert!(std::mem::offset_of!(SharedTimeline, functions) == 0);

impl SharedTimeline {
    /// Now, on the timeline's clock.
    pub fn now(&self) -> HighResTime {
        self.clock.at(Nanos(selfprof_v8::now_ns()))
    }

    /// Computes a measure's start and duration, and writes them to `result`.
    pub fn resolve(&self, bounds: &Bounds) -> Result<Range, MeasureError> {
        let range = self.timeline.borrow().resolve(bounds, || self.now())?;
        self.result[0].set(range.start.0);
        self.result[1].set(range.duration.0);
        Ok(range)
    }
}
