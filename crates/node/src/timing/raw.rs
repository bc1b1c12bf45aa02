//! The functions that are called once an entry, without the argument conversions of napi-rs: those cost more than all that is
//! done here.

use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::rc::Rc;

use napi::bindgen_prelude::Object;
use napi::{Env, JsValue, Result, check_status, sys};
use selfprof_timing::{Bound, Bounds, Edge, HighResTime, MeasureError, NameId, Range, TimingAttribute};

use super::Shared;

/// Defines the functions on an object. Each holds the timeline.
pub fn define(env: &Env, functions: &mut Object, shared: &Rc<Shared>) -> Result<()> {
    let all: [(&CStr, sys::napi_callback); 5] = [
        (c"now", Some(call::<Now, 0>)),
        (c"mark", Some(call::<Mark, 1>)),
        (c"measure", Some(call::<Measure, 6>)),
        (c"resolve", Some(call::<Resolve, 5>)),
        (c"append", Some(call::<Append, 3>)),
    ];
    for (name, callback) in all {
        let data = Rc::into_raw(Rc::clone(shared)).cast_mut().cast::<c_void>();
        let mut function = ptr::null_mut();
        // SAFETY: the environment is this thread's, and the name is as long as it is said to be. The function has a share of
        // its own in what `data` points to, which the finalizer gives back.
        unsafe {
            let length = name.count_bytes() as isize;
            check_status!(sys::napi_create_function(
                env.raw(),
                name.as_ptr().cast::<c_char>(),
                length,
                callback,
                data,
                &mut function,
            ))?;
            check_status!(sys::napi_add_finalizer(
                env.raw(),
                function,
                data,
                Some(release),
                ptr::null_mut(),
                ptr::null_mut(),
            ))?;
            check_status!(
                sys::napi_set_named_property(env.raw(), functions.raw(), name.as_ptr(), function,)
            )?;
        }
    }
    Ok(())
}

unsafe extern "C" fn release(_: sys::napi_env, data: *mut c_void, _: *mut c_void) {
    // SAFETY: `define` gave one share to each function, and a function is finalized once.
    let shared = unsafe { Rc::from_raw(data.cast_const().cast::<Shared>()) };
    let _ = catch_unwind(AssertUnwindSafe(|| drop(shared)));
}

/// One of the functions. Arguments are converted by whoever calls; what is missing or of another type makes the result
/// `undefined`.
trait Function<const ARGUMENTS: usize> {
    fn run(shared: &Shared, arguments: &[Argument; ARGUMENTS]) -> Option<f64>;
}

/// What Node-API calls.
unsafe extern "C" fn call<F: Function<ARGUMENTS>, const ARGUMENTS: usize>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    let run = || {
        let mut values = [ptr::null_mut(); ARGUMENTS];
        let mut count = ARGUMENTS;
        let mut data = ptr::null_mut();
        // SAFETY: Node-API fills as many values as `count` says, and those that are missing with undefined.
        let status = unsafe {
            sys::napi_get_cb_info(env, info, &mut count, values.as_mut_ptr(), ptr::null_mut(), &mut data)
        };
        if status != sys::Status::napi_ok {
            return None;
        }
        // SAFETY: `define` made the function with this data, of which the function that is being called holds a share.
        let shared = unsafe { &*data.cast_const().cast::<Shared>() };
        let number = F::run(shared, &values.map(|value| Argument { env, value }))?;
        let mut result = ptr::null_mut();
        // SAFETY: the environment is this thread's, and the value is written before the call returns.
        let status = unsafe { sys::napi_create_double(env, number, &mut result) };
        (status == sys::Status::napi_ok).then_some(result)
    };
    catch_unwind(AssertUnwindSafe(run)).ok().flatten().unwrap_or(ptr::null_mut())
}

/// A value, for the time of a call.
#[derive(Clone, Copy)]
struct Argument {
    env: sys::napi_env,
    value: sys::napi_value,
}

impl Argument {
    fn number(self) -> Option<f64> {
        let mut number = 0.0;
        // SAFETY: both come from the call that is going on.
        let status = unsafe { sys::napi_get_value_double(self.env, self.value, &mut number) };
        (status == sys::Status::napi_ok).then_some(number)
    }

    fn id(self) -> Option<NameId> {
        // A cast that saturates: no number is undefined behaviour.
        self.number().map(|number| NameId(number as u32))
    }

