//! The timelines behind `performance`. `npm/lib/timing` is the only caller; it passes what it has converted and
//! checked, and has the objects that scripts see.
//!
//! A timeline belongs to the JS thread that made it, and lives as long as JavaScript holds it or one of its functions.

mod columns;
mod hot;
mod kept;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use napi::bindgen_prelude::{Float64Array, Object, Uint32Array};
use napi::{Env, Error, Result, Status};
use napi_derive::napi;
use selfprof_timing::{
    Bounds, Clock, EntryType, EntryTypes, Filter, HighResTime, Limits, MeasureError, Members, NameId, Nanos,
    ObserverId, ObserverType, Observers, PerformanceTiming, Range, Resolution, TimingAttribute,
};
use selfprof_v8::TimelineFunctions;

use columns::{EntryColumns, ValueColumns};
use kept::Kept;

/// What a timeline and the object with its functions share. JS thread only.
#[repr(C)]
struct Shared {
    /// First, where [`selfprof_v8::timeline_object`] expects it.
    functions: &'static TimelineFunctions,
    timeline: RefCell<selfprof_timing::Timeline>,
    clock: Clock,
    /// Start and duration of the last measure that was resolved. JavaScript sees it as a `Float64Array`.
    result: [Cell<f64>; 2],
}

impl Shared {
    fn now(&self) -> HighResTime {
        self.clock.at(Nanos(selfprof_v8::now_ns()))
    }

    fn resolve(&self, bounds: &Bounds) -> std::result::Result<Range, MeasureError> {
        let range = self.timeline.borrow().resolve(bounds, || self.now())?;
        self.result[0].set(range.start.0);
        self.result[1].set(range.duration.0);
        Ok(range)
    }
}

/// The limits of a timeline's buffers; none when absent.
#[napi(object)]
pub struct TimelineLimits {
    /// Of marks.
    pub mark: Option<f64>,
    /// Of measures.
    pub measure: Option<f64>,
}

/// The marks and measures of one global object.
///
/// Types are numbers: 1 is a mark, 2 a measure, and 0 stands for both where a method takes it. A name is a small number
/// that the caller gave it, and -1 stands for all.
#[napi]
pub struct Timeline {
    shared: Rc<Shared>,
    /// The objects of entries, as far as the face knows them.
    kept: Rc<RefCell<Kept>>,
    observers: Observers,
}

