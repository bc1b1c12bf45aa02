//! Marks and measures: [High Resolution Time], [Performance Timeline] and [User Timing], as Level 3 and the
//! [Working Draft of 8 May 2012] have it.
//!
//! A program records what it does with `mark(name)` and `measure(name, start, end)`. This crate implements those
//! methods:
//!
//! * [`Clock`] coarsens readings of a monotonic clock;
//! * [`Timeline`] holds the performance entry buffers, with 16 bytes per mark and 24 per measure, and answers queries
//!   in time order, or in the order of the calls as the draft of 2012 requires;
//! * [`Bounds`] are the start and the end of a measure: marks, times or [`TimingAttribute`]s of a page's load;
//! * [`Observers`] lists which observers an entry is queued for.
//!
//! ```
//! use selfprof_timing::{Bound, Bounds, Clock, Filter, Limits, NameId, Nanos, Resolution, Timeline};
//!
//! let clock = Clock::new(Nanos(1_000_000), Resolution::Isolated);
//! let mut timeline = Timeline::new(Limits::default());
//! let (load, parse) = (NameId(0), NameId(1));
//!
//! timeline.mark(load, clock.at(Nanos(3_507_900)));
//! let bounds = Bounds { start: Bound::Mark(load), ..Bounds::default() };
//! let range = timeline.measure(parse, &bounds, || clock.at(Nanos(5_000_000)))?;
//! assert_eq!((range.start.0, range.duration.0), (2.505, 1.495));
//!
//! let names: Vec<NameId> = timeline.entries(Filter::default()).iter().map(|entry| entry.name).collect();
//! assert_eq!(names, [load, parse]);
//! # Ok::<(), selfprof_timing::MeasureError>(())
//! ```
//!
//! The caller interns names and passes [`NameId`]s: JavaScript's strings may contain lone surrogates, which Rust's
//! cannot, and the names need to be stored on one side only.
//!
//! Absent on purpose: clocks (readings are passed in), the objects that scripts see with their `detail`, the queues of
//! observers, tasks, V8 and JSON. The JavaScript of the npm package has those.
//!
//! [High Resolution Time]: https://w3c.github.io/hr-time/
//! [Performance Timeline]: https://w3c.github.io/performance-timeline/
//! [User Timing]: https://w3c.github.io/user-timing/
//! [Working Draft of 8 May 2012]: https://www.w3.org/TR/2012/WD-user-timing-20120508/
#![forbid(unsafe_code)]

mod buffer;
mod clock;
mod entry;
mod measure;
mod names;
mod observer;
mod performance_timing;
mod timeline;

pub use clock::{Clock, HighResTime, Nanos, Resolution};
pub use entry::{Entry, EntryType, NameId, Sequence};
pub use measure::{Bound, Bounds, Edge, MeasureError, Range};
pub use observer::{EntryTypes, Members, ObserveError, ObserverId, ObserverType, Observers};
pub use performance_timing::{PerformanceTiming, TimingAttribute};
pub use timeline::{Appended, Filter, Limits, Timeline};
