//! Marks and measures in columns.

use napi::bindgen_prelude::{Float64Array, Uint32Array};
use napi_derive::napi;
use selfprof_trace::{Entries, Entry, EntryNameId, EntryType, Micros, Millis, Trace};

/// Marks and measures, as JavaScript collects them and as a trace has them.
#[napi(object)]
pub struct CollectedEntries {
    /// The names.
    pub names: Vec<String>,
    /// One number per entry: twice the index of its name, plus the index of its type.
    pub heads: Uint32Array,
    /// Two numbers per entry: start time and duration, in milliseconds.
    pub times: Float64Array,
    /// When the session ended, in milliseconds. Entries that begin later are left out.
    pub until: f64,
    /// How many entries there was no room for.
    pub dropped: f64,
    /// Whether entries that ended before the first sample are left out, too.
    pub is_circular: bool,
}

impl From<&Entries> for CollectedEntries {
    /// The list must be sorted and hold only entries of the session.
    fn from(entries: &Entries) -> Self {
        let list = entries.list();
        let head = |entry: &Entry| 2 * entry.name.index() as u32 + entry.entry_type.index() as u32;
        let times = list.iter().flat_map(|entry| [entry.start_time.get(), entry.duration.get()]);
        Self {
            names: entries.names().iter().map(|(_, name)| name.to_owned()).collect(),
            heads: list.iter().map(head).collect::<Vec<_>>().into(),
            times: times.collect::<Vec<_>>().into(),
            until: f64::INFINITY,
            dropped: entries.dropped() as f64,
            is_circular: false,
        }
    }
}

/// [`CollectedEntries`] without references to JavaScript, for the building thread.
pub struct EntryColumns {
    names: Vec<String>,
    heads: Vec<u32>,
    times: Vec<f64>,
    until: f64,
    dropped: u64,
    is_circular: bool,
}

impl From<CollectedEntries> for EntryColumns {
    fn from(collected: CollectedEntries) -> Self {
        let CollectedEntries { names, heads, times, until, dropped, is_circular } = collected;
        Self {
            names,
            heads: heads.to_vec(),
            times: times.to_vec(),
            until,
            dropped: dropped as u64,
            is_circular,
        }
    }
}

impl EntryColumns {
    /// The entries of a trace in time order. Entries that ended by `last_chunk_end` are in a chunk and left out, and so
    /// are invalid ones, which JavaScript does not collect.
    pub fn into_entries(self, trace: &Trace, last_chunk_end: Option<Micros>) -> Entries {
        let from = trace.span().filter(|_| self.is_circular).map(|(first, _)| first.as_millis_f64());
        let chunked_until = last_chunk_end.map(Micros::as_millis_f64);
        let mut entries = Entries::new();
        // Names that differ only in lone surrogates are equal here, so ids are not indexes.
        let names: Vec<Option<EntryNameId>> = self.names.iter().map(|name| entries.name(name).ok()).collect();
        for (&head, times) in self.heads.iter().zip(self.times.chunks_exact(2)) {
            let Some(entry) = entry(&names, head, times) else { continue };
            let (start, end) = (times[0], times[0] + times[1]);
            let (first, last) = (start.min(end), start.max(end));
            if first <= self.until
                && from.is_none_or(|from| last >= from)
                && chunked_until.is_none_or(|until| last > until)
            {
                // Cannot fail, since the name is in this table.
                let _ = entries.push(entry);
            }
        }
        entries.sort();
        entries.count_dropped(self.dropped);
        entries
    }
}

fn entry(names: &[Option<EntryNameId>], head: u32, times: &[f64]) -> Option<Entry> {
    Some(Entry {
        entry_type: EntryType::from_index(head as usize % 2)?,
        name: *names.get(head as usize / 2)?.as_ref()?,
        start_time: Millis::new(times[0])?,
        duration: Millis::new(times[1])?,
    })
}