#[napi]
impl Timeline {
    /// `origin`: time 0 of this timeline on the clock of `now()`, in milliseconds. `resolution`: 5 or 100 microseconds.
    /// `timing`: the attributes of a window's `PerformanceTiming` in the order of the interface.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        env: &Env,
        origin: f64,
        resolution: u32,
        limits: Option<TimelineLimits>,
        timing: Option<Float64Array>,
    ) -> Result<Self> {
        let origin =
            Nanos::from_millis_f64(origin).ok_or_else(|| invalid("the origin is no point on the clock"))?;
        let resolution = [Resolution::Isolated, Resolution::Shared]
            .into_iter()
            .find(|known| known.micros() == u64::from(resolution))
            .ok_or_else(|| invalid("the resolution is neither 5 nor 100"))?;
        let limit = |given: Option<f64>| given.map_or(u32::MAX, |limit| limit as u32);
        let limits = limits.map_or_else(Limits::default, |limits| Limits {
            marks: limit(limits.mark),
            measures: limit(limits.measure),
        });
        let mut timeline = selfprof_timing::Timeline::new(limits);
        timeline.set_timing(timing.as_deref().map(performance_timing).transpose()?);
        Ok(Self {
            shared: Rc::new(Shared {
                functions: &hot::FUNCTIONS,
                timeline: RefCell::new(timeline),
                clock: Clock::new(origin, resolution),
                result: Default::default(),
            }),
            kept: Rc::new(RefCell::new(Kept::new(env))),
            observers: Observers::default(),
        })
    }

    /// An object whose methods are called for each entry: `now`, `mark`, `markAt`, `measureAt`, `clear`, `uses`
    /// and `resolve`; `result`, which the last of them writes to; and two functions for objects that somebody else keeps alive:
    ///
    /// * `keep(number, object)` refers to an object weakly, in place of the one of that number;
    /// * `kept(number)` gives it, or undefined when it was collected. Unlike a `WeakRef`, asking does not keep it until
    ///   the job ends.
    #[napi(catch_unwind)]
    pub fn hot<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        let mut hot = hot::object(env, &self.shared)?;
        let shared = Rc::clone(&self.shared);
        let result = self.shared.result.as_ptr().cast_mut().cast::<f64>();
        let length = self.shared.result.len();
        // SAFETY: the cells are as large and as aligned as numbers, only this thread touches them, and the clone keeps
        // them where they are until the array is gone.
        let result = unsafe { Float64Array::with_external_data(result, length, move |_, _| drop(shared)) };
        hot.set("result", result)?;
        kept::define(env, &mut hot, &self.kept)?;
        Ok(hot)
    }

    /// Sets the attributes of `PerformanceTiming`, which change while a page loads.
    #[napi(catch_unwind)]
    pub fn set_timing(&self, timing: Float64Array) -> Result<()> {
        let timing = performance_timing(&timing)?;
        self.timeline()?.set_timing(Some(timing));
        Ok(())
    }

    /// The start of the latest mark of a name, NaN when there is none.
    #[napi(catch_unwind)]
    pub fn latest(&self, name: u32) -> Result<f64> {
        Ok(self.timeline()?.latest_mark(NameId(name)).map_or(f64::NAN, |start| start.0))
    }

    /// Whether an entry has this name.
    #[napi(catch_unwind)]
    pub fn uses(&self, name: u32) -> Result<bool> {
        Ok(self.timeline()?.uses(NameId(name)))
    }

    /// The entries of a type and a name in the order of their starts.
    #[napi(catch_unwind)]
    pub fn entries(&self, entry_type: u32, name: f64) -> Result<EntryColumns> {
        let filter = filter(entry_type, name)?;
        let timeline = self.timeline()?;
        Ok(EntryColumns::of(&timeline, filter))
    }

    /// The starts of marks (type 1) or the durations of measures (type 2) in the order in which they were made.
    #[napi(catch_unwind)]
    pub fn in_call_order(&self, entry_type: u32, name: f64) -> Result<ValueColumns> {
        let Filter { entry_type, name } = filter(entry_type, name)?;
        let entry_type = entry_type.ok_or_else(|| invalid("the type is neither 1 nor 2"))?;
        let timeline = self.timeline()?;
        Ok(ValueColumns::of(&timeline, entry_type, name))
    }

    /// Removes the entries of a type and a name. Gives the names that no entry has any more.
    #[napi(catch_unwind)]
    pub fn clear(&self, entry_type: u32, name: f64) -> Result<Uint32Array> {
        let filter = filter(entry_type, name)?;
        let mut timeline = self.timeline()?;
        let unused: Vec<u32> = timeline.clear(filter).into_iter().map(|name| name.0).collect();
        let is_empty = timeline.count(Filter::default()) == 0;
        drop(timeline);
        if is_empty {
            self.kept.borrow_mut().forget_all();
        }
        Ok(unused.into())
    }

    /// How many entries of a type found their buffer full.
    #[napi(catch_unwind)]
    pub fn dropped(&self, entry_type: u32) -> Result<f64> {
        Ok(self.timeline()?.dropped(types(entry_type)?) as f64)
    }

    /// How many entries were made, those that are gone included: the sequence number of the next.
    #[napi(catch_unwind)]
    pub fn made(&self) -> Result<f64> {
        Ok(self.timeline()?.made() as f64)
    }

    /// How many more entries of a type, 1 or 2, fit.
    #[napi(catch_unwind)]
    pub fn room(&self, entry_type: u32) -> Result<f64> {
        let entry_type = filter(entry_type, -1.0)?.entry_type;
        Ok(self.timeline()?.room(entry_type.ok_or_else(|| invalid("the type is neither 1 nor 2"))?) as f64)
    }

    /// The checks and the steps of `observe()`.
    ///
    /// `observer` is a number of the caller's; `current` is 0 until its first call succeeded, then 1 if that had
    /// `entryTypes` and 2 if it had `type`. `members`: 1 `entryTypes`, 2 `type`, 4 any other, added up. `types`: a bit
    /// for each supported type that was asked for, 2 for `"mark"` and 4 for `"measure"`.
    ///
    /// Gives the observer's `current` from now on, plus 4 when a supported type was asked for; or -1 or -2 for the
    /// `TypeError` of no types and of `entryTypes` in company, and -3 for the `InvalidModificationError`.
    #[napi(catch_unwind)]
    pub fn observe(&mut self, observer: u32, current: u32, members: u32, types: u32) -> i32 {
        use selfprof_timing::ObserveError;
        let current = match current {
            1 => Some(ObserverType::Multiple),
            2 => Some(ObserverType::Single),
            _ => None,
        };
        let members = Members {
            entry_types: members & 1 != 0,
            single_type: members & 2 != 0,
            others: members & 4 != 0,
        };
        match ObserverType::check(current, members) {
            Ok(observer_type) => {
                let any = self.observers.observe(ObserverId(observer), observer_type, EntryTypes(types));
                let code = if observer_type == ObserverType::Multiple { 1 } else { 2 };
                code + if any { 4 } else { 0 }
            }
            Err(ObserveError::NoTypes) => -1,
            Err(ObserveError::NotAlone) => -2,
            Err(ObserveError::Mixed { .. }) => -3,
        }
    }

    /// Takes an observer off the list.
    #[napi(catch_unwind)]
    pub fn disconnect(&mut self, observer: u32) {
        self.observers.disconnect(ObserverId(observer));
    }

    /// The observers of any of the types in a set, in the order in which they registered; all with every bit set.
    #[napi(catch_unwind)]
    pub fn interested(&self, types: u32) -> Uint32Array {
        self.observers.interested(EntryTypes(types)).map(|id| id.0).collect::<Vec<_>>().into()
    }

    /// The set of types that somebody observes.
    #[napi(catch_unwind)]
    pub fn observed(&self) -> u32 {
        self.observers.observed().0
    }

    /// The `droppedEntriesCount` of the options of this observer's next callback, if they are to have it.
    #[napi(catch_unwind)]
    pub fn take_dropped(&mut self, observer: u32) -> Result<Option<f64>> {
        let types = self.observers.take_requires_dropped_entries(ObserverId(observer));
        types.map(|types| Ok(self.timeline()?.dropped(types) as f64)).transpose()
    }
}

impl Timeline {
    fn timeline(&self) -> Result<std::cell::RefMut<'_, selfprof_timing::Timeline>> {
        self.shared.timeline.try_borrow_mut().map_err(|_| Error::from_reason("the timeline is in use"))
    }
}

fn performance_timing(values: &[f64]) -> Result<PerformanceTiming> {
    let values = <[f64; TimingAttribute::ALL.len()]>::try_from(values);
    Ok(PerformanceTiming::new(values.map_err(|_| invalid("PerformanceTiming has 21 attributes"))?))
}

fn filter(entry_type: u32, name: f64) -> Result<Filter> {
    let entry_type = match entry_type {
        0 => None,
        1 => Some(EntryType::Mark),
        2 => Some(EntryType::Measure),
        _ => return Err(invalid("the type is none of 0, 1 and 2")),
    };
    Ok(Filter { entry_type, name: (name >= 0.0).then_some(NameId(name as u32)) })
}

fn types(entry_type: u32) -> Result<EntryTypes> {
    Ok(filter(entry_type, -1.0)?.entry_type.map_or(EntryTypes(u32::MAX), EntryTypes::from))
}

fn invalid(reason: &str) -> Error {
    Error::new(Status::InvalidArg, reason.to_owned())
}
