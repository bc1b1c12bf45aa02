//! The timeline of one global object.

use std::cell::RefCell;
use std::rc::Rc;

use napi::bindgen_prelude::{Float64Array, Object, Uint32Array};
use napi::{Env, Error, Result, Status};
use napi_derive::napi;
use selfprof_timing::{
    Clock, EntryType, EntryTypes, Filter, Limits, Members, NameId, Nanos, ObserverId, ObserverType,
    Observers, PerformanceTiming, Resolution, TimingAttribute,
};

use super::fast_calls;
use super::shared::SharedTimeline;
use super::timeline_columns::{EntryColumns, ValueColumns};
use super::weak_objects::{self, WeakObjects};

/// The limits of a timeline's buffers; absent for no limit.
#[napi(object)]
pub struct TimelineLimits {
    /// The maximum number of marks.
    pub mark: Option<f64>,
    /// The maximum number of measures.
    pub measure: Option<f64>,
}

/// The marks and measures of one global object.
///
/// Types are numbers: 1 is a mark, 2 a measure, and 0 stands for both where a method accepts it. A name is a small
/// number that the caller assigned, and -1 stands for all names.
#[napi]
pub struct Timeline {
    shared: Rc<SharedTimeline>,
    /// The objects of entries that JavaScript has made.
    weak_objects: Rc<RefCell<WeakObjects>>,
    observers: Observers,
}

