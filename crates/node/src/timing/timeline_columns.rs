//! Entries in columns, which JavaScript turns into objects.

use napi::bindgen_prelude::{Float64Array, Uint8Array, Uint32Array};
use napi_derive::napi;
use selfprof_timing::{EntryType, Filter, NameId, Timeline};

/// Entries.
#[napi(object)]
pub struct EntryColumns {
    /// One number per entry: 1 for a mark, 2 for a measure.
    pub types: Uint8Array,
    /// One number per entry: that of its name.
    pub names: Uint32Array,
    /// One number per entry: how many were made before it. Exact up to 2^53.
    pub sequences: Float64Array,
    /// Two numbers per entry: start and duration.
    pub times: Float64Array,
}

impl EntryColumns {
    /// The entries in the order of their starts.
    pub fn of(timeline: &Timeline, filter: Filter) -> Self {
        let count = timeline.count(filter);
        let (mut types, mut names) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let (mut sequences, mut times) = (Vec::with_capacity(count), Vec::with_capacity(2 * count));
        timeline.for_each(filter, |entry| {
            types.push(entry.entry_type as u8);
            names.push(entry.name.0);
            sequences.push(entry.sequence.0 as f64);
            times.extend([entry.start.0, entry.duration.0]);
        });
        Self { types: types.into(), names: names.into(), sequences: sequences.into(), times: times.into() }
    }
}

/// One value of each entry.
#[napi(object)]
pub struct ValueColumns {
    /// One number per entry: that of its name.
    pub names: Uint32Array,
    /// One number per entry: the start of a mark, the duration of a measure.
    pub values: Float64Array,
}

impl ValueColumns {
    /// The entries in the order in which they were made.
    pub fn of(timeline: &Timeline, entry_type: EntryType, name: Option<NameId>) -> Self {
        let count = timeline.count(Filter { entry_type: Some(entry_type), name });
        let (mut names, mut values) = (Vec::with_capacity(count), Vec::with_capacity(count));
        timeline.for_each_in_call_order(entry_type, name, |entry| {
            names.push(entry.name.0);
            values.push(match entry_type {
                EntryType::Mark => entry.start.0,
                EntryType::Measure => entry.duration.0,
            });
        });
        Self { names: names.into(), values: values.into() }
    }
}
