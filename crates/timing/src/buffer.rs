//! A performance entry buffer: entries of one type, in the order in which they were made.

use crate::{Entry, EntryType, HighResTime, NameId, Sequence};

/// How a buffer stores an entry.
pub(crate) trait Record: Copy {
    /// The record of an entry whose sequence number is `offset` above that of its chunk.
    fn new(entry: &Entry, offset: u32) -> Self;

    /// The entry's name.
    fn name(&self) -> NameId;

    /// The entry, given the sequence number of its chunk.
    fn entry(&self, base: u64) -> Entry;
}

/// A mark.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    start: f64,
    name: u32,
    offset: u32,
}

impl Record for Mark {
    #[inline]
    fn new(entry: &Entry, offset: u32) -> Self {
        Self { start: entry.start.0, name: entry.name.0, offset }
    }

    #[inline]
    fn name(&self) -> NameId {
        NameId(self.name)
    }

    fn entry(&self, base: u64) -> Entry {
        Entry {
            entry_type: EntryType::Mark,
            name: self.name(),
            sequence: Sequence(base + u64::from(self.offset)),
            start: HighResTime(self.start),
            duration: HighResTime::ZERO,
        }
    }
}

/// A measure.
#[derive(Clone, Copy)]
pub(crate) struct Measure {
    start: f64,
    duration: f64,
    name: u32,
    offset: u32,
}

impl Record for Measure {
    #[inline]
    fn new(entry: &Entry, offset: u32) -> Self {
        Self { start: entry.start.0, duration: entry.duration.0, name: entry.name.0, offset }
    }

    #[inline]
    fn name(&self) -> NameId {
        NameId(self.name)
    }

    fn entry(&self, base: u64) -> Entry {
        Entry {
            entry_type: EntryType::Measure,
            name: self.name(),
            sequence: Sequence(base + u64::from(self.offset)),
            start: HighResTime(self.start),
            duration: HighResTime(self.duration),
        }
    }
}

/// The size of a buffer's first chunk, in records: a timeline with a few marks uses little memory.
const SMALLEST_CHUNK: usize = 64;
/// The maximum size of a chunk, in records: 128 KiB of marks, which an allocator returns to the system.
const LARGEST_CHUNK: usize = 8192;

/// A part of a buffer. The capacity of its vector never changes.
struct Chunk<R> {
    /// The sequence number that the offsets of its records are relative to. A server may make marks for months: 32 bits
    /// would not suffice for sequence numbers, and 64 bits would make a mark half as large again.
    base: u64,
    records: Vec<R>,
}

#[cfg(test)]
impl<R> Chunk<R> {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.records.capacity() * size_of::<R>()
    }
}

/// Records in chunks, so that appending never copies existing records, and clearing frees memory.
pub(crate) struct Buffer<R> {
    chunks: Vec<Chunk<R>>,
    len: usize,
    limit: u32,
    dropped: u64,
    /// No record starts before one that was appended earlier.
    in_order: bool,
    latest_start: HighResTime,
}

impl<R: Record> Buffer<R> {
    /// An empty buffer that holds `limit` entries at most.
    pub fn new(limit: u32) -> Self {
        let latest_start = HighResTime(f64::NEG_INFINITY);
        Self { chunks: Vec::new(), len: 0, limit, dropped: 0, in_order: true, latest_start }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The "[dropped entries count](https://w3c.github.io/performance-timeline/#dfn-dropped-entries-count)".
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// How many more entries fit.
    #[inline]
    pub fn room(&self) -> usize {
        (self.limit as usize).saturating_sub(self.len)
    }

    /// Whether the order in which entries were made is the order of their starts.
    pub fn is_in_order(&self) -> bool {
        self.in_order
    }

    /// Appends an entry, unless the buffer is full: then it is counted.
    #[inline]
    pub fn push(&mut self, entry: &Entry) -> bool {
        if self.room() == 0 {
            self.dropped += 1;
            return false;
        }
        if entry.start >= self.latest_start {
            self.latest_start = entry.start;
        } else {
            self.in_order = false;
        }
        self.len += 1;
        if let Some(chunk) = self.chunks.last_mut()
            && chunk.records.len() < chunk.records.capacity()
            && let Ok(offset) = u32::try_from(entry.sequence.0 - chunk.base)
        {
            chunk.records.push(R::new(entry, offset));
        } else {
            self.push_in_new_chunk(entry);
        }
        true
    }

    #[cold]
    fn push_in_new_chunk(&mut self, entry: &Entry) {
        // The last one is empty when all its records were removed and it is out of sequence numbers.
        self.chunks.pop_if(|chunk| chunk.records.is_empty());
        let mut records = Vec::with_capacity(self.len.clamp(SMALLEST_CHUNK, LARGEST_CHUNK));
        records.push(R::new(entry, 0));
        self.chunks.push(Chunk { base: entry.sequence.0, records });
    }

    /// Visits the entries in the order in which they were made: all, or those with a name, whose number is given.
    pub fn for_each(&self, name: Option<(NameId, usize)>, mut visit: impl FnMut(Entry)) {
        match name {
            None => {
                for chunk in &self.chunks {
                    chunk.records.iter().for_each(|record| visit(record.entry(chunk.base)));
                }
            }
            Some((name, count)) if count > self.len / 2 => self.find_from_start(name, visit),
            // Searches from the end: a name that is asked for was often used last.
            Some((name, count)) => self.find_from_end(name, count).into_iter().rev().for_each(visit),
        }
    }

    fn find_from_start(&self, name: NameId, mut visit: impl FnMut(Entry)) {
        for chunk in &self.chunks {
            let matching = chunk.records.iter().filter(|record| record.name() == name);
            matching.for_each(|record| visit(record.entry(chunk.base)));
        }
    }

    fn find_from_end(&self, name: NameId, count: usize) -> Vec<Entry> {
        let mut found = Vec::with_capacity(count);
        for chunk in self.chunks.iter().rev() {
            if found.len() == count {
                break;
            }
            let matching = chunk.records.iter().rev().filter(|record| record.name() == name);
            found.extend(matching.take(count - found.len()).map(|record| record.entry(chunk.base)));
        }
        found
    }

    /// Removes the entries of this name, of which there are `count`.
    pub fn remove(&mut self, name: NameId, count: usize) {
        let mut left = count;
        let last = self.chunks.len().saturating_sub(1);
        for index in (0..self.chunks.len()).rev() {
            if left == 0 {
                break;
            }
            let records = &mut self.chunks[index].records;
            let before = records.len();
            records.retain(|record| record.name() != name);
            left -= (before - records.len()).min(left);
            // The last chunk keeps its capacity, since programs often mark and clear in turn.
            if index == last {
                continue;
            }
            if records.is_empty() {
                self.chunks.remove(index);
            } else if records.len() < before && records.len() <= records.capacity() / 4 {
                records.shrink_to_fit();
            }
        }
        self.len -= count - left;
        if self.len == 0 {
            self.remove_all();
        }
    }

    /// Removes all entries. The count of dropped ones is kept.
    pub fn remove_all(&mut self) {
        *self = Self { dropped: self.dropped, ..Self::new(self.limit) };
    }

    /// The memory of the chunks, in bytes, including unused capacity.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.chunks.iter().map(Chunk::bytes).sum()
    }
}