    /// The elements of a typed array of this type.
    ///
    /// # Safety
    /// `T` is what the elements of a `kind` array are, and no JavaScript runs while the slice is in use.
    unsafe fn elements<'call, T>(self, kind: sys::napi_typedarray_type) -> Option<&'call [T]> {
        let (mut found, mut length, mut data) = (0, 0, ptr::null_mut());
        // SAFETY: both come from the call that is going on; what is not asked for may be null.
        let status = unsafe {
            sys::napi_get_typedarray_info(
                self.env,
                self.value,
                &mut found,
                &mut length,
                &mut data,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        if status != sys::Status::napi_ok || found != kind {
            return None;
        }
        if data.is_null() {
            return Some(&[]);
        }
        // SAFETY: the array has so many elements there, and the caller sees to the rest.
        Some(unsafe { std::slice::from_raw_parts(data.cast_const().cast::<T>(), length) })
    }
}

/// `now() -> ms`
struct Now;

impl Function<0> for Now {
    fn run(shared: &Shared, _: &[Argument; 0]) -> Option<f64> {
        Some(shared.now().0)
    }
}

/// `mark(name) -> start`
struct Mark;

impl Function<1> for Mark {
    fn run(shared: &Shared, [name]: &[Argument; 1]) -> Option<f64> {
        let name = name.id()?;
        let start = shared.now();
        shared.timeline.try_borrow_mut().ok()?.mark(name, start);
        Some(start.0)
    }
}

/// `measure(name, startKind, start, endKind, end, duration) -> status`
struct Measure;

impl Function<6> for Measure {
    fn run(shared: &Shared, arguments: &[Argument; 6]) -> Option<f64> {
        let [name, start_kind, start, end_kind, end, duration] = arguments;
        let name = name.id()?;
        let bounds = bounds([start_kind, start, end_kind, end, duration])?;
        Some(match shared.resolve(&bounds) {
            Ok(range) => {
                shared.timeline.try_borrow_mut().ok()?.append_measure(name, range);
                0.0
            }
            Err(error) => status(error),
        })
    }
}

/// `resolve(startKind, start, endKind, end, duration) -> status`
struct Resolve;

impl Function<5> for Resolve {
    fn run(shared: &Shared, arguments: &[Argument; 5]) -> Option<f64> {
        Some(shared.resolve(&bounds(arguments.each_ref())?).err().map_or(0.0, status))
    }
}

/// `append(heads, times, count)`: entries in the order in which they were made. A head is a name times two, plus one for a
/// measure; times are a start and a duration each. Gives how many found room.
struct Append;

impl Function<3> for Append {
    fn run(shared: &Shared, [heads, times, count]: &[Argument; 3]) -> Option<f64> {
        let count = count.number()? as usize;
        // SAFETY: these are the types, and nothing here calls into JavaScript.
        let (heads, times) = unsafe {
            (
                heads.elements::<u32>(sys::TypedarrayType::uint32_array)?,
                times.elements::<f64>(sys::TypedarrayType::float64_array)?,
            )
        };
        let mut timeline = shared.timeline.try_borrow_mut().ok()?;
        let mut kept = 0_u32;
        for (head, &[start, duration]) in heads.iter().zip(times.as_chunks().0).take(count) {
            let name = NameId(head / 2);
            let start = HighResTime(start);
            let appended = match head % 2 {
                0 => timeline.mark(name, start),
                _ => timeline.append_measure(name, Range { start, duration: HighResTime(duration) }),
            };
            kept += u32::from(appended == selfprof_timing::Appended::Kept);
        }
        Some(kept.into())
    }
}

fn bounds([start_kind, start, end_kind, end, duration]: [&Argument; 5]) -> Option<Bounds> {
    let duration = duration.number()?;
    Some(Bounds {
        start: bound(*start_kind, *start)?,
        end: bound(*end_kind, *end)?,
        // NaN stands for none.
        duration: (!duration.is_nan()).then_some(HighResTime(duration)),
    })
}

fn bound(kind: Argument, value: Argument) -> Option<Bound> {
    Some(match kind.number()? as u8 {
        0 => Bound::Omitted,
        1 => Bound::Mark(value.id()?),
        2 => Bound::Time(HighResTime(value.number()?)),
        3 => Bound::Attribute(TimingAttribute::from_index(value.number()? as usize)?),
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
