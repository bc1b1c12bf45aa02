//! The functions that are called once per entry.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::rc::Rc;

use napi::bindgen_prelude::Object;
use napi::{Env, Error, Result, Status, check_status, sys};
use selfprof_timing::{
    Appended, Bound, Bounds, Edge, EntryType, Filter, HighResTime, MeasureError, NameId, Range,
    TimingAttribute,
};
use selfprof_v8::{TimelineFunctions, timeline_object};

use super::shared::SharedTimeline;

/// Makes the object whose methods are these functions. It shares ownership of the timeline.
pub fn object<'env>(env: &'env Env, shared: &Rc<SharedTimeline>) -> Result<Object<'env>> {
    let data = Rc::into_raw(Rc::clone(shared)).cast_mut().cast::<c_void>();
    // SAFETY: a `SharedTimeline` begins with its functions, and this reference is released when the object is gone.
    let Some(object) = (unsafe { timeline_object(data) }) else {
        release(data);
        return Err(Error::new(Status::PendingException, "the timeline's functions could not be created"));
    };
    let object = object.as_ptr().cast();
    // SAFETY: the environment is this thread's, and a handle of V8 is a value of Node-API. The finalizer runs once.
    unsafe {
        check_status!(sys::napi_add_finalizer(
            env.raw(),
            object,
            data,
            Some(finalize),
            ptr::null_mut(),
            ptr::null_mut(),
        ))?;
        Ok(Object::from_raw(env.raw(), object))
    }
}

unsafe extern "C" fn finalize(_: sys::napi_env, data: *mut c_void, _: *mut c_void) {
    let _ = catch_unwind(AssertUnwindSafe(|| release(data)));
}

fn release(data: *mut c_void) {
    // SAFETY: `object` took this reference, and this releases it, once.
    drop(unsafe { Rc::from_raw(data.cast_const().cast::<SharedTimeline>()) });
}

/// The functions of every timeline.
pub static FUNCTIONS: TimelineFunctions =
    TimelineFunctions { now, mark, mark_at, measure_at, clear, uses, resolve };

/// Runs one of the functions. Returns NaN in cases that should not occur: a timeline that is in use, an unknown kind, a
/// panic.
fn run(data: *mut c_void, function: impl FnOnce(&SharedTimeline) -> Option<f64>) -> f64 {
    // SAFETY: the object whose method this is holds a reference.
    let shared = unsafe { &*data.cast_const().cast::<SharedTimeline>() };
    catch_unwind(AssertUnwindSafe(|| function(shared))).ok().flatten().unwrap_or(f64::NAN)
}

/// `now() -> ms`
extern "C" fn now(data: *mut c_void) -> f64 {
    run(data, |shared| Some(shared.now().0))
}

/// `mark(name) -> start`
extern "C" fn mark(data: *mut c_void, name: u32) -> f64 {
    run(data, |shared| {
        let start = shared.now();
        shared.timeline.try_borrow_mut().ok()?.mark(NameId(name), start);
        Some(start.0)
    })
}

/// `markAt(name, start) -> 1 when the buffer had room, else 0`
extern "C" fn mark_at(data: *mut c_void, name: u32, start: f64) -> f64 {
    run(data, |shared| {
        let appended = shared.timeline.try_borrow_mut().ok()?.mark(NameId(name), HighResTime(start));
        Some(has_room(appended))
    })
}

/// `measureAt(name, start, duration) -> 1 when the buffer had room, else 0`
extern "C" fn measure_at(data: *mut c_void, name: u32, start: f64, duration: f64) -> f64 {
    run(data, |shared| {
        let range = Range { start: HighResTime(start), duration: HighResTime(duration) };
        let appended = shared.timeline.try_borrow_mut().ok()?.append_measure(NameId(name), range);
        Some(has_room(appended))
    })
}

fn has_room(appended: Appended) -> f64 {
    match appended {
        Appended::Kept => 1.0,
        Appended::Dropped => 0.0,
    }
}

/// `clear(type, name) -> how many names no entry has any more`. The name 2^32 - 1 stands for all.
extern "C" fn clear(data: *mut c_void, entry_type: u32, name: u32) -> f64 {
    run(data, |shared| {
        let entry_type = EntryType::ALL.into_iter().find(|&known| known as u32 == entry_type)?;
        let name = (name != u32::MAX).then_some(NameId(name));
        let unused =
            shared.timeline.try_borrow_mut().ok()?.clear(Filter { entry_type: Some(entry_type), name });
        Some(unused.len() as f64)
    })
}

/// `uses(name) -> 1 when an entry has the name, else 0`
extern "C" fn uses(data: *mut c_void, name: u32) -> f64 {
    run(data, |shared| Some(f64::from(u8::from(shared.timeline.try_borrow().ok()?.uses(NameId(name))))))
}

/// `resolve(startKind, start, endKind, end, duration) -> status`
extern "C" fn resolve(
    data: *mut c_void,
    start_kind: u32,
    start: f64,
    end_kind: u32,
    end: f64,
    duration: f64,
) -> f64 {
    run(data, |shared| {
        let resolved = shared.resolve(&bounds(start_kind, start, end_kind, end, duration)?);
        Some(resolved.err().map_or(0.0, status))
    })
}

fn bounds(start_kind: u32, start: f64, end_kind: u32, end: f64, duration: f64) -> Option<Bounds> {
    Some(Bounds {
        start: bound(start_kind, start)?,
        end: bound(end_kind, end)?,
        // NaN stands for no duration.
        duration: (!duration.is_nan()).then_some(HighResTime(duration)),
    })
}

fn bound(kind: u32, value: f64) -> Option<Bound> {
    // Casts saturate: every number is some name, and most names have no mark.
    Some(match kind {
        0 => Bound::Omitted,
        1 => Bound::Mark(NameId(value as u32)),
        2 => Bound::Time(HighResTime(value)),
        3 => Bound::Attribute(TimingAttribute::from_index(value as usize)?),
        4 => Bound::UnknownName,
        _ => return None,
    })
}

/// 0 stands for success.
fn status(error: MeasureError) -> f64 {
    let (first, edge) = match error {
        MeasureError::NoSuchMark { edge, .. } => (1, edge),
        MeasureError::AttributeIsZero { edge, .. } => (3, edge),
        MeasureError::NoWindow { edge, .. } => (5, edge),
        MeasureError::NegativeTime { edge } => (7, edge),
        MeasureError::NegativeDuration => return 9.0,
        MeasureError::TooMany => return 10.0,
        MeasureError::DurationAlone => return 11.0,
    };
    f64::from(first + u8::from(edge == Edge::End))
}
