//! Entries in columns, which `npm/lib/timing` turns into objects.

use napi::bindgen_prelude::{Float64Array, Uint8Array, Uint32Array};
use napi_derive::napi;
use selfprof_timing::{Entry, EntryType};

/// Entries, one element of each array per entry.
#[napi(object)]
pub struct EntryColumns {
    /// 1 for a mark, 2 for a measure.
    pub types: Uint8Array,
    /// The numbers of their names.
    pub names: Uint32Array,
    /// Which mark or measure of the timeline, counted from 0. Exact up to 2^53.
    pub sequences: Float64Array,
    /// Two numbers an entry: start and duration.
    pub times: Float64Array,
}

impl From<&[Entry]> for EntryColumns {
    fn from(entries: &[Entry]) -> Self {
        let size = entries.len();
        let (mut types, mut names) = (Vec::with_capacity(size), Vec::with_capacity(size));
        let (mut sequences, mut times) = (Vec::with_capacity(size), Vec::with_capacity(2 * size));
        for entry in entries {
            types.push(entry.entry_type as u8);
            names.push(entry.name.0);
            sequences.push(entry.sequence.0 as f64);
            times.extend([entry.start.0, entry.duration.0]);
        }
        Self { types: types.into(), names: names.into(), sequences: sequences.into(), times: times.into() }
    }
}

/// One number an entry.
#[napi(object)]
pub struct ValueColumns {
    /// The numbers of their names.
    pub names: Uint32Array,
    /// The start of a mark, the duration of a measure.
    pub values: Float64Array,
}

impl From<&[Entry]> for ValueColumns {
    fn from(entries: &[Entry]) -> Self {
        let names: Vec<u32> = entries.iter().map(|entry| entry.name.0).collect();
        let value = |entry: &Entry| match entry.entry_type {
            EntryType::Mark => entry.start.0,
            EntryType::Measure => entry.duration.0,
        };
        let values: Vec<f64> = entries.iter().map(value).collect();
        Self { names: names.into(), values: values.into() }
    }
}