#[napi]
impl Timeline {
    /// `origin` is the timeline's time 0 on the clock of `now()`, in milliseconds. `resolution` is 5 or 100
    /// microseconds. `timing` has the attributes of a window's `PerformanceTiming`, in the order of the interface.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        env: &Env,
        origin: f64,
        resolution: u32,
        limits: Option<TimelineLimits>,
        timing: Option<Float64Array>,
    ) -> Result<Self> {
        let origin =
            Nanos::from_millis_f64(origin).ok_or_else(|| invalid("the time origin is not a valid time"))?;
        let resolution = [Resolution::Isolated, Resolution::Shared]
            .into_iter()
            .find(|known| known.micros() == u64::from(resolution))
            .ok_or_else(|| invalid("the resolution must be 5 or 100 microseconds"))?;
        let limit = |given: Option<f64>| given.map_or(u32::MAX, |limit| limit as u32);
        let limits = limits.map_or_else(Limits::default, |limits| Limits {
            marks: limit(limits.mark),
            measures: limit(limits.measure),
        });
        let mut timeline = selfprof_timing::Timeline::new(limits);
        timeline.set_timing(timing.as_deref().map(performance_timing).transpose()?);
        Ok(Self {
            shared: Rc::new(SharedTimeline {
                functions: &fast_calls::FUNCTIONS,
                timeline: RefCell::new(timeline),
                clock: Clock::new(origin, resolution),
                result: Default::default(),
            }),
            weak_objects: Rc::new(RefCell::new(WeakObjects::new(env))),
            observers: Observers::default(),
        })
    }

    /// An object whose methods are called for each entry: `now`, `mark`, `markAt`, `measureAt`, `clear`, `uses` and
    /// `resolve`; `result`, which `resolve` writes to; and two functions for weak references to objects:
    ///
    /// * `setWeak(number, object)` makes `number` refer to an object;
    /// * `getWeak(number)` returns it, or undefined when it was collected. Unlike `WeakRef.deref()`, this does not keep
    ///   the object alive until the job ends.
    #[napi(catch_unwind)]
    pub fn fast_calls<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        let mut object = fast_calls::object(env, &self.shared)?;
        let shared = Rc::clone(&self.shared);
        let result = self.shared.result.as_ptr().cast_mut().cast::<f64>();
        let length = self.shared.result.len();
        // SAFETY: the cells have the size and alignment of numbers, only this thread touches them, and the clone keeps
        // them in place until the array is gone.
        let result = unsafe { Float64Array::with_external_data(result, length, move |_, _| drop(shared)) };
        object.set("result", result)?;
        weak_objects::define(env, &mut object, &self.weak_objects)?;
        Ok(object)
    }

    /// Sets the attributes of `PerformanceTiming`, which change while a page loads.
    #[napi(catch_unwind)]
    pub fn set_timing(&self, timing: Float64Array) -> Result<()> {
        let timing = performance_timing(&timing)?;
        self.timeline()?.set_timing(Some(timing));
        Ok(())
    }

    /// The start of the latest mark with a name, NaN when there is none.
    #[napi(catch_unwind)]
    pub fn latest(&self, name: u32) -> Result<f64> {
        Ok(self.timeline()?.latest_mark(NameId(name)).map_or(f64::NAN, |start| start.0))
    }

    /// Whether an entry has this name.
    #[napi(catch_unwind)]
    pub fn uses(&self, name: u32) -> Result<bool> {
        Ok(self.timeline()?.uses(NameId(name)))
    }

    /// The entries with a type and a name, in the order of their starts.
    #[napi(catch_unwind)]
    pub fn entries(&self, entry_type: u32, name: f64) -> Result<EntryColumns> {
        let filter = filter(entry_type, name)?;
        let timeline = self.timeline()?;
        Ok(EntryColumns::of(&timeline, filter))
    }

    /// The starts of marks (type 1) or the durations of measures (type 2), in the order in which they were made.
    #[napi(catch_unwind)]
    pub fn in_call_order(&self, entry_type: u32, name: f64) -> Result<ValueColumns> {
        let Filter { entry_type, name } = filter(entry_type, name)?;
        let entry_type = entry_type.ok_or_else(|| invalid("the entry type must be 1 or 2"))?;
        let timeline = self.timeline()?;
        Ok(ValueColumns::of(&timeline, entry_type, name))
    }

    /// Removes the entries with a type and a name. Returns the names that no entry has any more.
    #[napi(catch_unwind)]
    pub fn clear(&self, entry_type: u32, name: f64) -> Result<Uint32Array> {
        let filter = filter(entry_type, name)?;
        let mut timeline = self.timeline()?;
        let unused: Vec<u32> = timeline.clear(filter).into_iter().map(|name| name.0).collect();
        let is_empty = timeline.count(Filter::default()) == 0;
        drop(timeline);
        if is_empty {
            self.weak_objects.borrow_mut().clear();
        }
        Ok(unused.into())
    }

    /// How many entries of a type were dropped because their buffer was full.
    #[napi(catch_unwind)]
    pub fn dropped(&self, entry_type: u32) -> Result<f64> {
        Ok(self.timeline()?.dropped(types(entry_type)?) as f64)
    }

    /// How many entries were made, including those that are gone: the sequence number of the next.
    #[napi(catch_unwind)]
    pub fn made(&self) -> Result<f64> {
        Ok(self.timeline()?.made() as f64)
    }

    /// How many more entries of a type, 1 or 2, fit.
    #[napi(catch_unwind)]
    pub fn room(&self, entry_type: u32) -> Result<f64> {
        let entry_type = filter(entry_type, -1.0)?.entry_type;
        Ok(self.timeline()?.room(entry_type.ok_or_else(|| invalid("the entry type must be 1 or 2"))?) as f64)
    }

    /// The checks and the steps of `observe()`.
    ///
    /// `observer` is a number that the caller assigned. `current` is 0 until its first call has succeeded; then it is 1
    /// if that call had `entryTypes` and 2 if it had `type`. `members` is the sum of 1 for `entryTypes`, 2 for `type`
    /// and 4 for any other. `types` has a bit for each supported type that was requested: 2 for `"mark"`, 4 for
    /// `"measure"`.
    ///
    /// Returns the observer's new `current`, plus 4 when a supported type was requested; or -1 for the `TypeError` of
    /// no types,
    /// -2 for the `TypeError` of `entryTypes` with another member, and -3 for the `InvalidModificationError`.
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

    /// Removes an observer from the list.
    #[napi(catch_unwind)]
    pub fn disconnect(&mut self, observer: u32) {
        self.observers.disconnect(ObserverId(observer));
    }

    /// The observers of any of the types in a set, in the order in which they registered; all with every bit set.
    #[napi(catch_unwind)]
    pub fn interested(&self, types: u32) -> Uint32Array {
        self.observers.interested(EntryTypes(types)).map(|id| id.0).collect::<Vec<_>>().into()
    }

    /// The set of types that are observed.
    #[napi(catch_unwind)]
    pub fn observed(&self) -> u32 {
        self.observers.observed().0
    }

    /// The `droppedEntriesCount` for the options of this observer's next callback, if they need it.
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
    Ok(PerformanceTiming::new(values.map_err(|_| invalid("PerformanceTiming needs 21 attributes"))?))
}

fn filter(entry_type: u32, name: f64) -> Result<Filter> {
    let entry_type = match entry_type {
        0 => None,
        1 => Some(EntryType::Mark),
        2 => Some(EntryType::Measure),
        _ => return Err(invalid("the entry type must be 0, 1 or 2")),
    };
    Ok(Filter { entry_type, name: (name >= 0.0).then_some(NameId(name as u32)) })
}

fn types(entry_type: u32) -> Result<EntryTypes> {
    Ok(filter(entry_type, -1.0)?.entry_type.map_or(EntryTypes(u32::MAX), EntryTypes::from))
}

fn invalid(reason: &str) -> Error {
    Error::new(Status::InvalidArg, reason.to_owned())
}
